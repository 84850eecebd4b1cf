/* Slack: how much later ops could have ended without making any window end later. */
#ifndef GT_GRAPH_DAG_SLACK_H
#define GT_GRAPH_DAG_SLACK_H

#include "graph/dag.h"

#define GT_DAG_SLACK_NEVER INT64_MAX /* whenever such a node ends, nothing is late */

/* Latest ends that move no bound, by node. Set the ends that must not move, then spread them over the graph. Ops may
   end at last_ns, but for those that ended later: nothing waits for them. NULL: memory was short. */
int64_t *gt_dag_slack_new(const struct gt_dag *dag, int64_t last_ns);
static inline void gt_dag_slack_bound(int64_t *late_ns, uint32_t node, int64_t time_ns) {
    if (time_ns < late_ns[node])
        late_ns[node] = time_ns;
}
void gt_dag_slack_spread(const struct gt_dag *dag, int64_t *late_ns); /* linear */

#endif
