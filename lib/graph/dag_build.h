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

/* Classes of ops; those of calls follow, by name. */
enum gt_dag_op_class {
    GT_DAG_CLASS_KERNEL,
    GT_DAG_CLASS_MEMCPY,
    GT_DAG_CLASS_MEMSET,
    GT_DAG_CLASS_GRAPH,
    GT_DAG_CLASS_NODE,
    GT_DAG_OP_CLASSES
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
    uint32_t row;
    uint32_t first_op, op_count; /* of call_ops */
    uint8_t role, detail;        /* of its name; with GT_DAG_LAUNCHES */
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

/* An edge before the order of nodes is known; from and to are ids, see gt_dag_build_begin_id() and the following. */
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
    struct gt_dag *dag;
    struct gt_arena arena; /* owns all arrays but those that grow */
    bool failed;

    struct gt_dag_call_name *call_names; /* by string id */

    /* Node calls by thread and start, and the ops of each in the order of ops. */
    struct gt_dag_call *calls;
    size_t call_count;
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
    struct gt_map device_map; /* process and device id: where the process ran something */

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

    struct gt_dag_raw_edge *edges; /* those that only some nodes have, in any order */
    size_t edge_count, edge_capacity;
    size_t work_left; /* steps that looking for inferred edges may take */

    /* Nodes by id, once calls and points are settled. */
    size_t id_count;

    /* The edges of nodes next to each other, by id: `from` is an id, `value` is CPU time where the edge has any, else
       from when it lets go to the start of the node. */
    struct gt_dag_edge *node_edges;
    size_t node_edge_count;
    uint32_t *first_edge; /* id_count + 1 of them */

    /* Classes of nodes: of ops by their kind, of calls by their name. */
    uint8_t *op_class;
    size_t class_count;
    bool *has_delay;       /* by kind of edge and class of node: there is such an edge */
    uint16_t *delay_index; /* the same: index into delays of the graph, that of the kind where there is none */
};

/* ---- ids of nodes: ops, calls or their begin, the return of calls that wait, marks, points ---- */

static inline uint32_t gt_dag_build_begin_id(const struct gt_dag_build *build, uint32_t call) {
    return (uint32_t)(build->store->ops.count + call);
}
static inline uint32_t gt_dag_build_return_id(const struct gt_dag_build *build, uint32_t call) {
    return gt_dag_build_begin_id(build, call) + (build->calls[call].waits ? (uint32_t)build->call_count : 0);
}
/* The call of an id that is neither an op's nor a mark's nor a point's. */
static inline uint32_t gt_dag_build_call_of(const struct gt_dag_build *build, uint32_t id) {
    size_t index = id - build->store->ops.count;
    return (uint32_t)(index < build->call_count ? index : index - build->call_count);
}
static inline uint32_t gt_dag_build_mark_id(const struct gt_dag_build *build, uint32_t mark) {
    return (uint32_t)(build->store->ops.count + 2 * build->call_count + mark);
}
static inline uint32_t gt_dag_build_point_id(const struct gt_dag_build *build,
                                             uint32_t point) { /* once all marks are */
    return (uint32_t)(build->store->ops.count + 2 * build->call_count + build->mark_count + point);
}

static inline uint32_t gt_dag_build_call_process(const struct gt_dag_build *build, const struct gt_dag_call *call) {
    return gt_labels_call_process(build->store, call->row);
}

