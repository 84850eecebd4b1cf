/* Skips: what of a thread's work is left where some of it takes no time. */
#ifndef GT_GRAPH_DAG_SKIPS_H
#define GT_GRAPH_DAG_SKIPS_H

#include "graph/dag_simulate.h"

/* By node. NULL: nothing is skipped. */
struct gt_dag_skips {
    int64_t *think_ns;   /* what is left of the CPU time before it, where a think edge leads to it */
    uint8_t *is_skipped; /* a call that begins in a skip: it returns at once and waits for nothing */
};

/* n log n in the skips, linear in nodes. false: memory was short. Release in any case. */
bool gt_dag_skips_init(struct gt_dag_skips *skips, const struct gt_dag *dag, const struct gt_dag_change *change);
void gt_dag_skips_release(struct gt_dag_skips *skips);

#endif
