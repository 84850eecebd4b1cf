/* What Nsight records mean that are read only when they are asked for: raw rows of either reader come in, launch
   configurations, waits, memory, collectives and counter tracks go into the builder. */
#include <string.h>

#include "base/num.h"
#include "decode/nsys/nsys.h"

static int64_t stream_of(uint64_t stream) {
    return stream >= UINT32_MAX ? -1 : (int64_t)stream; /* all bits set: the whole context */
}

static int64_t device_of(const struct gt_nsys_sink *sink, uint64_t global_pid, int64_t ordinal) {
    return ordinal < 0 ? -1 : gt_nsys_device(sink->capture, global_pid, ordinal);
}

/* ---- launch configurations ---- */

static uint32_t small(uint64_t value) {
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value; /* not known, or absurd, which is no better */
}

void gt_nsys_add_config(struct gt_nsys_sink *sink, const struct gt_nsys_config *config) {
    gt_builder_kernel_config(sink->builder, &(struct gt_kernel_configs_row){
                                                .external = UINT64_MAX,
                                                .static_shared_bytes = config->static_shared_bytes,
                                                .dynamic_shared_bytes = config->dynamic_shared_bytes,
                                                .shared_bytes = config->shared_bytes,
                                                .local_bytes = config->local_bytes,
                                                .priority = INT64_MIN,
                                                .blocks_per_multiprocessor = -1,
                                                .warps_per_multiprocessor = -1,
                                                .occupancy_percent = -1,
                                                .grid_x = small(config->grid[0]),
                                                .grid_y = small(config->grid[1]),
                                                .grid_z = small(config->grid[2]),
                                                .block_x = small(config->block[0]),
                                                .block_y = small(config->block[1]),
                                                .block_z = small(config->block[2]),
                                                .cluster_x = small(config->cluster[0]),
                                                .cluster_y = small(config->cluster[1]),
                                                .cluster_z = small(config->cluster[2]),
                                                .registers = small(config->registers),
                                            });
}

/* ---- events and waits ---- */

/* Up to 2024.6: 1 context (also 0), 2 event, 3 stream and stream wait. */
static enum gt_sync_kind old_kind(const struct gt_nsys_sync *sync) {
    bool has_event = sync->event < UINT32_MAX;
    switch (sync->type) {
    case 0:
    case 1:
        return GT_SYNC_CONTEXT;
    case 2:
        return GT_SYNC_EVENT;
    case 3:
        return has_event ? GT_SYNC_STREAM_WAIT : GT_SYNC_STREAM;
    default:
        return GT_SYNC_UNKNOWN;
    }
}

/* From 2025.1 to 2025.6 stream synchronizations have the number of stream waits, but no event. */
static enum gt_sync_kind kind_of(const struct gt_nsys_sync *sync) {
    bool has_event = sync->event < UINT32_MAX;
    if (sync->is_old)
        return old_kind(sync);
    switch (sync->type) {
    case 1:
        return GT_SYNC_EVENT;
    case 2:
        return has_event ? GT_SYNC_STREAM_WAIT : GT_SYNC_STREAM;
    case 3:
        return GT_SYNC_STREAM;
    case 4:
        return GT_SYNC_CONTEXT;
    default:
        return GT_SYNC_UNKNOWN;
    }
}

/* All bits of a 32-bit number set: none, of events and of their recordings. */
static uint64_t number_or_none(uint64_t number) {
    return number >= UINT32_MAX ? UINT64_MAX : number;
}

