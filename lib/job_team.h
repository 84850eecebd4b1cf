/* Reads the captures of a job in several processes. */
#ifndef GT_JOB_TEAM_H
#define GT_JOB_TEAM_H

#include "job_read.h"

/* gt_job_read for all inputs: own is not used. Process 0 of the team calls it. */
enum gt_status gt_job_team_read(const struct gputime_team *team, const struct gt_job_reading *reading, size_t count,
                                struct gt_error *err);

/* For gt_rank_job_options.join: the context is the team. */
struct gt_rank_join_pair;
bool gt_job_team_join(void *context, struct gt_rank_join_pair *pairs, size_t count, int64_t threads);

#endif
