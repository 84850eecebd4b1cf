/* The calls of NCCL that a trace has ranges of, and which of them launch their collectives together. */
#ifndef GT_LABEL_NCCL_CALLS_H
#define GT_LABEL_NCCL_CALLS_H

#include "events/comms.h"

/* Kernels are launched in calls that communicate and in those that end a group. */
enum gt_nccl_call_kind { GT_NCCL_COMMUNICATES, GT_NCCL_STARTS_GROUP, GT_NCCL_ENDS_GROUP };

struct gt_nccl_call {
    uint32_t range;
    uint32_t record; /* of one that communicates: its row of comms; else GT_NO_ROW */
    uint32_t launch; /* of its collectives, or of the group that it ends; GT_NO_ROW: none */
    uint8_t kind;    /* enum gt_nccl_call_kind */
    bool has_kernel; /* set by the caller: kernels were launched in it */
};

/* Whether a range lies on one thread from its start to its end. Others have no launches in them. */
bool gt_nccl_calls_is_on_thread(const struct gt_store *store, uint32_t range);

/* The calls on threads, by thread and start. To be freed with gt_mem_free; NULL: memory was short. */
struct gt_nccl_call *gt_nccl_calls_new(const struct gt_store *store, size_t *count);

/* Numbers their launches from *launch_count on: each call that communicates has its own, those of one group share
   theirs. Numbers never fall from one such call to the next. */
void gt_nccl_calls_number(const struct gt_store *store, struct gt_nccl_call *calls, size_t count,
                          uint32_t *launch_count);

#endif
