/* The tables that need what only Nsight records: graphs, categories and texts of ranges, work of the driver. */
#include "measure_world.h"

/* Kernels of two processes in graphs and outside, on one GPU each. */
static void build(struct world *world) {
    static const struct {
        int64_t start_ns, end_ns, pid;
        uint64_t correlation;
        int graph; /* -1: none */
    } ops[] = {
        {1000, 1010, 50, 1, 3},
        {1010, 1030, 50, 1, 3},
        {1030, 1040, 50, 2, 3},
        {1040, 1045, 50, 1, 4},
        {1050, 1150, 50, 9, -1},
        {1000, 1007, 51, 1, 3},
        {1010, 1011, 51, GT_NO_CORRELATION, 3},
    };
    world_begin(world, 1);
    struct gt_builder *builder = &world->builder;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        uint32_t process = gt_builder_process(builder, ops[i].pid, GT_STR(""));
        gt_builder_op(builder, &(struct gt_ops_row){.start_ns = ops[i].start_ns,
                                                    .end_ns = ops[i].end_ns,
                                                    .correlation = ops[i].correlation,
                                                    .name = world_text(world, "k"),
                                                    .lane = gt_builder_lane(builder, process, ops[i].pid - 50, 7)});
        if (ops[i].graph >= 0)
            gt_builder_graph_op(builder, &(struct gt_graph_ops_row){.graph = (uint32_t)ops[i].graph});
    }
}

static void graph_is(const struct gt_table *table, size_t row, int64_t pid, int64_t graph, int64_t launches,
                     int64_t ops, int64_t total_ns) {
    assert_int_equal(table_int(table, row, "pid"), pid);
    assert_int_equal(table_int(table, row, "graph"), graph);
    assert_int_equal(table_int(table, row, "launches"), launches);
    assert_int_equal(table_int(table, row, "ops"), ops);
    assert_int_equal(table_int(table, row, "total_ns"), total_ns);
    assert_near(table_real(table, row, "avg_ns"), (double)total_ns / (double)launches);
}

static void graphs_are_identified_by_process_and_number(void **state) {
    (void)state;
    struct world world;
    build(&world);
    world_seal(&world);
    world_run(&world, "graphs");
    const struct gt_table *table = world_table(&world, "graphs");
    assert_int_equal(table->row_count, 3);
    graph_is(table, 0, 50, 3, 2, 3, 40);
    graph_is(table, 1, 51, 3, 1, 2, 8);
    graph_is(table, 2, 50, 4, 1, 1, 5);
    assert_near(table_real(table, 0, "share"), 40.0 / 153);
    world.options = (struct asking){.process = "51"};
    world_run(&world, "graphs");
    table = world_table(&world, "graphs");
    assert_int_equal(table->row_count, 1);
    graph_is(table, 0, 51, 3, 1, 2, 8);
    world_end(&world);
}

static uint32_t add_range(struct world *world, int64_t start_ns, int64_t end_ns, int64_t pid, const char *name) {
    struct gt_builder *builder = &world->builder;
    uint32_t process = gt_builder_process(builder, pid, GT_STR(""));
    uint32_t thread = gt_builder_thread(builder, process, 1, GT_STR(""));
    gt_builder_range(builder, &(struct gt_ranges_row){.start_ns = start_ns,
                                                      .end_ns = end_ns,
                                                      .name = world_text(world, name),
                                                      .domain = world_text(world, "D"),
                                                      .thread = thread,
                                                      .end_thread = GT_NO_TRACK,
                                                      .lane = GT_NO_TRACK});
    return thread;
}

static void add_category(struct world *world, const char *name) {
    gt_builder_range_category(&world->builder, &(struct gt_range_categories_row){.name = world_text(world, name)});
}

