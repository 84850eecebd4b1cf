/* Launch calls and steps of ops: processes that share ids, graphs, repeated calls, and the edges of steps. */
#include <stdio.h>

#include "small_trace.h"

static void assert_calls(const struct small_trace *trace, const uint32_t *expected, size_t count) {
    assert_int_equal(trace->store->ops.count, count);
    for (size_t i = 0; i < count; i++)
        if (trace->labels->op_call[i] != expected[i])
            fail_msg("op %zu has call %u, not %u", i, trace->labels->op_call[i], expected[i]);
}

#define ASSERT_CALLS(trace, ...)                                                                                       \
    assert_calls(trace, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void same_ids_in_two_processes(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_call(&trace, 10, 1, 100, 105, 1);
    add_call(&trace, 20, 1, 200, 205, 1);
    add_call(&trace, 20, 1, 210, 215, 2);
    add_op(&trace, 20, 1, 7, 300, 310, 1, "k");
    add_op(&trace, 10, 0, 7, 300, 310, 1, "k");
    add_op(&trace, 10, 0, 7, 320, 330, 2, "k"); /* process 10 has no call 2 */
    add_op(&trace, 20, 1, 7, 320, 330, 2, "k");
    trace_end(&trace);
    ASSERT_CALLS(&trace, 1, 0, GT_NO_ROW, 2);
    assert_int_equal(trace.labels->issues[GT_ISSUE_OP_WITHOUT_CALL], 1);
    assert_int_equal(trace.labels->issues[GT_ISSUE_LAUNCH_AMBIGUOUS], 0);
    trace_free(&trace);
}

/* One counter for all processes, so that each of them has few ids far apart; with `is_twice` two of them have an id.
   The first two calls are the other way round in the file if ids shall not grow. */
static void assert_shared_counter(bool is_twice, bool grows) {
    enum { CALLS = 400, PROCESSES = 8 };
    struct small_trace trace;
    trace_begin(&trace);
    for (uint32_t row = 0; row < CALLS; row++) {
        uint32_t i = row < 2 && !grows ? 1 - row : row;
        add_call(&trace, 10 + i % PROCESSES, 1, 100 + 10 * i, 105 + 10 * i, 1000 + i);
    }
    if (is_twice)
        add_call(&trace, 11, 1, 100, 105, 1000); /* CALLS */
    for (uint32_t i = 0; i < CALLS; i++)
        add_op(&trace, 10 + i % PROCESSES, i % PROCESSES, 7, 10000 + 10 * i, 10005 + 10 * i, 1000 + i, "k");
    add_op(&trace, 11, 1, 7, 20000, 20010, 1000, "k"); /* an id of process 10, unless twice */
    trace_end(&trace);
    uint32_t expected[CALLS + 1];
    for (uint32_t i = 0; i < CALLS; i++)
        expected[i] = i < 2 && !grows ? 1 - i : i;
    expected[CALLS] = is_twice ? CALLS : GT_NO_ROW;
    assert_calls(&trace, expected, CALLS + 1);
    trace_free(&trace);
}

static void ids_counted_for_all_processes(void **unused) {
    (void)unused;
    assert_shared_counter(false, true);
    assert_shared_counter(false, false);
    assert_shared_counter(true, true);
    assert_shared_counter(true, false);
}

/* Ids that grow from call to call, from 0 or not, close together or not, and ops that ask for them in any order. */
static void ids_that_grow(void **unused) {
    (void)unused;
    enum { CALLS = 60, OPS = 200 };
    uint64_t random = 1;
    for (uint64_t round = 0; round < 40; round++) {
        struct small_trace trace;
        uint64_t ids[CALLS], id = round % 3;
        uint32_t expected[OPS];
        trace_begin(&trace);
        for (uint32_t i = 0; i < CALLS; i++, id += 1 + (random >> 40) % (1 + round % 5 * 3)) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            ids[i] = id;
            add_call(&trace, 10, 1, 100 + 10 * i, 105 + 10 * i, id);
        }
        for (uint32_t i = 0; i < OPS; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint64_t asked = i == 77 ? GT_NO_CORRELATION : (random >> 40) % (id + 5);
            expected[i] = GT_NO_ROW;
            for (uint32_t call = 0; call < CALLS; call++)
                if (ids[call] == asked)
                    expected[i] = call;
            add_op(&trace, round % 2 ? 10 : NO_PID, 0, 7, 10000 + 10 * i, 10005 + 10 * i, asked, "k");
        }
        trace_end(&trace);
        assert_calls(&trace, expected, OPS);
        trace_free(&trace);
    }
}

