/* Launches, steps and processes against plain recomputation. */
#include "measure_world.h"

enum { SEEDS = 300 };

static const char *plain_call(struct gt_str name) {
    return gt_str_starts(name, GT_STR("cudaLaunchKernel")) ? "cudaLaunchKernel"
           : gt_str_starts(name, GT_STR("cuLaunch"))       ? "cuLaunchKernelEx"
                                                           : "cudaMemcpyAsync";
}

static void check_api(const struct world *world, const struct gt_table *table, size_t row) {
    const struct gt_store *store = world->store;
    int64_t calls = 0, total = 0, queues[64];
    size_t queued = 0;
    for (uint32_t call = 0; call < store->calls.count; call++) {
        struct gt_str name = gt_store_string(store, store->calls.name[call]);
        bool launched = false;
        for (uint32_t op = 0; op < store->ops.count; op++)
            launched |= world->labels->op_call[op] == call;
        if (!(launched || memmem(name.ptr, name.len, "Launch", 6)) ||
            !gt_str_eq(gt_str_of(plain_call(name)), table_text(table, row, "name")))
            continue;
        calls++;
        total += store->calls.end_ns[call] - store->calls.start_ns[call];
        for (uint32_t op = 0; op < store->ops.count; op++)
            if (world->labels->op_call[op] == call && store->ops.start_ns[op] >= store->calls.end_ns[call])
                queues[queued++] = store->ops.start_ns[op] - store->calls.end_ns[call];
    }
    qsort(queues, queued, sizeof *queues, by_value);
    assert_int_equal(table_int(table, row, "count"), calls);
    assert_int_equal(table_int(table, row, "total_ns"), total);
    assert_int_equal(table_int(table, row, "queued"), queued);
    if (queued) {
        assert_near(table_real(table, row, "queue_p50_ns"), quantile(queues, queued, 0.5));
        assert_near(table_real(table, row, "queue_p90_ns"), quantile(queues, queued, 0.9));
        assert_int_equal(table_int(table, row, "queue_max_ns"), queues[queued - 1]);
    } else {
        assert_true(table_is_null(table, row, "queue_p50_ns"));
        assert_true(table_is_null(table, row, "queue_max_ns"));
    }
}

static void test_launches(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world world;
        int64_t queued[2] = {0, 0};
        world_random(&world, seed);
        world_run(&world, "launches");
        const struct gt_table *table = world_table(&world, "launches");
        for (size_t row = 0; row < table->row_count; row++) {
            check_api(&world, table, row);
            queued[0] += table_int(table, row, "queued");
        }
        const struct gt_table *kernels = world_table(&world, "kernel_launches");
        for (size_t row = 0; row < kernels->row_count; row++) {
            int64_t values[64];
            size_t count = durations(&world, table_text(kernels, row, "name"), true, values);
            assert_int_equal(table_int(kernels, row, "count"), count);
            queued[1] += table_int(kernels, row, "queued");
        }
        for (uint32_t op = 0; op < world.store->ops.count; op++)
            if (!is_kernel(&world, op) && world.labels->op_call[op] != GT_NO_ROW)
                queued[1] += world.store->ops.start_ns[op] >= world.store->calls.end_ns[world.labels->op_call[op]];
        assert_int_equal(queued[0], queued[1]);
        world_end(&world);
    }
}

/* Launch calls whose op is not in the trace count when nothing is left out; a call that an export writes as two rows
   counts once. */
static void test_launches_without_op(void **state) {
    (void)state;
    struct world world;
    world_begin(&world, 1);
    struct gt_builder *builder = &world.builder;
    uint32_t process = gt_builder_process(builder, 1, GT_STR(""));
    uint32_t thread = gt_builder_thread(builder, process, 1, GT_STR(""));
    uint32_t lane = gt_builder_lane(builder, process, 0, 7);
    gt_strid launch = world_text(&world, "cudaLaunchKernel_v7000"), host = world_text(&world, "cudaLaunchHostFunc");
    gt_builder_op(builder, &(struct gt_ops_row){20, 30, 5, world_text(&world, "k"), lane, GT_OP_KERNEL, 0});
    gt_builder_call(builder, &(struct gt_calls_row){0, 10, 5, launch, thread});
    gt_builder_call(builder, &(struct gt_calls_row){2, 8, 5, launch, thread}); /* the same call again */
    gt_builder_call(builder, &(struct gt_calls_row){12, 15, 6, launch, thread});
    gt_builder_call(builder, &(struct gt_calls_row){13, 14, 6, launch, thread}); /* and again */
    gt_builder_call(builder, &(struct gt_calls_row){16, 17, GT_NO_CORRELATION, launch, thread});
    gt_builder_call(builder, &(struct gt_calls_row){18, 19, 7, host, thread});
    world_seal(&world);
    world_run(&world, "launches");
    assert_int_equal(world_table(&world, "launches")->row_count, 1);
    assert_text(table_text(world_table(&world, "launches"), 0, "name"), "cudaLaunchKernel");
    assert_int_equal(table_int(world_table(&world, "launches"), 0, "count"), 3);
    assert_int_equal(table_int(world_table(&world, "launches"), 0, "total_ns"), 10 + 3 + 1);
    world_run(&world, "overview");
    assert_int_equal(world_fact(&world, "launch_calls").integer, 3);
    world.options.to = "5ns";
    world_run(&world, "launches");
    assert_int_equal(table_int(world_table(&world, "launches"), 0, "count"), 1);
    world_end(&world);
}

