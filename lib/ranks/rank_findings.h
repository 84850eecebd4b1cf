/* What is worth doing about a job. */
#ifndef GT_RANKS_RANK_FINDINGS_H
#define GT_RANKS_RANK_FINDINGS_H

#include "ranks/rank_job.h"
#include "report/report.h"

/* Adds the findings of a job to a section that has none yet. */
void gt_rank_findings_add(const struct gt_rank_job *job, struct gt_section *section);

#endif