void gt_nsys_add_sync(struct gt_nsys_sink *sink, const struct gt_nsys_sync *sync) {
    if (sync->start_ns == GT_NO_TIME) {
        gt_builder_issue_of(sink->builder, GT_ISSUE_EVENT_DAMAGED, GT_FACT_SYNCS, 1, GT_NO_OFFSET);
        return;
    }
    gt_builder_sync(sink->builder, &(struct gt_syncs_row){
                                       .start_ns = sync->start_ns,
                                       .end_ns = sync->end_ns == GT_NO_TIME ? sync->start_ns : sync->end_ns,
                                       .correlation = sync->correlation,
                                       .event = number_or_none(sync->event),
                                       .record = number_or_none(sync->record),
                                       .wait_correlation = UINT64_MAX,
                                       .device = device_of(sink, sync->global_pid, sync->device),
                                       .stream = stream_of(sync->stream),
                                       .wait_stream = -1,
                                       .process = gt_nsys_process(sink, sync->global_pid),
                                       .kind = (uint8_t)kind_of(sync),
                                   });
}

void gt_nsys_add_event_record(struct gt_nsys_sink *sink, const struct gt_nsys_event_record *record) {
    gt_builder_event_record(sink->builder, &(struct gt_event_records_row){
                                               .correlation = record->correlation,
                                               .event = number_or_none(record->event),
                                               .record = number_or_none(record->record),
                                               .device = device_of(sink, record->global_pid, record->device),
                                               .stream = stream_of(record->stream),
                                               .process = gt_nsys_process(sink, record->global_pid),
                                           });
}

/* ---- memory ---- */

static enum gt_memory_operation operation_of(const struct gt_nsys_memory *memory) {
    if (!memory->is_pool)
        return memory->operation == 1 ? GT_MEMORY_FREE : GT_MEMORY_ALLOCATE;
    return memory->operation == 1 ? GT_POOL_CREATE : memory->operation == 2 ? GT_POOL_DESTROY : GT_POOL_TRIM;
}

/* Absurd sizes stop at the largest number there is. */
static int64_t signed_bytes(uint64_t bytes, bool is_freed) {
    int64_t size = bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
    return is_freed ? -size : size;
}

/* Static variables are part of the program and never freed. */
static bool is_static(const struct gt_nsys_memory *memory) {
    enum { DEVICE_STATIC = 5, MANAGED_STATIC = 6 };
    return !memory->is_pool && (memory->memory_kind == DEVICE_STATIC || memory->memory_kind == MANAGED_STATIC);
}

static enum gt_memory_kind kind_of_memory(const struct gt_nsys_memory *memory) {
    if (memory->is_pool)
        return GT_MEMORY_DEVICE;
    return is_static(memory) ? GT_MEMORY_STATIC : (enum gt_memory_kind)gt_nsys_memory_kind(memory->memory_kind);
}

/* Static variables have a name, and nothing else has. */
static gt_strid memory_name(struct gt_nsys_sink *sink, const struct gt_nsys_memory *memory) {
    if (!is_static(memory) || !(sink->facts & GT_FACT_MEMORY))
        return GT_STRID_EMPTY;
    gt_strid name = memory->name.len ? gt_builder_string(sink->builder, memory->name) : GT_STRID_EMPTY;
    if (name == GT_STRID_EMPTY && memory->name_id != GT_NSYS_NO_ID)
        name = gt_nsys_string(sink, memory->name_id);
    return name == GT_STRID_EMPTY ? gt_builder_string(sink->builder, GT_LOST_NAME) : name;
}

