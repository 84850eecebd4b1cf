/* Joins lists of collectives in several processes. */
#ifndef GT_JOB_JOIN_H
#define GT_JOB_JOIN_H

#include "gputime.h"
#include "ranks/rank_joins.h"

/* Process 0, when the others wait in gt_job_join_serve. As gt_rank_joins_run. */
bool gt_job_join_lead(const struct gputime_team *team, struct gt_rank_join_pair *pairs, size_t count, int64_t threads);

/* Another process: takes its share, joins it and sends what it found. */
void gt_job_join_serve(const struct gputime_team *team, int64_t threads);

/* Whether there is enough to do for more than one process. */
bool gt_job_join_is_worth(const struct gt_rank_join_pair *pairs, size_t count);

#endif
