/* The verdict on a job in words. */
#ifndef GT_RANKS_RANK_WORDS_H
#define GT_RANKS_RANK_WORDS_H

#include "ranks/rank_job.h"

/* One or two sentences, in the arena. */
struct gt_str gt_rank_words_verdict(const struct gt_rank_job *job, struct gt_arena *arena);

/* Whether the replay is hardly shorter if the rank of the verdict is like the median: its guilt costs little. */
bool gt_rank_words_is_little(const struct gt_rank_job *job);

/* "tp group 3 (ranks 0-3)" */
struct gt_str gt_rank_words_group(const struct gt_rank_set_group *group, struct gt_arena *arena);

/* What a reason is called after "rank 2: "; "" for those that are no guilt. */
const char *gt_rank_words_reason(struct gt_str reason);

/* "1 and 4-7": the ranks of the job that have no trace, and how many they are. */
int64_t gt_rank_words_without_trace(const struct gt_rank_job *job, struct gt_arena *arena, struct gt_str *ranks);

/* A sentence that names them; empty: all have one. */
struct gt_str gt_rank_words_missing(const struct gt_rank_job *job, struct gt_arena *arena);

#endif
