/* How fast kernels were launched, over all: what the table launch_rate says. */
#ifndef GT_MEASURE_LAUNCH_RATE_H
#define GT_MEASURE_LAUNCH_RATE_H

#include "events/view.h"

struct gt_launch_rate {
    size_t count; /* kernels */
    int64_t window_ns;
    double per_second, median_ns;
    bool is_storm;
};

bool gt_launch_rate_measure(const struct gt_view *view, struct gt_launch_rate *out); /* false: memory was short */

#endif
