/* The graph while it is made: each file adds its nodes and edges to what is here. For lib/graph only. */
#ifndef GT_GRAPH_DAG_BUILD_H
#define GT_GRAPH_DAG_BUILD_H

#include "base/arena.h"
#include "base/map.h"
#include "graph/dag.h"

/* All times are ns. What they are for: docs/measures.md, "Critical path". */
enum {
    GT_DAG_LATE_NS = 10000,    /* the least limit of a delay */
    GT_DAG_LATEST_NS = 200000, /* the largest */
    GT_DAG_NEAR_NS = 20000,    /* an op that ended so shortly before may be what was waited for */
    GT_DAG_SKEW_NS = 20000,    /* so far the clocks of GPU and CPU may be apart */
    GT_DAG_SILENT_NS = 50000,  /* a thread without events for so long may wait for another */
    GT_DAG_BLOCKED_NS = 20000, /* a call that takes as long may have waited */
    GT_DAG_OWN_NS = 2000,      /* what a call takes if none is known that did not wait */
    GT_DAG_FLIGHT = 512,       /* launches in a queue from which on it may be full */
    GT_DAG_NEAR_OPS = 32,
    GT_DAG_BACK_OPS = 64,
    GT_DAG_GRAPH_OPS = 16,
};

/* What a call is, by its name, beyond enum gt_dag_role. */
enum {
    GT_DAG_SYNC_DEVICE = 1,
    GT_DAG_SYNC_STREAM,
    GT_DAG_SYNC_EVENT,
    GT_DAG_WAIT_EVENT,
    GT_DAG_RECORD_EVENT,
    GT_DAG_LAUNCH_GRAPH,
};
struct gt_dag_call_name {
    uint8_t role;   /* enum gt_dag_role */
    uint8_t detail; /* one of the above; 0: none */
    gt_strid plain; /* in names of the graph, without versions; GT_STRID_EMPTY: not looked at yet */
};

/* A call that is a node. Calls inside it belong to it. */
struct gt_dag_call {
    int64_t start_ns, end_ns;
    uint32_t row, thread, process;
    uint32_t first_op, op_count; /* of call_ops */
    uint8_t role;
    bool waits;
};

/* The ops of a process on a stream. */
struct gt_dag_stream {
    uint32_t lane, process;
    uint32_t first, count; /* of stream_ops */
};

/* A thread with node calls. */
struct gt_dag_thread {
    uint32_t thread, process;
    uint32_t first_call, call_count;
    size_t first_boundary, boundary_count;
    int64_t began_ns;    /* its first boundary */
    uint32_t first_mark; /* the mark there */
};

/* A node before all are known; ids: see gt_dag_build_op_id() and the following. */
struct gt_dag_raw_edge {
    uint32_t from, to;
    int64_t cpu_ns;
    uint8_t kind, flags;
};

struct gt_dag_mark {
    uint32_t thread; /* index into threads */
    bool is_awaited; /* up to it the thread waited for another */
    int64_t time_ns;
};

struct gt_dag_point {
    uint32_t stream;
    bool is_kept;
    int64_t time_ns; /* latest end of what it depends on */
};

struct gt_dag_build {
    const struct gt_store *store;
    const struct gt_labels *labels;
    uint32_t facts; /* that were asked for */
    struct gt_dag *dag;
    struct gt_arena arena; /* owns all arrays but those that grow */
    bool failed;

    struct gt_dag_call_name *call_names; /* by string id */

    /* Node calls by thread and start, and the ops of each in the order of ops. */
    struct gt_dag_call *calls;
    size_t call_count;
    uint32_t *node_call; /* by row of calls: index into calls, GT_DAG_NONE */
    uint32_t *call_ops;

    struct gt_dag_thread *threads;
    size_t thread_count;
    uint32_t *thread_index; /* by thread: index into threads, GT_DAG_NONE */

