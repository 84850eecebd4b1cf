/* Traces of several jobs: summaries that are nothing but heads and groups, by hand. */
#include "ranks/rank_apart.h"

#include "events/trace_rank.h"
#include "small_trace.h"

enum { MOST = 16 };

struct traces {
    struct gt_rank_summary all[MOST], *list[MOST];
    struct gt_str names[MOST];
    size_t count;
};

/* A trace of an input of its own; communicator 0: it has none. */
static struct gt_rank_summary *add(struct traces *traces, int64_t rank, int64_t world, int64_t start_ns,
                                   const char *name, uint64_t communicator) {
    size_t place = traces->count++;
    struct gt_rank_summary *summary = traces->list[place] = &traces->all[place];
    traces->names[place] = gt_str_of(name);
    summary->head = (struct gt_rank_head){.rank = rank,
                                          .world_size = world,
                                          .first_ns = 0,
                                          .last_ns = 100,
                                          .base_ns = start_ns,
                                          .ops = 1 + place,
                                          .source = GT_RANK_OF_TRACE,
                                          .input_number = (uint32_t)place};
    if (communicator)
        *gt_rank_summary_add_groups(summary) = (struct gt_rank_group){.communicator = communicator};
    return summary;
}

/* Digits: the number of each one's job; '-': it is left out. */
static void expect(struct traces *traces, const char *jobs) {
    struct gt_rank_apart apart;
    char found[MOST + 1] = {0};
    assert_true(gt_rank_apart_init(&apart, traces->list, traces->names, traces->count));
    for (size_t i = 0; i < traces->count; i++)
        found[i] = apart.job_of[i] == GT_RANK_NONE ? '-' : (char)('1' + apart.job_of[i]);
    assert_string_equal(found, jobs);
    gt_rank_apart_release(&apart);
    for (size_t i = 0; i < traces->count; i++)
        gt_rank_summary_release(traces->list[i]);
    *traces = (struct traces){0};
}

static void test_one_job(void **state) {
    struct traces traces = {0};
    (void)state;
    expect(&traces, "");
    add(&traces, 0, 2, 1000, "a0", 0);
    add(&traces, 1, 2, 5000000, "b1", 0);
    expect(&traces, "11");
    add(&traces, -1, -1, 1000, "a0", 0)->head.source = GT_RANK_UNKNOWN;
    add(&traces, -1, -1, 1000, "a0", 0)->head.source = GT_RANK_UNKNOWN;
    expect(&traces, "11");
}

static void test_worlds(void **state) {
    struct traces traces = {0};
    (void)state;
    add(&traces, 0, 8, 1000, "x", 0);
    add(&traces, 0, 4, 1000, "x", 0);
    add(&traces, 1, 4, 1000, "x", 0);
    add(&traces, -1, -1, 1000, "x", 0)->head.source = GT_RANK_UNKNOWN; /* of the world of most */
    expect(&traces, "2111");
}

