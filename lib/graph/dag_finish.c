/* The finished graph: in come nodes by id and edges in any order, out go nodes in an order in which each comes after
   all that it waits for, and their edges next to each other. An edge that closes a circle is left out. */
#include <string.h>

#include "base/mem.h"
#include "graph/dag_build.h"

struct finish {
    struct gt_dag_build *build;
    uint32_t *first;               /* by id: its first edge */
    struct gt_dag_raw_edge *edges; /* by the node they lead to */
    uint32_t *number;              /* by id: place in the order; GT_DAG_NONE: not yet; OPEN: being looked at */
    uint32_t *order;               /* ids */
    uint32_t *stack, *next;        /* of the search: nodes, and the edge of each to look at next */
    size_t count;
    bool dropped;
};
enum { OPEN = GT_DAG_NONE - 1 };

static bool is_node(const struct gt_dag_build *build, uint32_t id) {
    size_t ops = build->store->ops.count, calls = ops + 2 * build->call_count, marks = calls + build->mark_count;
    if (id >= ops && id < calls)
        return (id - ops) % 2 == 0 || build->calls[(id - ops) / 2].waits;
    return id < marks || build->points[id - marks].is_kept;
}

/* Edges next to each other by the node they lead to, each with what binding has found. */
static bool group_edges(struct finish *finish) {
    struct gt_dag_build *build = finish->build;
    finish->first = gt_dag_build_array(build, build->id_count + 2, sizeof *finish->first);
    finish->edges = gt_mem_uninitialised(build->edge_count + 1, sizeof *finish->edges);
    build->failed |= !finish->edges;
    if (build->failed || build->edge_count >= OPEN)
        return false;
    for (uint32_t id = 0; id < build->id_count; id++)
        if (build->bind[id] != GT_DAG_NONE)
            build->edges[build->bind[id]].flags |=
                GT_DAG_BINDS | (gt_dag_build_is_unexplained(build, id) ? GT_DAG_UNEXPLAINED : 0);
    uint32_t *next = finish->first + 1;
    for (size_t i = 0; i < build->edge_count; i++)
        next[build->edges[i].to + 1]++;
    for (size_t i = 0; i < build->id_count; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < build->edge_count; i++)
        finish->edges[next[build->edges[i].to]++] = build->edges[i];
    return true; /* each next is now where the following begins: `first` is one place before */
}

/* Puts a node into the order, and before it all that it waits for. */
static void place(struct finish *finish, uint32_t id) {
    struct gt_dag_build *build = finish->build;
    size_t depth = 1;
    finish->stack[0] = id;
    finish->next[0] = finish->first[id];
    finish->number[id] = OPEN;
    while (depth) {
        uint32_t node = finish->stack[depth - 1], *next = &finish->next[depth - 1];
        if (*next == finish->first[node + 1]) {
            finish->number[node] = (uint32_t)finish->count;
            finish->order[finish->count++] = node;
            depth--;
            continue;
        }
        struct gt_dag_raw_edge *edge = &finish->edges[(*next)++];
        uint32_t from = edge->from;
        if (finish->number[from] == OPEN) {
            edge->to = GT_DAG_NONE;
            finish->dropped = true;
            build->dag->cyclic_count++;
        } else if (finish->number[from] == GT_DAG_NONE) {
            finish->stack[depth] = from;
            finish->next[depth++] = finish->first[from];
            finish->number[from] = OPEN;
        }
    }
}

/* Ops bring their calls with them, so that nodes are about in order of time without sorting. */
static bool order_nodes(struct finish *finish) {
    struct gt_dag_build *build = finish->build;
    size_t ids = build->id_count;
    finish->number = gt_dag_build_array(build, ids, sizeof *finish->number);
    finish->order = gt_dag_build_array(build, ids, sizeof *finish->order);
    finish->stack = gt_dag_build_array(build, ids, sizeof *finish->stack);
    finish->next = gt_dag_build_array(build, ids, sizeof *finish->next);
    if (build->failed)
        return false;
    memset(finish->number, 0xff, ids * sizeof *finish->number);
    for (uint32_t id = 0; id < ids; id++)
        if (finish->number[id] == GT_DAG_NONE && is_node(build, id))
            place(finish, id);
    return true;
}

/* Edges that would have closed a circle are gone: what binds may be another edge now. */
static bool drop_cyclic(struct finish *finish) {
    struct gt_dag_build *build = finish->build;
    size_t kept = 0;
    if (!finish->dropped)
        return true;
    for (size_t i = 0; i < build->edge_count; i++) {
        struct gt_dag_raw_edge edge = finish->edges[i];
        edge.flags &= (uint8_t) ~(GT_DAG_BINDS | GT_DAG_UNEXPLAINED);
        if (edge.to != GT_DAG_NONE)
            build->edges[kept++] = edge;
    }
    gt_mem_free(finish->edges);
    finish->edges = NULL;
    build->edge_count = kept;
    build->dag->contradicting_count += build->dag->cyclic_count;
    return gt_dag_build_bind(build) && group_edges(finish);
}

/* ---- the graph itself ---- */

