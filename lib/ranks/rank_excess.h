/* Who takes longer than the other ranks itself, and by what. */
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

/* By rank: whether it may be guilty of what it is charged for. false: memory was short. */
bool gt_rank_excess_leaders(const struct gt_rank_job *job, bool *may_lead);

/* Bytes if they are its largest guilt outside its episodes. Else, of the parts that it is charged for, the one that is
   longest in excess of the other ranks: a late host lets kernels run alone that others hide under communication, so
   what is charged may be compute that all ranks have. false: memory was short. */
bool gt_rank_excess_reason(const struct gt_rank_job *job, uint32_t rank, struct gt_str *out);

#endif
