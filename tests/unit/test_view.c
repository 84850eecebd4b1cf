/* Views: what is selected, how it is clipped, and the order of ops and streams. */
#include <stdio.h>
#include <stdlib.h>

#include "asking.h"
#include "events/view.h"
#include "small_trace.h"

static struct asked asked; /* what the view of the moment reads */

static struct gt_view *view_of(const struct small_trace *trace, const struct asking *options) {
    struct gt_error err = {0};
    struct gt_view *view;
    enum gt_status status = gt_view_new(trace->store, trace->labels, ask(options, &asked), &view, &err);
    if (status != GT_OK)
        fail_msg("%s", err.message);
    return view;
}

static void assert_refused(const struct small_trace *trace, struct asking options, const char *message) {
    struct gt_error err = {0};
    struct gt_view *view;
    assert_int_equal(gt_view_new(trace->store, trace->labels, ask(&options, &asked), &view, &err), GT_ERR_USAGE);
    assert_null(view);
    assert_string_equal(err.message, message);
}

static void assert_rows(const struct small_trace *trace, struct asking options, const char *expected) {
    struct gt_view *view = view_of(trace, &options);
    char rows[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < view->op_count; i++)
        used += (size_t)snprintf(rows + used, sizeof rows - used, "%s%u", i ? " " : "", view->row[i]);
    assert_string_equal(rows, expected);
    gt_view_free(view);
}

/* Two devices, three processes, steps 1 to 3 and times that begin at 1000. */
static void make_trace(struct small_trace *trace) {
    trace_begin(trace);
    add_range(trace, GT_RANGE_NESTED, 10, 1, 0, 99, "ProfilerStep#1");
    add_range(trace, GT_RANGE_NESTED, 10, 1, 100, 199, "ProfilerStep#2");
    add_range(trace, GT_RANGE_NESTED, 10, 1, 200, 299, "ProfilerStep#3");
    add_call(trace, 10, 1, 10, 20, 1);
    add_call(trace, 10, 1, 110, 120, 2);
    add_call(trace, 10, 1, 210, 220, 3);
    add_call(trace, 20, 1, 210, 220, 4);
    add_op(trace, 10, 0, 7, 1000, 1100, 1, "void ns::gemm<float>(int)"); /* row 0 */
    add_op(trace, 10, 0, 13, 1050, 1150, 2, "ncclDevKernel_AllReduce(int)");
    add_kind(trace, GT_OP_MEMCPY, 10, 0, 7, 1200, 1200, 3, "Memcpy HtoD (Pinned -> Device)");
    add_op(trace, 20, 3, 7, 1900, 2000, 4, "softmax");
    add_op(trace, NO_PID, 3, 9, 1950, 1960, GT_NO_CORRELATION, "softmax");
    trace_end(trace);
}

static void whole_trace(void **unused) {
    (void)unused;
    struct small_trace trace;
    make_trace(&trace);
    struct asking options = {0};
    struct gt_view *view = view_of(&trace, &options);
    assert_true(view->is_whole && !view->has_window);
    assert_int_equal(view->op_count, 5);
    assert_int_equal(view->device_count, 2);
    assert_int_equal(view->devices[0].id, 0);
    assert_int_equal(view->devices[0].first, 0);
    assert_int_equal(view->devices[0].count, 3);
    assert_int_equal(view->devices[0].span_start_ns, 1000);
    assert_int_equal(view->devices[0].span_end_ns, 1200);
    assert_int_equal(view->devices[1].id, 3);
    assert_int_equal(view->devices[1].first, 3);
    assert_int_equal(view->devices[1].span_start_ns, 1900);
    assert_int_equal(view->devices[1].span_end_ns, 2000);
    assert_int_equal(view->lane_count, 4);
    assert_int_equal(trace.store->lanes.stream[view->lanes[1].lane], 13);
    assert_int_equal(trace.store->lanes.process[view->lanes[2].lane], GT_NO_TRACK);
    assert_int_equal(view->lanes[0].count, 2);
    assert_int_equal(view->lane_order[0], 0);
    assert_int_equal(view->lane_order[1], 2);
    gt_view_free(view);
    trace_free(&trace);
}