static void categories_sum_their_ranges(void **state) {
    (void)state;
    struct world world;
    build(&world);
    uint32_t thread = add_range(&world, 100, 200, 50, "outer");
    add_category(&world, "io");
    add_range(&world, 120, 150, 50, "inner");
    add_category(&world, "io");
    add_range(&world, 300, 400, 50, "idle");
    add_category(&world, "rest");
    add_range(&world, 300, 400, 50, "without");
    gt_builder_call(&world.builder, &(struct gt_calls_row){130, 140, 1, world_text(&world, "launch"), thread});
    gt_builder_call(&world.builder, &(struct gt_calls_row){160, 170, 2, world_text(&world, "launch"), thread});
    world_seal(&world);
    world_run(&world, "range_categories");
    const struct gt_table *table = world_table(&world, "range_categories");
    assert_int_equal(table->row_count, 2);
    assert_text(table_text(table, 0, "category"), "io");
    assert_text(table_text(table, 0, "domain"), "D");
    assert_int_equal(table_int(table, 0, "instances"), 2);
    assert_int_equal(table_int(table, 0, "ops"), 4 + 3); /* those of the inner range are in both */
    assert_int_equal(table_int(table, 0, "projected_ns"), 45 + 45);
    assert_int_equal(table_int(table, 0, "range_ns"), 130);
    assert_text(table_text(table, 1, "category"), "rest");
    assert_int_equal(table_int(table, 1, "ops"), 0);
    assert_int_equal(table_int(table, 1, "projected_ns"), 0);
    world.options = (struct asking){.process = "51"}; /* a selection lists only what launched some of it */
    world_run(&world, "range_categories");
    assert_int_equal(world_table(&world, "range_categories")->row_count, 0);
    world_end(&world);
}

static void add_text(struct world *world, const char *key, const char *text) {
    gt_builder_range_text(&world->builder,
                          &(struct gt_range_texts_row){.key = world_text(world, key), .text = world_text(world, text)});
}

static void texts_are_counted(void **state) {
    (void)state;
    struct world world;
    build(&world);
    for (int64_t i = 0; i < 3; i++) {
        add_range(&world, 1000 + 10 * i, 1001 + 10 * i, 50 + (i == 2), "thunk");
        add_text(&world, "HLO", "add");
        add_text(&world, "Source", i ? "b.py:2" : "a.py:1");
    }
    world_seal(&world);
    world_run(&world, "range_texts");
    const struct gt_table *table = world_table(&world, "range_texts");
    assert_int_equal(table->row_count, 3);
    assert_text(table_text(table, 0, "name"), "thunk");
    assert_text(table_text(table, 0, "key"), "HLO");
    assert_text(table_text(table, 0, "text"), "add");
    assert_int_equal(table_int(table, 0, "count"), 3);
    assert_text(table_text(table, 1, "text"), "a.py:1");
    assert_int_equal(table_int(table, 2, "count"), 2);
    world.options = (struct asking){.process = "51"};
    world_run(&world, "range_texts");
    assert_int_equal(world_table(&world, "range_texts")->row_count, 2);
    world_end(&world);
}

static void work_of_the_driver_is_summed(void **state) {
    (void)state;
    struct world world;
    build(&world);
    struct gt_builder *builder = &world.builder;
    uint32_t thread = add_range(&world, 1, 2, 50, "r");
    gt_strid lazy = world_text(&world, "Lazy Function Loading"), flush = world_text(&world, "flush");
    gt_builder_driver_work(builder, &(struct gt_driver_work_row){10, 30, lazy, thread});
    gt_builder_driver_work(builder, &(struct gt_driver_work_row){1015, 1025, lazy, thread});
    gt_builder_overhead(builder, &(struct gt_overheads_row){1015, 1025, flush, thread});
    world_seal(&world);
    world_run(&world, "driver_work");
    const struct gt_table *table = world_table(&world, "driver_work");
    assert_int_equal(table->row_count, 1);
    assert_text(table_text(table, 0, "name"), "Lazy Function Loading");
    assert_int_equal(table_int(table, 0, "count"), 2);
    assert_int_equal(table_int(table, 0, "total_ns"), 30);
    assert_int_equal(table_int(table, 0, "max_ns"), 20);
    world.options.from = "5ns";
    world_run(&world, "driver_work");
    assert_int_equal(table_int(world_table(&world, "driver_work"), 0, "count"), 1);
    world_end(&world);
}

static void traces_without_them_have_empty_tables(void **state) {
    static const char *const keys[] = {"graphs", "range_categories", "range_texts", "driver_work"};
    (void)state;
    struct world world;
    world_begin(&world, 1);
    world_seal(&world);
    for (size_t i = 0; i < 4; i++) {
        world_run(&world, keys[i]);
        assert_int_equal(world_table(&world, keys[i])->row_count, 0);
        assert_null(world_table(&world, keys[i])->empty);
    }
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_are_identified_by_process_and_number),
        cmocka_unit_test(categories_sum_their_ranges),
        cmocka_unit_test(texts_are_counted),
        cmocka_unit_test(work_of_the_driver_is_summed),
        cmocka_unit_test(traces_without_them_have_empty_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
