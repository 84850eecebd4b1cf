/* What the names of NCCL's kernels say about how they communicate. */
#ifndef GT_LABEL_NCCL_NAME_H
#define GT_LABEL_NCCL_NAME_H

#include "base/str.h"

/* Algorithm and protocol as the settings NCCL_ALGO and NCCL_PROTO spell them; NULL where the name does not say:
   ncclDevKernel_AllReduce_Sum_bf16_RING_LL, ncclKernel_AllReduce_RING_LL_Sum_float, ncclAllReduceRingLLKernel_sum_f32.
   RCCL's generic kernel never does. `name` is the simplified name. */
void gt_nccl_name_read(struct gt_str name, const char **algorithm, const char **protocol);

#endif
