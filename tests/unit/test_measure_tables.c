/* Kernels, memory, summed inputs, overview and health against plain recomputation. */
#include <math.h>

#include "measure_world.h"

enum { SEEDS = 300 };

static double deviation(const int64_t *values, size_t count) {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += (double)values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += ((double)values[i] - mean) * ((double)values[i] - mean);
    return count < 2 ? 0 : sqrt(squares / (double)(count - 1));
}

static void check_kernel(const struct world *world, const struct gt_table *table, size_t row, int64_t all_ns,
                         int64_t all_count) {
    int64_t values[64], total = 0;
    size_t count = durations(world, table_text(table, row, "name"), true, values);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++)
        total += values[i];
    assert_int_equal(table_int(table, row, "count"), count);
    assert_int_equal(table_int(table, row, "total_ns"), total);
    assert_near(table_real(table, row, "avg_ns"), (double)total / (double)count);
    assert_int_equal(table_int(table, row, "min_ns"), values[0]);
    assert_int_equal(table_int(table, row, "max_ns"), values[count - 1]);
    assert_near(table_real(table, row, "median_ns"), quantile(values, count, 0.5));
    assert_near(table_real(table, row, "p90_ns"), quantile(values, count, 0.9));
    assert_near(table_real(table, row, "p99_ns"), quantile(values, count, 0.99));
    assert_near(table_real(table, row, "stddev_ns"), deviation(values, count));
    assert_near(table_real(table, row, "share"), all_ns ? (double)total / (double)all_ns : 0);
    assert_near(table_real(table, row, "launch_share"), (double)count / (double)all_count);
    static const struct {
        const char *word, *category;
    } expected[] = {{"nccl", "comm"}, {"gemm", "gemm"}, {"relu", "activation"}, {"softmax", "softmax"}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (gt_str_find_nocase(table_text(table, row, "name"), gt_str_of(expected[i].word)))
            assert_text(table_text(table, row, "category"), expected[i].category);
}

static void check_kernels(struct world *world) {
    int64_t all_ns = 0, all_count = 0, counted = 0;
    for (uint32_t row = 0; row < world->store->ops.count; row++) {
        all_ns += is_kernel(world, row) ? op_ns(world, row) : 0;
        all_count += is_kernel(world, row);
    }
    world_run(world, "kernels");
    const struct gt_table *table = world_table(world, "kernels");
    for (size_t row = 0; row < table->row_count; row++) {
        check_kernel(world, table, row, all_ns, all_count);
        counted += table_int(table, row, "count");
        if (row)
            assert_true(table_int(table, row - 1, "total_ns") >= table_int(table, row, "total_ns"));
    }
    assert_int_equal(counted, all_count);
    assert_int_equal(world_fact(world, "kernel_launches").integer, all_count);
    assert_int_equal(world_fact(world, "kernel_names").integer, table->row_count);
    assert_int_equal(world_fact(world, "kernel_time_ns").integer, all_ns);
}

static void test_kernels(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world world;
        world_random(&world, seed);
        check_kernels(&world);
        world.options.names = GPUTIME_NAMES_SHORT;
        check_kernels(&world);
        const struct gt_table *table = world_table(&world, "kernels");
        for (size_t row = 0; row < table->row_count; row++)
            assert_true(
                gt_str_eq(gt_label_simplify_name(table_text(table, row, "full_name")), table_text(table, row, "name")));
        world_end(&world);
    }
}

static void test_memory(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world world;
        world_random(&world, seed);
        int64_t values[64], total = 0, bytes = 0;
        size_t count = durations(&world, GT_STR("Memcpy HtoD"), false, values);
        for (size_t i = 0; i < count; i++)
            total += values[i];
        for (size_t i = 0; i < world.store->copies.count; i++)
            bytes += (int64_t)world.store->copies.bytes[i];
        world_run(&world, "memory");
        const struct gt_table *table = world_table(&world, "memory");
        assert_int_equal(table->row_count, count > 0);
        if (count) {
            assert_int_equal(table_int(table, 0, "count"), count);
            assert_int_equal(table_int(table, 0, "total_ns"), total);
            if (world.store->copies.count)
                assert_int_equal(table_int(table, 0, "bytes"), bytes);
            else
                assert_true(table_is_null(table, 0, "bytes"));
        }
        world_end(&world);
    }
}

