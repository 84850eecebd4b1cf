/* The verdict on a job in words. */
#ifndef GT_RANKS_RANK_WORDS_H
#define GT_RANKS_RANK_WORDS_H

#include "ranks/rank_job.h"

/* One or two sentences, in the arena. */
struct gt_str gt_rank_words_verdict(const struct gt_rank_job *job, struct gt_arena *arena);

/* "5, 2 and 7", or with reasons "5 (more compute), 2 (launches) and 7 (copies)": those that cost the job most. */
struct gt_str gt_rank_words_culprits(const struct gt_rank_job *job, bool has_reasons, struct gt_arena *arena);

/* "tp group 3 (ranks 0-3)" */
struct gt_str gt_rank_words_group(const struct gt_rank_set_group *group, struct gt_arena *arena);

/* What a reason is called after "rank 2: "; "" for those that are no guilt. */
const char *gt_rank_words_reason(struct gt_str reason);

/* "1 and 4-7": the ranks of the job that have no trace, and how many they are. */
int64_t gt_rank_words_without_trace(const struct gt_rank_job *job, struct gt_arena *arena, struct gt_str *ranks);

/* A sentence that names them; empty: all have one. */
struct gt_str gt_rank_words_missing(const struct gt_rank_job *job, struct gt_arena *arena);

#endif
