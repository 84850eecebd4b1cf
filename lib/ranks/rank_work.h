/* The compute of a rank, kernel by kernel: what two ranks are compared by. */
#ifndef GT_RANKS_RANK_WORK_H
#define GT_RANKS_RANK_WORK_H

#include "events/view.h"
#include "ranks/rank_summary.h"

/* Sums the compute kernels of the view by name, grid and block. step_of: by position in the view, index into the
   summary's steps; GT_RANK_NONE. */
enum gt_status gt_rank_work_sum(const struct gt_view *view, const uint32_t *step_of, struct gt_rank_summary *summary,
                                struct gt_error *err);

#endif
