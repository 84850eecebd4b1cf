/* What Nsight Systems records mean, once: both the SQLite and the .nsys-rep reader hand their rows to this, so that the
   same capture gives the same store from either. In: raw rows (ids as NVIDIA writes them); out: rows of a builder. */
#ifndef GT_DECODE_NSYS_NSYS_H
#define GT_DECODE_NSYS_NSYS_H

#include "base/arena.h"
#include "base/map.h"
#include "decode/nsys/nsys_label.h"
#include "events/builder.h"
#include "events/store.h"

#define GT_NSYS_NO_ID    UINT64_MAX /* an id or number the row does not have (SQL NULL, absent field) */
#define GT_NSYS_OPEN_END INT64_MAX  /* in range rows until gt_nsys_finish: the end is not known */

/* The capture's facts, filled before the events are read and then shared read-only by all threads. */
struct gt_nsys_capture {
    struct gt_arena arena;
    struct gt_str *strings; /* by string id; string_count of them; unknown ids have ptr NULL */
    size_t string_count;
    struct gt_map gpu_of; /* (pid, CUDA ordinal) -> physical GPU id, from TARGET_INFO_CUDA_DEVICE */
    struct gt_nsys_gpu *gpus;
    size_t gpu_count;
    struct gt_nsys_name *processes, *threads; /* names by globalPid / globalTid */
    size_t process_count, thread_count;
    int64_t duration_ns;        /* of the capture, -1 unknown: a range that ends exactly there was never closed */
    int64_t utc_ns;             /* epoch ns of time 0; 0 unknown */
    struct gt_str producer;     /* "Nsight Systems 2025.3.1.0" */
    struct gt_str host;         /* name of the machine */
    struct gt_nsys_rank *ranks; /* what is recorded about the ranks of processes */
    size_t rank_count;
};

/* global_pid GT_NSYS_NO_ID: of the only process that uses a GPU, if there is but one. Negative numbers: not known. */
struct gt_nsys_rank {
    uint64_t global_pid;
    int64_t rank, world_size;
    enum gt_rank_source source;
};

struct gt_nsys_comm_rank {
    uint64_t global_pid;
    int64_t rank, size, start_ns;
};

struct gt_nsys_gpu {
    int64_t id;
    struct gt_str name;
    struct gt_str uuid;
    uint64_t memory_bytes, bandwidth, clock_hz, l2_bytes; /* 0: not known; the same for all below */
    uint32_t multiprocessors, compute_major, compute_minor;
    uint32_t max_warps, max_blocks, max_registers, max_shared_bytes; /* of a multiprocessor */
};

struct gt_nsys_name {
    uint64_t global_id;
    struct gt_str name;
};

#define GT_NSYS_CACHE_SLOTS 256 /* power of two */

/* Tracks met lately, by what rows call them. */
struct gt_nsys_lane_slot {
    uint64_t global_pid;
    int64_t device, stream;
    uint32_t lane;
    bool is_set;
};
struct gt_nsys_thread_slot {
    uint64_t global_tid;
    uint32_t thread;
    bool is_set;
};

/* Stacks of Python that were sampled, until all are there: nsys_python.h. */
struct gt_nsys_python_frame {
    uint64_t function, file; /* strings */
};
struct gt_nsys_python_sample {
    int64_t time_ns;
    uint64_t global_tid, domain;
    uint64_t order;      /* of its segment in the file */
    size_t first, count; /* frames, the innermost first */
    bool has_payload;    /* false: the file leaves the frames out */
};
struct gt_nsys_python {
    struct gt_nsys_python_sample *samples;
    struct gt_nsys_python_frame *frames;
    size_t count, capacity, frame_count, frame_capacity;
    bool has_failed; /* memory was short */
};

/* One for each builder, so for each thread. Call gt_builder_begin before the first row of each chunk. */
struct gt_nsys_sink {
    struct gt_builder *builder;
    const struct gt_nsys_capture *capture;
    uint32_t facts; /* enum gt_fact: what is to be read */
    struct gt_arena arena;
    gt_strid *interned; /* by string id: id in the builder + 1, 0 = not yet */
    /* Until gt_nsys_finish, rows hold places in these lists as domain, category and graph. */
    struct gt_nsys_labels labels[GT_NSYS_LABEL_KINDS];
    struct gt_nsys_lane_slot lanes[GT_NSYS_CACHE_SLOTS];
    struct gt_nsys_thread_slot threads[GT_NSYS_CACHE_SLOTS];
    struct gt_nsys_comm_rank *comm_ranks; /* of processes in communicators that were initialized */
    size_t comm_rank_count, comm_rank_capacity;
    uint64_t *suspected; /* processes of which the profiler may have lost events, once for each time it says so */
    size_t suspected_count, suspected_capacity;
    struct gt_nsys_python python;
};

