/* Groups of ranks: their members by list, configuration or stride; rows that mean one group; input that lies. */
#include <stdio.h>
#include <stdlib.h>

#include "events/comms.h"
#include "small_trace.h"

/* What a test says of a group; zero where it says nothing. */
struct group {
    const char *name, *description, *ranks;
    int64_t size, first, stride;
    uint64_t communicator;
    bool is_spaced, is_config;
};

static uint32_t add_group(struct small_trace *trace, struct group group) {
    struct gt_builder *builder = &trace->builder;
    struct gt_comm_groups_row row = GT_COMM_GROUP_UNKNOWN;
    row.name = gt_builder_string(builder, gt_str_of(group.name ? group.name : ""));
    row.description = gt_builder_string(builder, gt_str_of(group.description ? group.description : ""));
    row.ranks = gt_builder_string(builder, gt_str_of(group.ranks ? group.ranks : ""));
    row.size = group.size ? group.size : -1;
    row.communicator = group.communicator ? group.communicator : UINT64_MAX;
    row.source = group.is_config ? GT_GROUP_OF_CONFIG : GT_GROUP_OF_RECORD;
    if (group.is_spaced) {
        row.first_rank = group.first;
        row.stride = group.stride;
    }
    return gt_builder_comm_group(builder, &row);
}

/* A collective without kernel, on a range. */
static void use(struct small_trace *trace, uint32_t group) {
    struct gt_comms_row row = GT_COMM_UNKNOWN;
    add_range(trace, GT_RANGE_NESTED, 10, 1, 0, 10, "ncclAllReduce");
    row.in_bytes = 1;
    row.group = group;
    row.range = 0;
    gt_builder_comm(&trace->builder, &row);
}

static void use_new(struct small_trace *trace, struct group group) {
    use(trace, add_group(trace, group));
}

/* The group of the collective that was added so many before it. */
static const struct gt_comm_group *group_of(const struct small_trace *trace, uint32_t record) {
    for (size_t i = 0; i < trace->labels->comms.collective_count; i++)
        if (trace->labels->comms.collectives[i].record == record)
            return gt_comms_group(trace->labels, &trace->labels->comms.collectives[i]);
    fail_msg("record %u is of no collective", record);
    return NULL;
}

static uint64_t unreadable(const struct small_trace *trace) {
    return trace->labels->issues[GT_ISSUE_GROUP_MEMBERS_UNREADABLE];
}

