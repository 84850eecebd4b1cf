/* How much longer ranks take than the others in a usual step. */
#ifndef GT_RANKS_RANK_EXCESS_H
#define GT_RANKS_RANK_EXCESS_H

#include "ranks/rank_job.h"

/* Fills `between_ns` of every rank: its own time between two windows over that of the median rank. Needs tiles. false:
   memory was short. */
bool gt_rank_excess_between(struct gt_rank_job *job);

/* Steps of which a rank has work. */
size_t gt_rank_excess_steps(const struct gt_rank_job *job, uint32_t rank);

/* The median over steps of what a rank has of a part over the median rank. scratch: as many as there are ranks and
   steps together. */
int64_t gt_rank_excess_of(const struct gt_rank_job *job, uint32_t rank, enum gt_rank_part part, int64_t *scratch);

#endif