enum gt_nsys_device_kind { GT_NSYS_KERNEL, GT_NSYS_MEMCPY, GT_NSYS_MEMSET, GT_NSYS_GRAPH };

/* A kernel, copy, set or whole graph on a device. */
struct gt_nsys_activity {
    enum gt_nsys_device_kind kind;
    int64_t start_ns, end_ns;         /* GT_NO_TIME if absent */
    uint64_t correlation, global_pid; /* GT_NSYS_NO_ID if absent */
    int64_t device, stream;           /* CUDA ordinal in the process, -1 if absent; stream */
    uint64_t name_id;                 /* kernels: demangled name; GT_NSYS_NO_ID when name holds text */
    struct gt_str name;
    uint64_t graph_node, graph_id; /* GT_NSYS_NO_ID if none */
    /* Copies and sets, as NVIDIA numbers them; a set has only bytes and dst_kind. */
    uint64_t bytes, copy_kind, src_kind, dst_kind;
};

/* A runtime or driver call. */
struct gt_nsys_call {
    int64_t start_ns, end_ns;
    uint64_t correlation, global_tid, name_id;
    struct gt_str name;
};

/* A graph node or graph that is a copy of another one, as when a graph is made executable. GT_NSYS_NO_ID if absent. */
struct gt_nsys_clone {
    uint64_t global_tid;
    uint64_t node, original_node;
    uint64_t graph, original_graph;
};
#define GT_NSYS_WHOLE                                                                                                  \
    1 /* in a process's global id, whose lowest bits are zero: the number is a graph's, not a node's */

/* An NVTX event of any type (59, 60, 70, 71 ranges, 34 mark, 75 domain, 39 thread name, 33 category). */
struct gt_nsys_nvtx {
    uint64_t type;
    int64_t start_ns, end_ns; /* GT_NO_TIME if absent */
    uint64_t global_tid, end_global_tid, domain_id, category, text_id;
    struct gt_str text;
};

/* Set-up and end of a capture, which is empty when zeroed except for duration_ns = -1; release after gt_nsys_finish. */
void gt_nsys_capture_release(struct gt_nsys_capture *capture);
/* facts: what is to be read. */
bool gt_nsys_sink_init(struct gt_nsys_sink *sink, struct gt_builder *builder, const struct gt_nsys_capture *capture,
                       uint32_t facts);
void gt_nsys_sink_release(struct gt_nsys_sink *sink);

/* false: it is no op (it has no times, or ends before it starts). */
bool gt_nsys_add_activity(struct gt_nsys_sink *sink, const struct gt_nsys_activity *activity);
void gt_nsys_add_call(struct gt_nsys_sink *sink, const struct gt_nsys_call *call);
void gt_nsys_add_nvtx(struct gt_nsys_sink *sink, const struct gt_nsys_nvtx *event);
/* The kind of range that events of this type are, enum gt_range_kind; -1: of another type than ranges have. */
int gt_nsys_range_kind(uint64_t nvtx_type);
/* What range rows have as their domain until gt_nsys_finish. domain_id may be GT_NSYS_NO_ID. */
gt_strid gt_nsys_range_domain(struct gt_nsys_sink *sink, uint64_t global_tid, uint64_t domain_id);
void gt_nsys_add_clone(struct gt_nsys_sink *sink, const struct gt_nsys_clone *clone);
void gt_nsys_add_graph_op(struct gt_nsys_sink *sink, const struct gt_nsys_activity *activity); /* of the last op */

/* The profiler's own work, or what the driver did outside API calls. */
struct gt_nsys_overhead {
    bool is_driver;
    int64_t start_ns, end_ns;
    uint64_t global_tid, name_id;
    struct gt_str name;
};
void gt_nsys_add_overhead(struct gt_nsys_sink *sink, const struct gt_nsys_overhead *overhead);

