/* Rows of an export's event tables, column by column, to the records that nsys_model gives their meaning. */
#include "decode/nsys/nsys_sqlite.h"

#include "base/num.h"

/* Names are ids in Nsight's own exports, text in files that others made. false: there is none, or it is unknown. */
static bool take_name(const struct gt_nsys_rows *rows, const struct gt_sqlite_row *row, size_t slot, uint64_t *id,
                      struct gt_str *text) {
    const struct gt_nsys_capture *capture = &rows->facts->capture;
    *text = gt_sqlite_record_text(row, slot);
    *id = gt_nsys_sqlite_string_index(rows->facts, row, slot);
    return text->ptr || (*id < capture->string_count && (rows->sink->interned[*id] || capture->strings[*id].ptr));
}

/* The global id for a process number of a machine that the table does not say. */
static uint64_t bare_pid(int64_t pid) {
    return ((uint64_t)pid & 0xFFFFFF) << 24;
}

static void take_activity(const struct gt_sqlite_row *row, struct gt_nsys_activity *activity) {
    activity->start_ns = gt_nsys_sqlite_time(row, GT_NSYS_ACTIVITY_START);
    activity->end_ns = gt_nsys_sqlite_time(row, GT_NSYS_ACTIVITY_END);
    activity->correlation = gt_nsys_sqlite_id(row, GT_NSYS_ACTIVITY_CORRELATION);
    activity->device = gt_sqlite_record_int(row, GT_NSYS_ACTIVITY_DEVICE, -1);
    activity->stream = gt_sqlite_record_int(row, GT_NSYS_ACTIVITY_STREAM, 0);
    activity->graph_node = gt_nsys_sqlite_id(row, GT_NSYS_ACTIVITY_GRAPH_NODE);
    activity->global_pid = gt_nsys_sqlite_id(row, GT_NSYS_ACTIVITY_GLOBAL_PID);
    if (activity->global_pid != GT_NSYS_NO_ID)
        activity->global_pid = gt_nsys_global_pid(activity->global_pid); /* where only the thread is given */
    else if (gt_sqlite_record_is_int(row, GT_NSYS_ACTIVITY_PID))
        activity->global_pid = bare_pid(row->cells[GT_NSYS_ACTIVITY_PID].integer);
}

/* The id of the name as its text: kernels stay apart in a database that lost its strings. */
static void take_id_as_name(struct gt_nsys_rows *rows, const struct gt_sqlite_row *row) {
    size_t slot = GT_NSYS_KERNEL_NAME;
    while (slot < GT_NSYS_KERNEL_MANGLED_NAME && !gt_sqlite_record_is_int(row, slot))
        slot++;
    if (!gt_sqlite_record_is_int(row, slot))
        return;
    size_t length = gt_num_format_int(rows->id_text, row->cells[slot].integer);
    rows->activity.name_id = GT_NSYS_NO_ID;
    rows->activity.name = (struct gt_str){rows->id_text, length};
    gt_builder_issue_of(rows->sink->builder, GT_ISSUE_OP_WITHOUT_NAME, GT_FACT_OPS, 1, GT_NO_OFFSET);
}

static void take_config(const struct gt_nsys_rows *rows, const struct gt_sqlite_row *row) {
    struct gt_nsys_config config = {
        .registers = gt_nsys_sqlite_id(row, GT_NSYS_KERNEL_REGISTERS),
        .static_shared_bytes = gt_nsys_sqlite_id(row, GT_NSYS_KERNEL_STATIC_SHARED),
        .dynamic_shared_bytes = gt_nsys_sqlite_id(row, GT_NSYS_KERNEL_DYNAMIC_SHARED),
        .shared_bytes = gt_nsys_sqlite_id(row, GT_NSYS_KERNEL_SHARED),
        .local_bytes = gt_nsys_sqlite_id(row, GT_NSYS_KERNEL_LOCAL),
    };
    for (size_t i = 0; i < 3; i++) {
        config.grid[i] = gt_nsys_sqlite_id(row, GT_NSYS_KERNEL_GRID + i);
        config.block[i] = gt_nsys_sqlite_id(row, GT_NSYS_KERNEL_BLOCK + i);
        config.cluster[i] = gt_nsys_sqlite_id(row, GT_NSYS_KERNEL_CLUSTER + i);
    }
    gt_nsys_add_config(rows->sink, &config);
}

