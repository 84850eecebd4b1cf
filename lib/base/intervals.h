/* Algebra of half-open time intervals: lists sorted by start, disjoint and non-touching once merged. */
#ifndef GT_BASE_INTERVALS_H
#define GT_BASE_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_interval {
    int64_t start_ns, end_ns; /* [start, end), start <= end */
};

/* A growing list. Zero-initialise; failed sticks when memory is short. */
struct gt_intervals {
    struct gt_interval *items;
    size_t count, capacity;
    bool failed;
};

void gt_intervals_release(struct gt_intervals *list);
void gt_intervals_clear(struct gt_intervals *list);

/* Appends to a merged list: start must not be below the start of the last one added. Empty intervals add nothing,
   overlapping and touching ones are joined to the last. Amortised O(1): the union of sorted input is n calls of this.
 */
void gt_intervals_add(struct gt_intervals *list, int64_t start_ns, int64_t end_ns);

/* |a minus b| of two merged lists, in one linear pass without a result list. */
int64_t gt_intervals_minus_length(const struct gt_intervals *a, const struct gt_intervals *b);

#endif
