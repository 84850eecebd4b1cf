/* Why a rank computes longer than another: slower kernels, or more of them. */
#ifndef GT_RANKS_RANK_REASONS_H
#define GT_RANKS_RANK_REASONS_H

#include "ranks/rank_job.h"

/* Compares each rank with the one of median compute among the others: fills job->computes. false: memory was short. */
bool gt_rank_reasons_find(struct gt_rank_job *job);

/* A charge for compute in two: slower and more. false: neither; all of it is plain compute. */
bool gt_rank_reasons_divide(const struct gt_rank_compute *compute, int64_t charged_ns, int64_t *slower_ns,
                            int64_t *more_ns);

/* The name of a charge: of compute the larger of its two. */
struct gt_str gt_rank_reasons_name(const struct gt_rank_job *job, uint32_t rank, size_t reason, int64_t charged_ns);

/* The same, but of compute the larger of the two in a usual step: without episodes, and though traces begin and end
   apart. */
struct gt_str gt_rank_reasons_usual_name(const struct gt_rank_job *job, uint32_t rank, size_t reason,
                                         int64_t charged_ns);

/* Compute of a rank in all. */
int64_t gt_rank_reasons_compute_ns(const struct gt_rank_summary *summary);

#endif