/* ---- steps and processes ---- */

static void check_step(const struct world *world, const struct gt_table *table, size_t row) {
    const struct gt_store *store = world->store;
    const struct gt_step *step = world->labels->steps;
    while (step->number != table_int(table, row, "step"))
        step++;
    assert_int_equal(table_int(table, row, "cpu_start_ns"), step->start_ns - store->origin_ns);
    assert_int_equal(table_int(table, row, "cpu_ns"), step->end_ns - step->start_ns);
    int64_t ops = 0, busy = 0, first = INT64_MAX, last = INT64_MIN;
    bool running[WORLD_END] = {false};
    for (uint32_t op = 0; op < store->ops.count; op++) {
        bool is_here = table_is_null(table, row, "device") ||
                       store->devices.id[store->lanes.device[store->ops.lane[op]]] == table_int(table, row, "device");
        if (!is_here || world->labels->op_step[op] != (uint32_t)(step - world->labels->steps))
            continue;
        ops++;
        first = store->ops.start_ns[op] < first ? store->ops.start_ns[op] : first;
        last = store->ops.end_ns[op] > last ? store->ops.end_ns[op] : last;
        for (int64_t now = store->ops.start_ns[op]; now < store->ops.end_ns[op]; now++)
            running[now] = true;
    }
    for (size_t now = 0; now < WORLD_END; now++)
        busy += running[now];
    assert_int_equal(table_int(table, row, "ops"), ops);
    assert_int_equal(table_int(table, row, "busy_ns"), busy);
    assert_true(table_is_null(table, row, "device") == (ops == 0));
    if (ops) {
        assert_int_equal(table_int(table, row, "start_ns"), first - store->origin_ns);
        assert_int_equal(table_int(table, row, "end_ns"), last - store->origin_ns);
    }
}

static void test_steps(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world world;
        world_random(&world, seed);
        int64_t in_steps = 0, counted = 0;
        for (uint32_t op = 0; op < world.store->ops.count; op++)
            in_steps += world.labels->op_step[op] != GT_NO_ROW;
        world_run(&world, "steps");
        const struct gt_table *table = world_table(&world, "steps");
        assert_true(table->row_count >= 3);
        for (size_t row = 0; row < table->row_count; row++) {
            check_step(&world, table, row);
            counted += table_int(table, row, "ops");
            if (row)
                assert_true(table_int(table, row - 1, "step") <= table_int(table, row, "step"));
        }
        assert_int_equal(counted, in_steps);
        world_end(&world);
    }
}

static void test_step_states(void **state) {
    (void)state;
    static const int64_t lengths[] = {400, 170, 100, 110, 168, 90, 100};
    static const char *const states[] = {"warm-up", "warm-up", "steady", "steady", "outlier", "steady", "steady"};
    struct world world;
    world_begin(&world, 1);
    uint32_t process = gt_builder_process(&world.builder, 1, GT_STR(""));
    uint32_t thread = gt_builder_thread(&world.builder, process, 1, GT_STR(""));
    for (int64_t i = 0; i < 7; i++) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%d", (int)i);
        gt_builder_range(&world.builder, &(struct gt_ranges_row){.start_ns = i * 1000,
                                                                 .end_ns = i * 1000 + lengths[i],
                                                                 .name = world_text(&world, name),
                                                                 .thread = thread,
                                                                 .end_thread = GT_NO_TRACK,
                                                                 .lane = GT_NO_TRACK});
    }
    world_seal(&world);
    world_run(&world, "steps");
    const struct gt_table *table = world_table(&world, "steps");
    assert_int_equal(table->row_count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_text(table_text(table, i, "state"), states[i]); /* the median is 110 */
        assert_true(table_is_null(table, i, "device"));
        assert_int_equal(table_int(table, i, "ops"), 0);
    }
    world_end(&world);
}

static void test_processes(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world world;
        world_random(&world, seed);
        world_run(&world, "processes");
        const struct gt_table *table = world_table(&world, "processes");
        int64_t counted = 0;
        for (size_t row = 0; row < table->row_count; row++) {
            int64_t ops = 0, total = 0;
            int64_t pid = table_is_null(table, row, "pid") ? -1 : table_int(table, row, "pid");
            for (uint32_t op = 0; op < world.store->ops.count; op++) {
                uint32_t owner = world.store->lanes.process[world.store->ops.lane[op]];
                uint32_t call = world.labels->op_call[op];
                if (owner == GT_NO_TRACK && call != GT_NO_ROW)
                    owner = world.store->threads.process[world.store->calls.thread[call]];
                if ((owner == GT_NO_TRACK ? -1 : world.store->processes.pid[owner]) != pid)
                    continue;
                ops++;
                total += op_ns(&world, op);
            }
            assert_int_equal(table_int(table, row, "ops"), ops);
            assert_int_equal(table_int(table, row, "total_ns"), total);
            counted += ops;
        }
        assert_int_equal(counted, world.store->ops.count);
        world_end(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches),    cmocka_unit_test(test_launches_without_op), cmocka_unit_test(test_steps),
        cmocka_unit_test(test_step_states), cmocka_unit_test(test_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
