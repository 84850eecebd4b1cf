/* The waterfall of a device by the models of its kernels' work. */
#ifndef GT_MEASURE_EFFICIENCY_MODEL_WATERFALL_H
#define GT_MEASURE_EFFICIENCY_MODEL_WATERFALL_H

#include "measure/efficiency/waterfall_rows.h"
#include "measure/efficiency/waterfall_spread.h"
#include "measure/efficiency/work_set.h"

struct gt_model_waterfall {
    bool has_family[GT_FAMILY_COUNT];
    int64_t ideal_ns[GT_FAMILY_COUNT], lost_ns[GT_FAMILY_COUNT];
    int64_t lost_bound_ns[GT_FAMILY_COUNT][GT_BOUND_COUNT]; /* the second by what bounds the kernels */
    int64_t unmodelled_ns, peak_unknown_ns; /* the work is not known; it is, but not the GPU's peak for it */
    struct gt_waterfall_rest rest;
};

/* Of a device by its number in the view. spread: takes the pieces; NULL: they are not wanted. */
void gt_model_waterfall_of(struct gt_model_waterfall *out, const struct gt_view *view, const struct gt_work_set *set,
                           const struct gt_idle *idle, size_t device, struct gt_waterfall_spread *spread);

#endif
