/* The ids that say which kernels and CPU operators are of one collective. */
#ifndef GT_LABEL_COMM_EXTERNALS_H
#define GT_LABEL_COMM_EXTERNALS_H

#include "events/labels.h"

/* By record of store->comms: its id; of a kernel that has none that of its operator, around its launch call or else
   with the same group and number; UINT64_MAX: not known. only_process: of all operators, GT_NO_TRACK if they are of
   several. NULL: memory was short. Free with gt_mem_free. */
uint64_t *gt_comm_externals_new(const struct gt_store *store, const struct gt_labels *labels, uint32_t only_process);

#endif
