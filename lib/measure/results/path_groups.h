/* Steps and ops of a trace next to each other by what they are of. */
#ifndef GT_MEASURE_RESULTS_PATH_GROUPS_H
#define GT_MEASURE_RESULTS_PATH_GROUPS_H

#include "base/arena.h"
#include "events/view.h"
#include "graph/dag.h"

struct gt_path_process {
    int64_t pid;
    size_t row; /* of processes; their count: of ops without a process */
};

/* Those of step or process i are from its first on, up to that of i + 1. */
struct gt_path_groups {
    size_t *step_first, *process_first, *process_first_step;
    uint32_t *ops_of_step, *ops_of_process, *steps_of_process;
    struct gt_path_process *processes; /* in the order of their numbers; last comes that of ops without one */
};

/* In the arena. false: memory was short. */
bool gt_path_groups_init(struct gt_path_groups *groups, struct gt_arena *arena, const struct gt_view *view,
                         const struct gt_dag *dag);

/* Whether steps of a process launched something: else it is a whole, like one without steps. */
bool gt_path_groups_has_steps(const struct gt_path_groups *groups, size_t process);

#endif
