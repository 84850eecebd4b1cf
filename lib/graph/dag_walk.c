/* The walk from the end of a window to its start, along the edges that let go last. */
#include "graph/dag_walk.h"

#include "base/mem.h"

const char *gt_dag_walk_word(enum gt_dag_time time) {
    static const char *const words[GT_DAG_TIME_COUNT] = {
        [GT_DAG_TIME_KERNEL] = "kernel", [GT_DAG_TIME_COMM] = "comm",     [GT_DAG_TIME_COPY] = "copy",
        [GT_DAG_TIME_QUEUE] = "queue",   [GT_DAG_TIME_LAUNCH] = "launch", [GT_DAG_TIME_CPU] = "cpu",
        [GT_DAG_TIME_CALL] = "call",     [GT_DAG_TIME_SYNC] = "sync",     [GT_DAG_TIME_UNKNOWN] = "unknown",
    };
    return words[time];
}

struct walk {
    const struct gt_dag *dag;
    struct gt_dag_path *path;
    int64_t from_ns, at_ns; /* up to at_ns everything is still to be filled */
    uint32_t node;
    bool is_at_end; /* of the node: the walk did not come to its start */
    bool failed;
};

enum { WALKS_AT_ONCE = 64 };

static bool grow(struct gt_dag_path *path) {
    struct gt_dag_segment *room = gt_mem_room(path->last, path->count, &path->capacity, sizeof *path->last);
    if (!room)
        return false;
    gt_mem_huge(room, path->capacity * sizeof *room);
    path->last = room;
    return true;
}

/* Fills from a time up to where the walk is. */
static inline void fill(struct walk *walk, int64_t start_ns, struct gt_dag_segment what) {
    struct gt_dag_path *path = walk->path;
    what.start_ns = start_ns > walk->from_ns ? start_ns : walk->from_ns;
    what.end_ns = walk->at_ns;
    if (what.start_ns >= what.end_ns)
        return;
    if (path->count == path->capacity && !grow(path)) {
        walk->failed = true;
        return;
    }
    path->last[path->count++] = what;
    walk->at_ns = what.start_ns;
}

static enum gt_dag_time time_of_call(uint8_t role) {
    return role & GT_DAG_SYNCS ? GT_DAG_TIME_SYNC : role & GT_DAG_LAUNCHES ? GT_DAG_TIME_LAUNCH : GT_DAG_TIME_CALL;
}

static enum gt_dag_time time_of_node(const struct gt_dag *dag, uint32_t node) {
    if (dag->kind[node] != GT_DAG_OP)
        return time_of_call(dag->role[node]);
    switch (gt_dag_op_class(dag, dag->row[node])) {
    case GT_CLASS_COMM:
        return GT_DAG_TIME_COMM;
    case GT_CLASS_MEMORY:
        return GT_DAG_TIME_COPY;
    default:
        return GT_DAG_TIME_KERNEL;
    }
}

static enum gt_dag_time time_of_edge(const struct gt_dag *dag, uint32_t node, const struct gt_dag_edge *edge) {
    switch (edge->kind) {
    case GT_DAG_STREAM:
    case GT_DAG_EVENT:
        return GT_DAG_TIME_QUEUE;
    case GT_DAG_LAUNCH:
    case GT_DAG_ROOM:
        return GT_DAG_TIME_LAUNCH;
    case GT_DAG_SYNC:
        return GT_DAG_TIME_SYNC;
    case GT_DAG_OWN:
        return time_of_call(dag->role[node]);
    default:
        return GT_DAG_TIME_CPU;
    }
}

/* The node itself, where the walk came to its end. */
static void fill_node(struct walk *walk, uint32_t node, int64_t release_ns) {
    const struct gt_dag *dag = walk->dag;
    int64_t start_ns = dag->start_ns[node] > release_ns ? dag->start_ns[node] : release_ns;
    if (dag->kind[node] == GT_DAG_OP || dag->kind[node] == GT_DAG_CALL)
        fill(walk, start_ns,
             (struct gt_dag_segment){.node = node, .edge = GT_DAG_NONE, .time = (uint8_t)time_of_node(dag, node)});
}

