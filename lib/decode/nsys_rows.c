/* Rows of an export's event tables, column by column, to the records that nsys_model gives their meaning. */
#include "decode/nsys_sqlite.h"

static int64_t time_in(const struct gt_sqlite_value *value) {
    return value->type == GT_SQLITE_INT ? value->integer : GT_NO_TIME;
}

static uint64_t id_in(const struct gt_sqlite_value *value) {
    return value->type == GT_SQLITE_INT ? (uint64_t)value->integer : GT_NSYS_NO_ID;
}

/* Names are ids in Nsight's own exports, text in files that others made. false: there is none, or it is unknown. */
static bool take_name(const struct gt_nsys_rows *rows, const struct gt_sqlite_value *value, uint64_t *id,
                      struct gt_str *text) {
    const struct gt_nsys_capture *capture = &rows->facts->capture;
    *text = gt_sqlite_text(value);
    *id = gt_nsys_string_index(rows->facts, value);
    return text->ptr || (*id < capture->string_count && (rows->sink->interned[*id] || capture->strings[*id].ptr));
}

static void take_activity(const struct gt_sqlite_value *values, struct gt_nsys_activity *activity) {
    const struct gt_sqlite_value *device = &values[GT_NSYS_ACTIVITY_DEVICE], *stream = &values[GT_NSYS_ACTIVITY_STREAM];
    activity->start_ns = time_in(&values[GT_NSYS_ACTIVITY_START]);
    activity->end_ns = time_in(&values[GT_NSYS_ACTIVITY_END]);
    activity->correlation = id_in(&values[GT_NSYS_ACTIVITY_CORRELATION]);
    activity->device = device->type == GT_SQLITE_INT ? device->integer : -1;
    activity->stream = stream->type == GT_SQLITE_INT ? stream->integer : 0;
    activity->graph_node = id_in(&values[GT_NSYS_ACTIVITY_GRAPH_NODE]);
    activity->global_pid = id_in(&values[GT_NSYS_ACTIVITY_GLOBAL_PID]);
    if (activity->global_pid != GT_NSYS_NO_ID)
        activity->global_pid &= ~UINT64_C(0xFFFFFF); /* where only the thread is given */
    else if (values[GT_NSYS_ACTIVITY_PID].type == GT_SQLITE_INT)
        activity->global_pid = (uint64_t)values[GT_NSYS_ACTIVITY_PID].integer << 24;
}

static void take_kernel(void *context, const struct gt_sqlite_value *values) {
    struct gt_nsys_rows *rows = context;
    struct gt_nsys_activity *activity = &rows->activity;
    activity->kind = GT_NSYS_KERNEL;
    take_activity(values, activity);
    for (int i = GT_NSYS_KERNEL_NAME; i <= GT_NSYS_KERNEL_MANGLED_NAME; i++)
        if (take_name(rows, &values[i], &activity->name_id, &activity->name))
            break;
    gt_nsys_add_activity(rows->sink, activity);
}

static void take_copy(void *context, const struct gt_sqlite_value *values) {
    struct gt_nsys_rows *rows = context;
    struct gt_nsys_activity *activity = &rows->activity;
    activity->kind = GT_NSYS_MEMCPY;
    activity->bytes = id_in(&values[GT_NSYS_COPY_BYTES]);
    activity->copy_kind = id_in(&values[GT_NSYS_COPY_KIND]);
    activity->src_kind = id_in(&values[GT_NSYS_COPY_SRC_KIND]);
    activity->dst_kind = id_in(&values[GT_NSYS_COPY_DST_KIND]);
    take_activity(values, activity);
    gt_nsys_add_activity(rows->sink, activity);
}

static void take_set(void *context, const struct gt_sqlite_value *values) {
    struct gt_nsys_rows *rows = context;
    struct gt_nsys_activity *activity = &rows->activity;
    activity->kind = GT_NSYS_MEMSET;
    activity->bytes = id_in(&values[GT_NSYS_COPY_BYTES]);
    activity->dst_kind = id_in(&values[GT_NSYS_COPY_DST_KIND]);
    take_activity(values, activity);
    gt_nsys_add_activity(rows->sink, activity);
}

