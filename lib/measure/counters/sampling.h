/* The samples of hardware counters of one GPU: periods of time, one after the other, with the value of each metric. */
#ifndef GT_MEASURE_COUNTERS_SAMPLING_H
#define GT_MEASURE_COUNTERS_SAMPLING_H

#include "events/view.h"

enum gt_metric {
    GT_METRIC_SM_ACTIVE,
    GT_METRIC_SM_ISSUE,
    GT_METRIC_TENSOR,
    GT_METRIC_SM_THROUGHPUT, /* of the busiest part of the SMs */
    GT_METRIC_DRAM,          /* reads and writes, where only both together were sampled */
    GT_METRIC_DRAM_READ,
    GT_METRIC_DRAM_WRITE,
    GT_METRIC_WARPS,
    GT_METRIC_CLOCK, /* of the GPCs, in Hz; all before are percents */
    GT_METRIC_COUNT,
};
enum { GT_METRIC_PERCENTS = GT_METRIC_CLOCK };

/* Percents are kept as millionths of one percent: profilers write whole numbers, sums of which stay exact. */
enum { GT_SAMPLING_PERCENT = 1000000 };
#define GT_SAMPLING_NONE UINT32_MAX /* the sample lacks the metric, or its value makes no sense */

struct gt_sampling {
    size_t count; /* of samples that overlap the span of the device */
    int64_t *start_ns, *end_ns;
    uint32_t *values[GT_METRIC_COUNT]; /* NULL: the trace lacks the metric */
    int64_t period_ns;                 /* the median distance of samples; 0: there are none */
    size_t outside;                    /* samples that the span does not overlap */
    size_t out_of_range;               /* values that were left out */
};

/* Empty where the trace has no samples of the device. Linear where samples are sorted, as profilers write them. */
enum gt_status gt_sampling_init(struct gt_sampling *sampling, const struct gt_view *view,
                                const struct gt_view_device *device, struct gt_error *err);
void gt_sampling_release(struct gt_sampling *sampling);

/* Whether a track is of a GPU and counts what no metric knows; memory in use is no hardware counter. */
bool gt_sampling_is_unknown(const struct gt_store *store, uint32_t track);

static inline bool gt_sampling_has(const struct gt_sampling *sampling, enum gt_metric metric, size_t sample) {
    return sampling->values[metric] && sampling->values[metric][sample] != GT_SAMPLING_NONE;
}

#endif
