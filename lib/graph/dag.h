/* The dependency graph of a trace: what had to wait for what. Nodes are ops, calls of CPU threads that launch or wait,
   and points in time; edges say what let a node begin. Const once made. Nothing joins two processes. */
#ifndef GT_GRAPH_DAG_H
#define GT_GRAPH_DAG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/ns.h"
#include "base/strtab.h"
#include "events/labels.h"
#include "events/store.h"

#define GT_DAG_NONE UINT32_MAX

enum gt_dag_kind {
    GT_DAG_OP,     /* row: of ops */
    GT_DAG_CALL,   /* a call that does not wait; row: of calls */
    GT_DAG_BEGIN,  /* a call that waits is two points: where it begins ... */
    GT_DAG_RETURN, /* ... and where it returns */
    GT_DAG_MARK,   /* a moment of a thread; row: of threads */
    GT_DAG_POINT,  /* a wait for an event or its recording on a stream; row: of lanes */
};

/* Why a node waits for another. */
enum gt_dag_edge_kind {
    GT_DAG_THINK,    /* what a thread did between two nodes */
    GT_DAG_ORDER,    /* the same where the thread waited for another one */
    GT_DAG_OWN,      /* the begin and the return of a call */
    GT_DAG_LAUNCH,   /* a call and the op that it launched */
    GT_DAG_HANDOVER, /* one thread and the one that went on with its work */
    GT_DAG_EVENT,    /* ops of different streams */
    GT_DAG_ROOM,     /* an op and the launch call that waited for its place in the queue */
    GT_DAG_STREAM,   /* ops of a stream */
    GT_DAG_SYNC,     /* an op and the call that waited for it */
    GT_DAG_EDGE_KINDS
};
const char *gt_dag_edge_word(enum gt_dag_edge_kind kind); /* "think" ... */

enum gt_dag_edge_flag {
    GT_DAG_FROM_START = 1,  /* the start of the first node counts, not its end */
    GT_DAG_INFERRED = 2,    /* the trace does not say so */
    GT_DAG_BINDS = 4,       /* of the edges of a node the one that let go last */
    GT_DAG_UNEXPLAINED = 8, /* it binds, and the node began later than such nodes do */
    GT_DAG_HAS_OFFSET = 16, /* launch: from so long after the start of the call */
};

/* 16 bytes. `value` is CPU time of think, hand-over and launch edges with an offset (their latency: see
   gt_dag_latency_ns), else the latency: from when the edge lets go to the start of the node. */
struct gt_dag_edge {
    uint32_t from;
    uint8_t kind;
    uint8_t flags;
    uint16_t delay; /* index into delays */
    int64_t value;
};
_Static_assert(sizeof(struct gt_dag_edge) == 16, "edges stay small");

/* How long edges of a kind usually take to a class of nodes. */
struct gt_dag_delay {
    enum gt_dag_edge_kind kind;
    struct gt_str class_name; /* of ops "kernel" ..., of calls their name; empty: all of the kind */
    int64_t typical_ns;
    int64_t limit_ns; /* what takes longer is not explained by the edge */
    size_t count;     /* of binding edges; 0: none, the numbers say nothing */
};

/* What the names of calls mean. */
enum gt_dag_role {
    GT_DAG_SYNCS = 1,     /* waits for a device, stream or event */
    GT_DAG_COPIES = 2,    /* blocking copy or fill */
    GT_DAG_ALLOCATES = 4, /* may wait for the GPU */
    GT_DAG_LAUNCHES = 8,  /* it launched an op */
};

struct gt_dag {
    const struct gt_store *store;
    const struct gt_labels *labels;

    /* Nodes in an order in which each comes after all that it waits for. */
    size_t node_count, edge_count;
    uint8_t *kind;        /* enum gt_dag_kind */
    uint8_t *role;        /* of calls: enum gt_dag_role */
    uint32_t *row;        /* as the kind says */
    int64_t *start_ns;    /* as recorded */
    int64_t *end_ns;      /* the same but for ops and calls */
    uint32_t *first_edge; /* node_count + 1 of them: edges of node v are edges[first_edge[v]] .. */
    struct gt_dag_edge *edges;

    uint32_t *op_node;    /* by row of ops */
    uint32_t *op_process; /* the same; where only the stream says it, that of other ops there; GT_NO_TRACK: unknown */
    uint32_t *mark_node;  /* by number of the marks that were asked for */

    struct gt_dag_delay *delays; /* those of kinds first, by kind; then those of kinds and classes */
    size_t delay_count;
    struct gt_strtab names; /* of the delays' classes */