/* false: it is no op. */
static inline bool add_kernel(struct gt_nsys_rows *rows, const struct gt_sqlite_row *row) {
    struct gt_nsys_activity *activity = &rows->activity;
    activity->kind = GT_NSYS_KERNEL;
    take_activity(row, activity);
    activity->name = (struct gt_str){NULL, 0};
    activity->name_id = gt_nsys_sqlite_string_index(rows->facts, row, GT_NSYS_KERNEL_NAME);
    bool has_name = activity->name_id < rows->facts->capture.string_count && rows->sink->interned[activity->name_id];
    for (size_t i = GT_NSYS_KERNEL_NAME; !has_name && i <= GT_NSYS_KERNEL_MANGLED_NAME; i++)
        has_name = take_name(rows, row, i, &activity->name_id, &activity->name);
    if (!has_name && !rows->facts->has_string_table)
        take_id_as_name(rows, row);
    return gt_nsys_add_activity(rows->sink, activity);
}

static void take_kernel(void *context, const struct gt_sqlite_row *row) {
    add_kernel(context, row);
}

static void take_kernel_and_config(void *context, const struct gt_sqlite_row *row) {
    if (add_kernel(context, row))
        take_config(context, row);
}

static void take_copy(void *context, const struct gt_sqlite_row *row) {
    struct gt_nsys_rows *rows = context;
    struct gt_nsys_activity *activity = &rows->activity;
    activity->kind = GT_NSYS_MEMCPY;
    activity->bytes = gt_nsys_sqlite_id(row, GT_NSYS_COPY_BYTES);
    activity->copy_kind = gt_nsys_sqlite_id(row, GT_NSYS_COPY_KIND);
    activity->src_kind = gt_nsys_sqlite_id(row, GT_NSYS_COPY_SRC_KIND);
    activity->dst_kind = gt_nsys_sqlite_id(row, GT_NSYS_COPY_DST_KIND);
    take_activity(row, activity);
    gt_nsys_add_activity(rows->sink, activity);
}

static void take_set(void *context, const struct gt_sqlite_row *row) {
    struct gt_nsys_rows *rows = context;
    struct gt_nsys_activity *activity = &rows->activity;
    activity->kind = GT_NSYS_MEMSET;
    activity->bytes = gt_nsys_sqlite_id(row, GT_NSYS_COPY_BYTES);
    activity->dst_kind = gt_nsys_sqlite_id(row, GT_NSYS_COPY_DST_KIND);
    take_activity(row, activity);
    gt_nsys_add_activity(rows->sink, activity);
}

static void take_graph(void *context, const struct gt_sqlite_row *row) {
    struct gt_nsys_rows *rows = context;
    struct gt_nsys_activity *activity = &rows->activity;
    activity->kind = GT_NSYS_GRAPH;
    take_activity(row, activity);
    activity->graph_id = activity->graph_node;
    activity->graph_node = GT_NSYS_NO_ID;
    gt_nsys_add_activity(rows->sink, activity);
}

static void take_call(void *context, const struct gt_sqlite_row *row) {
    const struct gt_nsys_rows *rows = context;
    struct gt_nsys_call call = {
        .start_ns = gt_nsys_sqlite_time(row, GT_NSYS_CALL_START),
        .end_ns = gt_nsys_sqlite_time(row, GT_NSYS_CALL_END),
        .correlation = gt_nsys_sqlite_id(row, GT_NSYS_CALL_CORRELATION),
        .global_tid = gt_nsys_sqlite_id(row, GT_NSYS_CALL_GLOBAL_TID),
    };
    if (call.global_tid == GT_NSYS_NO_ID && gt_sqlite_record_is_int(row, GT_NSYS_CALL_PID))
        call.global_tid = bare_pid(row->cells[GT_NSYS_CALL_PID].integer) |
                          ((uint64_t)gt_sqlite_record_int(row, GT_NSYS_CALL_TID, 0) & 0xFFFFFF);
    if (!take_name(rows, row, GT_NSYS_CALL_NAME_ID, &call.name_id, &call.name) &&
        row->types[GT_NSYS_CALL_NAME] != GT_SQLITE_NULL)
        take_name(rows, row, GT_NSYS_CALL_NAME, &call.name_id, &call.name);
    gt_nsys_add_call(rows->sink, &call);
}

