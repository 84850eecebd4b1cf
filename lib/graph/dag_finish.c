/* The finished graph: in come nodes by id and their edges, out go nodes in an order in which each comes after all that
   it waits for, and their edges next to each other. An edge that closes a circle is left out. */
#include <string.h>

#include "base/mem.h"
#include "graph/dag_build.h"

/* A node of the search, and the edge of it to look at next. */
struct visit {
    uint32_t id, next;
};

struct finish {
    struct gt_dag_build *build;
    uint32_t *number; /* by id: place in the order, from 1; 0: not yet; OPEN: being looked at */
    struct visit *stack;
    uint32_t node_count, edge_count; /* that are written */
    bool has_circle;
};
enum { OPEN = GT_DAG_NONE, CYCLIC = GT_DAG_EDGE_KINDS }; /* CYCLIC: kind of an edge that closes a circle */

/* ---- nodes and edges as they are written ---- */

static void *column(size_t count, size_t bytes) {
    return gt_mem_uninitialised(count + 1, bytes);
}

static bool allocate(struct gt_dag *dag, size_t nodes, size_t edges, size_t ops, size_t marks) {
    dag->node_count = nodes;
    dag->edge_count = edges;
    dag->kind = column(nodes, sizeof *dag->kind);
    dag->role = column(nodes, sizeof *dag->role);
    dag->row = column(nodes, sizeof *dag->row);
    dag->start_ns = column(nodes, sizeof *dag->start_ns);
    dag->end_ns = column(nodes, sizeof *dag->end_ns);
    dag->first_edge = column(nodes, sizeof *dag->first_edge);
    dag->edges = column(edges, sizeof *dag->edges);
    dag->op_node = column(ops, sizeof *dag->op_node);
    dag->op_process = column(ops, sizeof *dag->op_process);
    dag->mark_node = column(marks, sizeof *dag->mark_node);
    return dag->kind && dag->role && dag->row && dag->start_ns && dag->end_ns && dag->first_edge && dag->edges &&
           dag->op_node && dag->op_process && dag->mark_node;
}

static void describe(const struct gt_dag_build *build, uint32_t id, uint32_t node) {
    const struct gt_store *store = build->store;
    struct gt_dag *dag = build->dag;
    size_t ops = store->ops.count, calls = ops + 2 * build->call_count, marks = calls + build->mark_count;
    if (id < ops) {
        dag->kind[node] = GT_DAG_OP;
        dag->role[node] = 0;
        dag->row[node] = id;
        dag->start_ns[node] = store->ops.start_ns[id];
        dag->end_ns[node] = store->ops.end_ns[id];
        dag->op_node[id] = node;
        dag->op_process[id] = build->streams[build->op_stream[id]].process;
        return;
    }
    dag->start_ns[node] = gt_dag_build_start_ns(build, id);
    dag->end_ns[node] = gt_dag_build_end_ns(build, id);
    if (id < calls) {
        const struct gt_dag_call *call = &build->calls[gt_dag_build_call_of(build, id)];
        dag->kind[node] = !call->waits ? GT_DAG_CALL : id - ops < build->call_count ? GT_DAG_BEGIN : GT_DAG_RETURN;
        dag->role[node] = call->role;
        dag->row[node] = call->row;
    } else {
        bool is_mark = id < marks;
        dag->kind[node] = is_mark ? GT_DAG_MARK : GT_DAG_POINT;
        dag->role[node] = 0;
        dag->row[node] = is_mark ? build->threads[build->marks[id - calls].thread].thread
                                 : build->streams[build->points[id - marks].stream].lane;
    }
}

/* The latency where nothing says more: what such edges usually take. */
static int64_t usual_ns(const struct gt_dag *dag, const struct gt_dag_edge *edge) {
    if (edge->kind == GT_DAG_ORDER || edge->delay < GT_DAG_EDGE_KINDS ||
        (edge->kind == GT_DAG_STREAM && edge->flags & GT_DAG_FROM_START))
        return 0;
    int64_t typical_ns = gt_dag_typical_ns(dag, edge);
    return typical_ns >= 0 ? typical_ns : edge->kind == GT_DAG_OWN ? GT_DAG_OWN_NS : 0;
}

static struct gt_dag_edge finished_edge(const struct finish *finish, uint32_t id, const struct gt_dag_edge *from) {
    const struct gt_dag_build *build = finish->build;
    struct gt_dag_edge edge = *from;
    edge.from = finish->number[from->from] - 1;
    edge.delay = gt_dag_build_delay(build, from->kind, id);
    if (from->flags & GT_DAG_BINDS) {
        edge.flags |= gt_dag_build_is_late(build, id, from) ? GT_DAG_UNEXPLAINED : 0;
    } else if (!gt_dag_has_cpu((enum gt_dag_edge_kind)from->kind, from->flags)) {
        int64_t most_ns = usual_ns(build->dag, &edge);
        edge.value = from->value < most_ns ? from->value : most_ns;
    }
    return edge;
}