/* ---- summed inputs, overview, health ---- */

static void put_group(struct world *world, const char *name, uint64_t count, int64_t total, double median,
                      enum gt_op_kind kind) {
    gt_builder_group(&world->builder, &(struct gt_groups_row){.instances = count,
                                                              .total_ns = total,
                                                              .min_ns = total / 10,
                                                              .max_ns = total / 2,
                                                              .median_ns = median,
                                                              .stddev_ns = 3.5,
                                                              .name = world_text(world, name),
                                                              .kind = (uint8_t)kind});
}

/* Categories of summed rows: shares of the sum, no wall time. Names and categories select rows, times cannot. */
static void test_group_selection(void **state) {
    (void)state;
    struct world world;
    world_begin(&world, 1);
    put_group(&world, "gemm", 4, 400, 90, GT_OP_KERNEL);
    put_group(&world, "relu", 10, 400, -1, GT_OP_KERNEL);
    put_group(&world, "ncclDevKernel_AllReduce_RING", 2, 150, 70, GT_OP_KERNEL);
    put_group(&world, "[CUDA memset]", 3, 50, 10, GT_OP_MEMSET);
    world_seal(&world);
    world_run(&world, "categories");
    const struct gt_table *table = world_table(&world, "categories");
    int64_t counts = 0, total_ns = 0;
    double share = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        assert_true(table_is_null(table, i, "wall_ns"));
        if (!gt_str_eq(table_text(table, i, "time_class"), GT_STR("compute")))
            continue;
        counts += table_int(table, i, "count");
        total_ns += table_int(table, i, "total_ns");
        share += table_real(table, i, "share");
    }
    assert_int_equal(counts, 14);
    assert_int_equal(total_ns, 800);
    assert_near(share, 0.8);
    assert_text(table_text(table, table->row_count - 1, "time_class"), "memory");
    world.options.category = "comm";
    world_run(&world, "kernels");
    table = world_table(&world, "kernels");
    assert_int_equal(table->row_count, 1);
    assert_text(table_text(table, 0, "name"), "ncclDevKernel_AllReduce_RING");
    world.options.category = NULL;
    world.options.name = "GEMM";
    world_run(&world, "kernels");
    table = world_table(&world, "kernels");
    assert_int_equal(table->row_count, 1);
    assert_text(table_text(table, 0, "name"), "gemm");
    assert_near(table_real(table, 0, "share"), 1);
    world.options.name = NULL;
    world.options.from = "1us";
    struct gt_view *view;
    struct gt_error err = {0};
    assert_int_equal(gt_view_new(world.store, world.labels, ask(&world.options, &world.asked), &view, &err),
                     GT_ERR_USAGE);
    world_end(&world);
}