/* Who has no place in a world is not of it. */
static void test_strays(void **state) {
    struct traces traces = {0};
    (void)state;
    add(&traces, -1, -1, 1000, "s", 0)->head.source = GT_RANK_UNKNOWN;
    add(&traces, 0, 2, 1000, "x", 0);
    add(&traces, 1, 2, 1000, "x", 0);
    expect(&traces, "211");
    add(&traces, 0, 2, 1000, "x", 0);
    add(&traces, 1, 2, 1000, "x", 0);
    add(&traces, 7, -1, 1000, "s", 0)->head.source = GT_RANK_OF_FILE_NAME;
    add(&traces, -1, -1, 1000, "t", 0)->head.source = GT_RANK_UNKNOWN;
    expect(&traces, "1122");
    add(&traces, 0, 2, 1000, "x", 5); /* what has a communicator of theirs is of theirs */
    add(&traces, 1, 2, 1000, "x", 5);
    add(&traces, -1, -1, 1000, "s", 5)->head.source = GT_RANK_UNKNOWN;
    expect(&traces, "111");
    assert_non_null(gt_rank_summary_add_kernels(add(&traces, 0, 4, 1000, "x", 0))); /* one is missing */
    assert_non_null(gt_rank_summary_add_kernels(add(&traces, 1, 4, 1000, "x", 0)));
    add(&traces, 3, 4, 1000, "x", 0);
    add(&traces, -1, -1, 1000, "s", 0)->head.source = GT_RANK_UNKNOWN;
    expect(&traces, "1112"); /* the others communicate, and it never does */
    assert_non_null(
        gt_rank_summary_add_kernels(add(&traces, 0, 4, 1000, "x", 0))); /* these may be those that are missing */
    assert_non_null(gt_rank_summary_add_kernels(add(&traces, 1, 4, 1000, "x", 0)));
    add(&traces, 2, -1, 1000, "x", 0)->head.source = GT_RANK_OF_FILE_NAME;
    struct gt_rank_summary *other = add(&traces, -1, -1, 1000, "s", 0);
    other->head.source = GT_RANK_UNKNOWN;
    assert_non_null(gt_rank_summary_add_kernels(other));
    expect(&traces, "1111");
    add(&traces, 0, 2, 1000, "x", 0);
    add(&traces, 1, 2, 1000, "x", 0);
    add(&traces, 0, 3, 1000, "y", 0);
    add(&traces, -1, -1, 1000, "s", 0)->head.source = GT_RANK_UNKNOWN;
    expect(&traces, "1123");
    add(&traces, 0, 2, 1000, "x", 0);
    add(&traces, 1, 2, 1000, "x", 0);
    add(&traces, -1, -1, 1000, "x", 0)->head = (struct gt_rank_head){
        .rank = -1, .world_size = -1, .ops = 9, .source = GT_RANK_UNKNOWN, .input_number = 1}; /* of the same file */
    expect(&traces, "111");
}

static void test_times(void **state) {
    struct traces traces = {0};
    (void)state;
    add(&traces, 0, 2, 9000, "p", 0);
    add(&traces, 0, 2, 1000, "q", 0);
    add(&traces, 1, 2, 1050, "r", 0);
    add(&traces, 1, 2, 9050, "s", 0);
    expect(&traces, "1221");
    /* Clocks of hosts are further apart than traces are long. */
    add(&traces, 0, 2, 1000, "p", 0);
    add(&traces, 1, 2, 2000, "q", 0);
    add(&traces, 0, 2, 9000, "r", 0);
    add(&traces, 1, 2, 9900, "s", 0);
    expect(&traces, "1122");
    /* A clock that nobody knows: names decide, and these do not. */
    add(&traces, 0, 2, 1000, "p", 0);
    add(&traces, 1, 2, 1000, "q", 0);
    add(&traces, 0, 2, 9000, "r", 0);
    add(&traces, 1, 2, 0, "s", 0);
    expect(&traces, "1111");
}

static void test_names(void **state) {
    struct traces traces = {0};
    (void)state;
    add(&traces, 0, 3, 1000, "a*", 0);
    add(&traces, 0, 3, 1050, "b*", 0);
    add(&traces, 1, 3, 1000, "a*", 0);
    add(&traces, 1, 3, 1050, "b*", 0);
    add(&traces, 2, 3, 1050, "b*", 0);
    expect(&traces, "21211");
    /* Time divides, and names what time does not. */
    add(&traces, 0, 1, 1000, "a", 0);
    add(&traces, 0, 1, 9000, "a", 0);
    add(&traces, 0, 1, 9010, "b", 0);
    expect(&traces, "123");
}