/* All that the node waits for is written already. */
static void write_node(struct finish *finish, uint32_t id) {
    const struct gt_dag_build *build = finish->build;
    struct gt_dag *dag = build->dag;
    uint32_t node = finish->node_count++;
    finish->number[id] = node + 1;
    if (finish->has_circle) /* all is written again */
        return;
    describe(build, id, node);
    dag->first_edge[node] = finish->edge_count;
    const struct gt_dag_edge *edge = build->node_edges + build->first_edge[id];
    const struct gt_dag_edge *end = build->node_edges + build->first_edge[id + 1];
    struct gt_dag_edge *out = dag->edges + finish->edge_count;
    finish->edge_count += (uint32_t)(end - edge);
    for (; edge < end; edge++) {
        dag->kind_count[edge->kind][(edge->flags & GT_DAG_INFERRED) != 0]++;
        *out++ = finished_edge(finish, id, edge);
    }
}

/* ---- the order ---- */

static bool is_node(const struct gt_dag_build *build, uint32_t id) {
    size_t ops = build->store->ops.count, calls = ops + 2 * build->call_count, marks = calls + build->mark_count;
    if (id < ops + build->call_count)
        return true;
    if (id < calls)
        return build->calls[gt_dag_build_call_of(build, id)].waits;
    return id < marks || build->points[id - marks].is_kept;
}

/* Of some edges the first one that comes from a node not seen yet; `end`: there is none. */
static uint32_t find_unseen(struct finish *finish, uint32_t next, uint32_t end) {
    struct gt_dag_build *build = finish->build;
    for (; next < end; next++) {
        uint32_t number = finish->number[build->node_edges[next].from];
        if (!number)
            break;
        if (number == OPEN) {
            build->node_edges[next].kind = CYCLIC;
            build->dag->cyclic_count++;
            finish->has_circle = true;
        }
    }
    return next;
}

/* Writes a node, and before it all that it waits for. */
static void place(struct finish *finish, uint32_t id) {
    const struct gt_dag_build *build = finish->build;
    const uint32_t *first_edge = build->first_edge;
    size_t depth = 0;
    for (uint32_t next = first_edge[id];;) {
        finish->number[id] = OPEN;
        next = find_unseen(finish, next, first_edge[id + 1]);
        if (next < first_edge[id + 1]) {
            finish->stack[depth++] = (struct visit){id, next + 1};
            id = build->node_edges[next].from;
            next = first_edge[id];
            continue;
        }
        write_node(finish, id);
        if (!depth)
            return;
        id = finish->stack[--depth].id;
        next = finish->stack[depth].next;
    }
}

/* Ops bring their calls with them, so that nodes are about in order of time without sorting. */
static void place_all(struct finish *finish) {
    struct gt_dag_build *build = finish->build;
    for (uint32_t id = 0; id < build->id_count; id++)
        if (!finish->number[id] && is_node(build, id))
            place(finish, id);
    build->dag->first_edge[finish->node_count] = finish->edge_count;
}

/* Edges that would have closed a circle are gone: what binds may be another edge now, and all is written again. */
static bool drop_cyclic(struct finish *finish) {
    struct gt_dag_build *build = finish->build;
    struct gt_dag *dag = build->dag;
    uint32_t kept = 0, first = 0;
    for (uint32_t id = 0; id < build->id_count; id++) {
        uint32_t last = build->first_edge[id + 1];
        build->first_edge[id] = kept;
        for (; first < last; first++)
            if (build->node_edges[first].kind != CYCLIC)
                build->node_edges[kept++] = build->node_edges[first];
        build->first_edge[id + 1] = kept;
        gt_dag_build_bind(build, id);
        build->first_edge[id + 1] = last;
    }
    build->first_edge[build->id_count] = kept;
    build->node_edge_count = dag->edge_count = kept;
    dag->contradicting_count += dag->cyclic_count;
    memset(dag->kind_count, 0, sizeof dag->kind_count);
    memset(finish->number, 0, build->id_count * sizeof *finish->number);
    finish->node_count = finish->edge_count = 0;
    finish->has_circle = false;
    return gt_dag_build_delays(build);
}

static size_t count_nodes(const struct gt_dag_build *build) {
    size_t count = build->store->ops.count + build->call_count + build->mark_count;
    for (size_t i = 0; i < build->call_count; i++)
        count += build->calls[i].waits;
    for (size_t i = 0; i < build->point_count; i++)
        count += build->points[i].is_kept;
    return count;
}

bool gt_dag_build_finish(struct gt_dag_build *build, size_t asked_marks) {
    struct gt_dag *dag = build->dag;
    struct finish finish = {.build = build};
    finish.number = gt_dag_build_array(build, build->id_count, sizeof *finish.number);
    finish.stack = gt_dag_build_array(build, build->id_count, sizeof *finish.stack);
    build->failed |= !allocate(dag, count_nodes(build), build->node_edge_count, build->store->ops.count, asked_marks);
    if (build->failed)
        return false;
    place_all(&finish);
    if (finish.has_circle) {
        if (!drop_cyclic(&finish))
            return false;
        place_all(&finish);
    }
    for (size_t k = 0; k < GT_DAG_EDGE_KINDS; k++)
        dag->inferred_count += dag->kind_count[k][true];
    for (size_t i = 0; i < asked_marks; i++) {
        uint32_t mark = build->asked_marks[i];
        dag->mark_node[i] = mark == GT_DAG_NONE ? GT_DAG_NONE : finish.number[gt_dag_build_mark_id(build, mark)] - 1;
    }
    return true;
}
