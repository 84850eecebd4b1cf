/* A Perfetto trace being read: sequences with their names and clocks, tracks, and slices that are not yet matched. */
#ifndef GT_DECODE_PROTO_PFTRACE_READING_H
#define GT_DECODE_PROTO_PFTRACE_READING_H

#include "decode/proto/proto.h"
#include "events/builder.h"

#define GT_PFTRACE_NONE UINT32_MAX

/* What a slice is. */
enum gt_pftrace_kind {
    GT_PF_UNKNOWN, /* no category: its arguments say */
    GT_PF_KERNEL,
    GT_PF_MEMCPY,
    GT_PF_MEMSET,
    GT_PF_CALL,
    GT_PF_OPERATOR,
    GT_PF_RANGE,
    GT_PF_GPU_RANGE,
    GT_PF_START_END,
    GT_PF_MARK,
    GT_PF_PYTHON,
    GT_PF_OVERHEAD,
    GT_PF_DRIVER_WORK,
    GT_PF_GAP,
    GT_PF_STEP,
    GT_PF_OTHER, /* known, and not read */
};

enum gt_pftrace_arg {
    GT_PF_ARG_NONE,
    GT_PF_ARG_ARGS,
    GT_PF_ARG_CORRELATION,
    GT_PF_ARG_DEVICE,
    GT_PF_ARG_STREAM,
    GT_PF_ARG_QUEUE,
    GT_PF_ARG_BYTES,
    GT_PF_ARG_TID,
    GT_PF_ARG_END_TID,
    GT_PF_ARG_DOMAIN,
    GT_PF_ARG_SRC,
    GT_PF_ARG_DST,
    GT_PF_ARG_GRAPH,
    GT_PF_ARG_IN_GRAPH,
    GT_PF_ARG_EXTERNAL, /* this and those after it are of launches */
    GT_PF_ARG_GRID,
    GT_PF_ARG_BLOCK,
    GT_PF_ARG_REGISTERS,
    GT_PF_ARG_STATIC,
    GT_PF_ARG_DYNAMIC,
    GT_PF_ARG_SHARED,
    GT_PF_ARG_LOCAL,
    GT_PF_ARG_OCCUPANCY,
    GT_PF_ARG_BLOCKS,
    GT_PF_ARG_WARPS,
    GT_PF_ARG_CLUSTER_X,
    GT_PF_ARG_CLUSTER_Y,
    GT_PF_ARG_CLUSTER_Z,
    GT_PF_ARG_PRIORITY,
    GT_PF_ARG_LIMITERS, /* this and those after it are of launch_details */
    GT_PF_ARG_GRAPH_NODE,
    GT_PF_ARG_ACTIVE_BLOCKS,
    GT_PF_ARG_LIMIT_REGISTERS,
    GT_PF_ARG_LIMIT_SHARED,
    GT_PF_ARG_LIMIT_WARPS,
    GT_PF_ARG_LIMIT_BLOCKS,
    GT_PF_ARG_LIMIT_BARRIERS,
    GT_PF_ARG_ALLOCATED_REGISTERS,
    GT_PF_ARG_ALLOCATED_SHARED_BYTES,
    GT_PF_ARG_CHANNEL,
    GT_PF_ARG_CHANNEL_TYPE,
    GT_PF_ARG_COUNT,
};

/* What arguments say about a slice or render stage. */
struct gt_pftrace_details {
    uint64_t correlation;                        /* GT_NO_CORRELATION */
    int64_t device, stream, queue, tid, end_tid; /* INT64_MIN: not known */
    uint64_t bytes;                              /* UINT64_MAX likewise */
    uint32_t graph;                              /* UINT32_MAX likewise */
    gt_strid domain;
    uint8_t src, dst;
    bool has_config, has_launch, has_src, is_in_graph;
    struct gt_kernel_configs_row config; /* the last two: most of the bytes, and not kept where nobody needs them */
    struct gt_launch_details_row launch;
};
extern const struct gt_pftrace_details gt_pftrace_no_details;

