/* Which ranks a job would be shorter without, one after the other, and how much of that can be known. */
#ifndef GT_RANKS_RANK_COSTS_H
#define GT_RANKS_RANK_COSTS_H

#include "ranks/rank_schedule.h"

/* Counts kernels that say nothing about their collective, and makes the rank of the verdict the first culprit. false:
   memory was short. */
bool gt_rank_costs_begin(struct gt_rank_job *job);

/* Finds the other culprits, and what each adds to the gain: one rank often hides another. false: memory was short. */
bool gt_rank_costs_replay(struct gt_rank_job *job, const struct gt_rank_schedule *schedule);

/* Of all culprits together; GT_RANK_NO_NS: not known. */
int64_t gt_rank_costs_gain(const struct gt_rank_job *job);

/* Whether so much is said by kernels of which nobody knows the collective that gains are lower bounds. */
bool gt_rank_costs_are_least(const struct gt_rank_job *job);

/* Whether the gain of all culprits is worth a finding. */
bool gt_rank_costs_are_much(const struct gt_rank_job *job);

/* Whether it is known that they cost less than that. */
bool gt_rank_costs_are_little(const struct gt_rank_job *job);

bool gt_rank_costs_is_culprit(const struct gt_rank_job *job, uint32_t rank);

/* Whether a rank is late between two steps rather than in them: replays leave that as it is. */
bool gt_rank_costs_is_between(const struct gt_rank_job *job, uint32_t rank);

#endif
