/* Runs of ops with one innermost range: kernels that were launched one after the other mostly share it, so what is
   summed by range is summed run by run. */
#ifndef GT_MEASURE_RESULTS_RANGE_RUN_H
#define GT_MEASURE_RESULTS_RANGE_RUN_H

#include "measure/results/measure.h"

/* Ops of a device next to each other in the view. Zero-initialise in front of the first. */
struct gt_range_run {
    uint32_t device; /* index into view->devices */
    uint32_t range;  /* GT_NO_ROW: none */
    size_t first, count;
    int64_t start_ns, end_ns; /* first start and last end */
    int64_t sum_ns;           /* of their durations */
    int64_t busy_ns;          /* of their union */
};

/* Moves on to the next run, of at most `most` ops. false: there is none. */
bool gt_range_run_next(struct gt_range_run *run, const struct gt_view *view, size_t most);

/* The union of the ops of several runs, in view order; of each device, summed. Zero-initialise. */
struct gt_range_union {
    int64_t busy_ns;
    int64_t reached_ns; /* latest end on the device of the last run */
    size_t device;      /* index of that one + 1; 0: there was none yet */
};

void gt_range_run_union_add(struct gt_range_union *all, const struct gt_view *view, const struct gt_range_run *run);

#endif