static void selections(void **unused) {
    (void)unused;
    struct small_trace trace;
    make_trace(&trace);
    assert_rows(&trace, (struct asking){.device = "0"}, "0 1 2");
    assert_rows(&trace, (struct asking){.device = "1-5"}, "3 4");
    assert_rows(&trace, (struct asking){.device = "3, 0"}, "0 1 2 3 4");
    assert_rows(&trace, (struct asking){.stream = "7"}, "0 2 3");
    assert_rows(&trace, (struct asking){.stream = "9,13"}, "1 4");
    assert_rows(&trace, (struct asking){.device = "3", .stream = "13"}, "");
    assert_rows(&trace, (struct asking){.process = "10"}, "0 1 2");
    assert_rows(&trace, (struct asking){.process = "11-20"}, "3");
    assert_rows(&trace, (struct asking){.step = "3"}, "2");
    assert_rows(&trace, (struct asking){.step = "1-2"}, "0 1");
    assert_rows(&trace, (struct asking){.step = "1,3"}, "0 2");
    assert_rows(&trace, (struct asking){.name = "GEMM"}, "0");
    assert_rows(&trace, (struct asking){.name = "re:^gemm$"}, "0");
    assert_rows(&trace, (struct asking){.name = "re:float"}, "0");
    assert_rows(&trace, (struct asking){.name = "nothing like it"}, "");
    assert_rows(&trace, (struct asking){.category = "comm"}, "1");
    assert_rows(&trace, (struct asking){.category = "memory"}, "2");
    assert_rows(&trace, (struct asking){.category = "memcpy,comm"}, "1 2");
    assert_rows(&trace, (struct asking){.category = "memset"}, "");
    assert_rows(&trace, (struct asking){.category = "compute", .device = "3"}, "3 4");

    struct gt_view *view = view_of(&trace, &(struct asking){.category = "comm"});
    assert_false(view->is_whole);
    assert_int_equal(view->device_count, 1);
    assert_int_equal(view->devices[0].span_start_ns, 1050);
    assert_int_equal(view->devices[0].span_end_ns, 1150);
    gt_view_free(view);
    trace_free(&trace);
}

static void refusals(void **unused) {
    (void)unused;
    struct small_trace trace;
    make_trace(&trace);
    assert_refused(&trace, (struct asking){.step = "9"}, "no step 9 in the trace; available steps: 1-3");
    assert_refused(&trace, (struct asking){.step = "1,7-9"}, "no step 7-9 in the trace; available steps: 1-3");
    assert_refused(&trace, (struct asking){.device = "1"}, "no device 1 in the trace; available devices: 0, 3");
    assert_refused(&trace, (struct asking){.stream = "0-6"}, "no stream 0-6 in the trace; available streams: 7, 9, 13");
    assert_refused(&trace, (struct asking){.process = "30"}, "no process 30 in the trace; available processes: 10, 20");
    assert_refused(
        &trace, (struct asking){.category = "gem"},
        "no category 'gem'; categories: gemm, moe_gemm, moe, attention, kv_cache, ssm, norm, rope, "
        "softmax, activation, elementwise, reduction, quantize, index, sort, conv, pool, optimizer, loss, "
        "copy, random, fill, fft, linalg, query, prepare, autotune, graph, other, comm, memcpy_h2d, memcpy_d2h, "
        "memcpy_d2d, memcpy_p2p, memcpy, memset; compute, comm and memory select all categories of that class");
    assert_refused(&trace, (struct asking){.from = "200ns", .to = "100ns"},
                   "empty window: --from '200ns' is not before --to '100ns'");
    assert_refused(&trace, (struct asking){.from = "5s"},
                   "empty window: --from '5s' is outside the trace; its GPU work spans 1 us");
    assert_refused(&trace, (struct asking){.to = "0"},
                   "empty window: --to '0' is outside the trace; its GPU work spans 1 us");
    trace_free(&trace);

    trace_begin(&trace);
    trace_end(&trace);
    assert_refused(&trace, (struct asking){.step = "1"},
                   "no step 1; the trace has no step ranges (ProfilerStep#3, step 3, train_step)");
    assert_refused(&trace, (struct asking){.device = "0"}, "no device 0; the trace has no GPU ops");
    struct gt_view *view = view_of(&trace, &(struct asking){.from = "10%", .to = "1s"});
    assert_int_equal(view->op_count + view->device_count + view->lane_count, 0);
    gt_view_free(view);
    trace_free(&trace);
}

static void long_lists_are_cut(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    for (int64_t stream = 0; stream < 400; stream++)
        add_op(&trace, 1, 0, INT64_MAX - stream * 2, 0, 1, GT_NO_CORRELATION, "k");
    trace_end(&trace);
    struct gt_error err = {0};
    struct gt_view *view;
    struct asking options = {.stream = "1"};
    assert_int_equal(gt_view_new(trace.store, trace.labels, ask(&options, &asked), &view, &err), GT_ERR_USAGE);
    assert_true(strlen(err.message) < 400);
    assert_string_equal(err.message + strlen(err.message) - 5, ", ...");
    trace_free(&trace);
}

