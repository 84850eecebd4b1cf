/* The points of a rank: its time from the first op to the last in parts, summed up to every moment that a job asks
   about. */
#ifndef GT_RANKS_RANK_POINTS_H
#define GT_RANKS_RANK_POINTS_H

#include "measure/results/idle.h"
#include "ranks/rank_summary.h"

/* The summary has its kernels and steps; they get their points. The view has the ops of one device. */
enum gt_status gt_rank_points_make(const struct gt_view *view, const struct gt_idle *idle,
                                   struct gt_rank_summary *summary, struct gt_error *err);

#endif
