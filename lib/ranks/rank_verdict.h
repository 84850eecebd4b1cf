/* The verdict on a job: whether one rank holds the others up, or several in turn, and single steps that stick out. */
#ifndef GT_RANKS_RANK_VERDICT_H
#define GT_RANKS_RANK_VERDICT_H

#include "ranks/rank_job.h"

/* Fills verdict, episodes and leads. false: memory was short. */
bool gt_rank_verdict_find(struct gt_rank_job *job);

/* P(X >= least) of so many trials, each with this chance. */
double gt_rank_verdict_at_least(size_t trials, size_t least, double chance);

const char *gt_rank_verdict_key(enum gt_rank_verdict verdict); /* "pinned" */

#endif
