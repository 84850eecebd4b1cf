/* Joins many pairs of lists, on threads or in several processes. */
#ifndef GT_RANKS_RANK_JOINS_H
#define GT_RANKS_RANK_JOINS_H

#include "ranks/rank_job.h"
#include "ranks/rank_join.h"

struct gt_rank_join_pair {
    struct gt_rank_join_list a, b; /* pairs with the same a follow each other */
    bool are_messages, is_guessed;
    uint32_t *partner; /* by place in b */
};

/* By this process and the others where options have any. false: memory was short. */
bool gt_rank_joins_run(struct gt_rank_join_pair *pairs, size_t count, const struct gt_rank_job_options *options);

/* By this process alone. */
bool gt_rank_joins_run_here(struct gt_rank_join_pair *pairs, size_t count, int64_t threads);

#endif
