/* The way back through a graph: which chain of work took the time of a window. */
#ifndef GT_GRAPH_DAG_WALK_H
#define GT_GRAPH_DAG_WALK_H

#include "graph/dag.h"

/* What the time of a segment was spent on. */
enum gt_dag_time {
    GT_DAG_TIME_KERNEL,
    GT_DAG_TIME_COMM,
    GT_DAG_TIME_COPY,
    GT_DAG_TIME_QUEUE,   /* between ops of a stream, or of two */
    GT_DAG_TIME_LAUNCH,  /* inside calls that launch, and from there to the op */
    GT_DAG_TIME_CPU,     /* what threads did between these calls */
    GT_DAG_TIME_CALL,    /* other calls that are nodes */
    GT_DAG_TIME_SYNC,    /* from the end of an op to the return of the call that waited for it */
    GT_DAG_TIME_UNKNOWN, /* nothing in the trace says what was waited for */
    GT_DAG_TIME_COUNT
};
const char *gt_dag_walk_word(enum gt_dag_time time); /* "kernel" ... */

struct gt_dag_segment {
    int64_t start_ns, end_ns;
    uint32_t node; /* that it is of, or that it leads to */
    uint32_t edge; /* index into edges; GT_DAG_NONE: it is of the node itself, or nothing leads to the node */
    uint8_t time;  /* enum gt_dag_time */
    bool is_inferred;
    bool is_cpu; /* CPU part of the edge, not its latency */
};

/* A path holds as little of each segment as the rest follows from: there may be as many as nodes. */
struct gt_dag_path {
    const struct gt_dag *dag;
    int64_t from_ns, to_ns;
    uint32_t *nodes; /* of each segment, as they are found: the last one of the window comes first */
    uint8_t *parts;  /* of the node or the edge that binds it */
    size_t count, capacity;
};

/* Goes along a path in order of time. */
struct gt_dag_cursor {
    const struct gt_dag_path *path;
    size_t left;                    /* segments from the next one on */
    int64_t start_ns;               /* of the next one */
    const struct gt_dag_edge *edge; /* that binds its node */
};
struct gt_dag_cursor gt_dag_walk_from(const struct gt_dag_path *path, size_t index);

/* The next one of those that are left: it begins where the one before ends. */
struct gt_dag_segment gt_dag_walk_next(struct gt_dag_cursor *cursor);

struct gt_dag_way {
    uint32_t node; /* that ends the window; GT_DAG_NONE: nothing is known of it */
    int64_t from_ns, to_ns;
    struct gt_dag_path *path;
};

/* Back from the node of each window to its start: segments that fill [from_ns, to_ns) exactly. Linear in their number.
   false: memory was short. */
bool gt_dag_walk(const struct gt_dag *dag, const struct gt_dag_way *ways, size_t count);
void gt_dag_walk_release(struct gt_dag_path *path);

/* The thread that a segment of CPU time is of; GT_NO_TRACK. */
uint32_t gt_dag_walk_thread(const struct gt_dag *dag, const struct gt_dag_segment *segment);

#endif
