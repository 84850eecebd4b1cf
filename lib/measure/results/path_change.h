/* Changes to simulate, from text: "scale:GLOB=F", "class:KEY=F", "cpu=N", "no:launch", "no:think", "no:sync",
   "overlap:comm", "without:GLOB", one on each line. They act together. */
#ifndef GT_MEASURE_RESULTS_PATH_CHANGE_H
#define GT_MEASURE_RESULTS_PATH_CHANGE_H

#include "events/view.h"
#include "graph/dag_simulate.h"

struct gt_path_change {
    struct gt_dag_change change;
    uint32_t *name_ppm, *category_ppm; /* owned; NULL: none */
    struct gt_dag_skip *skips;         /* likewise */
    size_t skip_count, skip_capacity;
};

/* Text that makes no sense, and names that nothing in the trace has, are usage errors. Release in any case. */
enum gt_status gt_path_change_init(struct gt_path_change *change, const struct gt_view *view, struct gt_str text,
                                   struct gt_error *err);
void gt_path_change_release(struct gt_path_change *change);

/* Ops of one name, in all its spellings, by a factor. false: memory was short. */
bool gt_path_change_init_name(struct gt_path_change *change, const struct gt_view *view, gt_strid name, uint32_t ppm);

#endif
