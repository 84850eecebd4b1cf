/* Facts, issues and words of a job. */
#ifndef GT_RANKS_RANK_FACTS_H
#define GT_RANKS_RANK_FACTS_H

#include "ranks/rank_job.h"
#include "report/report.h"

/* Adds to a section: the verdict in words; which ranks are missing; the facts and issues of a job. */
void gt_rank_facts_say(const struct gt_rank_job *job, struct gt_section *section);
void gt_rank_facts_warn(const struct gt_rank_job *job, struct gt_section *section);
void gt_rank_facts_add(const struct gt_rank_job *job, struct gt_section *section);

#endif
