/* Which kernels are tiny: over so soon that launching them costs more than running them. */
#ifndef GT_MEASURE_RESULTS_TINY_H
#define GT_MEASURE_RESULTS_TINY_H

#include "base/quantile.h"
#include "measure/results/keyed.h"

enum { GT_TINY_NS = 5000 };

/* Number and sum of the tiny ones of some lengths; not their extremes. */
struct gt_tally gt_tiny_tally(struct gt_slice lengths);

#endif
