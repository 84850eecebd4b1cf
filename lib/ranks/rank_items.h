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

/* Once collectives have members, nobody needs them. */
void gt_rank_items_release(struct gt_rank_job *job);

#endif
