/* Memory events: the call, the operator and the range around each. */
#include "small_trace.h"

static void add_memory(struct small_trace *trace, int64_t time_ns, uint64_t correlation, int64_t pid, int64_t tid) {
    struct gt_memory_events_row row = {.time_ns = time_ns,
                                       .bytes = 512,
                                       .correlation = correlation,
                                       .device = 0,
                                       .process = process_of(trace, pid),
                                       .thread = GT_NO_TRACK};
    if (tid >= 0)
        row.thread = gt_builder_thread(&trace->builder, row.process, tid, GT_STR(""));
    gt_builder_memory_event(&trace->builder, &row);
}

static void add_operator(struct small_trace *trace, int64_t pid, int64_t tid, int64_t start_ns, int64_t end_ns) {
    gt_builder_cpu_op(
        &trace->builder,
        &(struct gt_cpu_ops_row){start_ns, end_ns, gt_builder_string(&trace->builder, GT_STR("aten::mm")),
                                 gt_builder_thread(&trace->builder, process_of(trace, pid), tid, GT_STR(""))});
}

static void events_have_what_is_around_them(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_range(&trace, GT_RANGE_NESTED, 1, 5, 0, 100, "step");    /* range 0 */
    add_range(&trace, GT_RANGE_NESTED, 1, 5, 20, 60, "forward"); /* range 1 */
    add_range(&trace, GT_RANGE_NESTED, 1, 6, 20, 60, "other");   /* of another thread */
    add_operator(&trace, 1, 5, 25, 50);                          /* operator 0 */
    add_operator(&trace, 1, 5, 30, 40);                          /* operator 1 */
    add_operator(&trace, 2, 5, 30, 40);                          /* of another process */
    add_call(&trace, 2, 5, 32, 36, 7);
    add_call(&trace, 1, 5, 32, 36, 7);                /* call 1 */
    add_call(&trace, 1, 5, 38, 45, 8);                /* call 2: longer than operator 1 */
    add_memory(&trace, 34, UINT64_MAX, 1, 5);         /* a framework's: by its thread */
    add_memory(&trace, 34, 7, 1, -1);                 /* a driver's: by its call */
    add_memory(&trace, GT_NO_TIME, 8, 1, -1);         /* it may have no time */
    add_memory(&trace, 70, UINT64_MAX, 1, 5);         /* in a range alone */
    add_memory(&trace, 170, UINT64_MAX, 1, 5);        /* in nothing */
    add_memory(&trace, 34, 9, 1, -1);                 /* without a call in the trace */
    add_memory(&trace, GT_NO_TIME, UINT64_MAX, 1, 5); /* nobody knows when */
    trace_end(&trace);
    static const uint32_t calls[] = {GT_NO_ROW, 1, 2, GT_NO_ROW, GT_NO_ROW, GT_NO_ROW, GT_NO_ROW};
    static const uint32_t operators[] = {1, 1, 0, GT_NO_ROW, GT_NO_ROW, GT_NO_ROW, GT_NO_ROW};
    static const uint32_t ranges[] = {1, 1, 1, 0, GT_NO_ROW, GT_NO_ROW, GT_NO_ROW};
    assert_int_equal(trace.store->memory_events.count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(trace.labels->memory_call[i], calls[i]);
        assert_int_equal(trace.labels->memory_cpu_op[i], operators[i]);
        assert_int_equal(trace.labels->memory_range[i], ranges[i]);
    }
    trace_free(&trace);
}

static void a_trace_without_them_has_none(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_call(&trace, 1, 5, 0, 1, 7);
    trace_end(&trace);
    assert_int_equal(trace.store->memory_events.count, 0);
    trace_free(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_have_what_is_around_them),
        cmocka_unit_test(a_trace_without_them_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
