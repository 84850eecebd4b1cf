/* Gaps of whole devices and their causes against plain recomputation; what call names say; odd and empty traces. */
#include "measure_world.h"

#include "events/builder.h"
#include "events/view_slots.h"
#include "measure/results/results.h"

enum { SEEDS = 400 };

/* ---- causes ---- */

struct plain_idle {
    int64_t start, end;
    const struct plain_op *next;
    uint32_t call;
    const char *cause;
};

static bool is_idle(const struct plain_ops *ops, int64_t device, int64_t now) {
    for (size_t i = 0; i < ops->count; i++)
        if (ops->items[i].device == device && plain_runs(&ops->items[i], now))
            return false;
    return true;
}

static const struct plain_op *first_starting(const struct plain_ops *ops, int64_t device, int64_t now) {
    const struct plain_op *best = NULL;
    for (size_t i = 0; i < ops->count; i++) {
        const struct plain_op *op = &ops->items[i];
        if (op->device == device && op->start == now &&
            (!best || op->stream < best->stream || (op->stream == best->stream && op->row < best->row)))
            best = op;
    }
    return best;
}

static size_t find_idle(const struct world *world, const struct plain_ops *ops, const struct gt_view_device *device,
                        struct plain_idle *idle) {
    size_t count = 0;
    for (int64_t now = device->span_start_ns; now < device->span_end_ns; now++) {
        if (!is_idle(ops, device->id, now))
            continue;
        if (count && idle[count - 1].end == now)
            idle[count - 1].end = now + 1;
        else
            idle[count++] = (struct plain_idle){.start = now, .end = now + 1};
    }
    for (size_t i = 0; i < count; i++) {
        idle[i].next = first_starting(ops, device->id, idle[i].end);
        idle[i].call = idle[i].next ? world->labels->op_call[idle[i].next->row] : GT_NO_ROW;
    }
    return count;
}

static double median(int64_t *values, size_t count) {
    qsort(values, count, sizeof *values, by_value);
    return ((double)values[(count - 1) / 2] + (double)values[count / 2]) / 2;
}

/* More than half of [start, end) inside the blocking calls of a thread? */
static bool was_blocked(const struct world *world, uint32_t thread, int64_t start, int64_t end) {
    const struct gt_calls *calls = &world->store->calls;
    int64_t blocked = 0;
    for (int64_t now = start; now < end; now++) {
        bool is_inside = false;
        for (size_t i = 0; i < calls->count; i++) {
            struct gt_str name = gt_store_string(world->store, calls->name[i]);
            bool is_blocking =
                gt_str_eq(name, GT_STR("cudaStreamSynchronize")) || gt_str_eq(name, GT_STR("cudaMemcpy_ptds"));
            is_inside |=
                is_blocking && calls->thread[i] == thread && calls->start_ns[i] <= now && now < calls->end_ns[i];
        }
        blocked += is_inside;
    }
    return 2 * blocked > end - start;
}

static void judge(const struct world *world, struct plain_idle *idle, size_t count) {
    const struct gt_calls *calls = &world->store->calls;
    int64_t delays[256];
    size_t delay_count = 0;
    for (size_t i = 0; i < count; i++)
        if (idle[i].call != GT_NO_ROW && calls->end_ns[idle[i].call] >= idle[i].start)
            delays[delay_count++] = idle[i].end - calls->end_ns[idle[i].call];
    double latency = delay_count ? median(delays, delay_count) : -1e9;
    for (size_t i = 0; i < count; i++) {
        uint32_t call = idle[i].call;
        if (!idle[i].next)
            idle[i].cause = "end";
        else if (call == GT_NO_ROW)
            idle[i].cause = "unknown";
        else if (calls->start_ns[call] > idle[i].start)
            idle[i].cause =
                was_blocked(world, calls->thread[call], idle[i].start, calls->start_ns[call]) ? "sync" : "host";
        else if (calls->end_ns[call] > idle[i].start || (double)(idle[i].end - calls->end_ns[call]) <= latency)
            idle[i].cause = "launch";
        else
            idle[i].cause = "dependency";
    }
}

static size_t find_gap(const struct world *world, const struct gt_table *table, int64_t device, int64_t start) {
    for (size_t row = 0; row < table->row_count; row++)
        if (table_int(table, row, "device") == device &&
            table_int(table, row, "start_ns") == start - world->store->origin_ns)
            return row;
    fail_msg("no gap at %lld", (long long)start);
    return 0;
}

