/* The lengths of the ops of a view, those of a group next to each other: what quantiles of kernels are found in. Many
   reports do without. */
#ifndef GT_MEASURE_RESULTS_OP_LENGTHS_H
#define GT_MEASURE_RESULTS_OP_LENGTHS_H

#include "base/quantile.h"
#include "measure/results/op_groups.h"

struct gt_op_lengths {
    const struct gt_op_groups *groups; /* the view's */
    uint32_t *narrow_ns;               /* in the order of the groups; NULL: some do not fit */
    int64_t *wide_ns;                  /* the same, where some do not */
};

/* Linear. */
enum gt_status gt_op_lengths_init(struct gt_op_lengths *lengths, const struct gt_view *view, struct gt_error *err);
void gt_op_lengths_release(struct gt_op_lengths *lengths);

/* Of groups that follow each other, first to end - 1. */
struct gt_slice gt_op_lengths_of(const struct gt_op_lengths *lengths, size_t first, size_t end);

#endif