/* Kineto does not record the process of an op. Device 0 is tied to process 10 by ids that only 10 has. */
static void device_decides_between_processes(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_call(&trace, 10, 1, 100, 105, 1); /* 0 */
    add_call(&trace, 20, 1, 100, 105, 1);
    add_call(&trace, 10, 1, 110, 115, 2);           /* 2 */
    add_call(&trace, 10, 1, 120, 125, 3);           /* 3 */
    add_call(&trace, 20, 1, 130, 135, 4);           /* 4 */
    add_op(&trace, NO_PID, 0, 7, 300, 310, 1, "k"); /* ambiguous on its own */
    add_op(&trace, NO_PID, 0, 7, 310, 320, 2, "k");
    add_op(&trace, NO_PID, 0, 7, 320, 330, 3, "k");
    add_op(&trace, NO_PID, 0, 7, 330, 340, 4, "k"); /* one against two */
    add_op(&trace, NO_PID, 1, 7, 300, 310, 1, "k"); /* nothing ties device 1 */
    add_op(&trace, NO_PID, 1, 7, 310, 320, 9, "k"); /* no call at all */
    trace_end(&trace);
    ASSERT_CALLS(&trace, 0, 2, 3, 4, GT_NO_ROW, GT_NO_ROW);
    assert_int_equal(trace.labels->issues[GT_ISSUE_LAUNCH_AMBIGUOUS], 1);
    assert_int_equal(trace.labels->issues[GT_ISSUE_OP_WITHOUT_CALL], 1);
    assert_int_equal(gt_labels_op_process(trace.labels, trace.store, 0), gt_labels_call_process(trace.store, 0));
    assert_int_equal(gt_labels_op_process(trace.labels, trace.store, 4), GT_NO_TRACK);
    trace_free(&trace);
}

/* As many for one process as for the other is no majority. */
static void a_tie_decides_nothing(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_call(&trace, 10, 1, 100, 105, 1);
    add_call(&trace, 20, 1, 100, 105, 1);
    add_call(&trace, 10, 1, 110, 115, 2);
    add_call(&trace, 20, 1, 120, 125, 3);
    add_op(&trace, NO_PID, 0, 7, 300, 310, 1, "k");
    add_op(&trace, NO_PID, 0, 7, 310, 320, 2, "k");
    add_op(&trace, NO_PID, 0, 7, 320, 330, 3, "k");
    trace_end(&trace);
    ASSERT_CALLS(&trace, GT_NO_ROW, 2, 3);
    assert_int_equal(trace.labels->issues[GT_ISSUE_LAUNCH_AMBIGUOUS], 1);
    trace_free(&trace);
}

static void graph_nodes_share_their_launch(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_call(&trace, 10, 1, 50, 60, 5);
    add_call(&trace, 10, 1, 100, 150, 6);
    for (int i = 0; i < 4; i++)
        add_op(&trace, NO_PID, 0, 7, 200 + 10 * i, 205 + 10 * i, 6, "node");
    trace_end(&trace);
    ASSERT_CALLS(&trace, 1, 1, 1, 1);
    trace_free(&trace);
}

static void repeated_ids(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_call(&trace, 10, 1, 105, 110, 1);
    add_call(&trace, 10, 2, 100, 101, 1);
    add_call(&trace, 10, 1, 100, 120, 1); /* 2: earliest, then longest */
    add_call(&trace, 10, 1, 100, 120, 1);
    add_call(&trace, 10, 1, 100, 120, GT_NO_CORRELATION);
    add_call(&trace, 10, 1, 500, 510, 2); /* begins after the op has ended */
    add_call(&trace, 10, 1, 300, 310, 3); /* begins as the op ends */
    add_call(&trace, 10, 1, 100, 110, UINT64_MAX - 1);
    add_op(&trace, 10, 0, 7, 200, 210, 1, "k");
    add_op(&trace, 10, 0, 7, 210, 220, GT_NO_CORRELATION, "k");
    add_op(&trace, 10, 0, 7, 220, 230, 2, "k");
    add_op(&trace, 10, 0, 7, 290, 300, 3, "k");
    add_op(&trace, 10, 0, 7, 300, 310, UINT64_MAX - 1, "k");
    trace_end(&trace);
    ASSERT_CALLS(&trace, 2, GT_NO_ROW, GT_NO_ROW, 6, 7);
    assert_int_equal(trace.labels->issues[GT_ISSUE_OP_WITHOUT_CALL], 2);
    trace_free(&trace);
}

/* One call with id 0 is a call like others; two of one process mean that 0 is no id there. */
static void id_zero(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_call(&trace, 10, 1, 100, 105, 0);
    add_call(&trace, 20, 1, 100, 105, 0);
    add_call(&trace, 20, 1, 110, 115, 0);
    add_op(&trace, 10, 0, 7, 200, 210, 0, "k");
    add_op(&trace, 20, 1, 7, 200, 210, 0, "k");
    add_op(&trace, NO_PID, 1, 7, 200, 210, 0, "k");
    trace_end(&trace);
    ASSERT_CALLS(&trace, 0, GT_NO_ROW, 0);
    trace_free(&trace);
}