/* A clock of a sequence, or one that all share. */
struct gt_pftrace_clock {
    uint32_t id;
    bool is_incremental;
    uint64_t multiplier; /* ns of a unit */
    int64_t now;         /* of an incremental one: in its units */
    int64_t from;        /* a time of it, in its units, and the same time of the trace in ns */
    int64_t trace_ns;
};
enum { GT_PFTRACE_CLOCKS = 4 };

struct gt_pftrace_sequence {
    uint64_t names; /* number of its present state: names of earlier ones are gone */
    bool is_valid;
    uint64_t track;       /* default: uuid */
    uint32_t clock;       /* default; 0: that of the trace */
    uint64_t legacy_ns;   /* of the event before; events of old writers count on from there */
    uint64_t thread_uuid; /* of the track of its thread, for events that name none; 0: not known */
    bool has_legacy_time;
    struct gt_pftrace_clock clocks[GT_PFTRACE_CLOCKS];
    size_t clock_count;
    uint64_t last_uuid; /* looked up last, with its track */
    uint32_t last_track;
};

struct gt_pftrace_track {
    uint64_t uuid, parent;
    int64_t pid, tid, gpu; /* INT64_MIN: it has none */
    gt_strid name, process_name, thread_name, unit, description;
    uint32_t machine;
    bool is_process, is_thread, is_counter, is_described;
    /* Rows of the store, once they are looked up; GT_PFTRACE_NONE. */
    uint32_t thread, lane, counter;

    struct gt_pftrace_event *events; /* in the order of the file, until they become rows */
    uint32_t event_count, event_capacity;
    uint32_t open;    /* the innermost slice that has not ended; GT_PFTRACE_NONE */
    int64_t last_ns;  /* of the last event */
    bool is_unsorted; /* an event came after a later one: from there on, nothing is matched before all are there */
};

/* GT_PF_SLICE: a begin and its end. */
enum gt_pftrace_type { GT_PF_BEGIN = 1, GT_PF_END, GT_PF_INSTANT, GT_PF_COUNTER, GT_PF_SLICE };

struct gt_pftrace_event {
    int64_t time_ns;
    int64_t end_ns;       /* of a slice; of one that is open: the one around it, as `open` */
    uint64_t correlation; /* GT_NO_CORRELATION */
    gt_strid name;
    uint32_t details; /* GT_PFTRACE_NONE: none */
    uint8_t type, kind;
};

/* An interned queue, stage or kernel name, looked up last or next to it. */
struct gt_pftrace_cached {
    uint64_t table, iid;
    uint32_t value;
};
enum { GT_PFTRACE_CACHE = 4096 };

/* The first bytes of the packet before, which the next ones of a sequence usually share, and what they say. */
struct gt_pftrace_head {
    uint64_t bytes, mask;
    size_t length; /* 0: nothing is known */
    struct gt_pftrace_sequence *sequence;
    struct gt_pftrace_clock *clock; /* NULL: that of the trace */
    uint32_t machine;
};
#define GT_PFTRACE_NO_RANK (GT_MAP_NONE - 1)
enum gt_pftrace_origin {
    GT_PF_ORIGIN_HOST,    /* string */
    GT_PF_ORIGIN_WORLD,   /* number of ranks */
    GT_PF_ORIGIN_PROCESS, /* number of its only process; GT_PFTRACE_SEVERAL */
};
#define GT_PFTRACE_SEVERAL (GT_MAP_NONE - 1)

/* Where a render stage was: what it says about it, and the lane. */
struct gt_pftrace_place {
    uint64_t names, queue_iid, context; /* names 0: nothing is known */
    int64_t queue_id, gpu;
    uint32_t machine, lane;
};

struct gt_pftrace_spec {
    int64_t stream, pid; /* INT64_MIN: the text does not say */
    uint8_t kind;        /* enum gt_op_kind */
    bool has_kind;
};

struct gt_pftrace_reading {
    struct gt_builder *builder;
    uint32_t facts;
    struct gt_map names; /* by state of a sequence with the field, and number */
    struct gt_pftrace_cached cache[GT_PFTRACE_CACHE];
    struct gt_pftrace_head head;
    struct gt_pftrace_place last_place; /* until a packet says anything else than what happened */
    uint64_t states;                    /* of sequences so far */

