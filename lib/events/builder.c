/* Builders: rows come in from a decoder, growing columns of one chunk after the other go to sealing. */
#include "events/builder.h"

#include <string.h>

#include "base/mem.h"

/* Most tables stay short, and traces of many ranks are in memory together: a page for each column first. What is longer
   grows to many rows at once, because every growth moves the pages of all columns, and meanwhile no other thread may
   have memory: up to many rows, eight times as many where addresses are plenty. */
enum { FIRST_ROWS = GT_STORE_FEW_ROWS, MORE_ROWS = 8192, MANY_ROWS = 1 << 18 };

/* Room for more rows in a table that is full. false after a failure. */
static bool grow_table(struct gt_builder *builder, enum gt_table_id table, size_t capacity) {
    size_t wanted = capacity < FIRST_ROWS ? FIRST_ROWS : capacity < MORE_ROWS ? MORE_ROWS : capacity * 2;
    bool may_leap = capacity >= MORE_ROWS && capacity < MANY_ROWS && gt_mem_pages_are_plenty();
    if (may_leap && gt_store_table_reserve(&builder->store, table, capacity * 8))
        return true;
    if (wanted >= GT_NO_ROW && capacity < GT_NO_ROW - 1)
        wanted = GT_NO_ROW - 1;
    if (gt_store_table_reserve(&builder->store, table, wanted))
        return true;
    builder->failed = true;
    return false;
}

