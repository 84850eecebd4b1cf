/* Columns one after the other: a block comes in, the place of each goes out. */
#include "base/carve.h"

void *gt_carve_column(void *block, size_t *taken_bytes, size_t count, size_t elem_bytes) {
    char *column = (char *)block + *taken_bytes;

    *taken_bytes += count * elem_bytes;
    return column;
}