static void test_communicators(void **state) {
    struct traces traces = {0};
    (void)state;
    add(&traces, 0, 2, 0, "p", 7);
    add(&traces, 0, 2, 0, "q", 8);
    add(&traces, 1, 2, 0, "r", 8);
    add(&traces, 1, 2, 0, "s", 7);
    expect(&traces, "1221");
    /* Who has one in common is together, whatever the clock says. */
    add(&traces, 0, 2, 1000, "p", 7);
    add(&traces, 1, 2, 5000, "q", 7);
    add(&traces, 0, 2, 5010, "r", 8);
    add(&traces, 1, 2, 5020, "s", 8);
    expect(&traces, "1122");
    /* Numbers that are not unique say nothing. */
    add(&traces, 0, 2, 1000, "p", 7);
    add(&traces, 1, 2, 1010, "q", 7);
    add(&traces, 0, 2, 5000, "r", 7);
    add(&traces, 1, 2, 5010, "s", 7);
    expect(&traces, "1122");
}

static void test_processes_of_one_file(void **state) {
    struct traces traces = {0};
    (void)state;
    for (int64_t i = 0; i < 4; i++)
        add(&traces, i % 2, 2, i < 2 ? 1000 : 3000, "p", 0)->head.input_number = (uint32_t)i / 2;
    expect(&traces, "1122");
}

static void test_copies(void **state) {
    struct traces traces = {0};
    (void)state;
    for (int64_t i = 0; i < 4; i++)
        add(&traces, i % 2, 2, 1000, "p", 0)->head.ops = 5;
    expect(&traces, "11--");
    for (int64_t i = 0; i < 2; i++) { /* nobody knows that these are of the same rank */
        struct gt_rank_summary *summary = add(&traces, 0, -1, 1000, "p", 0);
        summary->head.ops = 5;
        summary->head.source = GT_RANK_OF_FILE_NAME;
    }
    expect(&traces, "11");
}

static void test_logs(void **state) {
    struct traces traces = {0};
    (void)state;
    add(&traces, 0, 1, 1000, "p", 7);
    add(&traces, 0, 1, 5000, "q", 8);
    for (uint64_t communicator = 8; communicator <= 9; communicator++) {
        struct gt_rank_summary *log = add(&traces, -1, -1, 0, "log", 0);
        log->head.ops = 0;
        *gt_rank_summary_add_log_lanes(log) = (struct gt_rank_log_lane){.communicator = communicator};
    }
    expect(&traces, "1221");
}

/* ---- the order of files ---- */

static uint64_t draw(uint64_t *state, uint64_t end) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (*state >> 33) % end;
}

