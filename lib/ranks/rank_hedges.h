/* What a verdict cannot say, and why. */
#ifndef GT_RANKS_RANK_HEDGES_H
#define GT_RANKS_RANK_HEDGES_H

#include "ranks/rank_job.h"

/* That nobody in particular holds the others up: part of a sentence, without a full stop. */
struct gt_str gt_rank_hedges_nobody(const struct gt_rank_job *job, struct gt_arena *arena);

/* Sentences, each after a blank, on waits outside the steps, traces that end early and collectives that could not be
   matched. Empty: none. */
struct gt_str gt_rank_hedges_say(const struct gt_rank_job *job, struct gt_arena *arena);

#endif
