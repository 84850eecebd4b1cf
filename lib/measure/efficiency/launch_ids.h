/* Numbers for launches that are alike: the same kernel with the same grid, block, registers and shared memory. */
#ifndef GT_MEASURE_EFFICIENCY_LAUNCH_IDS_H
#define GT_MEASURE_EFFICIENCY_LAUNCH_IDS_H

#include "events/store.h"

struct gt_launch_ids {
    uint32_t *of_op;  /* by row of ops: number of its launch; GT_NO_ROW: its configuration is not known */
    uint32_t *config; /* by number: a row of kernel_configs */
    size_t count, capacity;
};

/* false: memory was short. Linear. */
bool gt_launch_ids_init(struct gt_launch_ids *ids, const struct gt_store *store);
void gt_launch_ids_release(struct gt_launch_ids *ids);

#endif