static struct gt_dag_edge finish_edge(const struct finish *finish, const struct gt_dag_raw_edge *raw) {
    const struct gt_dag_build *build = finish->build;
    const struct gt_dag_delay *delay;
    struct gt_dag_edge edge = {.from = finish->number[raw->from], .kind = raw->kind, .flags = raw->flags};
    int64_t lag_ns = gt_ns_between(gt_dag_build_release_ns(build, raw), build->start_ns[raw->to]);
    bool binds = raw->flags & GT_DAG_BINDS;
    edge.delay = gt_dag_build_delay(build, raw);
    delay = &build->dag->delays[edge.delay];
    if (raw->kind == GT_DAG_THINK || raw->kind == GT_DAG_HANDOVER || raw->flags & GT_DAG_HAS_OFFSET) {
        edge.value = raw->cpu_ns;
        return edge;
    }
    bool is_instant = raw->kind == GT_DAG_ORDER || delay < build->dag->delays + GT_DAG_EDGE_KINDS ||
                      (raw->kind == GT_DAG_STREAM && raw->flags & GT_DAG_FROM_START);
    int64_t usual_ns = is_instant ? 0 : gt_dag_typical_ns(build->dag, &edge);
    if (usual_ns < 0)
        usual_ns = raw->kind == GT_DAG_OWN ? GT_DAG_OWN_NS : 0;
    edge.value = binds || lag_ns < usual_ns ? lag_ns : usual_ns;
    return edge;
}

static bool allocate(struct gt_dag *dag, size_t nodes, size_t edges, size_t ops, size_t marks) {
    dag->node_count = nodes;
    dag->edge_count = edges;
    dag->kind = gt_mem_uninitialised(nodes + 1, sizeof *dag->kind);
    dag->role = gt_mem_uninitialised(nodes + 1, sizeof *dag->role);
    dag->row = gt_mem_uninitialised(nodes + 1, sizeof *dag->row);
    dag->start_ns = gt_mem_uninitialised(nodes + 1, sizeof *dag->start_ns);
    dag->end_ns = gt_mem_uninitialised(nodes + 1, sizeof *dag->end_ns);
    dag->first_edge = gt_mem_uninitialised(nodes + 1, sizeof *dag->first_edge);
    dag->edges = gt_mem_uninitialised(edges + 1, sizeof *dag->edges);
    dag->op_node = gt_mem_uninitialised(ops + 1, sizeof *dag->op_node);
    dag->op_process = gt_mem_uninitialised(ops + 1, sizeof *dag->op_process);
    dag->mark_node = gt_mem_uninitialised(marks + 1, sizeof *dag->mark_node);
    return dag->kind && dag->role && dag->row && dag->start_ns && dag->end_ns && dag->first_edge && dag->edges &&
           dag->op_node && dag->op_process && dag->mark_node;
}

static void describe(struct gt_dag_build *build, uint32_t id, uint32_t node) {
    struct gt_dag *dag = build->dag;
    size_t ops = build->store->ops.count, calls = ops + 2 * build->call_count, marks = calls + build->mark_count;
    dag->role[node] = 0;
    if (id < ops) {
        dag->kind[node] = GT_DAG_OP;
        dag->row[node] = id;
        dag->op_node[id] = node;
        dag->op_process[id] = build->streams[build->op_stream[id]].process;
    } else if (id < calls) {
        const struct gt_dag_call *call = &build->calls[(id - ops) / 2];
        dag->kind[node] = !call->waits ? GT_DAG_CALL : (id - ops) % 2 ? GT_DAG_RETURN : GT_DAG_BEGIN;
        dag->row[node] = call->row;
        dag->role[node] = call->role;
    } else if (id < marks) {
        dag->kind[node] = GT_DAG_MARK;
        dag->row[node] = build->threads[build->marks[id - calls].thread].thread;
    } else {
        dag->kind[node] = GT_DAG_POINT;
        dag->row[node] = build->streams[build->points[id - marks].stream].lane;
    }
    dag->start_ns[node] = build->start_ns[id];
    dag->end_ns[node] = build->end_ns[id];
}

static void count_edge(struct gt_dag *dag, const struct gt_dag_edge *edge) {
    bool is_inferred = edge->flags & GT_DAG_INFERRED;
    dag->kind_count[edge->kind][is_inferred]++;
    dag->inferred_count += is_inferred;
}

static void fill(struct finish *finish, size_t asked_marks) {
    struct gt_dag_build *build = finish->build;
    struct gt_dag *dag = build->dag;
    uint32_t edges = 0;
    for (uint32_t node = 0; node < finish->count; node++) {
        uint32_t id = finish->order[node];
        describe(build, id, node);
        dag->first_edge[node] = edges;
        for (uint32_t i = finish->first[id]; i < finish->first[id + 1]; i++) {
            dag->edges[edges] = finish_edge(finish, &finish->edges[i]);
            count_edge(dag, &dag->edges[edges++]);
        }
    }
    dag->first_edge[finish->count] = edges;
    for (size_t i = 0; i < asked_marks; i++) {
        uint32_t mark = build->asked_marks[i];
        dag->mark_node[i] = mark == GT_DAG_NONE ? GT_DAG_NONE : finish->number[gt_dag_build_mark_id(build, mark)];
    }
}

bool gt_dag_build_finish(struct gt_dag_build *build, size_t asked_marks) {
    struct finish finish = {.build = build};
    bool ok = group_edges(&finish) && order_nodes(&finish) && drop_cyclic(&finish) &&
              allocate(build->dag, finish.count, build->edge_count, build->store->ops.count, asked_marks);
    build->failed |= !ok;
    if (ok)
        fill(&finish, asked_marks);
    gt_mem_free(finish.edges);
    return ok;
}
