/* What the configuration of a kernel says about how it fills a GPU of NVIDIA: blocks at once on a multiprocessor and
   what limits them, occupancy, waves and the tail of the last one. */
#ifndef GT_MEASURE_EFFICIENCY_LAUNCH_FACTS_H
#define GT_MEASURE_EFFICIENCY_LAUNCH_FACTS_H

#include "events/store.h"
#include "measure/efficiency/gpu_peaks.h"

struct gt_launch_facts {
    int64_t blocks, threads; /* of a grid and of a block; -1: not known */
    int64_t resident;        /* blocks at once on a multiprocessor; -1: not known, and so is the rest */
    const char *limiter;
    double occupancy;   /* warps at once of those that would fit */
    double waves, tail; /* < 0: not known */
};

/* Of a row of kernel_configs; GT_NO_ROW: nothing is known. */
struct gt_launch_facts gt_launch_facts_of(const struct gt_kernel_configs *configs, uint32_t row,
                                          const struct gt_gpu_peaks *peaks);

#endif
