/* Speeds: groups of one kind do the same collectives, so they should take as long. */
#ifndef GT_RANKS_RANK_SPEEDS_H
#define GT_RANKS_RANK_SPEEDS_H

#include "ranks/rank_job.h"

#define GT_RANK_SPEEDS_SLOW 1.33 /* times as long as in other groups of its kind: the group is slow */

/* Fills the groups' busbw, usual_busbw, slow_factor and slow_ns and the collectives' slow_ns, from their transfers.
   false: memory was short. */
bool gt_rank_speeds_compare(struct gt_rank_job *job);

/* Whether it is a sync collective whose bytes and time are known. */
bool gt_rank_speeds_is_known(const struct gt_rank_collective *collective);

/* The slow group that costs most, and how many are slow; NULL: none is, or the replay is hardly shorter without it. */
const struct gt_rank_set_group *gt_rank_speeds_slowest(const struct gt_rank_job *job, size_t *count);

#endif