    struct gt_map sequence_ids;
    struct gt_pftrace_sequence *sequences;
    size_t sequence_count, sequence_capacity;
    uint32_t last_id, last_sequence;

    struct gt_map track_ids;
    struct gt_pftrace_track *tracks;
    size_t track_count, track_capacity;

    unsigned char *details; /* of details_bytes each */
    size_t details_count, details_capacity, details_bytes;
    struct gt_pftrace_spec *specs;
    size_t spec_count, spec_capacity;
    struct gt_map submitted;                           /* by op: the number that its call has for all of its ops */
    struct gt_pftrace_clock clocks[GT_PFTRACE_CLOCKS]; /* that all sequences share */
    size_t clock_count;
    struct gt_map machines;      /* ranks of machines; GT_PFTRACE_NO_RANK: not known */
    struct gt_map origins;       /* by enum gt_pftrace_origin and machine: what its attributes and descriptors say */
    struct gt_map process_names; /* by machine and number of the process */

    void *inflate[2]; /* of zlib and zstd; NULL: not needed so far */
    bool is_packed;   /* the packet that is read was in another one */

    bool is_of_gputime, has_submissions, has_hosts, failed;
    bool needs_events; /* of threads and counters; GPU work of others may be among them, that of gputime is not */
    int64_t last_ns;   /* the latest time */
    uint64_t offset;   /* of the packet that is read */
};

/* pftrace_packet.c: one packet. Damage is counted. */
void gt_pftrace_reading_packet(struct gt_pftrace_reading *reading, struct gt_str packet);

/* pftrace_clocks.c: what a snapshot says; a clock of a sequence, NULL: that of the trace. */
void gt_pftrace_reading_snapshot(struct gt_pftrace_reading *reading, struct gt_pftrace_sequence *sequence,
                                 struct gt_str snapshot);
struct gt_pftrace_clock *gt_pftrace_reading_clock(struct gt_pftrace_reading *reading,
                                                  struct gt_pftrace_sequence *sequence, uint32_t id);

/* Sums wrap like those of the writer: damaged ones give any time. */
static inline int64_t gt_pftrace_reading_sum(int64_t a, uint64_t b) {
    return (int64_t)((uint64_t)a + b);
}

static inline int64_t gt_pftrace_reading_time(struct gt_pftrace_clock *clock, uint64_t timestamp) {
    if (!clock)
        return (int64_t)timestamp;
    int64_t now = (int64_t)timestamp;
    if (clock->is_incremental)
        now = clock->now = gt_pftrace_reading_sum(clock->now, timestamp);
    if (!clock->trace_ns && clock->is_incremental)
        return gt_pftrace_reading_sum(0, (uint64_t)now * clock->multiplier);
    return gt_pftrace_reading_sum(clock->trace_ns, ((uint64_t)now - (uint64_t)clock->from) * clock->multiplier);
}

/* The time of the trace at a time of the clock that old writers use. */
int64_t gt_pftrace_reading_legacy_time(struct gt_pftrace_reading *reading, int64_t time_ns);

/* pftrace_packed.c: packets that are compressed. */
void gt_pftrace_reading_packed(struct gt_pftrace_reading *reading, struct gt_str packed, bool is_zstd);
void gt_pftrace_reading_packed_free(struct gt_pftrace_reading *reading);

/* pftrace_names.c: adds what an InternedData message says; the value of a name. */
void gt_pftrace_reading_intern(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                               struct gt_str data);
/* Of a name that was not looked up lately. */
uint32_t gt_pftrace_reading_find(struct gt_pftrace_reading *reading, uint64_t table, uint64_t iid);

/* Numbers have all 64 bits, so that fields go with the state: only the known ones come here, and a file has fewer than
   2^48 packets. */
static inline uint64_t gt_pftrace_reading_table(const struct gt_pftrace_sequence *sequence, uint32_t field) {
    return sequence->names << 16 | field;
}

