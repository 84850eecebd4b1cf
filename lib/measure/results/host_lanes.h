/* What CPU threads did as lanes: spans of a thread go to levels on which none overlaps another, the outermost first. */
#ifndef GT_MEASURE_RESULTS_HOST_LANES_H
#define GT_MEASURE_RESULTS_HOST_LANES_H

#include "measure/results/lane_list.h"
#include "measure/results/lane_set.h"

/* What is nested deeper has no lane. */
enum { GT_HOST_LANES_LEVELS = 256 };

/* Makes the set of one of the kinds of threads, from GT_TIMELINE_HOST_RANGES on, and adds its lanes to the list: those
   of the view's processes, as far as they touch its window. Linear, but for sorting. false: memory was short. */
bool gt_host_lanes_make(const struct gt_view *view, enum gt_timeline_kind kind, size_t threads, struct gt_lane_set *set,
                        struct gt_lane_list *list);

#endif
