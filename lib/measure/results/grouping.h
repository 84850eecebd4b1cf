/* Sums by key: a list of elements, one for each pair of numbers that came up, in the order in which they did. */
#ifndef GT_MEASURE_RESULTS_GROUPING_H
#define GT_MEASURE_RESULTS_GROUPING_H

#include "base/map.h"

struct gt_grouping {
    size_t elem_bytes; /* set before the first use, the rest zeroed */
    struct gt_map index_of;
    char *list;
    size_t count, capacity;
};

/* The element of a key, zeroed when it is new; borrowed until the next new one. NULL: memory is short. */
void *gt_grouping_find(struct gt_grouping *grouping, uint64_t key_hi, uint64_t key_lo, bool *is_new);
void gt_grouping_release(struct gt_grouping *grouping);

#endif
