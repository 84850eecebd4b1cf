/* Rows of the event tables that are read only when something asks for them: syncs, memory, metrics and payloads. */
#include <endian.h>

#include "decode/nsys/nsys_sqlite.h"

/* ---- events and waits ---- */

/* From 2025.1 on there are columns that older exports lack, and another numbering. Reports that are older than their
   export have their numbers in a column of its own. */
static bool is_old_table(const struct gt_nsys_table *table) {
    return table->columns[GT_NSYS_SYNC_OLD_TYPE] == GT_SQLITE_NO_COLUMN &&
           table->columns[GT_NSYS_SYNC_RECORD] == GT_SQLITE_NO_COLUMN;
}

/* What waits and recorded events have in common. */
static struct gt_nsys_event_record event_in(const struct gt_sqlite_row *row) {
    return (struct gt_nsys_event_record){
        .correlation = gt_nsys_sqlite_id(row, GT_NSYS_SYNC_CORRELATION),
        .global_pid = gt_nsys_sqlite_id(row, GT_NSYS_SYNC_GLOBAL_PID),
        .stream = gt_nsys_sqlite_id(row, GT_NSYS_SYNC_STREAM),
        .event = gt_nsys_sqlite_id(row, GT_NSYS_SYNC_EVENT),
        .record = gt_nsys_sqlite_id(row, GT_NSYS_SYNC_RECORD),
        .device = gt_sqlite_record_int(row, GT_NSYS_SYNC_DEVICE, -1),
    };
}

static void take_sync(void *context, const struct gt_sqlite_row *row) {
    const struct gt_nsys_rows *rows = context;
    struct gt_nsys_event_record event = event_in(row);
    uint64_t old_type = gt_nsys_sqlite_id(row, GT_NSYS_SYNC_OLD_TYPE);
    bool has_old_type = old_type != GT_NSYS_NO_ID;
    gt_nsys_add_sync(rows->sink, &(struct gt_nsys_sync){
                                     .start_ns = gt_nsys_sqlite_time(row, GT_NSYS_SYNC_START),
                                     .end_ns = gt_nsys_sqlite_time(row, GT_NSYS_SYNC_END),
                                     .correlation = event.correlation,
                                     .global_pid = event.global_pid,
                                     .stream = event.stream,
                                     .event = event.event,
                                     .record = event.record,
                                     .device = event.device,
                                     .type = has_old_type ? old_type : gt_nsys_sqlite_id(row, GT_NSYS_SYNC_TYPE),
                                     .is_old = has_old_type || is_old_table(rows->table),
                                 });
}

static void take_event_record(void *context, const struct gt_sqlite_row *row) {
    const struct gt_nsys_rows *rows = context;
    struct gt_nsys_event_record event = event_in(row);
    gt_nsys_add_event_record(rows->sink, &event);
}

/* ---- memory ---- */

static struct gt_nsys_memory memory_in(const struct gt_sqlite_row *row) {
    return (struct gt_nsys_memory){
        .start_ns = gt_nsys_sqlite_time(row, GT_NSYS_MEMORY_START),
        .correlation = gt_nsys_sqlite_id(row, GT_NSYS_MEMORY_CORRELATION),
        .global_pid = gt_nsys_sqlite_id(row, GT_NSYS_MEMORY_GLOBAL_PID),
        .stream = GT_NSYS_NO_ID,
        .bytes = gt_nsys_sqlite_id(row, GT_NSYS_MEMORY_BYTES),
        .device = gt_sqlite_record_int(row, GT_NSYS_MEMORY_DEVICE, -1),
        .operation = gt_nsys_sqlite_id(row, GT_NSYS_MEMORY_OPERATION),
        .name_id = GT_NSYS_NO_ID,
        .pool_bytes = gt_nsys_sqlite_id(row, GT_NSYS_MEMORY_POOL_BYTES),
        .pool_used_bytes = gt_nsys_sqlite_id(row, GT_NSYS_MEMORY_POOL_USED),
        .pool_kept_bytes = gt_nsys_sqlite_id(row, GT_NSYS_MEMORY_POOL_KEPT),
    };
}

static void take_memory(void *context, const struct gt_sqlite_row *row) {
    const struct gt_nsys_rows *rows = context;
    struct gt_nsys_memory memory = memory_in(row);
    memory.stream = gt_nsys_sqlite_id(row, GT_NSYS_MEMORY_STREAM);
    memory.address = gt_nsys_sqlite_id(row, GT_NSYS_MEMORY_ADDRESS);
    memory.memory_kind = gt_nsys_sqlite_id(row, GT_NSYS_MEMORY_KIND);
    memory.name = gt_sqlite_record_text(row, GT_NSYS_MEMORY_NAME);
    memory.pool = gt_nsys_sqlite_id(row, GT_NSYS_MEMORY_POOL);
    gt_nsys_add_memory(rows->sink, &memory);
}

static void take_pool(void *context, const struct gt_sqlite_row *row) {
    const struct gt_nsys_rows *rows = context;
    struct gt_nsys_memory memory = memory_in(row);
    memory.is_pool = true;
    memory.address = GT_NSYS_NO_ID;
    memory.pool = gt_nsys_sqlite_id(row, GT_NSYS_MEMORY_ADDRESS);
    gt_nsys_add_memory(rows->sink, &memory);
}

/* ---- metrics ---- */

static void make_track(const struct gt_nsys_rows *rows, size_t index) {
    const struct gt_nsys_sqlite_metric *metric = &rows->facts->metrics.list[index];
    rows->metric_tracks[index] =
        gt_nsys_metric_track(rows->sink, metric->type_id, metric->name, rows->facts->metrics.hz);
}

