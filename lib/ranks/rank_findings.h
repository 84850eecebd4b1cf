/* What is worth doing about a job. */
#ifndef GT_RANKS_RANK_FINDINGS_H
#define GT_RANKS_RANK_FINDINGS_H

#include "ranks/rank_job.h"
#include "report/report.h"

/* Adds the findings of a job to a section that has none yet. why: the id of the only one to keep, with its rule and
   what came of it; NULL: all. An id that no rule has is a usage error that lists those there are. */
enum gt_status gt_rank_findings_add(const struct gt_rank_job *job, struct gt_section *section, const char *why,
                                    struct gt_error *err);

#endif
