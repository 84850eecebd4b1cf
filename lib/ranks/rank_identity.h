/* Which rank each summary is: numbers, hosts and what is odd about them. */
#ifndef GT_RANKS_RANK_IDENTITY_H
#define GT_RANKS_RANK_IDENTITY_H

#include "ranks/rank_job.h"

/* Fills job->ranks, sorted by number, and world_size. false: memory was short. */
bool gt_rank_identity_assign(struct gt_rank_job *job, struct gt_rank_summary *const *summaries, size_t count);

/* "distributedInfo", "MPI_RANKS", ... */
const char *gt_rank_identity_source(const struct gt_rank_summary *summary);

#endif