    /* Ops by row. */
    uint32_t *op_call;   /* index into calls */
    uint32_t *op_stream; /* index into streams */
    int64_t *op_launch_ns;

    struct gt_dag_stream *streams;
    size_t stream_count;
    uint32_t *stream_ops;      /* by stream, in the order of ops */
    uint32_t *op_place;        /* by row of ops: where it is in stream_ops */
    uint32_t *launch_ops;      /* by stream and launch time */
    uint32_t *latest_ops;      /* of launch_ops up to there the one that ends last */
    uint32_t *end_ops;         /* by process and end */
    size_t *process_ends;      /* by process + 1, the last for GT_NO_TRACK: first of end_ops */
    uint32_t *process_streams; /* streams by process */
    size_t *process_first_stream;
    struct gt_map stream_map; /* process, device id and stream id */

    struct gt_map sync_map;   /* process and correlation: row of syncs */
    struct gt_map record_map; /* the same of calls that record events: row of calls */
    struct gt_dag_recordings *recordings;

    /* Boundaries of threads, sorted, each time once; and how many events are open from there on. */
    int64_t *boundary_ns;
    uint32_t *boundary_depth;
    uint32_t *launches_before; /* by index of a node call: those before it that launched */

    struct gt_dag_mark *marks;
    size_t mark_count, mark_capacity;
    struct gt_map mark_map; /* thread and time */
    uint32_t *asked_marks;  /* by number of the marks asked for: index into marks */
    struct gt_dag_point *points;
    size_t point_count, point_capacity;

    struct gt_dag_raw_edge *edges;
    size_t edge_count, edge_capacity;
    size_t work_left; /* steps that looking for inferred edges may take */

    /* Nodes by id, once calls and points are settled. */
    size_t id_count;
    int64_t *start_ns, *end_ns;
    uint32_t *bind;        /* index into edges */
    uint32_t *delay_index; /* by kind of edge and class of node: index into delays of the graph; 0: none */
    size_t class_count;
};

/* ---- ids of nodes: ops, two for each call, marks, points ---- */

static inline uint32_t gt_dag_build_begin_id(const struct gt_dag_build *build, uint32_t call) {
    return (uint32_t)build->store->ops.count + 2 * call;
}
static inline uint32_t gt_dag_build_return_id(const struct gt_dag_build *build, uint32_t call) {
    return gt_dag_build_begin_id(build, call) + build->calls[call].waits;
}
static inline uint32_t gt_dag_build_mark_id(const struct gt_dag_build *build, uint32_t mark) {
    return (uint32_t)(build->store->ops.count + 2 * build->call_count + mark);
}
static inline uint32_t gt_dag_build_point_id(const struct gt_dag_build *build,
                                             uint32_t point) { /* once all marks are */
    return (uint32_t)(build->store->ops.count + 2 * build->call_count + build->mark_count + point);
}

/* ---- dag.c ---- */

void *gt_dag_build_array(struct gt_dag_build *build, size_t count, size_t bytes); /* zeroed; NULL: failed is set */
void gt_dag_build_edge(struct gt_dag_build *build, const struct gt_dag_raw_edge *edge);

/* Takes so many steps off what is left; false: too few are left. */
bool gt_dag_build_work(struct gt_dag_build *build, size_t steps);

/* A mark of a thread (index into threads); one that is inside a node call moves to the end of the call. */
uint32_t gt_dag_build_mark(struct gt_dag_build *build, uint32_t thread, int64_t time_ns);

/* ---- dag_sort.c: rows by time, equal ones as they are; by start, longer first; by group ---- */

bool gt_dag_build_sort(struct gt_dag_build *build, uint32_t *rows, size_t count, const int64_t *time_ns);
bool gt_dag_build_order(struct gt_dag_build *build, uint32_t *rows, size_t count, const int64_t *start_ns,
                        const int64_t *end_ns);
bool gt_dag_build_group(struct gt_dag_build *build, uint32_t *rows, size_t count, const uint32_t *group,
                        size_t group_count);

