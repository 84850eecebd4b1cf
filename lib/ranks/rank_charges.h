/* The tables blame and wait_causes: who is charged for how much waiting, and why. */
#ifndef GT_RANKS_RANK_CHARGES_H
#define GT_RANKS_RANK_CHARGES_H

#include "ranks/rank_job.h"
#include "report/report.h"

void gt_rank_charges_add(const struct gt_rank_job *job, struct gt_section *section);

/* All charges for a reason; rank GT_RANK_NONE: nobody's. */
int64_t gt_rank_charges_sum(const struct gt_rank_job *job, uint32_t rank, size_t reason);

#endif
