/* Pipeline bubbles: what stages of a pipeline waited for messages in each step. */
#ifndef GT_RANKS_RANK_BUBBLES_H
#define GT_RANKS_RANK_BUBBLES_H

#include "ranks/rank_job.h"

/* Fills job->bubbles, by step and rank. false: memory was short. */
bool gt_rank_bubbles_measure(struct gt_rank_job *job);

#endif