    size_t kind_count[GT_DAG_EDGE_KINDS][2]; /* edges by kind, exact and inferred */
    size_t inferred_count;
    size_t contradicting_count; /* edges that the times of the trace deny, which are left out */
    size_t cyclic_count;        /* of those the ones that would have made a circle */
    int64_t queue_depth;        /* launches that a stream takes before a call waits; 0: not seen */
    bool is_cut_short;          /* so much to look at that inferred edges may be missing */
};

/* A moment of a thread that must be a node. Threads that launch nothing and wait for nothing have no nodes. */
struct gt_dag_moment {
    uint32_t thread;
    int64_t time_ns;
};

/* Whether a trace has few enough events for a graph. */
bool gt_dag_fits(const struct gt_store *store);

/* Store and labels must outlive the graph, and be read with what analyses of the path declare. Linear, but for
   sorting. */
enum gt_status gt_dag_new(const struct gt_store *store, const struct gt_labels *labels,
                          const struct gt_dag_moment *marks, size_t mark_count, struct gt_dag **out,
                          struct gt_error *err);
void gt_dag_free(struct gt_dag *dag);

/* When an edge of a node let go, as recorded. */
static inline int64_t gt_dag_anchor_ns(const struct gt_dag *dag, const struct gt_dag_edge *edge) {
    return edge->flags & GT_DAG_FROM_START ? dag->start_ns[edge->from] : dag->end_ns[edge->from];
}
static inline bool gt_dag_has_cpu(enum gt_dag_edge_kind kind, uint8_t flags) {
    return kind == GT_DAG_THINK || kind == GT_DAG_HANDOVER || (flags & GT_DAG_HAS_OFFSET) != 0;
}
static inline int64_t gt_dag_cpu_ns(const struct gt_dag_edge *edge) {
    return gt_dag_has_cpu((enum gt_dag_edge_kind)edge->kind, edge->flags) ? edge->value : 0;
}
static inline int64_t gt_dag_release_ns(const struct gt_dag *dag, const struct gt_dag_edge *edge) {
    return gt_ns_add(gt_dag_anchor_ns(dag, edge), gt_dag_cpu_ns(edge));
}

/* The typical delay of an edge: of its class, else of its kind; -1: neither is known. */
static inline int64_t gt_dag_typical_ns(const struct gt_dag *dag, const struct gt_dag_edge *edge) {
    const struct gt_dag_delay *of_class = &dag->delays[edge->delay], *of_kind = &dag->delays[edge->kind];
    if (of_class->count)
        return of_class->typical_ns;
    return edge->kind != GT_DAG_OWN && of_kind->count ? of_kind->typical_ns : -1;
}

/* From when the edge lets go to when its node may start. */
static inline int64_t gt_dag_latency_ns(const struct gt_dag *dag, uint32_t node, const struct gt_dag_edge *edge) {
    if (edge->kind == GT_DAG_THINK || edge->kind == GT_DAG_HANDOVER)
        return 0;
    if (!(edge->flags & GT_DAG_HAS_OFFSET))
        return edge->value;
    int64_t lag_ns = gt_ns_between(gt_dag_release_ns(dag, edge), dag->start_ns[node]);
    int64_t typical_ns = gt_dag_typical_ns(dag, edge);
    typical_ns = typical_ns < 0 ? 0 : typical_ns;
    return edge->flags & GT_DAG_BINDS || lag_ns < typical_ns ? lag_ns : typical_ns;
}

/* From the anchor of an edge to when its node may start, as recorded: CPU time and latency. */
static inline int64_t gt_dag_delay_ns(const struct gt_dag *dag, uint32_t node, const struct gt_dag_edge *edge) {
    if (edge->flags & GT_DAG_HAS_OFFSET)
        return gt_ns_add(edge->value, gt_dag_latency_ns(dag, node, edge));
    return edge->value;
}

/* The edge that let go last; NULL: the node waits for nothing. */
static inline const struct gt_dag_edge *gt_dag_binding(const struct gt_dag *dag, uint32_t node) {
    for (uint32_t e = dag->first_edge[node]; e < dag->first_edge[node + 1]; e++)
        if (dag->edges[e].flags & GT_DAG_BINDS)
            return &dag->edges[e];
    return NULL;
}

static inline enum gt_class gt_dag_op_class(const struct gt_dag *dag, uint32_t op) {
    return dag->labels->categories[dag->labels->op_category[op]].time_class;
}

#endif
