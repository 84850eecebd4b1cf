/* Sorts on several threads. */
#ifndef GT_BASE_SORT_H
#define GT_BASE_SORT_H

#include <stddef.h>

/* As qsort_r sorts; compare says 0 of no two items that differ, so that the order is the same with any number of
   threads. Where memory is short, one thread sorts. */
void gt_sort(void *items, size_t count, size_t item_bytes, int (*compare)(const void *a, const void *b, void *context),
             void *context, size_t threads);

#endif
