/* Plain rows of an export's largest tables, those of kernels, calls and ranges: columns of values come in, rows go into
   the builder. Rows with anything out of the ordinary are left to nsys_rows.c. */
#include <string.h>

#include "decode/nsys/nsys_sqlite.h"

enum { KERNEL_START, KERNEL_END, KERNEL_DEVICE, KERNEL_STREAM, KERNEL_CORRELATION, KERNEL_PID, KERNEL_NAME };
static const struct gt_sqlite_plain plain_kernel = {
    .integers = {GT_NSYS_ACTIVITY_START, GT_NSYS_ACTIVITY_END, GT_NSYS_ACTIVITY_DEVICE, GT_NSYS_ACTIVITY_STREAM,
                 GT_NSYS_ACTIVITY_CORRELATION, GT_NSYS_ACTIVITY_GLOBAL_PID, GT_NSYS_KERNEL_NAME},
    .integer_count = KERNEL_NAME + 1,
    .nulls = {GT_NSYS_ACTIVITY_GRAPH_NODE},
    .null_count = 1,
    .may_lack = 1U << GT_NSYS_ACTIVITY_CORRELATION,
};

enum { CALL_START, CALL_END, CALL_CORRELATION, CALL_TID, CALL_NAME };
static const struct gt_sqlite_plain plain_call = {
    .integers = {GT_NSYS_CALL_START, GT_NSYS_CALL_END, GT_NSYS_CALL_CORRELATION, GT_NSYS_CALL_GLOBAL_TID,
                 GT_NSYS_CALL_NAME_ID},
    .integer_count = CALL_NAME + 1,
    .may_lack = 1U << GT_NSYS_CALL_CORRELATION,
};

enum { RANGE_START, RANGE_END, RANGE_TYPE, RANGE_TID, RANGE_END_TID, RANGE_TEXT_ID, RANGE_DOMAIN, RANGE_CATEGORY };
static const struct gt_sqlite_plain plain_range = {
    .integers = {GT_NSYS_RANGE_START, GT_NSYS_RANGE_END, GT_NSYS_RANGE_TYPE, GT_NSYS_RANGE_GLOBAL_TID,
                 GT_NSYS_RANGE_END_GLOBAL_TID, GT_NSYS_RANGE_TEXT_ID, GT_NSYS_RANGE_DOMAIN, GT_NSYS_RANGE_CATEGORY},
    .integer_count = RANGE_CATEGORY + 1,
    .nulls = {GT_NSYS_RANGE_PAYLOAD},
    .null_count = 1,
    .may_lack = 1U << GT_NSYS_RANGE_END_GLOBAL_TID | 1U << GT_NSYS_RANGE_TEXT_ID | 1U << GT_NSYS_RANGE_DOMAIN |
                1U << GT_NSYS_RANGE_CATEGORY,
    .has_text = true,
    .text = GT_NSYS_RANGE_TEXT,
};

static bool is_met_name(const struct gt_nsys_rows *rows, int64_t id) {
    return (uint64_t)id < rows->facts->dense_count && rows->sink->interned[id];
}

/* How many rows from one on are as they should be: they have their times (CUPTI writes zeros where it could not take
   them), do not end before they start, belong to a process, and have a name that was met before. */
static size_t count_usual(const struct gt_nsys_rows *rows, const struct gt_sqlite_batch *batch, size_t from, int track,
                          int name) {
    _Static_assert((int)KERNEL_START == (int)CALL_START && (int)KERNEL_END == (int)CALL_END, "the same columns");
    const int64_t *starts = batch->values[CALL_START], *ends = batch->values[CALL_END], *tracks = batch->values[track];
    const int64_t *names = batch->values[name];
    size_t row = from;
    while (row < batch->count && starts[row] != GT_NO_TIME && ends[row] >= starts[row] && ends[row] != 0 &&
           tracks[row] != -1 && is_met_name(rows, names[row]))
        row++;
    return row - from;
}

static void copy_names(const struct gt_nsys_rows *rows, const int64_t *ids, size_t count, gt_strid *names) {
    for (size_t i = 0; i < count; i++)
        names[i] = rows->sink->interned[ids[i]] - 1;
}

static size_t take_kernels(void *context, const struct gt_sqlite_batch *batch, size_t from) {
    struct gt_nsys_rows *rows = context;
    size_t count = count_usual(rows, batch, from, KERNEL_PID, KERNEL_NAME);
    const int64_t *devices = batch->values[KERNEL_DEVICE] + from, *streams = batch->values[KERNEL_STREAM] + from;
    const int64_t *pids = batch->values[KERNEL_PID] + from;
    size_t usual = 0;
    while (usual < count && devices[usual] >= 0)
        usual++;
    count = usual;
    struct gt_ops *ops = count ? gt_builder_ops_room(rows->sink->builder, count) : NULL;
    if (!ops)
        return from;
    size_t at = ops->count;
    memcpy(ops->start_ns + at, batch->values[KERNEL_START] + from, count * sizeof *ops->start_ns);
    memcpy(ops->end_ns + at, batch->values[KERNEL_END] + from, count * sizeof *ops->end_ns);
    memcpy(ops->correlation + at, batch->values[KERNEL_CORRELATION] + from, count * sizeof *ops->correlation);
    copy_names(rows, batch->values[KERNEL_NAME] + from, count, ops->name + at);
    for (size_t i = 0; i < count; i++)
        ops->lane[at + i] = gt_nsys_lane(rows->sink, gt_nsys_global_pid((uint64_t)pids[i]), devices[i], streams[i]);
    memset(ops->kind + at, GT_OP_KERNEL, count);
    memset(ops->flags + at, 0, count);
    ops->count += count;
    return from + count;
}

