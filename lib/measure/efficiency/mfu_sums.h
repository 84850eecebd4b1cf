/* FLOPs of matrix work by unit, as parts of what the GPU could do in some time: HFU as executed, MFU without what was
   computed a second time, and MFU with no pair of attention masked. */
#ifndef GT_MEASURE_EFFICIENCY_MFU_SUMS_H
#define GT_MEASURE_EFFICIENCY_MFU_SUMS_H

#include "measure/efficiency/work_set.h"

enum gt_flops_kind { GT_FLOPS_EXECUTED, GT_FLOPS_MODEL, GT_FLOPS_DENSE, GT_FLOPS_COUNT };

struct gt_mfu_sums {
    size_t instances;
    gt_big flops[GT_FLOPS_COUNT][GT_PEAK_COUNT + 1]; /* by unit; the last: of a type without one */
};

/* The work of the instance whose first op is at this position, if it is matrix work; else NULL. */
static inline const struct gt_work_kind *gt_mfu_sums_kind(const struct gt_view *view, const struct gt_work_set *set,
                                                          size_t position) {
    const struct gt_work_part *part = &set->parts[view->row[position]];
    return part->is_first_of_product ? gt_work_set_kind(set, &set->instances[part->instance]) : NULL;
}
int64_t gt_mfu_sums_kind_flops(const struct gt_work_kind *kind, enum gt_flops_kind which); /* not known: 0 */

/* Adds it. */
void gt_mfu_sums_add(struct gt_mfu_sums *sums, const struct gt_view *view, const struct gt_work_set *set,
                     size_t position);
void gt_mfu_sums_add_device(struct gt_mfu_sums *sums, const struct gt_view *view, const struct gt_work_set *set,
                            const struct gt_view_device *device);

gt_big gt_mfu_sums_flops(const struct gt_mfu_sums *sums, enum gt_flops_kind kind);
/* Part of the peak in that time; negative: not known. */
double gt_mfu_sums_share(const struct gt_mfu_sums *sums, enum gt_flops_kind kind, const struct gt_gpu_peaks *peaks,
                         int64_t time_ns);
/* The unit with most of the FLOPs; GT_PEAK_NONE: there are none. */
enum gt_peak_unit gt_mfu_sums_unit(const struct gt_mfu_sums *sums);

#endif
