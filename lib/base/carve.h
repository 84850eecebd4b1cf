/* Columns that lie in one block: they share pages across their ends, and so get huge ones all through. */
#ifndef GT_BASE_CARVE_H
#define GT_BASE_CARVE_H

#include <stddef.h>

/* A column of so many elements, after those taken of the block before; the widest elements go first. *taken_bytes is 0
   before the first. */
void *gt_carve_column(void *block, size_t *taken_bytes, size_t count, size_t elem_bytes);

#endif