static size_t take_calls(void *context, const struct gt_sqlite_batch *batch, size_t from) {
    struct gt_nsys_rows *rows = context;
    size_t count = count_usual(rows, batch, from, CALL_TID, CALL_NAME);
    const int64_t *tids = batch->values[CALL_TID] + from;
    struct gt_calls *calls = count ? gt_builder_calls_room(rows->sink->builder, count) : NULL;
    if (!calls)
        return from;
    size_t at = calls->count;
    memcpy(calls->start_ns + at, batch->values[CALL_START] + from, count * sizeof *calls->start_ns);
    memcpy(calls->end_ns + at, batch->values[CALL_END] + from, count * sizeof *calls->end_ns);
    memcpy(calls->correlation + at, batch->values[CALL_CORRELATION] + from, count * sizeof *calls->correlation);
    copy_names(rows, batch->values[CALL_NAME] + from, count, calls->name + at);
    for (size_t i = 0; i < count; i++)
        calls->thread[at + i] = gt_nsys_thread(rows->sink, (uint64_t)tids[i]);
    calls->count += count;
    return from + count;
}

/* A range that was closed, on the thread that opened it, without a category, and whose name is a text or was met
   before. */
static bool is_usual_range(const struct gt_nsys_rows *rows, const struct gt_sqlite_batch *batch, size_t row) {
    const int64_t(*values)[GT_SQLITE_BATCH_ROWS] = batch->values;
    int64_t start = values[RANGE_START][row], end = values[RANGE_END][row];
    int64_t tid = values[RANGE_TID][row], end_tid = values[RANGE_END_TID][row], category = values[RANGE_CATEGORY][row];
    bool has_times = start != GT_NO_TIME && end >= start && end != 0 && end != GT_NSYS_OPEN_END &&
                     end != rows->facts->capture.duration_ns;
    bool has_one_thread = end_tid == -1 || end_tid == 0 || end_tid == tid;
    bool has_name = batch->texts[row].ptr ? batch->texts[row].len != 0 : is_met_name(rows, values[RANGE_TEXT_ID][row]);
    return has_times && has_one_thread && (category == -1 || category == 0) && has_name &&
           gt_nsys_range_kind((uint64_t)values[RANGE_TYPE][row]) >= 0;
}

static void name_ranges(const struct gt_nsys_rows *rows, const struct gt_sqlite_batch *batch, size_t from, size_t count,
                        gt_strid *names) {
    const int64_t *ids = batch->values[RANGE_TEXT_ID] + from;
    gt_strtab_intern_many(&rows->sink->builder->store.strings, batch->texts + from, count, names);
    for (size_t i = 0; i < count; i++)
        if (!batch->texts[from + i].ptr)
            names[i] = rows->sink->interned[ids[i]] - 1;
}

static size_t take_ranges(void *context, const struct gt_sqlite_batch *batch, size_t from) {
    struct gt_nsys_rows *rows = context;
    size_t count = 0;
    while (from + count < batch->count && is_usual_range(rows, batch, from + count))
        count++;
    struct gt_ranges *ranges = count ? gt_builder_ranges_room(rows->sink->builder, count) : NULL;
    if (!ranges)
        return from;
    size_t at = ranges->count;
    memcpy(ranges->start_ns + at, batch->values[RANGE_START] + from, count * sizeof *ranges->start_ns);
    memcpy(ranges->end_ns + at, batch->values[RANGE_END] + from, count * sizeof *ranges->end_ns);
    memset(ranges->end_thread + at, 0xFF, count * sizeof *ranges->end_thread); /* GT_NO_TRACK */
    memset(ranges->lane + at, 0xFF, count * sizeof *ranges->lane);
    name_ranges(rows, batch, from, count, ranges->name + at);
    for (size_t i = 0; i < count; i++) {
        uint64_t tid = (uint64_t)batch->values[RANGE_TID][from + i];
        ranges->domain[at + i] = gt_nsys_range_domain(rows->sink, tid, (uint64_t)batch->values[RANGE_DOMAIN][from + i]);
        ranges->thread[at + i] = gt_nsys_thread(rows->sink, tid);
        ranges->kind[at + i] = (uint8_t)gt_nsys_range_kind((uint64_t)batch->values[RANGE_TYPE][from + i]);
    }
    ranges->count += count;
    return from + count;
}

const struct gt_sqlite_plain *gt_nsys_sqlite_plain(enum gt_nsys_role role, uint32_t facts,
                                                   gt_sqlite_pages_batch_fn **take) {
    if (role == GT_NSYS_KERNELS && !(facts & GT_FACT_CONFIGS)) {
        *take = take_kernels;
        return &plain_kernel;
    }
    if (role == GT_NSYS_RUNTIME || role == GT_NSYS_DRIVER) {
        *take = take_calls;
        return &plain_call;
    }
    if (role == GT_NSYS_RANGES) {
        *take = take_ranges;
        return &plain_range;
    }
    return NULL;
}
