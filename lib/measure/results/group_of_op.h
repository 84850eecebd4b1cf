/* Which group of ranks an op communicates in. */
#ifndef GT_MEASURE_RESULTS_GROUP_OF_OP_H
#define GT_MEASURE_RESULTS_GROUP_OF_OP_H

#include "base/arena.h"
#include "events/view.h"

/* The group of the collectives that the op at a position carries, index into labels->comms.groups; GT_NO_ROW: the trace
   does not say, or they are of several groups. */
uint32_t gt_group_of_op(const struct gt_view *view, size_t position);

/* "tp (group 3)"; a group without a description "group 3", of NCCL "communicator 0x...". */
struct gt_str gt_group_of_op_words(const struct gt_view *view, uint32_t group, struct gt_arena *arena);

#endif
