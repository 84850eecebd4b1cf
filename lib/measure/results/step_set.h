/* The steps of a view: what each put on each device, and which of them took unusually long. */
#ifndef GT_MEASURE_RESULTS_STEP_SET_H
#define GT_MEASURE_RESULTS_STEP_SET_H

#include "events/view.h"

enum gt_step_state { GT_STEP_STEADY, GT_STEP_WARM_UP, GT_STEP_OUTLIER, GT_STEP_STATE_COUNT };
extern const char *const gt_step_state_names[GT_STEP_STATE_COUNT];

/* The ops of one step on one device. */
struct gt_step_part {
    uint32_t step;   /* index into labels->steps */
    uint32_t device; /* index into view->devices; GT_NO_TRACK: the step launched nothing */
    uint32_t ops;
    int64_t start_ns, end_ns; /* first start and last end of its ops */
};

struct gt_step_set {
    struct gt_step_part *parts; /* by step, then device */
    size_t count;
    uint8_t *states; /* by step: enum gt_step_state */
    size_t state_counts[GT_STEP_STATE_COUNT];
    double median_ns, mad_ns; /* of the steps' lengths on the CPU; median distance from the median */
    struct {                  /* parts with ops of steps that are no warm-up */
        size_t count, devices;
        int64_t start_ns; /* of the first of their ops; INT64_MAX: there are none */
    } steady;
};

enum gt_status gt_step_set_init(struct gt_step_set *set, const struct gt_view *view, struct gt_error *err);
void gt_step_set_release(struct gt_step_set *set);

int64_t gt_step_set_cpu_ns(const struct gt_step *step);
/* Do steps belong to more than one process? Their numbers alone do not distinguish them then. */
bool gt_step_set_is_of_several(const struct gt_view *view);

#endif