/* Text that is there but empty may be where newer exports have none: then a known id counts. */
static void take_text(const struct gt_nsys_rows *rows, const struct gt_sqlite_row *row, struct gt_nsys_nvtx *event) {
    bool has_text = take_name(rows, row, GT_NSYS_RANGE_TEXT, &event->text_id, &event->text);
    if (has_text && (!event->text.ptr || event->text.len))
        return;
    uint64_t id;
    struct gt_str text;
    if (take_name(rows, row, GT_NSYS_RANGE_TEXT_ID, &id, &text) || !has_text) {
        event->text_id = id;
        event->text = text;
    }
}

static inline struct gt_nsys_nvtx nvtx_of(const struct gt_nsys_rows *rows, const struct gt_sqlite_row *row) {
    struct gt_nsys_nvtx event = {
        .type = gt_nsys_sqlite_id(row, GT_NSYS_RANGE_TYPE),
        .start_ns = gt_nsys_sqlite_time(row, GT_NSYS_RANGE_START),
        .end_ns = gt_nsys_sqlite_time(row, GT_NSYS_RANGE_END),
        .global_tid = gt_nsys_sqlite_id(row, GT_NSYS_RANGE_GLOBAL_TID),
        .end_global_tid = gt_nsys_sqlite_id(row, GT_NSYS_RANGE_END_GLOBAL_TID),
        .domain_id = gt_nsys_sqlite_id(row, GT_NSYS_RANGE_DOMAIN),
        .category = gt_nsys_sqlite_id(row, GT_NSYS_RANGE_CATEGORY),
        .text_id = GT_NSYS_NO_ID,
    };
    take_text(rows, row, &event);
    return event;
}

static void take_range(void *context, const struct gt_sqlite_row *row) {
    const struct gt_nsys_rows *rows = context;
    struct gt_nsys_nvtx event = nvtx_of(rows, row);
    gt_nsys_add_nvtx(rows->sink, &event);
}

static void take_range_and_payload(void *context, const struct gt_sqlite_row *row) {
    const struct gt_nsys_rows *rows = context;
    struct gt_nsys_nvtx event = nvtx_of(rows, row);
    struct gt_str payload = gt_nsys_sqlite_bytes(row, GT_NSYS_RANGE_PAYLOAD);
    if (payload.ptr && gt_nsys_sqlite_take_python(rows, &event, payload))
        return;
    size_t range_count = rows->sink->builder->store.ranges.count;
    gt_nsys_add_nvtx(rows->sink, &event);
    if (payload.ptr && rows->sink->facts & GT_FACT_COMMS && rows->sink->builder->store.ranges.count > range_count)
        gt_nsys_sqlite_take_payload(rows, event.global_tid, payload);
}

static void take_overhead(const struct gt_nsys_rows *rows, const struct gt_sqlite_row *row, bool is_driver) {
    struct gt_nsys_overhead overhead = {
        .is_driver = is_driver,
        .start_ns = gt_nsys_sqlite_time(row, GT_NSYS_OVERHEAD_START),
        .end_ns = gt_nsys_sqlite_time(row, GT_NSYS_OVERHEAD_END),
        .global_tid = gt_nsys_sqlite_id(row, GT_NSYS_OVERHEAD_GLOBAL_TID),
    };
    take_name(rows, row, GT_NSYS_OVERHEAD_NAME, &overhead.name_id, &overhead.name);
    gt_nsys_add_overhead(rows->sink, &overhead);
}

static void take_profiler_overhead(void *context, const struct gt_sqlite_row *row) {
    take_overhead(context, row, false);
}

static void take_driver_overhead(void *context, const struct gt_sqlite_row *row) {
    take_overhead(context, row, true);
}