/* Traces that have little in common, and some that are copies of the one before. */
static void add_random(struct traces *traces, uint64_t *state) {
    static const int64_t ranks[] = {-1, 0, 0, 1, 1, 2, 3}, worlds[] = {-1, 2, 2, 4},
                         starts_ns[] = {900, 1000, 1000, 1100, 5000};
    static const int64_t lengths_ns[] = {0, 100, 100, 3000};
    static const uint8_t sources[] = {GT_RANK_OF_TRACE, GT_RANK_OF_TRACE, GT_RANK_OF_MPI, GT_RANK_OF_FILE_NAME};
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    static const char *const copies[] = {"", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"};
    bool knows_time = draw(state, 4) > 0;
    size_t count = 2 + draw(state, 7);
    for (size_t i = 0; i < count; i++) {
        int64_t rank = ranks[draw(state, 7)], world = worlds[draw(state, 4)];
        struct gt_rank_summary *summary = add(traces, rank, world, knows_time ? starts_ns[draw(state, 5)] : 0,
                                              names[draw(state, 6)], draw(state, 2) ? 1 + draw(state, 3) : 0);
        summary->head.last_ns = lengths_ns[draw(state, 4)];
        summary->head.source = rank < 0 ? GT_RANK_UNKNOWN : sources[draw(state, 4)];
        if (i && draw(state, 6) == 0) {
            summary->head = traces->list[i - 1]->head;
            summary->head.input_number = (uint32_t)i;
            traces->names[i] = gt_str_of(copies[i]);
        } else if (i && draw(state, 6) == 0) {
            summary->head.input_number = traces->list[i - 1]->head.input_number;
        }
        if (draw(state, 2))
            assert_non_null(gt_rank_summary_add_kernels(summary));
    }
}

/* By summary: the first one that is of the same job; GT_RANK_NONE: it is left out. order: in which they are given. */
static void divide(const struct traces *traces, const size_t order[MOST], size_t together[MOST]) {
    struct gt_rank_summary *list[MOST];
    struct gt_str names[MOST];
    struct gt_rank_apart apart;
    for (size_t i = 0; i < traces->count; i++) {
        list[i] = traces->list[order[i]];
        names[i] = traces->names[order[i]];
    }
    assert_true(gt_rank_apart_init(&apart, list, names, traces->count));
    for (size_t i = 0; i < traces->count; i++) {
        together[order[i]] = apart.job_of[i] == GT_RANK_NONE ? GT_RANK_NONE : order[i];
        for (size_t k = 0; k < traces->count; k++)
            if (apart.job_of[i] != GT_RANK_NONE && apart.job_of[k] == apart.job_of[i] && order[k] < together[order[i]])
                together[order[i]] = order[k];
    }
    gt_rank_apart_release(&apart);
}

static void test_any_order(void **state) {
    enum { SETS = 3000, ORDERS = 6 };
    uint64_t seed = 20;
    (void)state;
    for (size_t set = 0; set < SETS; set++) {
        struct traces traces = {0};
        size_t order[MOST], expected[MOST], found[MOST];
        add_random(&traces, &seed);
        for (size_t i = 0; i < traces.count; i++)
            order[i] = i;
        divide(&traces, order, expected);
        for (size_t o = 0; o < ORDERS; o++) {
            for (size_t i = traces.count - 1; i > 0; i--) {
                size_t other = draw(&seed, i + 1), moved = order[i];
                order[i] = order[other];
                order[other] = moved;
            }
            divide(&traces, order, found);
            assert_memory_equal(found, expected, traces.count * sizeof *found);
        }
        for (size_t i = 0; i < traces.count; i++)
            gt_rank_summary_release(traces.list[i]);
    }
}

static void test_names_and_times_in_any_order(void **state) {
    struct traces traces = {0};
    (void)state;
    add(&traces, -1, -1, 1000, "x", 0)->head.source = GT_RANK_UNKNOWN; /* as many say 2 as say 4 */
    add(&traces, 0, 2, 1000, "x", 0);
    add(&traces, 0, 4, 1000, "x", 0);
    expect(&traces, "121");
    add(&traces, -1, -1, 1000, "x", 0)->head.source = GT_RANK_UNKNOWN;
    add(&traces, 0, 4, 1000, "x", 0);
    add(&traces, 0, 2, 1000, "x", 0);
    expect(&traces, "112");
    add(&traces, 1, 2, 9000, "q", 7); /* what has a communicator in common began when the first of it did */
    add(&traces, 0, 2, 1000, "p", 7);
    add(&traces, 0, 2, 5000, "r", 8);
    add(&traces, 1, 2, 5000, "s", 8);
    expect(&traces, "1122");
}

static void expect_pattern(const char *path, int64_t rank, const char *pattern) {
    struct gt_arena arena = {0};
    assert_string_equal(gt_trace_rank_pattern(path, rank, &arena).ptr, pattern);
    gt_arena_release(&arena);
}

static void test_patterns(void **state) {
    (void)state;
    expect_pattern("a/run1_rank1.json", 1, "a/run1_rank*.json");
    expect_pattern("rank1/rank1_run1.json", 1, "rank1/rank*_run1.json");
    expect_pattern("a/rank-0007.json", 7, "a/rank-*.json");
    expect_pattern("a/rank3.7.json", 7, "a/rank3.*.json");
    expect_pattern("a/node7.17.json", 7, "a/node*.17.json");
    expect_pattern("a7/other.json", 7, "a7/other.json");
    expect_pattern("99999999999999999999.json", 7, "99999999999999999999.json");
    expect_pattern("rank0.json", -1, "rank0.json");
    expect_pattern("", 0, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_job),
        cmocka_unit_test(test_worlds),
        cmocka_unit_test(test_strays),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_communicators),
        cmocka_unit_test(test_processes_of_one_file),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_logs),
        cmocka_unit_test(test_names_and_times_in_any_order),
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