/* The edge: its latency, of which only the usual part is explained where it is far longer; and its CPU time. */
static void fill_edge(struct walk *walk, uint32_t node, const struct gt_dag_edge *edge, int64_t release_ns) {
    const struct gt_dag *dag = walk->dag;
    struct gt_dag_segment segment = {.node = node, .edge = (uint32_t)(edge - dag->edges)};
    segment.is_inferred = edge->flags & GT_DAG_INFERRED;
    if (edge->flags & GT_DAG_UNEXPLAINED) {
        int64_t typical_ns = gt_dag_typical_ns(dag, edge);
        segment.time = GT_DAG_TIME_UNKNOWN;
        fill(walk, gt_ns_add(release_ns, typical_ns > 0 ? typical_ns : 0), segment);
    }
    segment.time = (uint8_t)time_of_edge(dag, node, edge);
    fill(walk, release_ns, segment);
    segment.is_cpu = true;
    fill(walk, gt_dag_anchor_ns(dag, edge), segment);
}

/* What nothing leads to. */
static void finish(struct walk *walk) {
    fill(walk, walk->from_ns,
         (struct gt_dag_segment){.node = walk->node, .edge = GT_DAG_NONE, .time = GT_DAG_TIME_UNKNOWN});
}

/* ---- walks ---- */

static void begin(struct walk *walk, const struct gt_dag *dag, const struct gt_dag_way *way) {
    *walk = (struct walk){.dag = dag,
                          .path = way->path,
                          .from_ns = way->from_ns,
                          .at_ns = way->to_ns,
                          .node = way->node,
                          .is_at_end = true};
    if (way->node != GT_DAG_NONE && dag->end_ns[way->node] < way->to_ns)
        fill(walk, dag->end_ns[way->node],
             (struct gt_dag_segment){.node = way->node, .edge = GT_DAG_NONE, .time = GT_DAG_TIME_UNKNOWN});
}

/* On to the first node before one, or to where nothing leads on. */
static void go_on(struct walk *walk, uint32_t before) {
    const struct gt_dag *dag = walk->dag;
    while (walk->node != GT_DAG_NONE && walk->node >= before && walk->at_ns > walk->from_ns && !walk->failed) {
        const struct gt_dag_edge *edge = gt_dag_binding(dag, walk->node);
        int64_t release_ns = edge ? gt_dag_release_ns(dag, edge) : INT64_MIN;
        if (walk->is_at_end)
            fill_node(walk, walk->node, release_ns);
        if (!edge) {
            finish(walk);
            return;
        }
        fill_edge(walk, walk->node, edge, release_ns);
        walk->is_at_end = !(edge->flags & GT_DAG_FROM_START);
        walk->node = edge->from;
    }
}

/* Edges lead from lower nodes to higher ones. Walks that go down side by side find in the cache what the others have
   just read: nodes of several processes lie between each other. */
static bool walk_some(const struct gt_dag *dag, const struct gt_dag_way *ways, size_t count) {
    enum { NODES = 1 << 14 };
    struct walk walks[WALKS_AT_ONCE];
    bool ok = true;
    for (size_t i = 0; i < count; i++)
        begin(&walks[i], dag, &ways[i]);
    for (size_t block = dag->node_count / NODES + 1; block-- > 0;)
        for (size_t i = 0; i < count; i++)
            go_on(&walks[i], (uint32_t)(block * NODES));
    for (size_t i = 0; i < count; i++) {
        finish(&walks[i]);
        ok = ok && !walks[i].failed;
    }
    return ok;
}

bool gt_dag_walk(const struct gt_dag *dag, const struct gt_dag_way *ways, size_t count) {
    for (size_t i = 0; i < count; i += WALKS_AT_ONCE)
        if (!walk_some(dag, &ways[i], count - i < WALKS_AT_ONCE ? count - i : WALKS_AT_ONCE))
            return false;
    return true;
}

void gt_dag_walk_release(struct gt_dag_path *path) {
    gt_mem_free(path->last);
    *path = (struct gt_dag_path){0};
}

uint32_t gt_dag_walk_thread(const struct gt_dag *dag, const struct gt_dag_segment *segment) {
    if (segment->node == GT_DAG_NONE)
        return GT_NO_TRACK;
    switch ((enum gt_dag_kind)dag->kind[segment->node]) {
    case GT_DAG_MARK:
        return dag->row[segment->node];
    case GT_DAG_CALL:
    case GT_DAG_BEGIN:
    case GT_DAG_RETURN:
        return dag->store->calls.thread[dag->row[segment->node]];
    case GT_DAG_OP:
    case GT_DAG_POINT:
        break;
    }
    return GT_NO_TRACK;
}
