/* Facts, issues and words of a job. */
#ifndef GT_RANKS_RANK_FACTS_H
#define GT_RANKS_RANK_FACTS_H

#include "ranks/rank_job.h"
#include "report/report.h"

/* Adds the verdict in words, the facts and the issues of a job to a section. */
void gt_rank_facts_add(const struct gt_rank_job *job, struct gt_section *section);

#endif
