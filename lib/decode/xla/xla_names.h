/* What XLA's profiler (JAX, TensorFlow) means by the names of planes, lines and events and by the texts of its stats,
   in whichever file they are. Nothing is allocated; what goes out is borrowed from what came in. */
#ifndef GT_DECODE_XLA_XLA_NAMES_H
#define GT_DECODE_XLA_XLA_NAMES_H

#include <stdint.h>

#include "base/str.h"
#include "events/store.h"

/* A plane: all lines of one GPU, or all threads of the process. */
enum gt_xla_plane { GT_XLA_PLANE_OTHER, GT_XLA_PLANE_GPU, GT_XLA_PLANE_HOST };

enum gt_xla_plane gt_xla_names_plane(struct gt_str name, int64_t *device);
bool gt_xla_names_is_tpu(struct gt_str plane); /* its events are not read */

/* A line of a plane: a track with events. */
enum gt_xla_line_kind {
    GT_XLA_LINE_OTHER,    /* derived from others (XLA Modules, XLA Ops, Steps ...), which are all that counts */
    GT_XLA_LINE_STREAM,   /* what ran on the GPU */
    GT_XLA_LINE_THREAD,   /* calls and ranges of a thread */
    GT_XLA_LINE_OVERHEAD, /* the profiler's own work that is of no thread */
    GT_XLA_LINE_COUNTERS,
};

struct gt_xla_line {
    enum gt_xla_line_kind kind;
    int64_t device; /* of the plane; -1: the host */
    int64_t number; /* of the stream, or of the thread: its last 32 bits, which is all that the JSON has */
    struct gt_str name;
};

struct gt_xla_line gt_xla_names_line(enum gt_xla_plane plane, int64_t device, struct gt_str name, int64_t id);

/* What the name of an event of a thread says it is. */
enum gt_xla_host_kind {
    GT_XLA_HOST_RANGE, /* of the program or of XLA; where the event has a correlation: what a call launches */
    GT_XLA_HOST_CALL,  /* the name of a call */
    GT_XLA_HOST_PYTHON,
    GT_XLA_HOST_OVERHEAD,
    GT_XLA_HOST_DRIVER_WORK,
    GT_XLA_HOST_ALLOCATION,
    GT_XLA_HOST_DEALLOCATION,
};

struct gt_xla_host {
    enum gt_xla_host_kind kind;
    struct gt_str text; /* of a call: without the number of the graph */
};

struct gt_xla_host gt_xla_names_host(struct gt_str name);

/* "$train.py:41 log_metrics" as "train.py(41): log_metrics", as other profilers have it; as much as fits. */
size_t gt_xla_names_python(struct gt_str name, char *buf, size_t capacity);

/* The value of a key in "kind_src:device kind_dst:pinned size:4"; nothing where it is not there. */
struct gt_str gt_xla_names_detail(struct gt_str details, struct gt_str key);
uint64_t gt_xla_names_number(struct gt_str details, struct gt_str key); /* UINT64_MAX: not there */

/* A word for a kind of memory. */
enum gt_memory_kind gt_xla_names_memory(struct gt_str word);

/* The GPU of an allocator: "GPU_0_bfc"; -1: it is of the host. */
int64_t gt_xla_names_allocator(struct gt_str name);

/* ---- stats of events ---- */

enum gt_xla_stat {
    GT_XLA_STAT_NONE, /* one that nobody asks for */
    GT_XLA_STAT_CORRELATION,
    GT_XLA_STAT_DEVICE,
    GT_XLA_STAT_GRAPH,
    GT_XLA_STAT_GRAPH_NODE,
    GT_XLA_STAT_GRAPH_WHOLE, /* the graph that ran, of which the kernels were not recorded */
    GT_XLA_STAT_KERNEL,      /* texts: what is known about a kernel, a copy, a set ... */
    GT_XLA_STAT_MEMCPY,
    GT_XLA_STAT_MEMSET,
    GT_XLA_STAT_MEMORY, /* ... or about memory that was allocated, freed or moved */
    GT_XLA_STAT_OCCUPANCY,
    GT_XLA_STAT_OPERATION, /* text: the operation of the program that a kernel is of, with its scopes */
    GT_XLA_STAT_STEP,
    GT_XLA_STAT_ALLOCATOR,
    GT_XLA_STAT_ADDRESS,
    GT_XLA_STAT_BYTES,
    GT_XLA_STAT_ALLOCATED,
    GT_XLA_STAT_COUNT,
};

enum gt_xla_stat gt_xla_names_stat(struct gt_str name);

/* Those that are texts; one is a real number, the others are whole numbers. */
#define GT_XLA_STAT_TEXTS                                                                                              \
    (1u << GT_XLA_STAT_KERNEL | 1u << GT_XLA_STAT_MEMCPY | 1u << GT_XLA_STAT_MEMSET | 1u << GT_XLA_STAT_MEMORY |       \
     1u << GT_XLA_STAT_ALLOCATOR | 1u << GT_XLA_STAT_OPERATION)

#endif
