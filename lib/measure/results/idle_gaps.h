/* The gaps of every device, each with its cause as far as the launch call of the next op says it. */
#ifndef GT_MEASURE_RESULTS_IDLE_GAPS_H
#define GT_MEASURE_RESULTS_IDLE_GAPS_H

#include "measure/results/idle.h"

/* Host gaps may still turn out to be waits for the GPU, and late starts are not split yet. false: memory was short;
   release the idle time in any case. */
bool gt_idle_gaps_find(struct gt_idle *idle, const struct gt_view *view);

/* Of a gap that is known to be as long as it was. */
static inline void gt_idle_gaps_set(struct gt_idle *idle, size_t gap, enum gt_idle_cause cause, enum gt_gap_part part,
                                    bool has_launch_wait) {
    idle->state[gap] = (uint8_t)(gt_idle_state(cause, part, has_launch_wait) | (idle->state[gap] & GT_IDLE_LONG_BIT));
}

/* When the launch of the op that ends a gap had reached the GPU. */
static inline int64_t gt_idle_gaps_launched_ns(const struct gt_idle *idle, size_t gap,
                                               const struct gt_idle_device *device) {
    return gt_ns_add(idle->view->store->calls.end_ns[gt_idle_gap_call(idle, gap)], device->launch_latency_ns);
}

#endif
