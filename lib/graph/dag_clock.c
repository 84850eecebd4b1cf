/* Waits between streams that only the clock shows: an op began late and right after an op of another stream ended. The
   edges of graphs are not in traces, nor are events of some programs. */
#include <string.h>

#include "base/mem.h"
#include "graph/dag_build.h"

static bool can_be_cause(const struct gt_dag_build *build, uint32_t op, uint32_t from) {
    const struct gt_store *store = build->store;
    uint32_t own = build->op_stream[op], other = build->op_stream[from];
    bool is_elsewhere = own != other || gt_dag_build_is_graph_node(build, op);
    return from != op && is_elsewhere && build->op_launch_ns[from] < store->ops.start_ns[op] &&
           store->lanes.device[build->streams[own].lane] == store->lanes.device[build->streams[other].lane];
}

static bool is_unexplained(const struct gt_dag_build *build, uint32_t op) {
    const struct gt_dag_edge *edge = gt_dag_build_binding(build, op);
    return edge && gt_dag_build_is_late(build, op, edge);
}

static void explain(struct gt_dag_build *build, uint32_t op) {
    const struct gt_ops *ops = &build->store->ops;
    uint32_t process = build->streams[build->op_stream[op]].process;
    int64_t after_ns = gt_dag_build_release_ns(build, gt_dag_build_binding(build, op));
    int64_t near_ns = gt_ns_add(ops->start_ns[op], -GT_DAG_NEAR_NS);
    size_t first = build->process_ends[gt_dag_build_process_slot(build, process)];
    size_t at = gt_dag_build_ended(build, process, ops->start_ns[op]);
    after_ns = after_ns > near_ns ? after_ns : near_ns;
    for (size_t seen = 0; at > first && seen < GT_DAG_BACK_OPS; seen++) {
        uint32_t from = build->end_ops[--at];
        if (ops->end_ns[from] <= after_ns)
            return;
        if (!can_be_cause(build, op, from))
            continue;
        gt_dag_build_edge(
            build, &(struct gt_dag_raw_edge){.from = from, .to = op, .kind = GT_DAG_EVENT, .flags = GT_DAG_INFERRED});
        return;
    }
}

/* Puts new edges, one for each of their ops and in the order of ops, after the others of their ops. */
static bool insert(struct gt_dag_build *build, const struct gt_dag_raw_edge *added, size_t count) {
    size_t wanted = build->node_edge_count + count, last = build->node_edge_count;
    struct gt_dag_edge *edges =
        wanted < GT_DAG_NONE - 1 ? gt_mem_realloc(build->node_edges, (wanted + 1) * sizeof *edges) : NULL;
    uint32_t id = (uint32_t)build->id_count;
    if (!edges)
        return false;
    build->node_edges = edges;
    build->node_edge_count = wanted;
    for (size_t left = count; left > 0; left--) {
        const struct gt_dag_raw_edge *edge = &added[left - 1];
        size_t end = build->first_edge[edge->to + 1];
        memmove(edges + end + left, edges + end, (last - end) * sizeof *edges);
        for (; id > edge->to; id--)
            build->first_edge[id] += (uint32_t)left;
        edges[end + left - 1] = (struct gt_dag_edge){
            .from = edge->from,
            .kind = edge->kind,
            .flags = edge->flags,
            .value = gt_ns_between(gt_dag_build_end_ns(build, edge->from), gt_dag_build_start_ns(build, edge->to))};
        last = end;
    }
    for (size_t i = 0; i < count; i++)
        gt_dag_build_bind(build, added[i].to);
    return true;
}

bool gt_dag_build_clock(struct gt_dag_build *build) {
    size_t before = build->edge_count;
    for (uint32_t op = 0; op < build->store->ops.count && !build->failed; op++)
        if (is_unexplained(build, op) && gt_dag_build_ends(build))
            explain(build, op);
    if (build->failed || before == build->edge_count)
        return !build->failed;
    build->failed |= !insert(build, build->edges + before, build->edge_count - before);
    return !build->failed && gt_dag_build_delays(build);
}
