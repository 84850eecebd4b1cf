/* Where the members of a collective last were together before it, and who took longest from there. */
#ifndef GT_RANKS_RANK_LINKS_H
#define GT_RANKS_RANK_LINKS_H

#include "ranks/rank_job.h"

/* Fills `before`, `delayer` and `late_ns` of members, `own_ns`, and the delayers of collectives. false: memory was
   short. */
bool gt_rank_links_make(struct gt_rank_job *job);

#endif
