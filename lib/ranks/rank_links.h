/* Where the members of a collective last were together before it, and who took longest from there. */
#ifndef GT_RANKS_RANK_LINKS_H
#define GT_RANKS_RANK_LINKS_H

#include "ranks/rank_job.h"

/* Fills `before` and `delayer` of members, and the delayers of collectives. false: memory was short. */
bool gt_rank_links_make(struct gt_rank_job *job);

/* What of a member's wait the delayer explains: how much longer it took from there to here, at most all of it. */
int64_t gt_rank_links_late(const struct gt_rank_job *job, const struct gt_rank_member *n);

/* By member: time since they were together, as who waited longest sees it; GT_RANK_NO_NS: not known. */
void gt_rank_links_own(const struct gt_rank_job *job, const struct gt_rank_collective *c, int64_t *own_ns);

#endif
