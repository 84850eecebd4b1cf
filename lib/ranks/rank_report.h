/* A job as a section of a report. */
#ifndef GT_RANKS_RANK_REPORT_H
#define GT_RANKS_RANK_REPORT_H

#include "ranks/rank_job.h"
#include "report/report.h"

/* Adds all that is known about a job, also findings unless they are those of a trace; nothing refers to it afterwards.
 */
void gt_rank_report_add(const struct gt_rank_job *job, struct gt_section *section, bool has_findings);

#endif