/* Writers count from 1: neighbours have places of their own. */
static inline struct gt_pftrace_cached *gt_pftrace_reading_cached(struct gt_pftrace_reading *reading, uint64_t table,
                                                                  uint64_t iid) {
    return &reading->cache[(iid + table * 0x9e37) & (GT_PFTRACE_CACHE - 1)];
}

/* GT_PFTRACE_NONE: it is not there. */
static inline uint32_t gt_pftrace_reading_name(struct gt_pftrace_reading *reading,
                                               const struct gt_pftrace_sequence *sequence, uint32_t field,
                                               uint64_t iid) {
    uint64_t table = gt_pftrace_reading_table(sequence, field);
    const struct gt_pftrace_cached *slot = gt_pftrace_reading_cached(reading, table, iid);
    return slot->table == table && slot->iid == iid ? slot->value : gt_pftrace_reading_find(reading, table, iid);
}
enum gt_pftrace_kind gt_pftrace_reading_kind_of(struct gt_str category);
enum gt_pftrace_arg gt_pftrace_reading_arg_of(struct gt_str name);

/* pftrace_tracks.c: the track of a uuid, made on first use; its place in the store. GT_PFTRACE_NONE: no memory. */
uint32_t gt_pftrace_reading_track(struct gt_pftrace_reading *reading, uint64_t uuid);
void gt_pftrace_reading_describe(struct gt_pftrace_reading *reading, struct gt_str descriptor, uint32_t machine);
/* Of old writers: the thread that a sequence is of. Gives the uuid of its track, which is made up. */
uint64_t gt_pftrace_reading_own_thread(struct gt_pftrace_reading *reading, struct gt_str thread, uint32_t machine);
void gt_pftrace_reading_own_process(struct gt_pftrace_reading *reading, struct gt_str process, uint32_t machine);
void gt_pftrace_reading_gpus(struct gt_pftrace_reading *reading, struct gt_str info);
uint32_t gt_pftrace_reading_thread(struct gt_pftrace_reading *reading, uint32_t track);
uint32_t gt_pftrace_reading_process(struct gt_pftrace_reading *reading, uint32_t track);
uint32_t gt_pftrace_reading_process_of(struct gt_pftrace_reading *reading, int64_t pid, uint32_t machine);
/* The process of a stream; pid INT64_MIN: the trace does not say it. GT_NO_TRACK: nothing does. */
uint32_t gt_pftrace_reading_owner(struct gt_pftrace_reading *reading, int64_t pid, uint32_t machine);
void gt_pftrace_reading_machine(struct gt_pftrace_reading *reading, uint32_t machine, uint32_t rank);
uint32_t gt_pftrace_reading_lane(struct gt_pftrace_reading *reading, uint32_t track);
uint32_t gt_pftrace_reading_counter(struct gt_pftrace_reading *reading, uint32_t track);
int64_t gt_pftrace_reading_number_in(struct gt_str text, struct gt_str after); /* INT64_MIN: there is none */

/* pftrace_args.c: what arguments mean. */
bool gt_pftrace_reading_annotation(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                                   struct gt_str annotation,
                                   struct gt_pftrace_details *details); /* false: it is not needed */
void gt_pftrace_reading_launch(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                               struct gt_str launch, struct gt_pftrace_details *details);

/* pftrace_event.c, pftrace_stage.c: payloads of packets. */
void gt_pftrace_reading_event(struct gt_pftrace_reading *reading, struct gt_pftrace_sequence *sequence,
                              struct gt_str event, int64_t time_ns); /* GT_NO_TIME: the packet has none */
void gt_pftrace_reading_stage(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                              struct gt_str event, int64_t time_ns, uint32_t machine);

/* pftrace_slices.c: begins and ends become rows. false: memory was short. */
bool gt_pftrace_reading_match(struct gt_pftrace_reading *reading);

/* Adds what arguments say of an op that was just added. */
void gt_pftrace_reading_op_details(struct gt_pftrace_reading *reading, const struct gt_pftrace_details *details);

#endif
