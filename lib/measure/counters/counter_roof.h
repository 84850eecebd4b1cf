/* How near compute time was to the limits of the GPU, sample by sample, in whole ns that sum to all of it. */
#ifndef GT_MEASURE_COUNTERS_COUNTER_ROOF_H
#define GT_MEASURE_COUNTERS_COUNTER_ROOF_H

#include "measure/counters/counter_set.h"

/* Before the first sample: whether the device and its samples have all that is needed. */
void gt_counter_roof_begin(struct gt_counter_device *device, const struct gt_sampling *sampling);
/* compute_ns: of the sample's period. */
void gt_counter_roof_add(struct gt_counter_device *device, const struct gt_sampling *sampling, size_t sample,
                         int64_t compute_ns);
/* After the last one: compute time without samples. */
void gt_counter_roof_end(struct gt_counter_device *device);

#endif
