/* Plays a schedule several times at once: once for each of a few changes of the ranks. */
#ifndef GT_RANKS_RANK_PLAY_H
#define GT_RANKS_RANK_PLAY_H

#include "ranks/rank_schedule.h"

enum { GT_RANK_PLAY_LANES = 16 }; /* played at once */

/* How a replay differs from what was recorded. */
struct gt_rank_change {
    uint32_t leveled[GT_RANK_CULPRITS_MAX]; /* ranks that are like the others */
    size_t leveled_count;
    bool is_all_leveled;
    bool is_by_need; /* members leave when they have moved their data, not as late as they were recorded */
};

/* From the first begin to the last end, by change. At most GT_RANK_PLAY_LANES of them. false: memory was short. */
bool gt_rank_play(const struct gt_rank_schedule *schedule, const struct gt_rank_change *changes, size_t count,
                  int64_t *took_ns);

#endif
