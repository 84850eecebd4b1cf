/* What every kernel does in its collectives and messages, ready to be matched with other ranks. */
#ifndef GT_RANKS_RANK_ITEMS_H
#define GT_RANKS_RANK_ITEMS_H

#include "ranks/rank_job.h"

/* The groups of a rank's summary as numbers of the job's. */
struct gt_rank_group_map {
    uint32_t *group_of;
};

/* Fills job->items, by rank and kernel. false: memory was short. */
bool gt_rank_items_make(struct gt_rank_job *job, const struct gt_rank_group_map *maps);

/* What a rank says about the sizes of its part. UINT64_MAX, INT64_MIN: not known. */
struct gt_rank_item_sizes {
    uint64_t in_bytes, out_bytes;
    int64_t root;
    const int64_t *in_splits, *out_splits;
    uint32_t in_count, out_count;
};
struct gt_rank_item_sizes gt_rank_items_sizes(const struct gt_rank_job *job, const struct gt_rank_item *item);

/* The place of its first call in what its rank carries; GT_RANK_NONE: no call is the first. */
uint32_t gt_rank_items_carried(const struct gt_rank_job *job, const struct gt_rank_item *item);

/* Once collectives have members, nobody needs them. */
void gt_rank_items_release(struct gt_rank_job *job);

#endif