/* ---- one file each ---- */

bool gt_dag_build_calls(struct gt_dag_build *build);     /* dag_calls.c: node calls and threads */
bool gt_dag_build_streams(struct gt_dag_build *build);   /* dag_streams.c */
bool gt_dag_build_threads(struct gt_dag_build *build);   /* dag_threads.c: boundaries */
bool gt_dag_build_room(struct gt_dag_build *build);      /* dag_room.c */
bool gt_dag_build_syncs(struct gt_dag_build *build);     /* dag_syncs.c */
bool gt_dag_build_events(struct gt_dag_build *build);    /* dag_events.c */
bool gt_dag_build_points(struct gt_dag_build *build);    /* dag_points.c: events that the trace describes */
bool gt_dag_build_handovers(struct gt_dag_build *build); /* dag_handovers.c */
bool gt_dag_build_chains(struct gt_dag_build *build);    /* dag_chains.c: think, launch and stream edges */
bool gt_dag_build_bind(struct gt_dag_build *build);      /* dag_bind.c: binding edges and delays */
bool gt_dag_build_clock(struct gt_dag_build *build);     /* dag_clock.c: events that only the clock shows */
bool gt_dag_build_finish(struct gt_dag_build *build,
                         size_t asked_marks); /* dag_finish.c: the order of nodes, the graph itself */

/* ---- look-ups ---- */

int64_t gt_dag_build_release_ns(const struct gt_dag_build *build, const struct gt_dag_raw_edge *edge);
uint16_t gt_dag_build_delay(const struct gt_dag_build *build, const struct gt_dag_raw_edge *edge);
/* Whether a node began later than its binding edge explains. */
bool gt_dag_build_is_unexplained(const struct gt_dag_build *build, uint32_t id);

/* Of the ops of a stream that were launched before the time the one that ends last; GT_DAG_NONE. */
uint32_t gt_dag_build_last_op(const struct gt_dag_build *build, uint32_t stream, int64_t time_ns);
size_t gt_dag_build_launched(const struct gt_dag_build *build, uint32_t stream, int64_t time_ns); /* how many */

/* The stream of a process by its numbers; device negative: any. GT_DAG_NONE. */
uint32_t gt_dag_build_stream(const struct gt_dag_build *build, uint32_t process, int64_t device, int64_t stream);

/* How many of the process' ops, by end, ended at or before the time: index into end_ops after the last. */
size_t gt_dag_build_ended(const struct gt_dag_build *build, uint32_t process, int64_t time_ns);
/* Makes end_ops, which only inferred edges need. */
bool gt_dag_build_ends(struct gt_dag_build *build);
size_t gt_dag_build_process_slot(const struct gt_dag_build *build, uint32_t process);

/* The sync record of a call; GT_NO_ROW. */
uint32_t gt_dag_build_sync_row(const struct gt_dag_build *build, uint32_t process, uint64_t correlation);

/* How many boundaries of a thread are before a time; the first of its calls that begins then or later. */
size_t gt_dag_build_calls_before(const struct gt_dag_build *build, const struct gt_dag_thread *thread, int64_t time_ns);
size_t gt_dag_build_boundaries_before(const struct gt_dag_build *build, const struct gt_dag_thread *thread,
                                      int64_t time_ns);

/* The event that a wait is for: where and when it was recorded. */
struct gt_dag_recording {
    uint32_t stream; /* GT_DAG_NONE: the trace does not say */
    uint32_t call;   /* row of the call that recorded it; GT_NO_ROW: the wait itself is as good */
    int64_t time_ns;
};
struct gt_dag_recording gt_dag_build_recording(const struct gt_dag_build *build, uint32_t process, uint32_t sync,
                                               int64_t wait_ns);
bool gt_dag_build_recordings(struct gt_dag_build *build); /* dag_recordings.c: makes the look-up */

#endif
