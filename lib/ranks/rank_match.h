/* Which kernels of different ranks are one collective. */
#ifndef GT_RANKS_RANK_MATCH_H
#define GT_RANKS_RANK_MATCH_H

#include "ranks/rank_job.h"

/* Fills job->collectives, job->members and job->sets. false: memory was short. */
bool gt_rank_match(struct gt_rank_job *job);

#endif
