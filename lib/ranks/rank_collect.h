/* Collects matched items into collectives, in any order, and numbers these in the end. */
#ifndef GT_RANKS_RANK_COLLECT_H
#define GT_RANKS_RANK_COLLECT_H

#include "ranks/rank_job.h"

struct gt_rank_collect {
    size_t collective_capacity, member_capacity;
};

/* A collective, then its items by rank. false: memory was short. */
bool gt_rank_collect_begin(struct gt_rank_collect *collect, struct gt_rank_job *job, uint32_t index,
                           enum gt_rank_rung rung);
bool gt_rank_collect_add(struct gt_rank_collect *collect, struct gt_rank_job *job, uint32_t item);

/* Numbers them by their first rank, its time there, and ends; finds steps and sets of members. */
bool gt_rank_collect_finish(struct gt_rank_collect *collect, struct gt_rank_job *job);

#endif
