/* Adds the ops of a view to the ranges around their launches, and to the names of these. */
#ifndef GT_MEASURE_RESULTS_RANGE_GATHER_H
#define GT_MEASURE_RESULTS_RANGE_GATHER_H

#include "measure/results/range_set.h"

/* Fills uses, sums of names and of all, for a set whose ranges have their names. false: memory was short. */
bool gt_range_gather(struct gt_range_set *set);

#endif