/* Checks the sums by cause of one device; returns how many rows it has. */
static size_t check_causes(const struct gt_table *table, int64_t device, const struct plain_idle *idle, size_t count) {
    int64_t waits[256];
    size_t wait_count = 0, rows = 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(idle[i].cause, "dependency") == 0)
            waits[wait_count++] = idle[i].end - idle[i].start;
    double usual = wait_count ? median(waits, wait_count) : 0;
    for (size_t row = 0; row < table->row_count; row++) {
        if (table_int(table, row, "device") != device)
            continue;
        rows++;
        int64_t gaps = 0, total = 0, longest = 0;
        double recoverable = 0;
        for (size_t i = 0; i < count; i++) {
            if (!gt_str_eq(table_text(table, row, "cause"), gt_str_of(idle[i].cause)))
                continue;
            int64_t length = idle[i].end - idle[i].start;
            gaps++;
            total += length;
            longest = length > longest ? length : longest;
            bool is_avoidable = strstr("sync host launch", idle[i].cause) != NULL;
            recoverable += is_avoidable && (double)length > usual ? (double)length - usual : 0;
        }
        assert_true(gaps > 0);
        assert_int_equal(table_int(table, row, "count"), gaps);
        assert_int_equal(table_int(table, row, "total_ns"), total);
        assert_int_equal(table_int(table, row, "longest_ns"), longest);
        assert_near(table_real(table, row, "recoverable_ns"), recoverable);
    }
    return rows;
}

static void check_gaps(struct world *world) {
    struct plain_ops ops = world->view->has_window
                               ? plain_ops_between(world, world->view->window_start_ns, world->view->window_end_ns)
                               : plain_all(world);
    const struct gt_table *gaps = world_table(world, "gaps"), *causes = world_table(world, "idle_causes");
    size_t total = 0, cause_rows = 0;
    for (size_t d = 0; d < world->view->device_count; d++) {
        struct plain_idle idle[256];
        size_t count = find_idle(world, &ops, &world->view->devices[d], idle);
        judge(world, idle, count);
        for (size_t i = 0; i < count; i++) {
            size_t row = find_gap(world, gaps, world->view->devices[d].id, idle[i].start);
            assert_int_equal(table_int(gaps, row, "gap_ns"), idle[i].end - idle[i].start);
            assert_text(table_text(gaps, row, "cause"), idle[i].cause);
            if (idle[i].next)
                assert_true(gt_str_eq(table_text(gaps, row, "before"), plain_name(world, idle[i].next)));
            else
                assert_true(table_is_null(gaps, row, "before"));
            assert_true(table_is_null(gaps, row, "activity") == (strcmp(idle[i].cause, "host") != 0));
        }
        total += count;
        cause_rows += check_causes(causes, world->view->devices[d].id, idle, count);
    }
    assert_int_equal(gaps->row_count, total);
    assert_int_equal(causes->row_count, cause_rows);
    for (size_t row = 1; row < gaps->row_count; row++)
        assert_true(table_int(gaps, row - 1, "gap_ns") >= table_int(gaps, row, "gap_ns"));
}

static void test_causes(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world world;
        world_random(&world, seed);
        if (seed % 4 == 0 && world_last_end(&world) > world.store->origin_ns) {
            world.options.from = "13%";
            world.options.to = "71.5%";
        }
        struct gt_error err = {0};
        if (world_try(&world, "gaps", &err) == GT_OK)
            check_gaps(&world);
        world_end(&world);
    }
}

/* ---- hand-made gaps ---- */

static void put_op(struct world *world, int64_t start, int64_t end, uint64_t correlation) {
    assert_true(gt_builder_op(&world->builder, &(struct gt_ops_row){start, end, correlation, world_text(world, "k"),
                                                                    gt_builder_lane(&world->builder, GT_NO_TRACK, 0, 7),
                                                                    GT_OP_KERNEL, 0}));
}

static void put_call(struct world *world, const char *name, int64_t start, int64_t end, uint64_t correlation) {
    uint32_t process = gt_builder_process(&world->builder, 1, GT_STR(""));
    uint32_t thread = gt_builder_thread(&world->builder, process, 1, GT_STR(""));
    gt_builder_call(&world->builder, &(struct gt_calls_row){start, end, correlation, world_text(world, name), thread});
}

