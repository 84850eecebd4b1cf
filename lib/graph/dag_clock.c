/* Waits between streams that only the clock shows: an op began late and right after an op of another stream ended. The
   edges of graphs are not in traces, nor are events of some programs. */
#include "graph/dag_build.h"

static bool can_be_cause(const struct gt_dag_build *build, uint32_t op, uint32_t from) {
    const struct gt_store *store = build->store;
    uint32_t own = build->op_stream[op], other = build->op_stream[from];
    bool is_elsewhere = own != other || gt_dag_build_is_graph_node(build, op);
    return from != op && is_elsewhere && build->op_launch_ns[from] < store->ops.start_ns[op] &&
           store->lanes.device[build->streams[own].lane] == store->lanes.device[build->streams[other].lane];
}

static void explain(struct gt_dag_build *build, uint32_t op) {
    const struct gt_ops *ops = &build->store->ops;
    uint32_t process = build->streams[build->op_stream[op]].process;
    int64_t after_ns = gt_dag_build_release_ns(build, &build->edges[build->bind[op]]);
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

bool gt_dag_build_clock(struct gt_dag_build *build) {
    size_t edges = build->edge_count;
    for (uint32_t op = 0; op < build->store->ops.count && !build->failed; op++)
        if (gt_dag_build_is_unexplained(build, op) && gt_dag_build_ends(build))
            explain(build, op);
    return !build->failed && (edges == build->edge_count || gt_dag_build_bind(build));
}