static struct gt_nsys_host_call host_call_of(const struct gt_sqlite_row *row, bool is_mpi) {
    return (struct gt_nsys_host_call){
        .is_mpi = is_mpi,
        .start_ns = gt_nsys_sqlite_time(row, GT_NSYS_OVERHEAD_START),
        .end_ns = gt_nsys_sqlite_time(row, GT_NSYS_OVERHEAD_END),
        .global_tid = gt_nsys_sqlite_id(row, GT_NSYS_OVERHEAD_GLOBAL_TID),
    };
}

static void take_os_call(void *context, const struct gt_sqlite_row *row) {
    const struct gt_nsys_rows *rows = context;
    struct gt_nsys_host_call call = host_call_of(row, false);
    take_name(rows, row, GT_NSYS_OVERHEAD_NAME, &call.name_id, &call.name);
    gt_nsys_add_host_call(rows->sink, &call);
}

/* One that waits for several requests has a row for each of them, one after the other: it is one call. */
static void take_mpi_call(void *context, const struct gt_sqlite_row *row) {
    struct gt_nsys_rows *rows = context;
    struct gt_nsys_host_call call = host_call_of(row, true), last = rows->last_call;
    take_name(rows, row, GT_NSYS_OVERHEAD_NAME, &call.name_id, &call.name);
    bool is_same = last.is_mpi && call.name_id != GT_NSYS_NO_ID && call.name_id == last.name_id &&
                   call.start_ns == last.start_ns && call.end_ns == last.end_ns && call.global_tid == last.global_tid;
    rows->last_call = call;
    if (!is_same)
        gt_nsys_add_host_call(rows->sink, &call);
}

static void take_clone(void *context, const struct gt_sqlite_row *row) {
    const struct gt_nsys_rows *rows = context;
    gt_nsys_add_clone(rows->sink, &(struct gt_nsys_clone){
                                      .global_tid = gt_nsys_sqlite_id(row, GT_NSYS_CLONE_GLOBAL_TID),
                                      .node = gt_nsys_sqlite_id(row, GT_NSYS_CLONE_NODE),
                                      .original_node = gt_nsys_sqlite_id(row, GT_NSYS_CLONE_ORIGINAL_NODE),
                                      .graph = gt_nsys_sqlite_id(row, GT_NSYS_CLONE_GRAPH),
                                      .original_graph = gt_nsys_sqlite_id(row, GT_NSYS_CLONE_ORIGINAL_GRAPH),
                                  });
}

static void take_diagnostic(void *context, const struct gt_sqlite_row *row) {
    const struct gt_nsys_rows *rows = context;
    struct gt_str text = gt_sqlite_record_text(row, GT_NSYS_DIAGNOSTIC_TEXT);
    if (text.ptr)
        gt_nsys_add_diagnostic(rows->sink, text, gt_nsys_sqlite_id(row, GT_NSYS_DIAGNOSTIC_GLOBAL_PID));
}

gt_sqlite_pages_row_fn *gt_nsys_sqlite_rows_function(enum gt_nsys_role role, uint32_t facts) {
    static gt_sqlite_pages_row_fn *const functions[GT_NSYS_ROLE_COUNT] = {
        [GT_NSYS_KERNELS] = take_kernel,
        [GT_NSYS_COPIES] = take_copy,
        [GT_NSYS_SETS] = take_set,
        [GT_NSYS_GRAPHS] = take_graph,
        [GT_NSYS_RUNTIME] = take_call,
        [GT_NSYS_DRIVER] = take_call,
        [GT_NSYS_RANGES] = take_range,
        [GT_NSYS_OVERHEADS] = take_profiler_overhead,
        [GT_NSYS_DRIVER_OVERHEADS] = take_driver_overhead,
        [GT_NSYS_OS_CALLS] = take_os_call,
        [GT_NSYS_MPI_CALLS] = take_mpi_call,
        [GT_NSYS_GRAPH_CLONES] = take_clone,
        [GT_NSYS_DIAGNOSTICS] = take_diagnostic,
    };
    if (role == GT_NSYS_KERNELS && facts & GT_FACT_CONFIGS)
        return take_kernel_and_config;
    if (role == GT_NSYS_RANGES && facts & (GT_FACT_COMMS | GT_FACT_STACKS))
        return take_range_and_payload;
    return functions[role] ? functions[role] : gt_nsys_sqlite_asked_function(role);
}