/* A call of the C library or of MPI. */
struct gt_nsys_host_call {
    bool is_mpi;
    int64_t start_ns, end_ns; /* as of overheads */
    uint64_t global_tid, name_id;
    struct gt_str name;
};
void gt_nsys_add_host_call(struct gt_nsys_sink *sink, const struct gt_nsys_host_call *call);
/* ---- nsys_facts_add.c: what is read only when it is asked for; GT_NSYS_NO_ID for what a row lacks ---- */

/* How the kernel that was added last was launched. */
struct gt_nsys_config {
    uint64_t grid[3], block[3], cluster[3];
    uint64_t registers, static_shared_bytes, dynamic_shared_bytes, shared_bytes, local_bytes;
};
void gt_nsys_add_config(struct gt_nsys_sink *sink, const struct gt_nsys_config *config);

/* A synchronization, or a wait of a stream for an event. */
struct gt_nsys_sync {
    int64_t start_ns, end_ns; /* GT_NO_TIME if absent */
    uint64_t correlation, global_pid, stream, event, record;
    int64_t device;
    uint64_t type; /* as NVIDIA numbers it since 2025.1; with is_old as before */
    bool is_old;
};
void gt_nsys_add_sync(struct gt_nsys_sink *sink, const struct gt_nsys_sync *sync);

struct gt_nsys_event_record {
    uint64_t correlation, global_pid, stream, event, record;
    int64_t device;
};
void gt_nsys_add_event_record(struct gt_nsys_sink *sink, const struct gt_nsys_event_record *record);

/* Memory in use is a counter, so the events of memory are read for counters, too. gt_nsys_finish drops them where
   nobody asks for the events themselves. */
#define GT_NSYS_FACTS_OF_MEMORY (GT_FACT_MEMORY | GT_FACT_COUNTERS)

/* An allocation, a deallocation, or an operation of a memory pool. */
struct gt_nsys_memory {
    int64_t start_ns; /* 0: before the capture began */
    uint64_t correlation, global_pid, stream, address, bytes, memory_kind;
    int64_t device;
    bool is_pool;       /* an operation of a pool, whose address is `pool`; bytes: what it keeps at least */
    uint64_t operation; /* 0 allocation, 1 deallocation; of a pool 1 created, 2 destroyed, 3 trimmed */
    uint64_t name_id;   /* of a static variable, where name holds no text */
    struct gt_str name;
    uint64_t pool, pool_bytes, pool_used_bytes, pool_kept_bytes;
};
void gt_nsys_add_memory(struct gt_nsys_sink *sink, const struct gt_nsys_memory *memory);

/* What the payload of the range that was added last says about a collective. */
struct gt_nsys_comm {
    uint64_t communicator, bytes, ranks;
    int64_t rank, root, peer; /* INT64_MIN: not known */
    struct gt_str reduction;
};
#define GT_NSYS_COMM_UNKNOWN                                                                                           \
    {                                                                                                                  \
        .communicator = GT_NSYS_NO_ID, .bytes = GT_NSYS_NO_ID, .ranks = GT_NSYS_NO_ID, .rank = INT64_MIN,              \
        .root = INT64_MIN, .peer = INT64_MIN                                                                           \
    }
/* global_tid: of the range. */
void gt_nsys_add_comm(struct gt_nsys_sink *sink, uint64_t global_tid, const struct gt_nsys_comm *comm);
void gt_nsys_add_comm_rank(struct gt_nsys_sink *sink, uint64_t global_tid, const struct gt_nsys_comm *comm);

/* The track of a GPU metric: "SMs Active [Throughput %]" becomes a name and a unit. type_id: its lowest 8 bits are the
   GPU. hz: samples a second; 0: not known. */
uint32_t gt_nsys_metric_track(struct gt_nsys_sink *sink, uint64_t type_id, struct gt_str name, uint64_t hz);

/* Of a text of KEY=value, separated by NUL, as processes are started with: the rank, the variable that has it, and the
   number of ranks; -1 where it has none. Nothing else of it is kept. */
void gt_nsys_environment_rank(struct gt_str environment, struct gt_nsys_rank *rank);

/* From all sinks, when all is read: memory in use as counters, where they are asked for; the events go, where they are
   not. false: memory is short. */
bool gt_nsys_finish_memory(struct gt_nsys_sink *sinks, size_t count);

/* From all sinks, when all is read: ranks of processes. false: memory is short. */
bool gt_nsys_finish_ranks(struct gt_nsys_sink *sinks, size_t count, const struct gt_nsys_capture *capture);

