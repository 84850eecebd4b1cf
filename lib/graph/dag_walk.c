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

/* What a segment is of: a node, a part of the edge that binds it, or nothing that is known. */
enum part { NODE, UNEXPLAINED, LATENCY, CPU, AFTER_NODE, BEFORE_NODE };

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
    size_t capacity = path->capacity;
    uint32_t *nodes = gt_mem_room(path->nodes, path->count, &capacity, sizeof *nodes);
    if (!nodes)
        return false;
    path->nodes = nodes;
    uint8_t *parts = gt_mem_realloc(path->parts, capacity);
    if (!parts)
        return false;
    path->parts = parts;
    path->capacity = capacity;
    return true;
}

/* Fills from a time up to where the walk is. */
static inline void fill(struct walk *walk, int64_t start_ns, enum part part) {
    struct gt_dag_path *path = walk->path;
    start_ns = start_ns > walk->from_ns ? start_ns : walk->from_ns;
    if (start_ns >= walk->at_ns)
        return;
    if (path->count == path->capacity && !grow(path)) {
        walk->failed = true;
        return;
    }
    path->nodes[path->count] = walk->node;
    path->parts[path->count++] = (uint8_t)part;
    walk->at_ns = start_ns;
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

/* ---- where parts begin ---- */

static inline int64_t node_start_ns(const struct gt_dag *dag, uint32_t node, int64_t release_ns) {
    return dag->start_ns[node] > release_ns ? dag->start_ns[node] : release_ns;
}

/* Of a latency that is far longer than usual, only the usual part is explained. */
static int64_t unexplained_start_ns(const struct gt_dag *dag, const struct gt_dag_edge *edge, int64_t release_ns) {
    int64_t typical_ns = gt_dag_typical_ns(dag, edge);
    return gt_ns_add(release_ns, typical_ns > 0 ? typical_ns : 0);
}

/* ---- along a path ---- */

static int64_t part_start_ns(const struct gt_dag_path *path, size_t found, const struct gt_dag_edge *edge) {
    const struct gt_dag *dag = path->dag;
    enum part part = (enum part)path->parts[found];
    int64_t release_ns = edge ? gt_dag_release_ns(dag, edge) : INT64_MIN;
    switch (part) {
    case NODE:
        return node_start_ns(dag, path->nodes[found], release_ns);
    case UNEXPLAINED:
        return unexplained_start_ns(dag, edge, release_ns);
    case LATENCY:
        return release_ns;
    case CPU:
        return gt_dag_anchor_ns(dag, edge);
    case AFTER_NODE:
        return dag->end_ns[path->nodes[found]];
    case BEFORE_NODE:
        break;
    }
    return path->from_ns;
}

/* Looks at the next segment, if one is left. */
static void look(struct gt_dag_cursor *cursor) {
    const struct gt_dag_path *path = cursor->path;
    cursor->start_ns = path->to_ns;
    cursor->edge = NULL;
    if (!cursor->left)
        return;
    size_t found = cursor->left - 1;
    if (path->parts[found] <= CPU)
        cursor->edge = gt_dag_binding(path->dag, path->nodes[found]);
    int64_t start_ns = part_start_ns(path, found, cursor->edge);
    cursor->start_ns = start_ns > path->from_ns ? start_ns : path->from_ns;
}

struct gt_dag_cursor gt_dag_walk_from(const struct gt_dag_path *path, size_t index) {
    struct gt_dag_cursor cursor = {.path = path, .left = path->count - index};
    look(&cursor);
    return cursor;
}

struct gt_dag_segment gt_dag_walk_next(struct gt_dag_cursor *cursor) {
    const struct gt_dag_path *path = cursor->path;
    size_t found = --cursor->left;
    enum part part = (enum part)path->parts[found];
    struct gt_dag_segment segment = {.start_ns = cursor->start_ns,
                                     .node = path->nodes[found],
                                     .edge = GT_DAG_NONE,
                                     .time = GT_DAG_TIME_UNKNOWN,
                                     .is_cpu = part == CPU};
    if (part == NODE)
        segment.time = (uint8_t)time_of_node(path->dag, segment.node);
    else if (cursor->edge) {
        segment.edge = (uint32_t)(cursor->edge - path->dag->edges);
        segment.is_inferred = cursor->edge->flags & GT_DAG_INFERRED;
        if (part != UNEXPLAINED)
            segment.time = (uint8_t)time_of_edge(path->dag, segment.node, cursor->edge);
    }
    look(cursor);
    segment.end_ns = cursor->start_ns;
    return segment;
}

/* ---- one walk ---- */

/* The node itself, where the walk came to its end. */
static void fill_node(struct walk *walk, int64_t release_ns) {
    uint8_t kind = walk->dag->kind[walk->node];
    if (kind == GT_DAG_OP || kind == GT_DAG_CALL)
        fill(walk, node_start_ns(walk->dag, walk->node, release_ns), NODE);
}

/* The edge: its latency and its CPU time. */
static void fill_edge(struct walk *walk, const struct gt_dag_edge *edge, int64_t release_ns) {
    if (edge->flags & GT_DAG_UNEXPLAINED)
        fill(walk, unexplained_start_ns(walk->dag, edge, release_ns), UNEXPLAINED);
    fill(walk, release_ns, LATENCY);
    fill(walk, gt_dag_anchor_ns(walk->dag, edge), CPU);
}

/* What nothing leads to. */
static void finish(struct walk *walk) {
    fill(walk, walk->from_ns, BEFORE_NODE);
}

/* ---- walks ---- */

static void begin(struct walk *walk, const struct gt_dag *dag, const struct gt_dag_way *way) {
    *walk = (struct walk){.dag = dag,
                          .path = way->path,
                          .from_ns = way->from_ns,
                          .at_ns = way->to_ns,
                          .node = way->node,
                          .is_at_end = true};
    way->path->dag = dag;
    way->path->from_ns = way->from_ns;
    way->path->to_ns = way->to_ns;
    if (way->node != GT_DAG_NONE && dag->end_ns[way->node] < way->to_ns)
        fill(walk, dag->end_ns[way->node], AFTER_NODE);
}

/* On to the first node before one, or to where nothing leads on. */
static void go_on(struct walk *walk, uint32_t before) {
    const struct gt_dag *dag = walk->dag;
    while (walk->node != GT_DAG_NONE && walk->node >= before && walk->at_ns > walk->from_ns && !walk->failed) {
        const struct gt_dag_edge *edge = gt_dag_binding(dag, walk->node);
        int64_t release_ns = edge ? gt_dag_release_ns(dag, edge) : INT64_MIN;
        if (walk->is_at_end)
            fill_node(walk, release_ns);
        if (!edge) {
            finish(walk);
            return;
        }
        fill_edge(walk, edge, release_ns);
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
    gt_mem_free(path->nodes);
    gt_mem_free(path->parts);
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
