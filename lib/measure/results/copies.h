/* What copies and fills are, beyond other ops: how large, and between which memories. */
#ifndef GT_MEASURE_RESULTS_COPIES_H
#define GT_MEASURE_RESULTS_COPIES_H

#include "events/store.h"

/* Row of copies that belongs to an op; GT_NO_ROW if the trace does not say. Logarithmic. */
uint32_t gt_copy_of_op(const struct gt_store *store, uint32_t op);

/* The same for loops over ops that are mostly in the order of the file, or nearly: where devices take turns, the next
   one of a device is a few rows on. *next: 0 before the first. */
uint32_t gt_copy_next_of_op(const struct gt_store *store, uint32_t op, uint32_t *next);

/* From the GPU to the host, by its memories or, if the trace does not say, by its name. */
bool gt_copy_is_to_host(const struct gt_store *store, uint32_t op);

static inline bool gt_copy_memory_is_host(uint8_t memory) {
    return memory == GT_MEMORY_PAGEABLE || memory == GT_MEMORY_PINNED;
}

#endif