static void members_are(const struct gt_comm_group *group, const int64_t *members, int64_t count) {
    assert_non_null(group);
    assert_true(gt_comms_has_members(group));
    assert_int_equal(group->size, count);
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(gt_comms_member(group, i), members[i]);
        assert_int_equal(gt_comms_place(group, members[i]), i);
    }
    assert_int_equal(gt_comms_member(group, count), -1);
    assert_int_equal(gt_comms_member(group, -1), -1);
    assert_int_equal(gt_comms_place(group, 12345), -1);
    assert_int_equal(gt_comms_place(group, -1), -1);
}
#define MEMBERS(group, ...)                                                                                            \
    members_are(group, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void no_members(const struct gt_comm_group *group, int64_t size) {
    assert_non_null(group);
    assert_false(gt_comms_has_members(group));
    assert_int_equal(group->size, size);
    assert_int_equal(gt_comms_member(group, 0), -1);
    assert_int_equal(gt_comms_place(group, 0), -1);
}

static void a_whole_list_has_the_members(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    use_new(&trace, (struct group){.name = "0", .size = 4, .ranks = "[0, 1, 2, 3]"});
    use_new(&trace, (struct group){.name = "1", .size = 3, .ranks = "[1, 3, 4]"});
    use_new(&trace, (struct group){.name = "2", .size = 1, .ranks = "[5]"});
    use_new(&trace, (struct group){.name = "3", .ranks = "7,5,3"}); /* no size, no brackets, downwards */
    use_new(&trace, (struct group){.name = "4", .size = 2, .ranks = "\"[0, 4]\"", .is_spaced = true, .stride = 9});
    trace_end(&trace);
    MEMBERS(group_of(&trace, 0), 0, 1, 2, 3);
    MEMBERS(group_of(&trace, 1), 1, 3, 4);
    MEMBERS(group_of(&trace, 2), 5);
    MEMBERS(group_of(&trace, 3), 7, 5, 3);
    MEMBERS(group_of(&trace, 4), 0, 4);
    assert_int_equal(trace.labels->comms.group_count, 5);
    assert_int_equal(unreadable(&trace), 0);
    trace_free(&trace);
}

static void a_cut_list_asks_the_configuration_then_the_stride(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    const char *cut = "[0, 8, ...]";
    use_new(&trace, (struct group){.name = "7", .size = 3, .ranks = cut, .is_spaced = true, .stride = 1});
    use_new(&trace, (struct group){.name = "8", .size = 3, .ranks = cut, .is_spaced = true, .first = 2, .stride = 8});
    use_new(&trace, (struct group){.name = "9", .size = 3, .ranks = cut});
    use_new(&trace, (struct group){.name = "10", .size = 5, .ranks = cut}); /* the configuration is of another */
    use_new(&trace, (struct group){.name = "11", .size = 4, .ranks = "[]"});
    use_new(&trace, (struct group){.name = "12", .size = 5, .ranks = "[]"});
    add_group(&trace, (struct group){.name = "7", .size = 3, .ranks = "[0, 9, 5]", .is_config = true});
    add_group(&trace, (struct group){.name = "10", .size = 3, .ranks = "[0, 9, 5]", .is_config = true});
    add_group(&trace, (struct group){.name = "11", .size = 4, .ranks = "[]", .is_config = true}); /* all ranks */
    add_group(&trace, (struct group){.name = "12", .size = 5, .ranks = "[]", .is_config = true}); /* but not here */
    trace.builder.store.meta.world_size = 4;
    trace_end(&trace);
    MEMBERS(group_of(&trace, 0), 0, 9, 5);
    MEMBERS(group_of(&trace, 1), 2, 10, 18);
    no_members(group_of(&trace, 2), 3);
    no_members(group_of(&trace, 3), 5);
    MEMBERS(group_of(&trace, 4), 0, 1, 2, 3);
    no_members(group_of(&trace, 5), 5);
    assert_int_equal(unreadable(&trace), 0);
    trace_free(&trace);
}

static void the_configuration_says_what_a_group_is_for(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    use_new(&trace, (struct group){.name = "1", .size = 2, .ranks = "[0, 4]"});
    use_new(&trace, (struct group){.name = "2", .size = 2, .description = "of the record"});
    use_new(&trace, (struct group){.name = "3", .size = 2});
    use_new(&trace, (struct group){.communicator = 0xabc});
    add_group(&trace, (struct group){.name = "1", .size = 2, .is_config = true}); /* says nothing */
    add_group(&trace, (struct group){.name = "1", .size = 2, .description = "tp", .is_config = true});
    add_group(&trace, (struct group){.name = "1", .size = 2, .description = "later", .is_config = true});
    add_group(&trace, (struct group){.name = "2", .size = 2, .description = "dp", .is_config = true});
    add_group(&trace, (struct group){.description = "of no name", .is_config = true});
    trace_end(&trace);
    static const char *const descriptions[] = {"tp", "of the record", "", ""};
    for (uint32_t i = 0; i < sizeof descriptions / sizeof *descriptions; i++)
        assert_string_equal(gt_store_string(trace.store, group_of(&trace, i)->description).ptr, descriptions[i]);
    trace_free(&trace);
}

static void rows_that_mean_one_group_have_one_number(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    use_new(&trace, (struct group){.name = "1", .size = 2}); /* knows no more */
    use_new(&trace, (struct group){.name = "1", .size = 2, .ranks = "[0, 4]", .description = "tp"});
    use_new(&trace, (struct group){.name = "1", .size = 2, .ranks = "0,4"});                 /* otherwise written */
    use_new(&trace, (struct group){.name = "1", .size = 2, .is_spaced = true, .stride = 4}); /* otherwise said */
    use_new(&trace, (struct group){.name = "1"});                                            /* only its name */
    use_new(&trace, (struct group){.name = "1", .size = 2, .ranks = "[1, 5]"});              /* others */
    use_new(&trace, (struct group){.name = "2", .size = 2, .ranks = "[0, 4]"});              /* another name */
    use_new(&trace, (struct group){.name = "1", .size = 3});                                 /* another size */
    use_new(&trace, (struct group){.name = "3"});
    use_new(&trace, (struct group){.name = "3", .size = 6});
    add_group(&trace, (struct group){.name = "1", .size = 1}); /* used by no collective */
    trace_end(&trace);
    const struct gt_comm_group *group = group_of(&trace, 0);
    for (uint32_t record = 1; record < 5; record++)
        assert_ptr_equal(group_of(&trace, record), group);
    MEMBERS(group, 0, 4);
    assert_true(gt_str_eq(gt_store_string(trace.store, group->description), GT_STR("tp")));
    assert_ptr_not_equal(group_of(&trace, 5), group);
    assert_ptr_not_equal(group_of(&trace, 6), group);
    no_members(group_of(&trace, 7), 3);
    no_members(group_of(&trace, 8), 6);
    assert_ptr_equal(group_of(&trace, 9), group_of(&trace, 8));
    assert_int_equal(trace.labels->comms.group_count, 5);
    trace_free(&trace);
}

static void communicators_are_groups_and_know_their_size_from_elsewhere(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_group(&trace, (struct group){.communicator = 0xabc, .size = 8}); /* where it was made */
    use_new(&trace, (struct group){.communicator = 0xabc});
    use_new(&trace, (struct group){.communicator = 0xdef});
    use(&trace, GT_NO_TRACK);
    trace_end(&trace);
    no_members(group_of(&trace, 0), 8);
    assert_int_equal(group_of(&trace, 0)->communicator, 0xabc);
    no_members(group_of(&trace, 1), -1);
    assert_null(group_of(&trace, 2));
    assert_int_equal(trace.labels->comms.group_count, 2);
    trace_free(&trace);
}

static void the_record_that_names_the_members_decides(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    uint32_t first = add_group(&trace, (struct group){.name = "5", .size = 40, .is_spaced = true, .stride = 1});
    uint32_t cut = add_group(&trace, (struct group){.name = "5", .size = 40, .ranks = "[1, 3, ...]"});
    uint32_t other =
        add_group(&trace, (struct group){.name = "5", .size = 40, .is_spaced = true, .first = 1, .stride = 2});
    for (uint64_t i = 0; i < 2; i++) {
        struct gt_comms_row row = GT_COMM_UNKNOWN;
        row.name = gt_builder_string(&trace.builder, GT_STR("allreduce"));
        row.external = i;
        row.group = cut;
        row.op = 0;
        add_op(&trace, 10, 0, 7, 0, 5, i, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
        gt_builder_comm(&trace.builder, &row);
        row.op = GT_NO_ROW;
        row.group = i ? other : first;
        row.cpu_op = 0;
        uint32_t thread = gt_builder_thread(&trace.builder, process_of(&trace, 10), 1, GT_STR(""));
        gt_builder_cpu_op(&trace.builder, &(struct gt_cpu_ops_row){0, 1, row.name, thread});
        gt_builder_comm(&trace.builder, &row);
    }
    trace_end(&trace);
    assert_int_equal(trace.labels->comms.collective_count, 2);
    assert_int_equal(gt_comms_member(group_of(&trace, 0), 39), 39);
    assert_int_equal(gt_comms_member(group_of(&trace, 2), 39), 79);
    trace_free(&trace);
}

static void lies_are_counted_and_cost_nothing(void **state) {
    (void)state;
    static const struct group lies[] = {
        {.name = "a", .size = 4, .is_spaced = true, .stride = 0},                    /* all the same rank */
        {.name = "b", .size = 1000000000000000000, .is_spaced = true, .stride = 10}, /* beyond all numbers */
        {.name = "c", .size = 2, .is_spaced = true, .first = INT64_MAX, .stride = 1},
        {.name = "d", .size = 2, .ranks = "[0, 1, 2]"}, /* too many */
        {.name = "e", .size = 3, .ranks = "[0, 1, 1]"}, /* one twice */
        {.name = "f", .size = 3, .ranks = "[2, 2, 2]"},
        {.name = "g", .size = 2, .ranks = "[0, -1]"},
        {.name = "h", .size = 2, .ranks = "[0, x]"},
        {.name = "i", .size = 2, .ranks = "[0, 99999999999999999999]"},
        {.name = "j", .size = 1000000000000000000, .ranks = "[0, 1]"},
    };
    static const struct group oddities[] = {
        {.name = "k", .size = 4, .is_spaced = true, .first = -1, .stride = -1}, /* how PyTorch says: not known */
        {.name = "l", .size = 4, .is_spaced = true, .stride = -1},
        {.name = "m", .size = -5, .is_spaced = true, .stride = 1},
        {.name = "n", .size = 4, .ranks = "..."},
        {.name = "o", .size = 4, .ranks = "[[]], ,"},
    };
    enum { LIES = sizeof lies / sizeof *lies, ODDITIES = sizeof oddities / sizeof *oddities };
    struct small_trace trace;
    trace_begin(&trace);
    for (size_t i = 0; i < LIES; i++)
        use_new(&trace, lies[i]);
    for (size_t i = 0; i < ODDITIES; i++)
        use_new(&trace, oddities[i]);
    use_new(&trace, (struct group){.name = "p", .size = 1000000000000000000, .is_spaced = true, .stride = 1});
    trace_end(&trace);
    assert_int_equal(unreadable(&trace), LIES);
    for (uint32_t record = 0; record < LIES + ODDITIES; record++)
        assert_false(gt_comms_has_members(group_of(&trace, record)));
    const struct gt_comm_group *huge = group_of(&trace, LIES + ODDITIES); /* large, but no contradiction */
    assert_int_equal(gt_comms_member(huge, 999999999999999999), 999999999999999999);
    assert_int_equal(gt_comms_place(huge, 1000000000000000000), -1);
    assert_true(trace.labels->arenas[GT_PASS_COMMS].total_bytes < 1 << 18);
    trace_free(&trace);
}

static void the_own_place_is_known_where_the_members_are(void **state) {
    (void)state;
    static const struct {
        struct group group;
        int64_t place;
    } cases[] = {
        {{.name = "a", .ranks = "[0, 1, 5, 9]"}, 2},
        {{.name = "b", .ranks = "[1, 3, 5]"}, 2},
        {{.name = "c", .ranks = "[9, 5, 0]"}, 1},
        {{.name = "d", .ranks = "[0, 1, 9]"}, -1},
        {{.name = "e", .size = 4, .is_spaced = true, .first = 5, .stride = 8}, 0},
        {{.name = "f", .size = 4}, -1},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    for (int64_t rank = 5; rank >= -1; rank -= 6) {
        struct small_trace trace;
        trace_begin(&trace);
        trace.builder.store.meta.rank = rank;
        for (size_t i = 0; i < CASES; i++)
            use_new(&trace, cases[i].group);
        trace_end(&trace);
        for (uint32_t i = 0; i < CASES; i++)
            assert_int_equal(group_of(&trace, i)->own_place, rank < 0 ? -1 : cases[i].place);
        trace_free(&trace);
    }
}

static void a_long_list_is_read_once_for_all_groups(void **state) {
    (void)state;
    enum { MEMBERS_OF_LIST = 100000, GROUPS = 2000 };
    size_t room = 8 * MEMBERS_OF_LIST, length = 0;
    char *ranks = malloc(room), name[16];
    assert_non_null(ranks);
    for (int i = 0; i < MEMBERS_OF_LIST; i++) /* not evenly spaced */
        length += (size_t)snprintf(ranks + length, room - length, "%d,", 3 * i + i % 2);
    struct small_trace trace;
    trace_begin(&trace);
    for (int i = 0; i < GROUPS; i++) {
        snprintf(name, sizeof name, "%d", i);
        use_new(&trace, (struct group){.name = name, .size = MEMBERS_OF_LIST, .ranks = ranks});
    }
    trace_end(&trace);
    assert_int_equal(trace.labels->comms.group_count, GROUPS);
    assert_int_equal(gt_comms_member(group_of(&trace, 5), 7), 22);
    assert_ptr_equal(group_of(&trace, 5)->rank_list, group_of(&trace, 6)->rank_list);
    assert_true(trace.labels->arenas[GT_PASS_COMMS].total_bytes < 16 * MEMBERS_OF_LIST + 400 * GROUPS);
    trace_free(&trace);
    free(ranks);
}

/* More groups than any job has: memory and time grow with them, no faster. */
static void a_million_groups_take_memory_for_themselves_only(void **state) {
    (void)state;
    enum { GROUPS = 1000000 };
    char name[16];
    struct small_trace trace;
    trace_begin(&trace);
    for (int i = 0; i < GROUPS; i++) {
        snprintf(name, sizeof name, "%d", i);
        use_new(&trace, (struct group){.name = name, .size = 4, .is_spaced = true, .first = i, .stride = 1 + i % 3});
    }
    trace_end(&trace);
    assert_int_equal(trace.labels->comms.group_count, GROUPS);
    assert_int_equal(trace.labels->comms.collective_count, GROUPS);
    assert_int_equal(gt_comms_member(group_of(&trace, GROUPS - 1), 3), GROUPS - 1 + 3 * (1 + (GROUPS - 1) % 3));
    assert_true(trace.labels->arenas[GT_PASS_COMMS].total_bytes < (size_t)400 * GROUPS);
    trace_free(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_list_has_the_members),
        cmocka_unit_test(a_cut_list_asks_the_configuration_then_the_stride),
        cmocka_unit_test(the_configuration_says_what_a_group_is_for),
        cmocka_unit_test(rows_that_mean_one_group_have_one_number),
        cmocka_unit_test(communicators_are_groups_and_know_their_size_from_elsewhere),
        cmocka_unit_test(the_record_that_names_the_members_decides),
        cmocka_unit_test(lies_are_counted_and_cost_nothing),
        cmocka_unit_test(the_own_place_is_known_where_the_members_are),
        cmocka_unit_test(a_long_list_is_read_once_for_all_groups),
        cmocka_unit_test(a_million_groups_take_memory_for_themselves_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
