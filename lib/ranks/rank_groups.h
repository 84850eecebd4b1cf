/* The groups of a job, and what every kernel does in them. */
#ifndef GT_RANKS_RANK_GROUPS_H
#define GT_RANKS_RANK_GROUPS_H

#include "ranks/rank_job.h"

/* Fills job->groups, numbered by name, and job->items, by rank and kernel. false: memory was short. */
bool gt_rank_groups_make(struct gt_rank_job *job);

#endif
