/* Simulation: when every node of a graph would have begun and ended if something were different. */
#ifndef GT_GRAPH_DAG_SIMULATE_H
#define GT_GRAPH_DAG_SIMULATE_H

#include "graph/dag.h"

#define GT_DAG_WHOLE 1000000u /* factors are millionths: this one changes nothing */

/* A collective that several ranks run together: an edge from where the last of the other ranks begins it to where the
   transfer begins, which takes as long whoever is last. Joins graphs of ranks without one knowing the other: simulate
   each, hand the starts of its collectives to the others, and repeat; every round settles one more collective. */
struct gt_dag_meeting {
    uint32_t op;             /* row of ops */
    int64_t others_start_ns; /* when the last of the other ranks begins, on this rank's clock */
    int64_t transfer_ns;     /* recorded length without the wait for the others */
};

/* A time in which what a thread does takes no time: its calls return at once and wait for nothing. */
struct gt_dag_skip {
    uint32_t thread;
    int64_t start_ns, end_ns;
};

/* What is different. Zeroed: nothing. */
struct gt_dag_change {
    const uint32_t *name_ppm; /* factor of op lengths by string id of the name, GT_DAG_NONE: by category; NULL: none */
    const uint32_t *category_ppm; /* by category; NULL: none */
    uint32_t cpu_ppm;             /* of CPU work and calls; 0: GT_DAG_WHOLE */
    bool no_launch, no_think, no_sync, overlap_comm;
    bool no_weak_events;             /* without inferred events that do not bind */
    const struct gt_dag_skip *skips; /* by thread and start; none overlap */
    size_t skip_count;
    bool replays;                          /* usual latencies instead of the recorded ones of binding edges */
    const struct gt_dag_meeting *meetings; /* in order of their ops */
    size_t meeting_count;
};

/* Times of all nodes, by number. */
struct gt_dag_times {
    int64_t *start_ns, *end_ns;
};

/* Nodes without edges begin as recorded. Linear. Release with gt_dag_simulate_release. false: memory was short. */
bool gt_dag_simulate(const struct gt_dag *dag, const struct gt_dag_change *change, struct gt_dag_times *times);
void gt_dag_simulate_release(struct gt_dag_times *times);

/* x * ppm / 1000000, rounded to the nearest. */
int64_t gt_dag_simulate_scale(int64_t value, uint32_t ppm);

#endif
