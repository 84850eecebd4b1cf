/* What the CPU did during the gaps that it caused: calls, or code (ranges and operators). */
#ifndef GT_MEASURE_RESULTS_IDLE_CODE_H
#define GT_MEASURE_RESULTS_IDLE_CODE_H

#include "measure/results/idle.h"

/* What the launching thread did during a host gap. */
enum gt_host_activity { GT_HOST_API, GT_HOST_RANGE, GT_HOST_OUTSIDE, GT_HOST_ACTIVITY_COUNT };
extern const char *const gt_host_activity_names[GT_HOST_ACTIVITY_COUNT];

struct gt_idle_code {
    uint8_t *activity; /* by gap: enum gt_host_activity; it only counts for host gaps */
    gt_strid *of_wait; /* for each gap with a launch wait, in their order: the code that has the largest part of it, if
                          code has most of it, else GT_STRID_EMPTY */
};

/* Of the idle time of the view. */
enum gt_status gt_idle_code_init(struct gt_idle_code *code, const struct gt_view *view, struct gt_error *err);
void gt_idle_code_release(struct gt_idle_code *code);

/* Gaps of one device. */
struct gt_idle_stretch {
    size_t device, begin, end;
};

/* Sums by cause, and of host gaps by activity, without the gaps that their device has summed already; one pass over
   them. */
void gt_idle_code_sum(const struct gt_idle_code *code, const struct gt_idle *idle, struct gt_idle_stretch stretch,
                      struct gt_idle_sum causes[GT_IDLE_CAUSE_COUNT],
                      struct gt_idle_sum activities[GT_HOST_ACTIVITY_COUNT]);

#endif