/* Whether a graph launched the op. Some traces say so only by the name of its call. */
static inline bool gt_dag_build_is_graph_node(const struct gt_dag_build *build, uint32_t op) {
    const struct gt_store *store = build->store;
    if (store->ops.flags[op] & GT_OP_IN_GRAPH)
        return true;
    if (build->op_call[op] == GT_DAG_NONE || store->ops.kind[op] == GT_OP_GRAPH)
        return false;
    return build->call_names[store->calls.name[build->labels->op_call[op]]].detail == GT_DAG_LAUNCH_GRAPH;
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

/* ---- dag_streams.c: ops of streams by another time than their start ---- */

/* In the places of stream_ops, which it is itself where they are in this order; of streams with `least` ops or more. */
uint32_t *gt_dag_build_resort(struct gt_dag_build *build, const int64_t *time_ns, uint32_t least);

/* ---- one file each ---- */

bool gt_dag_build_calls(struct gt_dag_build *build);     /* dag_calls.c: node calls and threads */
bool gt_dag_build_streams(struct gt_dag_build *build);   /* dag_streams.c */
bool gt_dag_build_threads(struct gt_dag_build *build);   /* dag_threads.c: boundaries */
bool gt_dag_build_room(struct gt_dag_build *build);      /* dag_room.c */
bool gt_dag_build_syncs(struct gt_dag_build *build);     /* dag_syncs.c */
bool gt_dag_build_events(struct gt_dag_build *build);    /* dag_events.c */
bool gt_dag_build_points(struct gt_dag_build *build);    /* dag_points.c: events that the trace describes */
bool gt_dag_build_handovers(struct gt_dag_build *build); /* dag_handovers.c */
bool gt_dag_build_chains(struct gt_dag_build *build);    /* dag_chains.c: think, launch and stream edges; all by node */
bool gt_dag_build_delays(struct gt_dag_build *build);    /* dag_bind.c: how long binding edges take */
bool gt_dag_build_clock(struct gt_dag_build *build);     /* dag_clock.c: events that only the clock shows */
bool gt_dag_build_finish(struct gt_dag_build *build,
                         size_t asked_marks); /* dag_finish.c: the order of nodes, the graph itself */

/* ---- look-ups ---- */

/* When a node begins and ends. */
static inline int64_t gt_dag_build_end_ns(const struct gt_dag_build *build, uint32_t id) {
    size_t index = id, calls = build->call_count;
    if (index < build->store->ops.count)
        return build->store->ops.end_ns[index];
    if ((index -= build->store->ops.count) < calls)
        return build->calls[index].waits ? build->calls[index].start_ns : build->calls[index].end_ns;
    if ((index -= calls) < calls)
        return build->calls[index].end_ns;
    if ((index -= calls) < build->mark_count)
        return build->marks[index].time_ns;
    return build->points[index - build->mark_count].time_ns;
}
static inline int64_t gt_dag_build_start_ns(const struct gt_dag_build *build, uint32_t id) {
    size_t ops = build->store->ops.count;
    if (id < ops)
        return build->store->ops.start_ns[id];
    return id - ops < build->call_count ? build->calls[id - ops].start_ns : gt_dag_build_end_ns(build, id);
}

/* When an edge of a node lets go. */
static inline int64_t gt_dag_build_release_ns(const struct gt_dag_build *build, const struct gt_dag_edge *edge) {
    bool from_start = edge->flags & GT_DAG_FROM_START;
    int64_t anchor_ns = from_start ? gt_dag_build_start_ns(build, edge->from) : gt_dag_build_end_ns(build, edge->from);
    return gt_ns_add(anchor_ns, gt_dag_cpu_ns(edge));
}

/* The edge that lets go last; NULL: none. */
static inline struct gt_dag_edge *gt_dag_build_binding(const struct gt_dag_build *build, uint32_t id) {
    for (uint32_t i = build->first_edge[id]; i < build->first_edge[id + 1]; i++)
        if (build->node_edges[i].flags & GT_DAG_BINDS)
            return &build->node_edges[i];
    return NULL;
}
/* Of the edges of a node seen so far the one that lets go last, and when; NULL: none. */
struct gt_dag_last {
    struct gt_dag_edge *edge;
    int64_t release_ns;
};
bool gt_dag_build_classes(struct gt_dag_build *build);           /* dag_bind.c: before any node binds */
void gt_dag_build_bind(struct gt_dag_build *build, uint32_t id); /* dag_bind.c: finds it among the edges of the node */
/* dag_bind.c: the same edge by edge, of a node of a class. Whoever asks sets GT_DAG_BINDS in the end. */
void gt_dag_build_weigh(struct gt_dag_build *build, uint32_t id, uint32_t class, struct gt_dag_edge *edge,
                        int64_t release_ns, struct gt_dag_last *last);

/* Kinds of edges that have delays: the others take what the CPU took. */
static inline bool gt_dag_build_is_timed(uint8_t kind) {
    return kind != GT_DAG_THINK && kind != GT_DAG_ORDER && kind != GT_DAG_HANDOVER;
}

/* The class of a node; GT_DAG_NONE: a mark or a point, edges to which have no delay. */
static inline uint32_t gt_dag_build_class(const struct gt_dag_build *build, uint32_t id) {
    size_t ops = build->store->ops.count;
    if (id < ops)
        return build->op_class[id];
    if (id >= ops + 2 * build->call_count)
        return GT_DAG_NONE;
    const struct gt_dag_call *call = &build->calls[gt_dag_build_call_of(build, id)];
    return GT_DAG_OP_CLASSES + build->call_names[build->store->calls.name[call->row]].plain;
}

/* The delay of edges of a kind to a node, as the graph numbers them; that of all of the kind where its class has none.
 */
static inline uint16_t gt_dag_build_delay(const struct gt_dag_build *build, uint8_t kind, uint32_t id) {
    uint32_t class = gt_dag_build_is_timed(kind) ? gt_dag_build_class(build, id) : GT_DAG_NONE;
    return class == GT_DAG_NONE ? kind : build->delay_index[kind * build->class_count + class];
}

/* From when the binding edge of a node lets go to the start of the node. */
static inline int64_t gt_dag_build_lag_ns(const struct gt_dag_build *build, uint32_t id,
                                          const struct gt_dag_edge *edge) {
    return edge->flags & GT_DAG_HAS_OFFSET
               ? gt_ns_between(gt_dag_build_release_ns(build, edge), gt_dag_build_start_ns(build, id))
               : edge->value;
}

/* Whether a node began later than its binding edge explains: the returns of calls that wait for nothing are as late as
   the calls are long. Most lags are below every limit. */
static inline bool gt_dag_build_is_late(const struct gt_dag_build *build, uint32_t id, const struct gt_dag_edge *edge) {
    if (!gt_dag_build_is_timed(edge->kind) || id >= build->store->ops.count + 2 * build->call_count)
        return false;
    int64_t lag_ns = gt_dag_build_lag_ns(build, id, edge);
    if (lag_ns <= GT_DAG_LATE_NS)
        return false;
    if (edge->kind == GT_DAG_OWN && !(build->calls[gt_dag_build_call_of(build, id)].role & GT_DAG_SYNCS))
        return false;
    return lag_ns > build->dag->delays[gt_dag_build_delay(build, edge->kind, id)].limit_ns;
}

/* Of the ops of a stream that were launched before the time the one that ends last; GT_DAG_NONE. */
uint32_t gt_dag_build_last_op(const struct gt_dag_build *build, uint32_t stream, int64_t time_ns);
size_t gt_dag_build_launched(const struct gt_dag_build *build, uint32_t stream, int64_t time_ns); /* how many */

/* The device that a wait of the process is about; negative: any. */
int64_t gt_dag_build_device(const struct gt_dag_build *build, uint32_t process, int64_t device);

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
    bool is_known;   /* the trace says which stream it was */
    uint32_t stream; /* GT_DAG_NONE: not known, or nothing ever ran there */
    uint32_t call;   /* row of the call that recorded it; GT_NO_ROW: the wait itself is as good */
    int64_t time_ns;
};
struct gt_dag_recording gt_dag_build_recording(const struct gt_dag_build *build, uint32_t process, uint32_t sync,
                                               int64_t wait_ns);
bool gt_dag_build_recordings(struct gt_dag_build *build); /* dag_recordings.c: makes the look-up */

#endif
