/* Collects matched items into collectives, in any order, and numbers these in the end. */
#ifndef GT_RANKS_RANK_COLLECT_H
#define GT_RANKS_RANK_COLLECT_H

#include "ranks/rank_job.h"

/* A collective before it has its number: its items name it. */
struct gt_rank_collected {
    uint32_t index;
    uint32_t first_item, count; /* the first is that of the lowest rank */
    uint32_t rung;
    uint32_t left_out; /* members that left it out, though their traces cover it */
};

/* Zeroed is empty. */
struct gt_rank_collect {
    struct gt_rank_collected *items;
    size_t count, capacity, member_count;
};

/* A collective, then its items by rank. false: memory was short. */
bool gt_rank_collect_begin(struct gt_rank_collect *collect, uint32_t index, enum gt_rank_rung rung);
void gt_rank_collect_add(struct gt_rank_collect *collect, struct gt_rank_job *job, uint32_t item);

/* Gives them to the job, numbered by their first rank, its time there, and ends; finds steps and sets of members. */
bool gt_rank_collect_finish(struct gt_rank_collect *collect, struct gt_rank_job *job);
void gt_rank_collect_release(struct gt_rank_collect *collect);

#endif
