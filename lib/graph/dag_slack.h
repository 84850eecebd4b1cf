/* Slack: how much later ops could have ended without making any window end later. */
#ifndef GT_GRAPH_DAG_SLACK_H
#define GT_GRAPH_DAG_SLACK_H

#include "graph/dag.h"

/* A node that must not end later than a time. */
struct gt_dag_bound {
    uint32_t node;
    int64_t time_ns;
};

/* By node: the latest end that moves no bound; nodes that nothing waits for are bound by last_ns. To be freed with
   gt_mem_free; NULL: memory was short. Linear. */
int64_t *gt_dag_slack_new(const struct gt_dag *dag, const struct gt_dag_bound *bounds, size_t count, int64_t last_ns);

#endif
