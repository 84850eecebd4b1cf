/* Builders: what decoders fill, one for each thread. gt_store_seal() merges them into the const store. */
#ifndef GT_EVENTS_BUILDER_H
#define GT_EVENTS_BUILDER_H

#include "base/map.h"
#include "events/store.h"

/* Rows between two marks: a chunk of the file. Chunks are merged in `order`; a dropped one gives neither rows nor
   issues. */
struct gt_segment {
    uint64_t order;
    bool dropped;   /* its rows and issues do not count */
    bool forgotten; /* nor do its strings and tracks */
    size_t begin[GT_TABLE_COUNT], end[GT_TABLE_COUNT];
    size_t string_begin, string_end;
    uint64_t skipped_events;
    struct gt_issue issues[GT_ISSUE_COUNT];
};

struct gt_pending_counters;

/* One builder belongs to one thread. Failure sticks and is reported by gt_store_seal. */
struct gt_builder {
    struct gt_store store; /* under construction */
    struct gt_map process_ids, thread_ids, device_ids, lane_ids;
    struct gt_strtab counter_keys, group_keys; /* by number, from 1: what makes counter tracks and groups differ */
    struct gt_pending_counters *pending;       /* values of counters that are not yet in runs; NULL: none ever were */
    struct gt_segment *segments;
    size_t segment_count, segment_capacity;
    size_t touched[GT_TABLE_COUNT]; /* rows that have their memory, of tables that grow by many rows at once */
    bool has_twins;                 /* processes that looked different turned out to be one: sealing joins them */
    bool failed;
};

enum gt_status gt_builder_init(struct gt_builder *builder, const char *format, struct gt_error *err);
void gt_builder_release(struct gt_builder *builder);

/* Starts a chunk; what was added before it belongs to the chunk before. Must be called before the first row.
   Returns the segment's number, for gt_builder_drop. */
size_t gt_builder_begin(struct gt_builder *builder, uint64_t order);
void gt_builder_end(struct gt_builder *builder); /* ends the current chunk; sealing does it too */
void gt_builder_drop(struct gt_builder *builder, size_t segment);

/* Drops a segment and all after it, with the strings and tracks that they brought: as if they had never been read. */
void gt_builder_forget(struct gt_builder *builder, size_t first_segment);

static inline gt_strid gt_builder_string(struct gt_builder *builder, struct gt_str text) {
    return gt_strtab_intern(&builder->store.strings, text);
}

/* Track ids, made on first use. Text alone (label) names a process or thread when the number is -1; a label with a
   number keeps processes of several machines apart. */
uint32_t gt_builder_process(struct gt_builder *builder, int64_t pid, struct gt_str label);
uint32_t gt_builder_thread(struct gt_builder *builder, uint32_t process, int64_t tid, struct gt_str label);
uint32_t gt_builder_device(struct gt_builder *builder, int64_t id);
uint32_t gt_builder_lane(struct gt_builder *builder, uint32_t process, int64_t device, int64_t stream);

/* Counter tracks and groups by all that is said about them. Strings are the builder's. GT_NO_TRACK: memory was
   short. */
uint32_t gt_builder_counter_track(struct gt_builder *builder, const struct gt_counter_tracks_row *row);
uint32_t gt_builder_comm_group(struct gt_builder *builder, const struct gt_comm_groups_row *row);

/* Names of tracks; the first one given stays. */
void gt_builder_name_process(struct gt_builder *builder, uint32_t process, struct gt_str name);
void gt_builder_host_process(struct gt_builder *builder, uint32_t process, struct gt_str host);
void gt_builder_name_thread(struct gt_builder *builder, uint32_t thread, struct gt_str name);
void gt_builder_name_device(struct gt_builder *builder, uint32_t device, struct gt_str name);

/* Rows. Ops with end < start are counted and left out (false); CPU-side rows with end < start are counted and get
   zero length. */
bool gt_builder_op(struct gt_builder *builder, const struct gt_ops_row *row);
void gt_builder_call(struct gt_builder *builder, const struct gt_calls_row *row);
/* Room for many more rows at once, after the last: the caller fills every column and adds to the count. None of them
   may end before it starts. NULL: the table is as long as it can be, or memory is short, which sealing reports. */
struct gt_ops *gt_builder_ops_room(struct gt_builder *builder, size_t count);
struct gt_calls *gt_builder_calls_room(struct gt_builder *builder, size_t count);
struct gt_ranges *gt_builder_ranges_room(struct gt_builder *builder, size_t count);
void gt_builder_range(struct gt_builder *builder, const struct gt_ranges_row *row);
void gt_builder_cpu_op(struct gt_builder *builder, const struct gt_cpu_ops_row *row);
void gt_builder_overhead(struct gt_builder *builder, const struct gt_overheads_row *row);
void gt_builder_driver_work(struct gt_builder *builder, const struct gt_driver_work_row *row);

void gt_builder_host_call(struct gt_builder *builder, const struct gt_host_calls_row *row);