static void take_graph(void *context, const struct gt_sqlite_value *values) {
    struct gt_nsys_rows *rows = context;
    struct gt_nsys_activity *activity = &rows->activity;
    activity->kind = GT_NSYS_GRAPH;
    take_activity(values, activity);
    activity->graph_id = activity->graph_node;
    activity->graph_node = GT_NSYS_NO_ID;
    gt_nsys_add_activity(rows->sink, activity);
}

static void take_call(void *context, const struct gt_sqlite_value *values) {
    const struct gt_nsys_rows *rows = context;
    const struct gt_sqlite_value *pid = &values[GT_NSYS_CALL_PID], *tid = &values[GT_NSYS_CALL_TID];
    struct gt_nsys_call call = {
        .start_ns = time_in(&values[GT_NSYS_CALL_START]),
        .end_ns = time_in(&values[GT_NSYS_CALL_END]),
        .correlation = id_in(&values[GT_NSYS_CALL_CORRELATION]),
        .global_tid = id_in(&values[GT_NSYS_CALL_GLOBAL_TID]),
    };
    if (call.global_tid == GT_NSYS_NO_ID && pid->type == GT_SQLITE_INT)
        call.global_tid =
            (uint64_t)pid->integer << 24 | (tid->type == GT_SQLITE_INT ? (uint64_t)tid->integer & 0xFFFFFF : 0);
    if (!take_name(rows, &values[GT_NSYS_CALL_NAME_ID], &call.name_id, &call.name) &&
        values[GT_NSYS_CALL_NAME].type != GT_SQLITE_NULL)
        take_name(rows, &values[GT_NSYS_CALL_NAME], &call.name_id, &call.name);
    gt_nsys_add_call(rows->sink, &call);
}

static void take_range(void *context, const struct gt_sqlite_value *values) {
    const struct gt_nsys_rows *rows = context;
    struct gt_nsys_nvtx event = {
        .type = id_in(&values[GT_NSYS_RANGE_TYPE]),
        .start_ns = time_in(&values[GT_NSYS_RANGE_START]),
        .end_ns = time_in(&values[GT_NSYS_RANGE_END]),
        .global_tid = id_in(&values[GT_NSYS_RANGE_GLOBAL_TID]),
        .end_global_tid = id_in(&values[GT_NSYS_RANGE_END_GLOBAL_TID]),
        .domain_id = id_in(&values[GT_NSYS_RANGE_DOMAIN]),
        .text_id = GT_NSYS_NO_ID,
    };
    if (!take_name(rows, &values[GT_NSYS_RANGE_TEXT], &event.text_id, &event.text))
        take_name(rows, &values[GT_NSYS_RANGE_TEXT_ID], &event.text_id, &event.text);
    gt_nsys_add_nvtx(rows->sink, &event);
}

static void take_overhead(void *context, const struct gt_sqlite_value *values) {
    const struct gt_nsys_rows *rows = context;
    uint64_t id;
    struct gt_str name;
    bool is_known = take_name(rows, &values[GT_NSYS_OVERHEAD_NAME], &id, &name);
    if (!is_known)
        name = GT_STR("?");
    else if (!name.ptr)
        name = rows->facts->capture.strings[id];
    gt_nsys_add_overhead(rows->sink, time_in(&values[GT_NSYS_OVERHEAD_START]), time_in(&values[GT_NSYS_OVERHEAD_END]),
                         id_in(&values[GT_NSYS_OVERHEAD_GLOBAL_TID]), name);
}

static void take_diagnostic(void *context, const struct gt_sqlite_value *values) {
    const struct gt_nsys_rows *rows = context;
    if (values[0].type == GT_SQLITE_TEXT)
        gt_nsys_add_diagnostic(rows->sink, gt_sqlite_text(&values[0]));
}

gt_sqlite_row_fn *gt_nsys_rows_function(enum gt_nsys_role role) {
    static gt_sqlite_row_fn *const functions[GT_NSYS_ROLE_COUNT] = {
        [GT_NSYS_KERNELS] = take_kernel, [GT_NSYS_COPIES] = take_copy,        [GT_NSYS_SETS] = take_set,
        [GT_NSYS_GRAPHS] = take_graph,   [GT_NSYS_RUNTIME] = take_call,       [GT_NSYS_DRIVER] = take_call,
        [GT_NSYS_RANGES] = take_range,   [GT_NSYS_OVERHEADS] = take_overhead, [GT_NSYS_DIAGNOSTICS] = take_diagnostic,
    };
    return functions[role];
}
