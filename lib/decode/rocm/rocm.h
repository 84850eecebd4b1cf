/* What records of ROCm's profilers (rocprofv3, rocprof) mean, once: the readers of databases, CSVs and JSON hand their
   records to this, so that the same capture gives the same store from each. In: raw records; out: rows of a builder. */
#ifndef GT_DECODE_ROCM_ROCM_H
#define GT_DECODE_ROCM_ROCM_H

#include "base/arena.h"
#include "base/map.h"
#include "events/builder.h"

#define GT_ROCM_NONE       UINT64_MAX /* an id or number that a record does not have */
#define GT_ROCM_NO_PROCESS UINT32_MAX

/* A process that the capture has no row of, by its number alone. */
#define GT_ROCM_BARE UINT32_C(0x80000000)
static inline uint32_t gt_rocm_bare_process(uint64_t pid) {
    return pid < GT_ROCM_BARE - 1 ? GT_ROCM_BARE | (uint32_t)pid : GT_ROCM_NO_PROCESS;
}

/* A process of the capture. */
struct gt_rocm_process {
    int64_t pid;
    struct gt_str name;
    struct gt_str machine; /* what tells its machine from others */
    uint32_t node;         /* number of its machine */
    int64_t rank, world_size;
    enum gt_rank_source rank_source;
};

/* What kernels run on and copies go between. */
struct gt_rocm_agent {
    bool is_gpu;
    int64_t device; /* its number; -1: not known */
    struct gt_str name;
    uint32_t compute_units, lds_bytes;
    uint64_t clock_hz, memory_bytes;
};

struct gt_rocm_thread {
    uint32_t process;
    int64_t tid;
    struct gt_str name;
};

/* What is known before the records are read; all threads share it. */
struct gt_rocm_capture {
    struct gt_arena arena;
    struct gt_rocm_process *processes;
    struct gt_rocm_agent *agents;
    struct gt_rocm_thread *threads; /* that have names */
    size_t process_count, agent_count, thread_count;
    size_t process_capacity, agent_capacity, thread_capacity;
    struct gt_map process_of;  /* (node, pid) -> place in processes */
    struct gt_strtab counters; /* names of hardware counters; has_counters: they are there */
    bool has_counters;
    struct gt_str host, producer;
    bool has_several_machines; /* processes are told apart by them, too */
};

bool gt_rocm_capture_init(struct gt_rocm_capture *capture); /* false: memory was short; release it all the same */
void gt_rocm_capture_release(struct gt_rocm_capture *capture);
/* The place of a process, which is new or was added before. GT_ROCM_NO_PROCESS: memory was short. */
uint32_t gt_rocm_capture_process(struct gt_rocm_capture *capture, uint32_t node, int64_t pid);
void gt_rocm_capture_thread(struct gt_rocm_capture *capture, uint32_t process, int64_t tid, struct gt_str name);
/* The place of one more; UINT32_MAX: memory was short. */
uint32_t gt_rocm_capture_agent(struct gt_rocm_capture *capture, const struct gt_rocm_agent *agent);

/* Tracks met lately, by what records call them. */
#define GT_ROCM_SLOTS 256 /* power of two */
struct gt_rocm_slot {
    uint64_t a, b;
    uint32_t process, track;
    bool is_set;
};

/* An allocation, which is read in the order of the file and understood in that of time. */
struct gt_rocm_allocation {
    int64_t start_ns;
    uint64_t address, bytes, correlation;
    int64_t device, tid;
    uint64_t order; /* of equal times: in the file */
    uint32_t process;
    bool is_free, is_host;
    bool is_freed; /* later */
};

/* One for each builder, so for each thread. */
struct gt_rocm_sink {
    struct gt_builder *builder;
    const struct gt_rocm_capture *capture;
    uint32_t facts; /* enum gt_fact: what is to be read */
    struct gt_rocm_slot lanes[GT_ROCM_SLOTS], threads[GT_ROCM_SLOTS];
    struct gt_rocm_allocation *allocations;
    size_t allocation_count, allocation_capacity;
    struct gt_rocm_span *spans;
    struct gt_rocm_value *values;
    size_t span_count, span_capacity, value_count, value_capacity;
    uint64_t order; /* of the part of the file that is being read */
};

void gt_rocm_sink_init(struct gt_rocm_sink *sink, struct gt_builder *builder, const struct gt_rocm_capture *capture,
                       uint32_t facts);
void gt_rocm_sink_release(struct gt_rocm_sink *sink);
static inline bool gt_rocm_reads(const struct gt_rocm_sink *sink, uint32_t facts) {
    return sink->facts & facts;
}

enum gt_rocm_way {
    GT_ROCM_WAY_UNKNOWN,
    GT_ROCM_HOST_TO_HOST,
    GT_ROCM_HOST_TO_DEVICE,
    GT_ROCM_DEVICE_TO_HOST,
    GT_ROCM_DEVICE_TO_DEVICE,
};
/* "MEMORY_COPY_HOST_TO_DEVICE", "CopyHostToDevice" and the like. */
enum gt_rocm_way gt_rocm_way_of(struct gt_str name);
/* The same by the agents, where the name says nothing. */
enum gt_rocm_way gt_rocm_way_between(bool from_gpu, bool to_gpu);

