/* Sums by key: pairs of numbers come in, elements of a list go out. */
#include "measure/results/grouping.h"

#include <string.h>

#include "base/mem.h"

void *gt_grouping_find(struct gt_grouping *grouping, uint64_t key_hi, uint64_t key_lo, bool *is_new) {
    uint32_t index = gt_map_put_if_new(&grouping->index_of, key_hi, key_lo, (uint32_t)grouping->count);
    if (grouping->index_of.failed)
        return NULL;
    *is_new = index == grouping->count;
    if (!*is_new)
        return grouping->list + index * grouping->elem_bytes;
    char *list = gt_mem_room(grouping->list, grouping->count, &grouping->capacity, grouping->elem_bytes);
    if (!list)
        return NULL;
    grouping->list = list;
    grouping->count++;
    return memset(list + index * grouping->elem_bytes, 0, grouping->elem_bytes);
}

void gt_grouping_release(struct gt_grouping *grouping) {
    gt_map_release(&grouping->index_of);
    gt_mem_free(grouping->list);
}