static void test_groups(void **state) {
    (void)state;
    struct world world;
    world_begin(&world, 1);
    put_group(&world, "void gemm<int>(float*)", 4, 400, 90, GT_OP_KERNEL);
    put_group(&world, "void gemm<long>(float*)", 6, 200, 30, GT_OP_KERNEL);
    put_group(&world, "relu", 10, 400, -1, GT_OP_KERNEL);
    put_group(&world, "[CUDA memcpy HtoD]", 3, 30, 10, GT_OP_MEMCPY);
    world_seal(&world);
    world_run(&world, "kernels");
    const struct gt_table *table = world_table(&world, "kernels");
    assert_int_equal(table->row_count, 3);
    assert_text(table_text(table, 0, "name"), "relu");
    assert_true(table_is_null(table, 0, "median_ns"));
    assert_true(table_is_null(table, 0, "p90_ns"));
    assert_near(table_real(table, 1, "median_ns"), 90);
    assert_near(table_real(table, 1, "stddev_ns"), 3.5);
    assert_near(table_real(table, 1, "avg_ns"), 100);
    assert_near(table_real(table, 1, "share"), 0.4);
    assert_near(table_real(table, 1, "launch_share"), 0.2);
    world.options.names = GPUTIME_NAMES_SHORT;
    world_run(&world, "kernels");
    table = world_table(&world, "kernels");
    assert_int_equal(table->row_count, 2);
    assert_text(table_text(table, 0, "name"), "gemm");
    assert_int_equal(table_int(table, 0, "count"), 10);
    assert_int_equal(table_int(table, 0, "total_ns"), 600);
    assert_int_equal(table_int(table, 0, "min_ns"), 20);
    assert_int_equal(table_int(table, 0, "max_ns"), 200);
    assert_true(table_is_null(table, 0, "median_ns"));
    world_run(&world, "memory");
    assert_int_equal(table_int(world_table(&world, "memory"), 0, "count"), 3);
    world_run(&world, "overview");
    assert_int_equal(world_fact(&world, "kernels").integer, 20);
    assert_int_equal(world_fact(&world, "memory_ops").integer, 3);
    world_run(&world, "health");
    assert_int_equal(world_issue(&world, "no_gpu_work"), 0);
    world_end(&world);
}

/* A section has each fact once, whichever analyses run. */
static void test_overview(void **state) {
    (void)state;
    struct world world;
    struct gt_error err = {0};
    world_random(&world, 11);
    world_run(&world, "overview");
    size_t kernels = 0;
    for (uint32_t op = 0; op < world.store->ops.count; op++)
        kernels += is_kernel(&world, op);
    assert_int_equal(world_fact(&world, "ops").integer, world.store->ops.count);
    assert_int_equal(world_fact(&world, "kernels").integer, kernels);
    assert_int_equal(world_fact(&world, "kernel_launches").integer, kernels);
    assert_int_equal(world_fact(&world, "memory_ops").integer, world.store->ops.count - kernels);
    assert_int_equal(world_fact(&world, "devices").integer, world.view->device_count);
    assert_int_equal(world_fact(&world, "streams").integer, world.view->lane_count);
    assert_int_equal(world_fact(&world, "steps").integer, 3);
    double busy_share = world_fact(&world, "busy_share").real;
    assert_int_equal(gt_analysis_find("kernels")->run(world.view, world.section, &err), GT_OK);
    size_t found = 0;
    for (size_t b = 0; b < world.section->block_count; b++)
        for (size_t f = 0; f < world.section->blocks[b].fact_count; f++)
            found += strcmp(world.section->blocks[b].facts[f].key, "kernel_launches") == 0;
    assert_int_equal(found, 1);
    world_run(&world, "accounting");
    assert_near(busy_share, table_real(world_table(&world, "accounting_summary"), 0, "utilisation"));
    world_end(&world);
}

