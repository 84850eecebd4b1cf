/* The table of collectives: messages by name and domain, of the whole trace and of a selection. */
#include "measure_world.h"

struct message {
    int64_t start_ns, pid;
    const char *name, *domain;
    uint64_t bytes;
};

/* Ops of processes 50 and 51, the messages, and between them ranges without any. */
static void build(struct world *world, const struct message *messages, size_t count) {
    world_begin(world, 1);
    struct gt_builder *builder = &world->builder;
    for (int64_t pid = 50; pid < 52; pid++) {
        uint32_t process = gt_builder_process(builder, pid, GT_STR(""));
        struct gt_ops_row op = {.start_ns = 1000 * (pid - 49),
                                .end_ns = 1000 * (pid - 49) + 500,
                                .name = world_text(world, "k"),
                                .lane = gt_builder_lane(builder, process, pid - 50, 7)};
        assert_true(gt_builder_op(builder, &op));
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t process = gt_builder_process(builder, messages[i].pid, GT_STR(""));
        struct gt_ranges_row range = {.start_ns = messages[i].start_ns,
                                      .end_ns = messages[i].start_ns + 5,
                                      .name = world_text(world, messages[i].name),
                                      .domain = world_text(world, messages[i].domain),
                                      .thread = gt_builder_thread(builder, process, 1, GT_STR("")),
                                      .end_thread = GT_NO_TRACK,
                                      .lane = GT_NO_TRACK};
        gt_builder_range(builder, &range);
        struct gt_comms_row comm = GT_COMM_UNKNOWN;
        comm.in_bytes = messages[i].bytes;
        comm.range = 0;
        gt_builder_comm(builder, &comm);
        range.name = world_text(world, "without");
        gt_builder_range(builder, &range);
    }
    world_seal(world);
}

static void row_is(const struct gt_table *table, size_t row, const char *name, const char *domain, int64_t count,
                   int64_t bytes, int64_t min_bytes, int64_t max_bytes) {
    assert_text(table_text(table, row, "name"), name);
    assert_text(table_text(table, row, "domain"), domain);
    assert_int_equal(table_int(table, row, "count"), count);
    assert_int_equal(table_int(table, row, "bytes"), bytes);
    assert_int_equal(table_int(table, row, "min_bytes"), min_bytes);
    assert_int_equal(table_int(table, row, "max_bytes"), max_bytes);
    assert_near(table_real(table, row, "avg_bytes"), (double)bytes / (double)count);
}

static const struct message messages[] = {
    {1000, 50, "allReduce", "NCCL", 100}, {1100, 50, "allReduce", "OTHER", 5000}, {1200, 51, "allReduce", "NCCL", 0},
    {1900, 50, "bcast", "NCCL", 4000},    {2100, 51, "allReduce", "NCCL", 3900},  {2200, 51, "aaa", "NCCL", 4000},
};

static void messages_are_summed_by_name_and_domain(void **state) {
    (void)state;
    struct world world;
    build(&world, messages, 6);
    world_run(&world, "collectives");
    const struct gt_table *table = world_table(&world, "collectives");
    assert_int_equal(table->row_count, 4);
    row_is(table, 0, "allReduce", "OTHER", 1, 5000, 5000, 5000);
    row_is(table, 1, "aaa", "NCCL", 1, 4000, 4000, 4000);
    row_is(table, 2, "allReduce", "NCCL", 3, 4000, 0, 3900);
    row_is(table, 3, "bcast", "NCCL", 1, 4000, 4000, 4000);
    world_end(&world);
}

static void a_selection_has_its_own(void **state) {
    (void)state;
    struct world world;
    build(&world, messages, 6);
    world.options.from = "100ns";
    world.options.to = "1us";
    world_run(&world, "collectives");
    const struct gt_table *table = world_table(&world, "collectives");
    assert_int_equal(table->row_count, 2); /* of process 50: only its op is in the window */
    row_is(table, 0, "allReduce", "OTHER", 1, 5000, 5000, 5000);
    row_is(table, 1, "bcast", "NCCL", 1, 4000, 4000, 4000);
    world.options = (struct asking){.process = "51"};
    world_run(&world, "collectives");
    table = world_table(&world, "collectives");
    assert_int_equal(table->row_count, 2);
    row_is(table, 0, "aaa", "NCCL", 1, 4000, 4000, 4000);
    row_is(table, 1, "allReduce", "NCCL", 2, 3900, 0, 3900);
    world_end(&world);
}

static void sums_beyond_64_bits_stop_at_the_end(void **state) {
    (void)state;
    const struct message huge[] = {{1000, 50, "a", "", UINT64_MAX}, {1001, 50, "a", "", UINT64_MAX}};
    struct world world;
    build(&world, huge, 2);
    world_run(&world, "collectives");
    const struct gt_table *table = world_table(&world, "collectives");
    assert_int_equal(table_int(table, 0, "bytes"), INT64_MAX);
    assert_int_equal(table_int(table, 0, "max_bytes"), INT64_MAX);
    assert_near(table_real(table, 0, "avg_bytes") / 18446744073709551615.0, 1);
    world_end(&world);
}

static void without_messages_the_table_is_empty_and_not_shown(void **state) {
    (void)state;
    struct world world;
    build(&world, NULL, 0);
    world_run(&world, "collectives");
    const struct gt_table *table = world_table(&world, "collectives");
    assert_int_equal(table->row_count, 0);
    assert_null(table->empty);
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_summed_by_name_and_domain),
        cmocka_unit_test(a_selection_has_its_own),
        cmocka_unit_test(sums_beyond_64_bits_stop_at_the_end),
        cmocka_unit_test(without_messages_the_table_is_empty_and_not_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
