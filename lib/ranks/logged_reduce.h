/* From the store of a log of NCCL Inspector to a summary, which has lanes and logs alone. */
#ifndef GT_RANKS_LOGGED_REDUCE_H
#define GT_RANKS_LOGGED_REDUCE_H

#include "events/store.h"
#include "ranks/rank_summary.h"

/* Memory failures stick in the summary. */
void gt_logged_reduce(const struct gt_store *store, struct gt_rank_summary *summary);

#endif