/* From all sinks, when all is read: which of the waits for events were queries, by their calls. false: memory is short.
 */
bool gt_nsys_finish_syncs(struct gt_nsys_sink *sinks, size_t count);

/* How a diagnostic text begins that means lost data, and of how many events it speaks; empty: it means none. */
struct gt_str gt_nsys_loss(struct gt_str text, uint64_t *count);
/* A diagnostic text of the profiler: those that mean lost data become issues. That events of a process may be lost does
   not matter if it has no GPU ops and another process has. global_id: of the process or its thread. */
void gt_nsys_add_diagnostic(struct gt_nsys_sink *sink, struct gt_str text, uint64_t global_id);
bool gt_nsys_finish_losses(struct gt_nsys_sink *sinks, size_t count); /* false: memory is short */

/* A mark without a payload that may be a sample of a Python stack; and what becomes of all samples: Python functions.
   false: memory is short. */
void gt_nsys_add_python_sample(struct gt_nsys_sink *sink, const struct gt_nsys_nvtx *event);
bool gt_nsys_finish_python(struct gt_nsys_sink *sinks, size_t count);

/* Facts that are read of the file: samples of Python are among the ranges. */
static inline uint32_t gt_nsys_facts_of(uint32_t facts) {
    return facts & GT_FACT_STACKS ? facts | GT_FACT_RANGES : facts;
}

/* "[CUDA memcpy Host-to-Device]" by the number of the kind of copy; unknown ones have a name, too. */
const char *gt_nsys_copy_name(uint64_t copy_kind);

/* A name in the builder, by id or as text. For an id that the capture's strings do not have it is the lost name, and
   is_known becomes false. */
gt_strid gt_nsys_name(struct gt_nsys_sink *sink, uint64_t id, struct gt_str text, bool *is_known);

/* A string of the capture in the builder; GT_STRID_EMPTY where there is none. */
gt_strid gt_nsys_string(struct gt_nsys_sink *sink, uint64_t id);

/* Tracks by NVIDIA's ids, made on first use; GT_NO_TRACK for GT_NSYS_NO_ID. */
uint32_t gt_nsys_process(struct gt_nsys_sink *sink, uint64_t global_id);
uint32_t gt_nsys_thread(struct gt_nsys_sink *sink, uint64_t global_tid);
/* ordinal: of the device in the process, not negative. */
uint32_t gt_nsys_lane(struct gt_nsys_sink *sink, uint64_t global_pid, int64_t ordinal, int64_t stream);
/* The physical GPU that a process refers to by this number. */
int64_t gt_nsys_device(const struct gt_nsys_capture *capture, uint64_t global_pid, int64_t ordinal);
uint8_t gt_nsys_memory_kind(uint64_t number); /* enum gt_memory_kind */

/* Whether the capture has a string of this id. */
static inline bool gt_nsys_has_string(const struct gt_nsys_capture *capture, uint64_t id) {
    return id < capture->string_count && capture->strings[id].ptr;
}

/* The id of a kernel's name: the first of these that the capture has a string for; GT_NSYS_NO_ID if there is none. */
uint64_t gt_nsys_kernel_name(const struct gt_nsys_capture *capture, uint64_t demangled_id, uint64_t short_id,
                             uint64_t mangled_id);

/* The id of the process that a thread's id, or its own, represents. */
static inline uint64_t gt_nsys_global_pid(uint64_t global_id) {
    return global_id & ~UINT64_C(0xFFFFFF);
}

/* The machine (hardware and virtual machine) and the process, as one number; the process and thread number alone. */
static inline int64_t gt_nsys_process_key(uint64_t global_id) {
    return (int64_t)(global_id >> 24);
}
static inline int64_t gt_nsys_pid(uint64_t global_id) {
    return (int64_t)(global_id >> 24 & 0xFFFFFF);
}
static inline int64_t gt_nsys_tid(uint64_t global_id) {
    return (int64_t)(global_id & 0xFFFFFF);
}

/* After all events: names of devices, processes, threads and domains into the builders, meta, never-closed ranges.
   Begins one more segment in each builder. */
bool gt_nsys_finish_graphs(struct gt_nsys_sink *sinks, size_t count); /* its part on graphs; false: memory is short */
void gt_nsys_finish(struct gt_nsys_sink *sinks, size_t count, const struct gt_nsys_capture *capture);

#endif