static void take_metric(void *context, const struct gt_sqlite_row *row) {
    struct gt_nsys_rows *rows = context;
    const struct gt_nsys_sqlite_metrics *metrics = &rows->facts->metrics;
    bool is_real = row->types[GT_NSYS_METRIC_VALUE] == GT_SQLITE_REAL;
    size_t index = SIZE_MAX;
    if ((is_real || gt_sqlite_record_is_int(row, GT_NSYS_METRIC_VALUE)) &&
        gt_sqlite_record_is_int(row, GT_NSYS_METRIC_TIME))
        index = gt_nsys_sqlite_metrics_find(metrics, (uint64_t)gt_sqlite_record_int(row, GT_NSYS_METRIC_TYPE, 0),
                                            gt_nsys_sqlite_id(row, GT_NSYS_METRIC_ID), rows->metric);
    if (index == SIZE_MAX) {
        gt_builder_issue_of(rows->sink->builder, GT_ISSUE_PAYLOAD_UNREADABLE, GT_FACT_METRICS, 1, GT_NO_OFFSET);
        return;
    }
    union gt_sqlite_cell cell = row->cells[GT_NSYS_METRIC_VALUE];
    double value = is_real ? cell.real : (double)cell.integer;
    if (value < 0)
        value += metrics->list[index].lift;
    if (rows->metric_tracks[index] == GT_NO_TRACK)
        make_track(rows, index);
    rows->metric = index + 1 < metrics->count ? index + 1 : 0;
    gt_builder_counter(rows->sink->builder, rows->metric_tracks[index], row->cells[GT_NSYS_METRIC_TIME].integer, value);
}

static void take_card_metric(void *context, const struct gt_sqlite_row *row) {
    const struct gt_nsys_rows *rows = context;
    gt_nsys_sqlite_network_take_sample(&rows->facts->network, rows->network_tracks, rows->sink, row, false);
}

static void take_switch_metric(void *context, const struct gt_sqlite_row *row) {
    const struct gt_nsys_rows *rows = context;
    gt_nsys_sqlite_network_take_sample(&rows->facts->network, rows->network_tracks, rows->sink, row, true);
}

/* ---- samples of CPU threads ---- */

/* They are only counted: whoever asks for Python's stacks is to know that there is more. */
static void count_sample(void *context, const struct gt_sqlite_row *row) {
    const struct gt_nsys_rows *rows = context;
    (void)row;
    gt_builder_issue_of(rows->sink->builder, GT_ISSUE_SAMPLES_NOT_READ, GT_FACT_STACKS, 1, GT_NO_OFFSET);
}

/* ---- payloads of ranges ---- */

/* Domain, schema, size and offset of the payload, which comes last. */
enum { PAYLOAD_HEADER = 4 * sizeof(uint64_t) };

static uint64_t number_at(struct gt_str bytes, size_t place) {
    uint64_t word;
    memcpy(&word, bytes.ptr + place * sizeof word, sizeof word);
    return le64toh(word);
}

/* What follows the header; false: it is cut. */
static bool find_payload(struct gt_str blob, struct gt_str *payload) {
    if (blob.len < PAYLOAD_HEADER)
        return false;
    uint64_t size = number_at(blob, 2), room = blob.len - PAYLOAD_HEADER;
    size_t at = PAYLOAD_HEADER + (size < room ? (size_t)(room - size) : 0);
    *payload = (struct gt_str){blob.ptr + at, blob.len - at};
    return true;
}

bool gt_nsys_sqlite_take_python(const struct gt_nsys_rows *rows, const struct gt_nsys_nvtx *event, struct gt_str blob) {
    enum { MARK = 34 };
    struct gt_str payload;
    return event->type == MARK && find_payload(blob, &payload) &&
           gt_nsys_python_take(rows->sink, &rows->facts->python, number_at(blob, 0), number_at(blob, 1), payload,
                               event);
}

void gt_nsys_sqlite_take_payload(const struct gt_nsys_rows *rows, uint64_t global_tid, struct gt_str blob) {
    struct gt_nsys_comm comm;
    struct gt_str payload;
    enum gt_nsys_comm_outcome outcome = GT_NSYS_COMM_SHORT;
    bool has_header = find_payload(blob, &payload);
    if (has_header)
        outcome = gt_nsys_comm_read(&rows->facts->payloads, number_at(blob, 0), number_at(blob, 1), payload, &comm);
    if (outcome == GT_NSYS_COMM_SHORT)
        gt_builder_issue_of(rows->sink->builder, GT_ISSUE_PAYLOAD_UNREADABLE, GT_FACT_COMMS, 1, GT_NO_OFFSET);
    if (has_header && outcome != GT_NSYS_COMM_NONE && gt_nsys_comm_is_known(&comm))
        gt_nsys_add_comm(rows->sink, global_tid, &comm);
}

gt_sqlite_pages_row_fn *gt_nsys_sqlite_asked_function(enum gt_nsys_role role) {
    static gt_sqlite_pages_row_fn *const functions[GT_NSYS_ROLE_COUNT] = {
        [GT_NSYS_SYNCS] = take_sync,
        [GT_NSYS_EVENT_RECORDS] = take_event_record,
        [GT_NSYS_MEMORY] = take_memory,
        [GT_NSYS_POOLS] = take_pool,
        [GT_NSYS_METRICS] = take_metric,
        [GT_NSYS_CARD_METRICS] = take_card_metric,
        [GT_NSYS_SWITCH_METRICS] = take_switch_metric,
        [GT_NSYS_SAMPLES] = count_sample,
    };
    return functions[role];
}