/* The window of the two bounds, in ns after the first op. */
static void assert_window(const struct small_trace *trace, const char *from, const char *to, int64_t start_ns,
                          int64_t end_ns) {
    struct gt_view *view = view_of(trace, &(struct asking){.from = from, .to = to});
    assert_true(view->has_window);
    assert_int_equal(view->window_start_ns - trace->store->origin_ns, start_ns);
    assert_int_equal(view->window_end_ns - trace->store->origin_ns, end_ns);
    for (size_t i = 0; i < view->device_count; i++) {
        assert_int_equal(view->devices[i].span_start_ns, view->window_start_ns);
        assert_int_equal(view->devices[i].span_end_ns, view->window_end_ns);
    }
    gt_view_free(view);
}

static void bounds(void **unused) {
    (void)unused;
    struct small_trace trace;
    make_trace(&trace);
    assert_window(&trace, "100ns", "0.2us", 100, 200);
    assert_window(&trace, "10%", "90%", 100, 900);
    assert_window(&trace, "12.34%", NULL, 123, 1000);
    assert_window(&trace, NULL, "0.0000005", 0, 500);
    assert_window(&trace, NULL, "0.0004ms", 0, 400);
    assert_window(&trace, "0.00000025s", "1s", 250, 1000);
    assert_window(&trace, "-1s", "900%", 0, 1000);
    assert_window(&trace, "-9223372036s", "9223372036s", 0, 1000);
    trace_free(&trace);
}

static void clipping(void **unused) {
    (void)unused;
    struct small_trace trace;
    make_trace(&trace);
    struct gt_view *view = view_of(&trace, &(struct asking){.from = "60ns", .to = "120ns"});
    assert_false(view->is_whole);
    assert_int_equal(view->op_count, 2);
    assert_int_equal(view->row[0], 0); /* both begin before the window: the earlier one in the trace comes first */
    assert_int_equal(view->start_ns[0], 1060);
    assert_int_equal(view->end_ns[0], 1100);
    assert_int_equal(view->row[1], 1);
    assert_int_equal(view->start_ns[1], 1060);
    assert_int_equal(view->end_ns[1], 1120);
    assert_int_equal(view->device_count, 2); /* device 3 is idle throughout */
    assert_int_equal(view->devices[1].id, 3);
    assert_int_equal(view->devices[1].first, 2);
    assert_int_equal(view->devices[1].count, 0);
    assert_int_equal(view->devices[1].span_end_ns - view->devices[1].span_start_ns, 60);
    gt_view_free(view);

    /* Ops that only touch the window are out; one of zero length belongs to the window it begins in. */
    assert_rows(&trace, (struct asking){.from = "100ns", .to = "200ns"}, "1");
    assert_rows(&trace, (struct asking){.from = "150ns", .to = "900ns"}, "2");
    assert_rows(&trace, (struct asking){.from = "200ns", .to = "900ns"}, "2");
    assert_rows(&trace, (struct asking){.from = "201ns", .to = "900ns"}, "");
    /* A device that the selection leaves out does not come back through the window. */
    view = view_of(&trace, &(struct asking){.from = "10%", .device = "0"});
    assert_int_equal(view->device_count, 1);
    gt_view_free(view);
    view = view_of(&trace, &(struct asking){.from = "0%", .to = "100%"});
    assert_true(view->is_whole && view->has_window);
    gt_view_free(view);
    trace_free(&trace);

    /* A trace whose very last thing is of zero length keeps it. */
    trace_begin(&trace);
    add_op(&trace, 1, 0, 7, 100, 200, GT_NO_CORRELATION, "k");
    add_op(&trace, 1, 0, 7, 200, 200, GT_NO_CORRELATION, "k");
    trace_end(&trace);
    assert_rows(&trace, (struct asking){.from = "50%"}, "0 1");
    assert_rows(&trace, (struct asking){.to = "50%"}, "0");
    trace_free(&trace);

    /* All at one instant: the window is that instant. */
    trace_begin(&trace);
    add_op(&trace, 1, 0, 7, 100, 100, GT_NO_CORRELATION, "k");
    trace_end(&trace);
    assert_rows(&trace, (struct asking){.from = "0%", .to = "50%"}, "0");
    trace_free(&trace);
}

/* ---- order, against a plain sort ---- */

