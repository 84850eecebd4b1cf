/* Traces made by hand for unit tests: rows go in one by one, a sealed store with its labels comes out. */
#ifndef SMALL_TRACE_H
#define SMALL_TRACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "events/builder.h"
#include "events/store.h"
#include "label/label.h"

#define NO_PID ((int64_t)-1)

struct small_trace {
    struct gt_builder builder;
    struct gt_store *store;
    struct gt_labels *labels;
};

static inline void trace_begin(struct small_trace *trace) {
    struct gt_error err = {0};
    *trace = (struct small_trace){0};
    assert_int_equal(gt_builder_init(&trace->builder, "test", &err), GT_OK);
    gt_builder_begin(&trace->builder, 0);
}

static inline void trace_end(struct small_trace *trace) {
    struct gt_error err = {0};
    assert_int_equal(gt_store_seal(&trace->builder, 1, &trace->store, &err), GT_OK);
    assert_int_equal(gt_label_new(trace->store, &trace->labels, &err), GT_OK);
}

static inline void trace_free(struct small_trace *trace) {
    gt_label_free(trace->labels);
    gt_store_free(trace->store);
}

static inline uint32_t process_of(struct small_trace *trace, int64_t pid) {
    return pid == NO_PID ? GT_NO_TRACK : gt_builder_process(&trace->builder, pid, GT_STR(""));
}

static inline void add_kind(struct small_trace *trace, enum gt_op_kind kind, int64_t pid, int64_t device,
                            int64_t stream, int64_t start_ns, int64_t end_ns, uint64_t correlation, const char *name) {
    struct gt_ops_row row = {
        .start_ns = start_ns,
        .end_ns = end_ns,
        .correlation = correlation,
        .name = gt_builder_string(&trace->builder, gt_str_of(name)),
        .lane = gt_builder_lane(&trace->builder, process_of(trace, pid), device, stream),
        .kind = (uint8_t)kind,
    };
    assert_true(gt_builder_op(&trace->builder, &row));
}

static inline void add_op(struct small_trace *trace, int64_t pid, int64_t device, int64_t stream, int64_t start_ns,
                          int64_t end_ns, uint64_t correlation, const char *name) {
    add_kind(trace, GT_OP_KERNEL, pid, device, stream, start_ns, end_ns, correlation, name);
}

static inline void add_call(struct small_trace *trace, int64_t pid, int64_t tid, int64_t start_ns, int64_t end_ns,
                            uint64_t correlation) {
    struct gt_calls_row row = {
        .start_ns = start_ns,
        .end_ns = end_ns,
        .correlation = correlation,
        .name = gt_builder_string(&trace->builder, GT_STR("cudaLaunchKernel")),
        .thread = gt_builder_thread(&trace->builder, process_of(trace, pid), tid, GT_STR("")),
    };
    gt_builder_call(&trace->builder, &row);
}

static inline void add_range(struct small_trace *trace, enum gt_range_kind kind, int64_t pid, int64_t tid,
                             int64_t start_ns, int64_t end_ns, const char *name) {
    bool on_gpu = kind == GT_RANGE_GPU;
    struct gt_ranges_row row = {
        .start_ns = start_ns,
        .end_ns = end_ns,
        .name = gt_builder_string(&trace->builder, gt_str_of(name)),
        .thread = on_gpu ? GT_NO_TRACK : gt_builder_thread(&trace->builder, process_of(trace, pid), tid, GT_STR("")),
        .end_thread = GT_NO_TRACK,
        .lane = on_gpu ? gt_builder_lane(&trace->builder, GT_NO_TRACK, 0, tid) : GT_NO_TRACK,
        .kind = (uint8_t)kind,
    };
    gt_builder_range(&trace->builder, &row);
}

/* The kind of time that an op counts as. */
static inline enum gt_class class_of(const struct gt_labels *labels, uint32_t op) {
    return labels->categories[labels->op_category[op]].time_class;
}

#endif
