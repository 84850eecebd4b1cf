/* Slack: one pass over the nodes, from the last to the first. */
#include "graph/dag_slack.h"

#include "base/mem.h"

int64_t *gt_dag_slack_new(const struct gt_dag *dag, int64_t last_ns) {
    int64_t *late_ns = gt_mem_uninitialised(dag->node_count + 1, sizeof *late_ns);
    for (size_t i = 0; i < dag->node_count && late_ns; i++)
        late_ns[i] = dag->kind[i] == GT_DAG_OP && dag->end_ns[i] <= last_ns ? last_ns : GT_DAG_SLACK_NEVER;
    return late_ns;
}

void gt_dag_slack_spread(const struct gt_dag *dag, int64_t *late_ns) {
    for (size_t v = dag->node_count; v-- > 0;) {
        if (late_ns[v] == GT_DAG_SLACK_NEVER)
            continue;
        int64_t start_ns = gt_ns_between(gt_ns_between(dag->start_ns[v], dag->end_ns[v]), late_ns[v]);
        for (uint32_t e = dag->first_edge[v]; e < dag->first_edge[v + 1]; e++) {
            const struct gt_dag_edge *edge = &dag->edges[e];
            int64_t end_ns = gt_ns_between(gt_dag_delay_ns(dag, (uint32_t)v, edge), start_ns);
            if (edge->flags & GT_DAG_FROM_START)
                end_ns = gt_ns_add(end_ns, gt_ns_between(dag->start_ns[edge->from], dag->end_ns[edge->from]));
            if (end_ns < late_ns[edge->from])
                late_ns[edge->from] = end_ns;
        }
    }
}