void gt_nsys_add_memory(struct gt_nsys_sink *sink, const struct gt_nsys_memory *memory) {
    enum gt_memory_operation operation = operation_of(memory);
    if (memory->start_ns == GT_NO_TIME || (memory->bytes == GT_NSYS_NO_ID && !memory->is_pool)) {
        gt_builder_issue_of(sink->builder, GT_ISSUE_EVENT_DAMAGED, GT_FACT_MEMORY, 1, GT_NO_OFFSET);
        return;
    }
    uint64_t bytes = memory->bytes == GT_NSYS_NO_ID ? 0 : memory->bytes; /* only a trimmed pool keeps some */
    gt_builder_memory_event(sink->builder, &(struct gt_memory_events_row){
                                               .time_ns = memory->start_ns == 0 ? GT_NO_TIME : memory->start_ns,
                                               .bytes = signed_bytes(bytes, operation == GT_MEMORY_FREE),
                                               .address = memory->address,
                                               .correlation = memory->correlation,
                                               .allocated_bytes = UINT64_MAX,
                                               .reserved_bytes = UINT64_MAX,
                                               .pool = memory->pool,
                                               .pool_bytes = memory->pool_bytes,
                                               .pool_used_bytes = memory->pool_used_bytes,
                                               .pool_kept_bytes = memory->pool_kept_bytes,
                                               .device = device_of(sink, memory->global_pid, memory->device),
                                               .stream = stream_of(memory->stream),
                                               .name = memory_name(sink, memory),
                                               .process = gt_nsys_process(sink, memory->global_pid),
                                               .thread = GT_NO_TRACK,
                                               .kind = (uint8_t)kind_of_memory(memory),
                                               .operation = (uint8_t)operation,
                                               .source = GT_MEMORY_OF_DRIVER,
                                           });
}

/* ---- collectives ---- */

void gt_nsys_add_comm(struct gt_nsys_sink *sink, uint64_t global_tid, const struct gt_nsys_comm *comm) {
    struct gt_builder *builder = sink->builder;
    struct gt_comms_row row = GT_COMM_UNKNOWN;
    struct gt_comm_groups_row group = GT_COMM_GROUP_UNKNOWN;
    if (builder->store.ranges.count == 0)
        return;
    row.in_bytes = comm->bytes;
    row.rank = comm->rank;
    row.root = comm->root;
    row.peer = comm->peer;
    row.name = builder->store.ranges.name[builder->store.ranges.count - 1];
    row.reduction = comm->reduction.len ? gt_builder_string(builder, comm->reduction) : GT_STRID_EMPTY;
    row.range = 0;
    if (comm->communicator != GT_NSYS_NO_ID) {
        group.communicator = comm->communicator;
        group.size = comm->ranks > INT64_MAX ? -1 : (int64_t)comm->ranks;
        row.group = gt_builder_comm_group(builder, &group);
    }
    gt_builder_comm(builder, &row);
    gt_nsys_add_comm_rank(sink, global_tid, comm);
}

/* ---- counters ---- */

/* "Throughput %" -> "%". Frequencies are stored in Hz, whatever the name says. */
static struct gt_str metric_unit(struct gt_str words) {
    if (gt_str_eq(words, GT_STR("Throughput %")))
        return GT_STR("%");
    return gt_str_eq(words, GT_STR("MHz")) ? GT_STR("Hz") : words;
}

/* Thousands of metrics may have one string for a name, and each is hashed in each thread. */
enum { METRIC_NAME_MAX = 1024 };

uint32_t gt_nsys_metric_track(struct gt_nsys_sink *sink, uint64_t type_id, struct gt_str name, uint64_t hz) {
    name = gt_str_cut(name, METRIC_NAME_MAX);
    const char *bracket = name.len ? memrchr(name.ptr, '[', name.len) : NULL;
    struct gt_str unit = {"", 0};
    if (bracket && name.ptr[name.len - 1] == ']') {
        unit = metric_unit((struct gt_str){bracket + 1, (size_t)(name.ptr + name.len - 1 - (bracket + 1))});
        name.len = (size_t)(bracket - name.ptr);
    }
    while (name.len && name.ptr[name.len - 1] == ' ')
        name.len--;
    return gt_builder_counter_track(sink->builder,
                                    &(struct gt_counter_tracks_row){
                                        .process = GT_NO_TRACK,
                                        .device = (int64_t)(type_id & 0xFF),
                                        .name = gt_builder_string(sink->builder, name),
                                        .unit = gt_builder_string(sink->builder, unit),
                                        .period_ns = hz && hz <= 1000000000 ? (int64_t)(1000000000 / hz) : 0,
                                        .kind = GT_COUNTER_SAMPLED,
                                    });
}
