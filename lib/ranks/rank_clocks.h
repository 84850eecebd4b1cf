/* Clocks of ranks: offsets from what they did together, and how far they can be trusted. */
#ifndef GT_RANKS_RANK_CLOCKS_H
#define GT_RANKS_RANK_CLOCKS_H

#include "ranks/rank_job.h"

/* Fills the clocks of ranks and what collectives look like on aligned ones. false: memory was short. */
bool gt_rank_clocks_align(struct gt_rank_job *job);

/* A time of a rank on the clock of its tree's first rank. */
int64_t gt_rank_clocks_aligned(const struct gt_rank_job *job, uint32_t rank, int64_t time_ns);

/* How far the clock of a rank is ahead of that of its tree's first rank, at its first op. */
static inline int64_t gt_rank_clocks_offset_ns(const struct gt_rank_job *job, uint32_t rank) {
    int64_t first_ns = job->ranks[rank].summary->head.first_ns;
    return first_ns - gt_rank_clocks_aligned(job, rank, first_ns);
}

/* The largest floor of the members of a collective: what is smaller cannot be said; GT_RANK_NO_NS: their clocks cannot
   be compared. */
int64_t gt_rank_clocks_floor(const struct gt_rank_job *job, const struct gt_rank_collective *collective);

/* By member: how long before the last start it began, at most its length. false: not known, GT_RANK_NO_NS. */
bool gt_rank_clocks_waits(const struct gt_rank_job *job, const struct gt_rank_collective *collective,
                          int64_t *waits_ns);

#endif
