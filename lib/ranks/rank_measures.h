/* A job in amounts: what comparisons of jobs and limits on them read. */
#ifndef GT_RANKS_RANK_MEASURES_H
#define GT_RANKS_RANK_MEASURES_H

#include "ranks/rank_job.h"
#include "report/report.h"

/* Adds the tables job_measures and job_parts. */
void gt_rank_measures_add(const struct gt_rank_job *job, struct gt_section *section);

/* What the tables of a job mean. */
extern const struct gt_roles gt_rank_measures_roles;

#endif