/* append_ops(builder, &row) and so on: one function for each table, not all of them used. false after a failure. */
#define GT_TABLE(table, columns)                                                                                       \
    __attribute__((unused)) static bool append_##table(struct gt_builder *builder,                                     \
                                                       const struct gt_##table##_row *row) {                           \
        struct gt_##table *rows = &builder->store.table;                                                               \
        if (rows->count == rows->capacity && !grow_table(builder, GT_TABLE_##table, rows->capacity))                   \
            return false;                                                                                              \
        size_t i = rows->count++;                                                                                      \
        columns return true;                                                                                           \
    }
#define GT_COLUMN(table, type, name, refers) rows->name[i] = row->name;
#include "events/columns.def"
#undef GT_TABLE
#undef GT_COLUMN

bool gt_builder_op(struct gt_builder *builder, const struct gt_ops_row *row) {
    if (row->end_ns < row->start_ns) {
        gt_builder_issue_of(builder, GT_ISSUE_OP_NEGATIVE, GT_FACT_OPS, 1, GT_NO_OFFSET);
        return false;
    }
    return append_ops(builder, row);
}

/* CPU-side rows keep their start; an end before it is clock trouble. */
static int64_t checked_end(struct gt_builder *builder, enum gt_fact fact, int64_t start_ns, int64_t end_ns) {
    if (end_ns >= start_ns)
        return end_ns;
    gt_builder_issue_of(builder, GT_ISSUE_CALL_NEGATIVE, fact, 1, GT_NO_OFFSET);
    return start_ns;
}

void gt_builder_call(struct gt_builder *builder, const struct gt_calls_row *row) {
    struct gt_calls_row checked = *row;
    checked.end_ns = checked_end(builder, GT_FACT_CALLS, row->start_ns, row->end_ns);
    append_calls(builder, &checked);
}

/* Memory for the next rows of a table that has many already, so that no more than a fifth is in vain. */
static void touch_rows(struct gt_builder *builder, enum gt_table_id table, size_t count, size_t capacity) {
    enum { STEP_ROWS = 16 << 10 };
    size_t from = builder->touched[table], to = count + STEP_ROWS < capacity ? count + STEP_ROWS : capacity;
    for (size_t i = 0; i < gt_column_count && count >= 4 * STEP_ROWS; i++) {
        const struct gt_column_info *info = &gt_column_infos[i];
        if (info->table == table)
            gt_mem_pages_touch(*gt_store_column(&builder->store, info), from * info->elem_bytes, to * info->elem_bytes);
    }
    builder->touched[table] = to;
}

/* One growth is enough, except for a table that is about as long as it can be. */
#define MAKE_ROOM(table)                                                                                               \
    struct gt_##table *gt_builder_##table##_room(struct gt_builder *builder, size_t count) {                           \
        struct gt_##table *rows = &builder->store.table;                                                               \
        if (rows->capacity - rows->count < count && !grow_table(builder, GT_TABLE_##table, rows->capacity))            \
            return NULL;                                                                                               \
        if (rows->count + count > builder->touched[GT_TABLE_##table])                                                  \
            touch_rows(builder, GT_TABLE_##table, rows->count, rows->capacity);                                        \
        return rows->capacity - rows->count < count ? NULL : rows;                                                     \
    }
MAKE_ROOM(ops)
MAKE_ROOM(calls)
MAKE_ROOM(ranges)
#undef MAKE_ROOM

void gt_builder_range(struct gt_builder *builder, const struct gt_ranges_row *row) {
    struct gt_ranges_row checked = *row;
    checked.end_ns = checked_end(builder, GT_FACT_RANGES, row->start_ns, row->end_ns);
    append_ranges(builder, &checked);
}

void gt_builder_cpu_op(struct gt_builder *builder, const struct gt_cpu_ops_row *row) {
    struct gt_cpu_ops_row checked = *row;
    checked.end_ns = checked_end(builder, GT_FACT_CPU_OPS, row->start_ns, row->end_ns);
    append_cpu_ops(builder, &checked);
}

void gt_builder_overhead(struct gt_builder *builder, const struct gt_overheads_row *row) {
    struct gt_overheads_row checked = *row;
    checked.end_ns = checked_end(builder, GT_FACT_OVERHEADS, row->start_ns, row->end_ns);
    append_overheads(builder, &checked);
}

void gt_builder_driver_work(struct gt_builder *builder, const struct gt_driver_work_row *row) {
    struct gt_driver_work_row checked = *row;
    checked.end_ns = checked_end(builder, GT_FACT_OVERHEADS, row->start_ns, row->end_ns);
    append_driver_work(builder, &checked);
}

/* gt_builder_copy and so on: a row about the last row of another table, which column `of` names. */
#define APPEND_OF_LAST(function, table, parents, of)                                                                   \
    void function(struct gt_builder *builder, const struct gt_##table##_row *row) {                                    \
        struct gt_##table##_row of_last = *row;                                                                        \
        if (builder->store.parents.count == 0)                                                                         \
            return;                                                                                                    \
        of_last.of = (uint32_t)(builder->store.parents.count - 1);                                                     \
        append_##table(builder, &of_last);                                                                             \
    }
APPEND_OF_LAST(gt_builder_copy, copies, ops, op)
APPEND_OF_LAST(gt_builder_graph_op, graph_ops, ops, op)
APPEND_OF_LAST(gt_builder_range_category, range_categories, ranges, range)
APPEND_OF_LAST(gt_builder_range_text, range_texts, ranges, range)
APPEND_OF_LAST(gt_builder_operator_args, operator_args, cpu_ops, cpu_op)
APPEND_OF_LAST(gt_builder_kernel_config, kernel_configs, ops, op)
APPEND_OF_LAST(gt_builder_launch_detail, launch_details, ops, op)
APPEND_OF_LAST(gt_builder_operator_detail, operator_details, cpu_ops, cpu_op)
#undef APPEND_OF_LAST

static void set_last(uint32_t *row, size_t count) {
    if (*row != GT_NO_ROW)
        *row = count ? (uint32_t)(count - 1) : GT_NO_ROW;
}

void gt_builder_comm(struct gt_builder *builder, const struct gt_comms_row *row) {
    struct gt_comms_row of_last = *row;
    set_last(&of_last.op, builder->store.ops.count);
    set_last(&of_last.cpu_op, builder->store.cpu_ops.count);
    set_last(&of_last.range, builder->store.ranges.count);
    append_comms(builder, &of_last);
}

void gt_builder_call_arg(struct gt_builder *builder, const struct gt_call_args_row *row) {
    struct gt_call_args_row of_last = *row;
    set_last(&of_last.call, builder->store.calls.count);
    set_last(&of_last.range, builder->store.ranges.count);
    append_call_args(builder, &of_last);
}

void gt_builder_sync(struct gt_builder *builder, const struct gt_syncs_row *row) {
    struct gt_syncs_row checked = *row;
    checked.end_ns = checked_end(builder, GT_FACT_SYNCS, row->start_ns, row->end_ns);
    append_syncs(builder, &checked);
}

void gt_builder_event_record(struct gt_builder *builder, const struct gt_event_records_row *row) {
    append_event_records(builder, row);
}

void gt_builder_flow(struct gt_builder *builder, const struct gt_flows_row *row) {
    append_flows(builder, row);
}

void gt_builder_host_call(struct gt_builder *builder, const struct gt_host_calls_row *row) {
    struct gt_host_calls_row checked = *row;
    checked.end_ns = checked_end(builder, GT_FACT_HOST_CALLS, row->start_ns, row->end_ns);
    append_host_calls(builder, &checked);
}

void gt_builder_comm_log(struct gt_builder *builder, const struct gt_comm_logs_row *row) {
    append_comm_logs(builder, row);
}

void gt_builder_memory_event(struct gt_builder *builder, const struct gt_memory_events_row *row) {
    append_memory_events(builder, row);
}

void gt_builder_python_call(struct gt_builder *builder, const struct gt_python_calls_row *row) {
    struct gt_python_calls_row checked = *row;
    checked.end_ns = checked_end(builder, GT_FACT_STACKS, row->start_ns, row->end_ns);
    append_python_calls(builder, &checked);
}

void gt_builder_rank(struct gt_builder *builder, uint32_t process, int64_t rank, int64_t world_size,
                     enum gt_rank_source source) {
    struct gt_processes *processes = &builder->store.processes;
    if (process >= processes->count)
        return;
    if (world_size > processes->world_size[process])
        processes->world_size[process] = world_size;
    if (rank < 0 || (processes->rank[process] >= 0 && processes->rank_source[process] <= source))
        return;
    processes->rank[process] = rank;
    processes->rank_source[process] = (uint8_t)source;
}

void gt_builder_source_column(struct gt_builder *builder, const struct gt_source_columns_row *row) {
    append_source_columns(builder, row);
}

void gt_builder_group(struct gt_builder *builder, const struct gt_groups_row *row) {
    append_groups(builder, row);
}

void gt_builder_projection(struct gt_builder *builder, const struct gt_projections_row *row) {
    struct gt_projections_row checked = *row;
    checked.end_ns = checked_end(builder, GT_FACT_PROJECTIONS, row->start_ns, row->end_ns);
    append_projections(builder, &checked);
}

void gt_builder_projection_group(struct gt_builder *builder, const struct gt_projection_groups_row *row) {
    append_projection_groups(builder, row);
}

/* The id under which a track is known, or `next` if it is new. 0 after a failure: sealing will report it. */
static uint32_t track_id(struct gt_builder *builder, struct gt_map *ids, uint64_t key_hi, uint64_t key_lo,
                         uint32_t next) {
    uint32_t id = gt_map_put_if_new(ids, key_hi, key_lo, next);
    if (!ids->failed)
        return id;
    builder->failed = true;
    return 0;
}

uint32_t gt_builder_process(struct gt_builder *builder, int64_t pid, struct gt_str label) {
    gt_strid label_id = label.len ? gt_builder_string(builder, label) : GT_STRID_EMPTY;
    uint32_t next = (uint32_t)builder->store.processes.count;
    uint32_t id = track_id(builder, &builder->process_ids, label_id, (uint64_t)pid, next);
    if (id == next)
        append_processes(builder,
                         &(struct gt_processes_row){.pid = pid, .label = label_id, .rank = -1, .world_size = -1});
    return id;
}

uint32_t gt_builder_thread(struct gt_builder *builder, uint32_t process, int64_t tid, struct gt_str label) {
    gt_strid label_id = tid == -1 ? gt_builder_string(builder, label) : GT_STRID_EMPTY;
    uint32_t next = (uint32_t)builder->store.threads.count;
    uint32_t id = track_id(builder, &builder->thread_ids, (uint64_t)process << 32 | label_id, (uint64_t)tid, next);
    if (id == next)
        append_threads(builder, &(struct gt_threads_row){.process = process, .tid = tid, .label = label_id});
    return id;
}

uint32_t gt_builder_device(struct gt_builder *builder, int64_t device_id) {
    uint32_t next = (uint32_t)builder->store.devices.count;
    uint32_t id = track_id(builder, &builder->device_ids, 0, (uint64_t)device_id, next);
    if (id == next)
        append_devices(builder, &(struct gt_devices_row){.id = device_id});
    return id;
}

uint32_t gt_builder_lane(struct gt_builder *builder, uint32_t process, int64_t device_id, int64_t stream) {
    uint32_t device = gt_builder_device(builder, device_id);
    uint32_t next = (uint32_t)builder->store.lanes.count;
    uint32_t id = track_id(builder, &builder->lane_ids, (uint64_t)process << 32 | device, (uint64_t)stream, next);
    if (id == next)
        append_lanes(builder, &(struct gt_lanes_row){.process = process, .device = device, .stream = stream});
    return id;
}

/* The number of a key that is a row's bytes, from 0. SIZE_MAX when memory is short. */
static size_t key_number(struct gt_builder *builder, struct gt_strtab *keys, const void *row, size_t bytes) {
    if (!keys->strings && !gt_strtab_init(keys)) {
        builder->failed = true;
        return SIZE_MAX;
    }
    gt_strid id = gt_strtab_intern(keys, (struct gt_str){row, bytes});
    builder->failed |= keys->failed;
    return keys->failed ? SIZE_MAX : id - 1;
}

/* number_comm_groups(builder, keys, &row) and so on: the number of the row that has the same in all columns, which is
   appended where there is none. GT_NO_TRACK when memory is short. */
#define GT_TABLE(table, columns)                                                                                       \
    __attribute__((unused)) static uint32_t number_##table(struct gt_builder *builder, struct gt_strtab *keys,         \
                                                           const struct gt_##table##_row *row) {                       \
        const struct gt_##table *rows = &builder->store.table;                                                         \
        struct gt_##table##_row key;                                                                                   \
        memset(&key, 0, sizeof key); /* padding is part of the key */                                                  \
        columns size_t number = key_number(builder, keys, &key, sizeof key);                                           \
        if (number == rows->count)                                                                                     \
            append_##table(builder, row);                                                                              \
        return number < rows->count ? (uint32_t)number : GT_NO_TRACK;                                                  \
    }
#define GT_COLUMN(table, type, name, refers) key.name = row->name;
#include "events/columns.def"
#undef GT_TABLE
#undef GT_COLUMN

uint32_t gt_builder_counter_track(struct gt_builder *builder, const struct gt_counter_tracks_row *row) {
    return number_counter_tracks(builder, &builder->counter_keys, row);
}

uint32_t gt_builder_comm_group(struct gt_builder *builder, const struct gt_comm_groups_row *row) {
    return number_comm_groups(builder, &builder->group_keys, row);
}

/* Ids of tracks that could not be stored because memory was short are past the end. */
static void name_track(struct gt_builder *builder, gt_strid *names, size_t count, uint32_t id, struct gt_str name) {
    if (id < count && names[id] == GT_STRID_EMPTY)
        names[id] = gt_builder_string(builder, name);
}

void gt_builder_name_process(struct gt_builder *builder, uint32_t process, struct gt_str name) {
    name_track(builder, builder->store.processes.name, builder->store.processes.count, process, name);
}

void gt_builder_host_process(struct gt_builder *builder, uint32_t process, struct gt_str host) {
    name_track(builder, builder->store.processes.host, builder->store.processes.count, process, host);
}

void gt_builder_name_thread(struct gt_builder *builder, uint32_t thread, struct gt_str name) {
    name_track(builder, builder->store.threads.name, builder->store.threads.count, thread, name);
}

void gt_builder_name_device(struct gt_builder *builder, uint32_t device, struct gt_str name) {
    name_track(builder, builder->store.devices.name, builder->store.devices.count, device, name);
}

enum gt_status gt_builder_init(struct gt_builder *builder, const char *format, struct gt_error *err) {
    memset(builder, 0, sizeof *builder);
    builder->store.meta = (struct gt_meta){.format = format, .rank = -1, .world_size = -1, .duration_ns = -1};
    if (gt_strtab_init(&builder->store.strings))
        return GT_OK;
    gt_strtab_release(&builder->store.strings);
    return gt_fail_memory(err);
}

void gt_builder_end(struct gt_builder *builder) {
    if (builder->segment_count == 0)
        return;
    struct gt_segment *last = &builder->segments[builder->segment_count - 1];
    gt_builder_counters_flush(builder);
    for (int t = 0; t < GT_TABLE_COUNT; t++)
        last->end[t] = *gt_store_row_count(&builder->store, (enum gt_table_id)t);
    last->string_end = builder->store.strings.count;
}

size_t gt_builder_begin(struct gt_builder *builder, uint64_t order) {
    gt_builder_end(builder);
    struct gt_segment *grown =
        gt_mem_room(builder->segments, builder->segment_count, &builder->segment_capacity, sizeof *grown);
    if (!grown) {
        /* Rows go on into the last segment; sealing reports the failure. */
        builder->failed = true;
        return builder->segment_count ? builder->segment_count - 1 : 0;
    }
    builder->segments = grown;
    struct gt_segment *segment = &builder->segments[builder->segment_count];
    memset(segment, 0, sizeof *segment);
    segment->order = order;
    for (int t = 0; t < GT_TABLE_COUNT; t++)
        segment->begin[t] = segment->end[t] = *gt_store_row_count(&builder->store, (enum gt_table_id)t);
    segment->string_begin = builder->store.strings.count;
    for (int k = 0; k < GT_ISSUE_COUNT; k++)
        segment->issues[k].first_offset = GT_NO_OFFSET;
    return builder->segment_count++;
}

void gt_builder_drop(struct gt_builder *builder, size_t segment) {
    if (segment < builder->segment_count)
        builder->segments[segment].dropped = true;
}

void gt_builder_forget(struct gt_builder *builder, size_t first_segment) {
    for (size_t i = first_segment; i < builder->segment_count; i++)
        builder->segments[i].dropped = builder->segments[i].forgotten = true;
}

void gt_builder_issue(struct gt_builder *builder, enum gt_issue_id id, uint64_t count, uint64_t offset) {
    if (builder->segment_count == 0)
        return; /* only after gt_builder_begin ran out of memory */
    gt_store_issue_join(&builder->segments[builder->segment_count - 1].issues[id], &(struct gt_issue){count, offset});
}

/* A segment has one row for each problem and set of facts: few, whatever the file holds. */
void gt_builder_issue_of(struct gt_builder *builder, enum gt_issue_id id, uint32_t facts, uint64_t count,
                         uint64_t offset) {
    struct gt_fact_issues *rows = &builder->store.fact_issues;
    if (facts == 0)
        gt_builder_issue(builder, id, count, offset);
    if (facts == 0 || builder->segment_count == 0) /* none only after gt_builder_begin ran out of memory */
        return;
    for (size_t i = rows->count; i-- > builder->segments[builder->segment_count - 1].begin[GT_TABLE_fact_issues];)
        if (rows->issue[i] == id && rows->facts[i] == facts) {
            struct gt_issue issue = {rows->times[i], rows->first_offset[i]};
            gt_store_issue_join(&issue, &(struct gt_issue){count, offset});
            rows->times[i] = issue.count;
            rows->first_offset[i] = issue.first_offset;
            return;
        }
    struct gt_issue issue = {.first_offset = offset};
    gt_store_issue_add(&issue, count);
    append_fact_issues(builder,
                       &(struct gt_fact_issues_row){
                           .times = issue.count, .first_offset = offset, .facts = facts, .issue = (uint8_t)id});
}

void gt_builder_release(struct gt_builder *builder) {
    gt_store_release(&builder->store);
    gt_map_release(&builder->process_ids);
    gt_map_release(&builder->thread_ids);
    gt_map_release(&builder->device_ids);
    gt_map_release(&builder->lane_ids);
    gt_strtab_release(&builder->counter_keys);
    gt_strtab_release(&builder->group_keys);
    gt_builder_counters_release(builder);
    gt_mem_free(builder->segments);
    memset(builder, 0, sizeof *builder);
}
