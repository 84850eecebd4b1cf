/* The communication kernels of a rank and what they carry. */
#ifndef GT_RANKS_RANK_CARRIED_H
#define GT_RANKS_RANK_CARRIED_H

#include "events/view.h"
#include "ranks/rank_summary.h"
#include "ranks/rank_windows.h"

/* Adds kernels, collectives, groups and their lists to the summary; failures stick there. */
void gt_rank_carried_take(const struct gt_view *view, const struct gt_rank_windows *windows,
                          struct gt_rank_summary *summary);

#endif