static void put_cpu_op(struct world *world, int64_t start, int64_t end) {
    uint32_t process = gt_builder_process(&world->builder, 1, GT_STR(""));
    uint32_t thread = gt_builder_thread(&world->builder, process, 1, GT_STR(""));
    gt_builder_cpu_op(&world->builder, &(struct gt_cpu_ops_row){start, end, world_text(world, "aten::mm"), thread});
}

/* One gap of each cause, and of each activity. */
static void test_each_cause(void **state) {
    (void)state;
    struct world world;
    world_begin(&world, 1);
    put_op(&world, 0, 100, GT_NO_CORRELATION);
    put_call(&world, "cudaDeviceSynchronize_v3020", 90, 160, GT_NO_CORRELATION);
    put_call(&world, "cudaLaunchKernel", 170, 180, 1); /* 60 of 70 ns blocked */
    put_op(&world, 190, 200, 1);                       /* sync, 90 ns, call to op 10 ns */
    put_cpu_op(&world, 205, 240);
    put_call(&world, "cudaLaunchKernel", 245, 250, 2);
    put_op(&world, 260, 300, 2); /* host inside an operator, 60 ns */
    put_call(&world, "cudaMalloc", 301, 345, GT_NO_CORRELATION);
    put_call(&world, "cudaLaunchKernel", 350, 355, 3);
    put_op(&world, 365, 400, 3); /* host inside an API call, 65 ns */
    put_call(&world, "cudaLaunchKernel", 450, 455, 4);
    put_op(&world, 465, 500, 4); /* host in untraced code, 65 ns */
    put_call(&world, "cudaLaunchKernel", 490, 510, 5);
    put_op(&world, 530, 600, 5); /* launch: the call ended after the gap had begun, 30 ns */
    put_call(&world, "cudaLaunchKernel", 560, 570, 6);
    put_op(&world, 640, 700, 6); /* dependency: queued for 70 ns, 40 ns */
    put_call(&world, "cudaLaunchKernel", 690, 699, 7);
    put_op(&world, 705, 800, 7);                 /* launch: within the usual 10 ns, 5 ns */
    put_op(&world, 850, 900, GT_NO_CORRELATION); /* unknown, 50 ns */
    world_seal(&world);
    world_run(&world, "gaps");
    const struct gt_table *gaps = world_table(&world, "gaps");
    static const struct {
        int64_t start, length;
        const char *cause;
        double recoverable; /* above the one dependency gap of 40 ns */
    } expected[] = {{100, 90, "sync", 50},   {300, 65, "host", 25},      {400, 65, "host", 25},  {200, 60, "host", 20},
                    {800, 50, "unknown", 0}, {600, 40, "dependency", 0}, {500, 30, "launch", 0}, {700, 5, "launch", 0}};
    assert_int_equal(gaps->row_count, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(table_int(gaps, i, "start_ns"), expected[i].start);
        assert_int_equal(table_int(gaps, i, "gap_ns"), expected[i].length);
        assert_text(table_text(gaps, i, "cause"), expected[i].cause);
        assert_near(table_real(gaps, i, "recoverable_ns"), expected[i].recoverable);
    }
    assert_text(table_text(gaps, 0, "call"), "cudaLaunchKernel");
    assert_text(table_text(gaps, 1, "activity"), "in API calls");
    assert_text(table_text(gaps, 2, "activity"), "in untraced code");
    assert_text(table_text(gaps, 3, "activity"), "in ranges or operators");
    const struct gt_table *host = world_table(&world, "idle_host");
    assert_int_equal(host->row_count, 3);
    assert_near(table_real(host, 0, "share"), 65.0 / 190);
    world_end(&world);
}

/* A window cuts the last gap, and gaps sum to the idle time. */
static void test_end_of_window(void **state) {
    (void)state;
    struct world world;
    world_begin(&world, 1);
    put_op(&world, 0, 10, GT_NO_CORRELATION);
    put_op(&world, 50, 60, GT_NO_CORRELATION);
    world_seal(&world);
    world.options.to = "30ns";
    world_run(&world, "gaps");
    const struct gt_table *gaps = world_table(&world, "gaps");
    assert_int_equal(gaps->row_count, 1);
    assert_text(table_text(gaps, 0, "cause"), "end");
    assert_int_equal(table_int(gaps, 0, "gap_ns"), 20);
    assert_true(table_is_null(gaps, 0, "call"));
    world.options.to = NULL;
    world.options.from = "20ns";
    world_run(&world, "gaps");
    gaps = world_table(&world, "gaps");
    assert_int_equal(gaps->row_count, 1);
    assert_int_equal(table_int(gaps, 0, "gap_ns"), 30);
    assert_text(table_text(gaps, 0, "cause"), "unknown");
    assert_true(table_is_null(gaps, 0, "after"));
    world_end(&world);
}

