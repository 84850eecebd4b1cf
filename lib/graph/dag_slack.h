/* Slack: how much later ops could have ended without making any window end later. */
#ifndef GT_GRAPH_DAG_SLACK_H
#define GT_GRAPH_DAG_SLACK_H

#include "graph/dag.h"

/* Latest ends that move no bound, by node. Set the ends that must not move, then spread them over the graph. */
int64_t *gt_dag_slack_new(const struct gt_dag *dag, int64_t last_ns); /* ops: last_ns; NULL: memory was short */
static inline void gt_dag_slack_bound(int64_t *late_ns, uint32_t node, int64_t time_ns) {
    if (time_ns < late_ns[node])
        late_ns[node] = time_ns;
}
void gt_dag_slack_spread(const struct gt_dag *dag, int64_t *late_ns); /* linear */

#endif
