/* Who is to blame for waits: delay analysis over the collectives of a job. */
#ifndef GT_RANKS_RANK_BLAME_H
#define GT_RANKS_RANK_BLAME_H

#include "ranks/rank_job.h"

/* Charges every exposed wait to the ranks and parts that it came from: fills job->charges. Together with what nobody
   is charged for they sum to the exposed wait of all ranks. false: memory was short. */
bool gt_rank_blame_charge(struct gt_rank_job *job);

/* Divides an amount over weights, none negative: whole numbers that sum to it; what is left goes to the largest weight,
   of equal ones the first. Without any weight all goes to the first. */
void gt_rank_blame_divide(int64_t amount, const int64_t *weights, size_t count, int64_t *shares);

#endif
