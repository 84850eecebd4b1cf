/* From the store of a trace to summaries of its ranks: one for each process with GPU work. */
#ifndef GT_RANKS_RANK_REDUCE_H
#define GT_RANKS_RANK_REDUCE_H

#include "base/fail.h"
#include "events/labels.h"
#include "ranks/rank_summary.h"

/* What a store must have been read for. */
#define GT_RANK_REDUCE_FACTS                                                                                           \
    (GT_FACT_OPS | GT_FACT_CALLS | GT_FACT_CORRELATION | GT_FACT_RANGES | GT_FACT_CPU_OPS | GT_FACT_COMMS |            \
     GT_FACT_CONFIGS | GT_FACT_COMM_LOGS)

struct gt_rank_reduce_input {
    const struct gt_store *store;
    const struct gt_labels *labels;
    const char *path;     /* of the file */
    struct gt_str name;   /* what to call it */
    uint32_t number;      /* of the input */
    const char *step_tag; /* steps are the ranges whose names begin with it; NULL: as labels have them */
    int64_t threads;
};

/* *out: as many as *count, none where the trace has no GPU ops; of a log of NCCL Inspector one, without ops. To be
   freed with gt_rank_reduce_free. */
enum gt_status gt_rank_reduce(const struct gt_rank_reduce_input *input, struct gt_rank_summary **out, size_t *count,
                              struct gt_error *err);
void gt_rank_reduce_free(struct gt_rank_summary *summaries, size_t count);

#endif