/* Work of a GPU. */
struct gt_rocm_op {
    int64_t start_ns, end_ns; /* GT_NO_TIME: none */
    uint64_t correlation;
    uint32_t process;       /* place in the capture */
    int64_t device, stream; /* device < 0: not known */
    gt_strid name;          /* of a kernel; of a copy in an unknown direction */
    bool lacks_name;
    uint64_t graph; /* 0 or GT_ROCM_NONE: of none */
    bool is_fill;   /* memory is set; it has bytes */
    /* copies */
    bool is_copy;
    enum gt_rocm_way way;
    uint64_t bytes;
};
/* false: it is no op (it has no times, or ends before it starts). */
bool gt_rocm_add_op(struct gt_rocm_sink *sink, const struct gt_rocm_op *op);
gt_strid gt_rocm_copy_name(struct gt_rocm_sink *sink, const struct gt_rocm_op *op); /* by its direction */

/* How the kernel that was added last was launched; GT_ROCM_NONE for what is not known. */
struct gt_rocm_config {
    uint64_t grid[3];  /* in work-items, as AMD counts */
    bool is_in_groups; /* it is in workgroups instead */
    uint64_t workgroup[3];
    uint64_t vgprs, lds_bytes, static_lds_bytes, scratch_bytes;
};
void gt_rocm_add_config(struct gt_rocm_sink *sink, const struct gt_rocm_config *config);
#define GT_ROCM_CONFIG_UNKNOWN                                                                                         \
    {                                                                                                                  \
        .grid = {GT_ROCM_NONE, GT_ROCM_NONE, GT_ROCM_NONE}, .workgroup = {GT_ROCM_NONE, GT_ROCM_NONE, GT_ROCM_NONE},   \
        .vgprs = GT_ROCM_NONE, .lds_bytes = GT_ROCM_NONE, .static_lds_bytes = GT_ROCM_NONE,                            \
        .scratch_bytes = GT_ROCM_NONE                                                                                  \
    }

/* What a category of regions is. */
enum gt_rocm_domain { GT_ROCM_OTHER, GT_ROCM_CALL, GT_ROCM_MARKER, GT_ROCM_COLLECTIVE };
enum gt_rocm_domain gt_rocm_domain_of(struct gt_str category);
/* The facts that regions of a domain are read for; 0: none. */
uint32_t gt_rocm_domain_facts(enum gt_rocm_domain domain);

/* What a thread did. */
struct gt_rocm_region {
    int64_t start_ns, end_ns;
    uint64_t correlation;
    uint32_t process;
    int64_t tid; /* negative: not known */
    gt_strid name;
    enum gt_rocm_domain domain;
    struct gt_str function; /* of a marker whose name is its message: what made it; else empty */
};
void gt_rocm_add_region(struct gt_rocm_sink *sink, const struct gt_rocm_region *region);

/* Whether a function of ROCTX marks nothing ("roctxGetThreadId"). */
bool gt_rocm_marks_nothing(struct gt_str function);

/* Of a kernel's name: without ".kd" and " [clone .kd]". */
struct gt_str gt_rocm_kernel_name(struct gt_str name);

/* Tracks in the builder, made on first use. */
uint32_t gt_rocm_process(struct gt_rocm_sink *sink, uint32_t process);
uint32_t gt_rocm_thread(struct gt_rocm_sink *sink, uint32_t process, int64_t tid);

/* ---- rocm_memory.c ---- */

#define GT_ROCM_FACTS_OF_MEMORY (GT_FACT_MEMORY | GT_FACT_COUNTERS)

enum gt_rocm_memory { GT_ROCM_MEMORY_OTHER, GT_ROCM_ALLOCATE, GT_ROCM_FREE };
/* "ALLOC", "MEMORY_ALLOCATION_ALLOCATE", "FREE" and the like; scratch memory is neither. */
enum gt_rocm_memory gt_rocm_memory_of(struct gt_str operation, struct gt_str level);
/* tid and order are filled in. */
void gt_rocm_add_allocation(struct gt_rocm_sink *sink, const struct gt_rocm_allocation *allocation, int64_t tid);
bool gt_rocm_finish_memory(struct gt_rocm_sink *sinks, size_t count); /* false: memory is short */

/* ---- rocm_counters.c: a counter of a kernel is a state that lasts as long as the kernel ---- */

/* When a kernel ran that counters may be of, and a value of one of its counters; those of equal names are summed. The
   key is what the file knows kernels by, inside the part of the file that has this number. */
struct gt_rocm_span {
    uint64_t part, key;
    int64_t start_ns, end_ns, device;
};
struct gt_rocm_value {
    uint64_t part, key;
    gt_strid name; /* of the capture's counters: gt_rocm_capture_counter */
    double value;
};
gt_strid gt_rocm_capture_counter(struct gt_rocm_capture *capture, struct gt_str name);
void gt_rocm_add_span(struct gt_rocm_sink *sink, const struct gt_rocm_span *span);
void gt_rocm_add_value(struct gt_rocm_sink *sink, const struct gt_rocm_value *value);
bool gt_rocm_finish_counters(struct gt_rocm_sink *sinks, size_t count); /* false: memory is short */

/* Segments whose kernels are those that counters were read of: where the trace has them itself, they are not needed. */
struct gt_rocm_segments {
    size_t *list;
    size_t count, capacity;
};
void gt_rocm_segments_add(struct gt_rocm_segments *segments, struct gt_builder *builder, size_t segment);
void gt_rocm_segments_drop(const struct gt_rocm_segments *segments, struct gt_builder *builder);

/* After all records: names of processes, threads and devices, and what the trace says about itself. Begins one more
   segment in each builder. */
void gt_rocm_finish(struct gt_rocm_sink *sinks, size_t count, const struct gt_rocm_capture *capture);

#endif