/* ---- names of calls ---- */

static void test_call_names(void **state) {
    (void)state;
    static const char *const blocking[] = {"cudaDeviceSynchronize",
                                           "cuCtxSynchronize",
                                           "cudaStreamSynchronize_ptsz",
                                           "cudaStreamSynchronize_v3020",
                                           "hipEventSynchronize",
                                           "cudaMemcpy",
                                           "cuMemcpyDtoH_v2",
                                           "cudaMemcpy2D_v3020_ptds",
                                           "cudaMemset",
                                           "hipMemcpyWithStream"};
    static const char *const others[] = {"cudaMemcpyAsync",
                                         "cuMemcpyDtoHAsync_v2",
                                         "cudaStreamWaitEvent",
                                         "cudaEventQuery",
                                         "cudaLaunchKernel",
                                         "cudaMalloc",
                                         "cudaMemsetAsync_ptsz",
                                         "cudaGraphAddMemcpyNode",
                                         "cuStreamSynchronizeX",
                                         "aten::cudaMemcpy",
                                         "",
                                         "cu"};
    for (size_t i = 0; i < sizeof blocking / sizeof *blocking; i++)
        assert_true(gt_call_is_blocking(gt_str_of(blocking[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(gt_call_is_blocking(gt_str_of(others[i])));
    static const char *const plain[][2] = {{"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
                                           {"cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel"},
                                           {"cudaLaunchKernelExC_v11060", "cudaLaunchKernelExC"},
                                           {"cuMemcpyHtoD_v2", "cuMemcpyHtoD_v2"},
                                           {"cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD_v2"},
                                           {"_v7000", "_v7000"},
                                           {"", ""}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        assert_text(gt_call_plain_name(gt_str_of(plain[i][0])), plain[i][1]);
    assert_true(gt_call_is_launch(GT_STR("cudaGraphLaunch_v10000")));
    assert_false(gt_call_is_launch(GT_STR("cudaLaunchHostFunc")));
}

/* ---- anything goes ---- */

static void run_all(struct world *world) {
    for (size_t i = 0; i < gt_analysis_count; i++)
        world_run(world, gt_analyses[i].key);
}

static void test_empty(void **state) {
    (void)state;
    struct world world;
    world_begin(&world, 1);
    world_seal(&world);
    run_all(&world);
    assert_int_equal(world_issue(&world, "no_gpu_work"), 1);
    world.options.names = GPUTIME_NAMES_SHORT;
    run_all(&world);
    world_end(&world);
}

/* Times over the whole range of 64 bits: no number means much, but nothing may break. */
static void test_wild_times(void **state) {
    (void)state;
    static const int64_t times[] = {INT64_MIN, INT64_MIN + 1, INT64_MIN / 2, -1, 0, 1, INT64_MAX / 2, INT64_MAX};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct world world;
        world_begin(&world, seed);
        for (uint64_t i = 0; i < 20; i++) {
            int64_t bounds[4];
            for (size_t k = 0; k < 4; k++)
                bounds[k] = times[random_below(&world.random, 8)];
            qsort(bounds, 2, sizeof *bounds, by_value);
            qsort(bounds + 2, 2, sizeof *bounds, by_value);
            put_op(&world, bounds[0], bounds[1], i);
            put_call(&world, i % 3 ? "cudaLaunchKernel" : "cudaMemcpy", bounds[2], bounds[3], i);
            put_cpu_op(&world, bounds[0], bounds[3] > bounds[0] ? bounds[3] : bounds[0]);
        }
        world_seal(&world);
        run_all(&world);
        world.options.has_linear_bins = true;
        world_run(&world, "histogram");
        world_end(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_causes),     cmocka_unit_test(test_each_cause), cmocka_unit_test(test_end_of_window),
        cmocka_unit_test(test_call_names), cmocka_unit_test(test_empty),      cmocka_unit_test(test_wild_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
