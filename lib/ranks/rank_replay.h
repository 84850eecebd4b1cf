/* What if: plays the job again from the time that ranks spent themselves, and with ranks that are like the others. */
#ifndef GT_RANKS_RANK_REPLAY_H
#define GT_RANKS_RANK_REPLAY_H

#include "ranks/rank_job.h"

/* Fills the replayed lengths of the job and the gains of ranks. false: memory was short. */
bool gt_rank_replay_run(struct gt_rank_job *job);

#endif
