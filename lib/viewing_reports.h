/* Routes that analyse: reports, comparisons, jobs, queries. */
#ifndef GT_VIEWING_REPORTS_H
#define GT_VIEWING_REPORTS_H

#include "viewing.h"

#define GT_VIEWING_REPORTS_SELECTION "from_ns,to_ns,device,stream,pid,step,name"

gt_viewing_route gt_viewing_reports_report, gt_viewing_reports_diff, gt_viewing_reports_ranks, gt_viewing_reports_sql;

#endif