static void no_calls_at_all(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_op(&trace, NO_PID, 0, 7, 200, 210, 1, "k");
    trace_end(&trace);
    ASSERT_CALLS(&trace, GT_NO_ROW);
    assert_int_equal(trace.labels->issues[GT_ISSUE_OP_WITHOUT_CALL], 0);
    trace_free(&trace);

    trace_begin(&trace);
    trace_end(&trace);
    assert_int_equal(trace.labels->step_count, 0);
    trace_free(&trace);
}

static uint64_t random_state = 1;
static uint32_t random_below(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

/* The definition, without an index: all calls of the op's process that could be it, the best one. */
static uint32_t naive_call(const struct gt_store *store, uint32_t op) {
    const struct gt_calls *calls = &store->calls;
    uint32_t best = GT_NO_ROW;
    for (uint32_t c = 0; c < calls->count; c++) {
        if (calls->correlation[c] != store->ops.correlation[op] || calls->start_ns[c] > store->ops.end_ns[op] ||
            gt_labels_call_process(store, c) != store->lanes.process[store->ops.lane[op]])
            continue;
        if (best == GT_NO_ROW || calls->start_ns[c] < calls->start_ns[best] ||
            (calls->start_ns[c] == calls->start_ns[best] && calls->end_ns[c] > calls->end_ns[best]))
            best = c;
    }
    return best;
}

static void random_traces(void **unused) {
    (void)unused;
    for (int round = 0; round < 60; round++) {
        struct small_trace trace;
        trace_begin(&trace);
        uint32_t ids = 1 + random_below(300), rows = random_below(300);
        uint64_t stride = (uint64_t)1 << random_below(40); /* dense ids, and ids that differ in high bits only */
        for (uint32_t i = 0; i < rows; i++) {
            int64_t start_ns = random_below(1000);
            add_call(&trace, 1 + random_below(3), random_below(4), start_ns, start_ns + random_below(5),
                     (1 + random_below(ids)) * stride);
            start_ns = random_below(1000);
            add_op(&trace, 1 + random_below(3), random_below(2), random_below(3), start_ns, start_ns + random_below(50),
                   (1 + random_below(ids)) * stride, "k");
        }
        trace_end(&trace);
        for (uint32_t op = 0; op < trace.store->ops.count; op++)
            assert_int_equal(trace.labels->op_call[op], naive_call(trace.store, op));
        trace_free(&trace);
    }
}

/* ---- steps ---- */

static void assert_steps(const struct small_trace *trace, const int64_t *expected, size_t count) {
    assert_int_equal(trace->store->ops.count, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t step = trace->labels->op_step[i];
        int64_t number = step == GT_NO_ROW ? -1 : trace->labels->steps[step].number;
        if (number != expected[i])
            fail_msg("op %zu is of step %lld, not %lld", i, (long long)number, (long long)expected[i]);
    }
}

#define ASSERT_STEPS(trace, ...)                                                                                       \
    assert_steps(trace, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void launch(struct small_trace *trace, int64_t pid, int64_t tid, int64_t start_ns, int64_t end_ns) {
    uint64_t id = trace->builder.store.calls.count + 1;
    add_call(trace, pid, tid, start_ns, end_ns, id);
    add_op(trace, pid, 0, 7, 5000, 5010, id, "k");
}

static void edges_of_steps(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_range(&trace, GT_RANGE_NESTED, 10, 1, 200, 300, "ProfilerStep#4");
    add_range(&trace, GT_RANGE_NESTED, 10, 1, 100, 200, "ProfilerStep#3");
    add_range(&trace, GT_RANGE_NESTED, 10, 1, 300, 400, "ProfilerStep#");
    add_range(&trace, GT_RANGE_NESTED, 10, 1, 300, 400, "ProfilerStep#5x");
    add_range(&trace, GT_RANGE_NESTED, 10, 1, 300, 400, "ProfilerStep#99999999999999999999");
    add_range(&trace, GT_RANGE_NESTED, 10, 1, 300, 400, "MyProfilerStep#5");
    add_range(&trace, GT_RANGE_MARK, 10, 1, 300, 400, "ProfilerStep#6");
    add_range(&trace, GT_RANGE_GPU, 10, 1, 300, 400, "ProfilerStep#7");
    launch(&trace, 10, 1, 100, 110);             /* begins with the step */
    launch(&trace, 10, 1, 99, 110);              /* begins before */
    launch(&trace, 10, 1, 190, 200);             /* ends with the step */
    launch(&trace, 10, 1, 190, 201);             /* ends in the next */
    launch(&trace, 10, 2, 210, 220);             /* another thread */
    launch(&trace, 11, 1, 210, 220);             /* another process */
    launch(&trace, 10, 1, 200, 200);             /* at the border: the later step */
    launch(&trace, 10, 1, 310, 320);             /* after all */
    add_op(&trace, 10, 0, 7, 210, 220, 77, "k"); /* no call */
    trace_end(&trace);
    assert_int_equal(trace.labels->step_count, 2);
    assert_int_equal(trace.labels->steps[0].number, 3);
    assert_int_equal(trace.labels->steps[1].number, 4);
    assert_int_equal(trace.labels->steps[1].range, 0);
    ASSERT_STEPS(&trace, 3, -1, 3, -1, 4, -1, 4, -1, -1);
    trace_free(&trace);
}

static void steps_of_two_processes(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_range(&trace, GT_RANGE_NESTED, 10, 1, 100, 200, "ProfilerStep#1");
    add_range(&trace, GT_RANGE_NESTED, 20, 1, 150, 250, "ProfilerStep#8");
    launch(&trace, 10, 1, 160, 170);
    launch(&trace, 20, 1, 160, 170);
    launch(&trace, 10, 1, 210, 220);
    launch(&trace, 20, 1, 110, 120);
    trace_end(&trace);
    ASSERT_STEPS(&trace, 1, 8, -1, -1);
    trace_free(&trace);
}

static void ops_longer_than_their_step(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_range(&trace, GT_RANGE_NESTED, 10, 1, 100, 110, "ProfilerStep#1");
    add_call(&trace, 10, 1, 101, 102, 1);
    add_call(&trace, 10, 1, 103, 104, 2);
    add_op(&trace, 10, 0, 7, 200, 210, 1, "k");
    add_op(&trace, 10, 0, 7, 210, 221, 2, "k");
    trace_end(&trace);
    assert_int_equal(trace.labels->issues[GT_ISSUE_OP_LONGER_THAN_STEP], 1);
    trace_free(&trace);
}

/* Of the steps that enclose the call the one that began last, then the shortest. */
static int64_t naive_step_start(const struct small_trace *trace, uint32_t call, int64_t *end_ns) {
    const struct gt_store *store = trace->store;
    int64_t best = INT64_MIN;
    *end_ns = INT64_MAX;
    for (size_t i = 0; i < trace->labels->step_count; i++) {
        const struct gt_step *step = &trace->labels->steps[i];
        if (step->process != gt_labels_call_process(store, call) || step->start_ns > store->calls.start_ns[call] ||
            step->end_ns < store->calls.end_ns[call])
            continue;
        if (step->start_ns > best || (step->start_ns == best && step->end_ns < *end_ns)) {
            best = step->start_ns;
            *end_ns = step->end_ns;
        }
    }
    return best;
}

static void random_overlapping_steps(void **unused) {
    (void)unused;
    for (int round = 0; round < 100; round++) {
        struct small_trace trace;
        trace_begin(&trace);
        uint32_t steps = random_below(30);
        for (uint32_t i = 0; i < steps; i++) {
            char name[40];
            int64_t start_ns = random_below(200);
            snprintf(name, sizeof name, "ProfilerStep#%u", i);
            add_range(&trace, GT_RANGE_NESTED, 1 + random_below(3), 1, start_ns, start_ns + random_below(80), name);
        }
        for (int i = 0; i < 60; i++) {
            int64_t start_ns = random_below(250);
            launch(&trace, 1 + random_below(3), random_below(3), start_ns, start_ns + random_below(20));
        }
        trace_end(&trace);
        for (uint32_t op = 0; op < trace.store->ops.count; op++) {
            int64_t end_ns, start_ns = naive_step_start(&trace, trace.labels->op_call[op], &end_ns);
            uint32_t step = trace.labels->op_step[op];
            assert_int_equal(step == GT_NO_ROW, start_ns == INT64_MIN);
            if (step != GT_NO_ROW) {
                assert_int_equal(trace.labels->steps[step].start_ns, start_ns);
                assert_int_equal(trace.labels->steps[step].end_ns, end_ns);
            }
        }
        trace_free(&trace);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_ids_in_two_processes),
        cmocka_unit_test(ids_counted_for_all_processes),
        cmocka_unit_test(ids_that_grow),
        cmocka_unit_test(device_decides_between_processes),
        cmocka_unit_test(a_tie_decides_nothing),
        cmocka_unit_test(graph_nodes_share_their_launch),
        cmocka_unit_test(repeated_ids),
        cmocka_unit_test(id_zero),
        cmocka_unit_test(no_calls_at_all),
        cmocka_unit_test(random_traces),
        cmocka_unit_test(edges_of_steps),
        cmocka_unit_test(steps_of_two_processes),
        cmocka_unit_test(ops_longer_than_their_step),
        cmocka_unit_test(random_overlapping_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