static uint64_t random_state = 1;
static uint32_t random_below(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

struct naive_op {
    int64_t device_id, start_ns, end_ns, stream;
    uint32_t row;
};

static int by_view_order(const void *a, const void *b) {
    const struct naive_op *x = a, *y = b;
    if (x->device_id != y->device_id)
        return x->device_id < y->device_id ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static size_t naive_select(const struct gt_view *view, struct naive_op *ops) {
    const struct gt_store *store = view->store;
    size_t count = 0;
    for (uint32_t i = 0; i < store->ops.count; i++) {
        int64_t start_ns = store->ops.start_ns[i], end_ns = store->ops.end_ns[i];
        if (view->has_window) {
            if (end_ns < view->window_start_ns || start_ns > view->window_end_ns ||
                (end_ns == view->window_start_ns && start_ns < end_ns) ||
                (start_ns == view->window_end_ns && start_ns < end_ns))
                continue;
        }
        uint32_t lane = store->ops.lane[i];
        ops[count++] = (struct naive_op){store->devices.id[store->lanes.device[lane]], start_ns, end_ns,
                                         store->lanes.stream[lane], i};
    }
    qsort(ops, count, sizeof *ops, by_view_order);
    for (size_t i = 0; i < count && view->has_window; i++) { /* only now: the order is that of the trace */
        ops[i].start_ns = ops[i].start_ns < view->window_start_ns ? view->window_start_ns : ops[i].start_ns;
        ops[i].end_ns = ops[i].end_ns > view->window_end_ns ? view->window_end_ns : ops[i].end_ns;
    }
    return count;
}

static void assert_order(const struct gt_view *view) {
    const struct gt_store *store = view->store;
    struct naive_op *ops = malloc((store->ops.count + 1) * sizeof *ops);
    assert_non_null(ops);
    assert_int_equal(view->op_count, naive_select(view, ops));
    for (size_t i = 0; i < view->op_count; i++) {
        assert_int_equal(view->row[i], ops[i].row);
        assert_int_equal(view->start_ns[i], ops[i].start_ns);
        assert_int_equal(view->end_ns[i], ops[i].end_ns);
        assert_int_equal(view->name[i], store->ops.name[ops[i].row]);
        assert_int_equal(view->lane[i], store->ops.lane[ops[i].row]);
        assert_int_equal(view->kind[i], store->ops.kind[ops[i].row]);
        assert_int_equal(view->category[i], view->labels->op_category[ops[i].row]);
    }
    free(ops);
    size_t in_devices = 0, in_lanes = 0;
    for (size_t d = 0; d < view->device_count; d++) {
        assert_int_equal(view->devices[d].first, in_devices);
        for (size_t i = 0; i < view->devices[d].count; i++)
            assert_int_equal(store->lanes.device[store->ops.lane[view->row[in_devices + i]]], view->devices[d].device);
        in_devices += view->devices[d].count;
    }
    for (size_t l = 0; l < view->lane_count; l++) {
        assert_int_equal(view->lanes[l].first, in_lanes);
        assert_true(view->lanes[l].count > 0);
        for (size_t i = 0; i < view->lanes[l].count; i++) {
            uint32_t place = view->lane_order[in_lanes + i];
            assert_int_equal(store->ops.lane[view->row[place]], view->lanes[l].lane);
            assert_true(i == 0 || view->lane_order[in_lanes + i - 1] < place);
        }
        in_lanes += view->lanes[l].count;
    }
    assert_int_equal(in_devices, view->op_count);
    assert_int_equal(in_lanes, view->op_count);
}

static void assert_random_order(uint32_t count, int64_t threads) {
    struct small_trace trace;
    uint32_t devices = 1 + random_below(4), streams = 1 + random_below(6);
    uint32_t spread = 1 + random_below(2000), longest = 1 + random_below(60), disorder = random_below(3);
    int64_t clock_ns = -500;
    static const char *const names[] = {"k", "ncclDevKernel_AllReduce", "gemm"};
    trace_begin(&trace);
    for (uint32_t i = 0; i < count; i++) {
        int64_t start_ns =
            disorder == 2 ? (int64_t)random_below(spread) : clock_ns + (int64_t)random_below(disorder * 20 + 1);
        clock_ns += random_below(10);
        add_op(&trace, random_below(5) ? 1 + random_below(2) : NO_PID, (int64_t)7 - 3 * random_below(devices),
               random_below(streams), start_ns, start_ns + (random_below(3) ? random_below(longest) : 0),
               GT_NO_CORRELATION, names[random_below(3)]);
    }
    trace_end(&trace);
    struct asking options = {.threads = threads};
    struct gt_view *view = view_of(&trace, &options);
    assert_true(view->is_whole);
    assert_order(view);
    gt_view_free(view);
    options.from = "30%"; /* to the end, so that the naive rule for zero length holds */
    view = view_of(&trace, &options);
    assert_order(view);
    gt_view_free(view);
    trace_free(&trace);
}

static void random_orders(void **unused) {
    (void)unused;
    for (int round = 0; round < 120; round++)
        assert_random_order(random_below(400), 0);
}

static void random_orders_in_slices(void **unused) {
    (void)unused;
    for (int round = 0; round < 4; round++)
        assert_random_order(200000 + random_below(100000), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_trace),   cmocka_unit_test(selections),
        cmocka_unit_test(refusals),      cmocka_unit_test(long_lists_are_cut),
        cmocka_unit_test(bounds),        cmocka_unit_test(clipping),
        cmocka_unit_test(random_orders), cmocka_unit_test(random_orders_in_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
