/* How long each member of a collective waited for the others, and how fast the data moved. */
#ifndef GT_RANKS_RANK_WAITS_H
#define GT_RANKS_RANK_WAITS_H

#include "ranks/rank_job.h"

/* Fills waits and bandwidths of collectives, members and groups, and which member a kernel waits as. Uses only lengths
   of kernels, never two clocks. false: memory was short. */
bool gt_rank_waits_measure(struct gt_rank_job *job);

#endif