static void test_health(void **state) {
    (void)state;
    struct world world;
    world_begin(&world, 1);
    struct gt_builder *builder = &world.builder;
    uint32_t first = gt_builder_process(builder, 1, GT_STR("")), second = gt_builder_process(builder, 2, GT_STR(""));
    uint32_t thread = gt_builder_thread(builder, first, 1, GT_STR(""));
    uint32_t lane = gt_builder_lane(builder, first, 0, 7), other = gt_builder_lane(builder, second, 0, 7);
    gt_strid copy = world_text(&world, "Memcpy DtoH"), launch = world_text(&world, "cudaLaunchKernel");
    gt_builder_op(builder, &(struct gt_ops_row){100, 200, 1, copy, lane, GT_OP_MEMCPY, 0});
    gt_builder_op(builder, &(struct gt_ops_row){150, 160, 1, copy, lane, GT_OP_MEMCPY, 0});  /* overlaps */
    gt_builder_op(builder, &(struct gt_ops_row){170, 170, 1, copy, lane, GT_OP_MEMCPY, 0});  /* overlaps, no length */
    gt_builder_op(builder, &(struct gt_ops_row){180, 250, 1, copy, other, GT_OP_MEMCPY, 0}); /* another process */
    gt_builder_op(builder, &(struct gt_ops_row){300, 310, 1, GT_STRID_EMPTY, lane, GT_OP_MEMSET, 0});
    gt_builder_op(builder, &(struct gt_ops_row){400, 390, 1, copy, lane, GT_OP_MEMCPY, 0}); /* backwards: left out */
    gt_builder_call(builder, &(struct gt_calls_row){10, 20, 40, launch, thread});
    gt_builder_call(builder, &(struct gt_calls_row){30, 40, 41, launch, thread});
    gt_builder_overhead(builder, &(struct gt_overheads_row){0, 100, copy, thread});   /* before the span */
    gt_builder_overhead(builder, &(struct gt_overheads_row){50, 101, copy, thread});  /* into it */
    gt_builder_overhead(builder, &(struct gt_overheads_row){310, 400, copy, thread}); /* after it */
    gt_builder_driver_work(builder, &(struct gt_driver_work_row){50, 101, copy, thread});
    gt_builder_issue(builder, GT_ISSUE_EVENTS_DROPPED, 4, 77);
    gt_builder_issue(builder, GT_ISSUE_OP_WITHOUT_NAME, 1, 77); /* decoders may say where it is */
    world_seal(&world);
    world_run(&world, "health");
    assert_int_equal(world_issue(&world, "op_overlap"), 2);
    assert_int_equal(world_issue(&world, "op_zero_length"), 1);
    assert_int_equal(world_issue(&world, "op_without_name"), 1);
    assert_int_equal(world_issue(&world, "op_negative_duration"), 1);
    assert_int_equal(world_issue(&world, "op_without_call"), 5);
    assert_int_equal(world_issue(&world, "profiler_overhead"), 1);
    assert_int_equal(world_issue(&world, "no_kernels"), 2);
    assert_int_equal(world_issue(&world, "device_shared"), 0); /* the trace has the process of each stream */
    assert_int_equal(world_issue(&world, "no_gpu_work"), 0);
    assert_int_equal(world_issue(&world, "events_dropped"), 4);
    for (size_t i = 0; i < world.section->issue_count; i++) {
        bool has_offset = strcmp(world.section->issues[i].id, "events_dropped") == 0 ||
                          strcmp(world.section->issues[i].id, "op_without_name") == 0;
        assert_true(world.section->issues[i].first_offset == (has_offset ? 77 : UINT64_MAX));
    }
    world_end(&world);
}

/* Streams of no known process, used by the launch calls of two. */
static void test_shared_device(void **state) {
    (void)state;
    for (int64_t second_pid = 1; second_pid <= 2; second_pid++) {
        struct world world;
        world_begin(&world, 1);
        uint32_t lane = gt_builder_lane(&world.builder, GT_NO_TRACK, 0, 7);
        gt_strid kernel = world_text(&world, "k"), launch = world_text(&world, "cudaLaunchKernel");
        for (int64_t i = 0; i < 2; i++) {
            uint32_t process = gt_builder_process(&world.builder, i ? second_pid : 1, GT_STR(""));
            uint32_t thread = gt_builder_thread(&world.builder, process, 1, GT_STR(""));
            gt_builder_op(&world.builder, &(struct gt_ops_row){50 + i, 51 + i, (uint64_t)i + 3, kernel, lane, 0, 0});
            gt_builder_call(&world.builder, &(struct gt_calls_row){i, i + 1, (uint64_t)i + 3, launch, thread});
        }
        world_seal(&world);
        world_run(&world, "health");
        assert_int_equal(world_issue(&world, "device_shared"), second_pid == 2);
        world_end(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),         cmocka_unit_test(test_memory),   cmocka_unit_test(test_groups),
        cmocka_unit_test(test_group_selection), cmocka_unit_test(test_overview), cmocka_unit_test(test_health),
        cmocka_unit_test(test_shared_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
