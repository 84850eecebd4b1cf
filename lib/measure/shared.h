/* Intermediate results shared by analyses, made once for each view. The view owns it. */
#ifndef GT_MEASURE_SHARED_H
#define GT_MEASURE_SHARED_H

#include "measure/results/account.h"
#include "measure/results/calls.h"
#include "measure/results/idle.h"
#include "measure/results/launch_rates.h"
#include "measure/results/named.h"
#include "measure/results/op_groups.h"
#include "measure/results/phase_set.h"
#include "measure/results/range_groups.h"
#include "measure/results/range_set.h"
#include "measure/results/step_set.h"

/* NULL: it could not be made, err says why. */
const struct gt_idle *gt_shared_idle(const struct gt_view *view, struct gt_error *err);
const struct gt_named_set *gt_shared_kernels(const struct gt_view *view, struct gt_error *err);
const struct gt_range_set *gt_shared_ranges(const struct gt_view *view, struct gt_error *err);
const struct gt_account *gt_shared_accounts(const struct gt_view *view, struct gt_error *err); /* by device */
const struct gt_step_set *gt_shared_steps(const struct gt_view *view, struct gt_error *err);
const struct gt_phase_set *gt_shared_phases(const struct gt_view *view, struct gt_error *err);
const struct gt_launch_rates *gt_shared_rates(const struct gt_view *view, struct gt_error *err);
const uint8_t *gt_shared_launch_marks(const struct gt_view *view, struct gt_error *err);   /* by call */
const uint8_t *gt_shared_blocking_marks(const struct gt_view *view, struct gt_error *err); /* by call */
const struct gt_op_groups *gt_shared_op_groups(const struct gt_view *view, struct gt_error *err);
const struct gt_range_groups *gt_shared_range_groups(const struct gt_view *view, struct gt_error *err);

#endif