/* What is known beyond the row of the op or range that was added last: row->op and row->range are set by these. */
void gt_builder_copy(struct gt_builder *builder, const struct gt_copies_row *row);
void gt_builder_graph_op(struct gt_builder *builder, const struct gt_graph_ops_row *row);
void gt_builder_range_category(struct gt_builder *builder, const struct gt_range_categories_row *row);
void gt_builder_range_text(struct gt_builder *builder, const struct gt_range_texts_row *row);
/* call or range: GT_NO_ROW, or any number for the last one. */
void gt_builder_call_arg(struct gt_builder *builder, const struct gt_call_args_row *row);
void gt_builder_operator_args(struct gt_builder *builder, const struct gt_operator_args_row *row);
void gt_builder_kernel_config(struct gt_builder *builder, const struct gt_kernel_configs_row *row);
#define GT_KERNEL_CONFIG_UNKNOWN                                                                                       \
    {                                                                                                                  \
        .external = UINT64_MAX, .static_shared_bytes = UINT64_MAX, .dynamic_shared_bytes = UINT64_MAX,                 \
        .shared_bytes = UINT64_MAX, .local_bytes = UINT64_MAX, .priority = INT64_MIN, .blocks_per_multiprocessor = -1, \
        .warps_per_multiprocessor = -1, .occupancy_percent = -1, .grid_x = UINT32_MAX, .grid_y = UINT32_MAX,           \
        .grid_z = UINT32_MAX, .block_x = UINT32_MAX, .block_y = UINT32_MAX, .block_z = UINT32_MAX,                     \
        .cluster_x = UINT32_MAX, .cluster_y = UINT32_MAX, .cluster_z = UINT32_MAX, .registers = UINT32_MAX             \
    }

void gt_builder_launch_detail(struct gt_builder *builder, const struct gt_launch_details_row *row);
#define GT_LAUNCH_DETAIL_UNKNOWN                                                                                       \
    {                                                                                                                  \
        .graph_node = UINT64_MAX, .active_blocks = UINT32_MAX, .limit_registers = UINT32_MAX,                          \
        .limit_shared = UINT32_MAX, .limit_warps = UINT32_MAX, .limit_blocks = UINT32_MAX,                             \
        .limit_barriers = UINT32_MAX, .allocated_registers = UINT32_MAX, .allocated_shared_bytes = UINT32_MAX,         \
        .channel = UINT32_MAX, .channel_type = UINT32_MAX                                                              \
    }
void gt_builder_operator_detail(struct gt_builder *builder, const struct gt_operator_details_row *row);

/* A record about a collective. The row that carries it was added last to its table: set exactly one of op, cpu_op and
   range of the record to something other than GT_NO_ROW, its number is filled in. */
void gt_builder_comm(struct gt_builder *builder, const struct gt_comms_row *row);
#define GT_COMM_UNKNOWN                                                                                                \
    {                                                                                                                  \
        .in_bytes = UINT64_MAX, .out_bytes = UINT64_MAX, .comms_id = UINT64_MAX, .external = UINT64_MAX,               \
        .sequence = INT64_MIN, .src_rank = INT64_MIN, .dst_rank = INT64_MIN, .rank = INT64_MIN, .root = INT64_MIN,     \
        .peer = INT64_MIN, .group = GT_NO_TRACK, .op = GT_NO_ROW, .cpu_op = GT_NO_ROW, .range = GT_NO_ROW              \
    }
#define GT_COMM_GROUP_UNKNOWN                                                                                          \
    { .communicator = UINT64_MAX, .size = -1, .first_rank = INT64_MIN, .stride = INT64_MIN }

void gt_builder_comm_log(struct gt_builder *builder, const struct gt_comm_logs_row *row);

/* builder_counters.c: a value of a counter; those of several tracks may alternate. */
void gt_builder_counter(struct gt_builder *builder, uint32_t track, int64_t time_ns, double value);
/* Many values of one track at once: room for them, to be filled before anything else is added. false: no memory. */
bool gt_builder_counter_run(struct gt_builder *builder, uint32_t track, size_t count, int64_t **times_ns,
                            double **values);
/* Samples: room for the times of `count` of them, and then, with the row that the times begin at, for the values of
   each metric; to be filled before anything else is added. GT_NO_ROW, NULL: no memory. */
uint32_t gt_builder_sample_times(struct gt_builder *builder, size_t count, int64_t **times_ns);
uint32_t *gt_builder_sample_run(struct gt_builder *builder, uint32_t track, uint32_t times, size_t count);
/* Stores what is pending; ends of segments do it. */
void gt_builder_counters_flush(struct gt_builder *builder);
void gt_builder_counters_release(struct gt_builder *builder);

void gt_builder_sync(struct gt_builder *builder, const struct gt_syncs_row *row);
void gt_builder_event_record(struct gt_builder *builder, const struct gt_event_records_row *row);
void gt_builder_flow(struct gt_builder *builder, const struct gt_flows_row *row);
void gt_builder_memory_event(struct gt_builder *builder, const struct gt_memory_events_row *row);
void gt_builder_python_call(struct gt_builder *builder, const struct gt_python_calls_row *row);

/* The rank that a trace gives for a process; the best source stays, then the first. Negative: not known. */
void gt_builder_rank(struct gt_builder *builder, uint32_t process, int64_t rank, int64_t world_size,
                     enum gt_rank_source source);

void gt_builder_source_column(struct gt_builder *builder, const struct gt_source_columns_row *row);
void gt_builder_group(struct gt_builder *builder, const struct gt_groups_row *row);
void gt_builder_projection(struct gt_builder *builder, const struct gt_projections_row *row);
void gt_builder_projection_group(struct gt_builder *builder, const struct gt_projection_groups_row *row);

/* Data problems: of the file as a whole, and of what is only met when one of these facts is read (0: always). */
void gt_builder_issue(struct gt_builder *builder, enum gt_issue_id issue, uint64_t count, uint64_t offset);
void gt_builder_issue_of(struct gt_builder *builder, enum gt_issue_id issue, uint32_t facts, uint64_t count,
                         uint64_t offset);
static inline void gt_builder_skip(struct gt_builder *builder) {
    if (builder->segment_count) /* none only after memory ran out */
        builder->segments[builder->segment_count - 1].skipped_events++;
}

#endif
