/* Columns that are read from one end to the other: processors do not look past the end of a page on their own. */
#ifndef GT_BASE_AHEAD_H
#define GT_BASE_AHEAD_H

#include <stddef.h>

/* So many rows ahead of the one that is worked on a column is fetched into the cache, once for each GT_AHEAD_EACH of
   them: so many share a line of the cache where they are wide. */
enum { GT_AHEAD = 512, GT_AHEAD_EACH = 8 };

/* The row to fetch for this one, of so many. */
static inline size_t gt_ahead_row(size_t row, size_t count) {
    return row + GT_AHEAD < count ? row + GT_AHEAD : row;
}

static inline void gt_ahead_fetch(const void *item) {
    __builtin_prefetch(item);
}

#endif
