/* Who takes longer than the other ranks itself, and by what. */
#ifndef GT_RANKS_RANK_EXCESS_H
#define GT_RANKS_RANK_EXCESS_H

#include "ranks/rank_job.h"

/* By rank: whether it may be guilty of what it is charged for. false: memory was short. */
bool gt_rank_excess_leaders(const struct gt_rank_job *job, bool *may_lead);

/* Bytes if they are its largest guilt outside its episodes. Else, of the parts that it is charged for, the one that is
   longest in excess of the other ranks: a late host lets kernels run alone that others hide under communication, so
   what is charged may be compute that all ranks have. false: memory was short. */
bool gt_rank_excess_reason(const struct gt_rank_job *job, uint32_t rank, struct gt_str *out);

#endif
