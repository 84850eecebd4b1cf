/* All_to_alls: how much each rank had to move, and who sends how much to whom. */
#ifndef GT_RANKS_ALL_TO_ALL_H
#define GT_RANKS_ALL_TO_ALL_H

#include "ranks/rank_job.h"

/* Fills loads of members, imbalances, flows between ranks and the rank that receives most. false: memory was short. */
bool gt_all_to_all_measure(struct gt_rank_job *job);

/* Bytes that a member puts in and gets out in all; UINT64_MAX: not known. */
uint64_t gt_all_to_all_in(const struct gt_rank_job *job, const struct gt_rank_item *item);
uint64_t gt_all_to_all_out(const struct gt_rank_job *job, const struct gt_rank_item *item);

#endif
