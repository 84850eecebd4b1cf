/* Looks up what a trace records about copies. */
#include "measure/results/copies.h"

#include <string.h>

/* The copies are in the order of ops. */
uint32_t gt_copy_of_op(const struct gt_store *store, uint32_t op) {
    const struct gt_copies *copies = &store->copies;
    size_t low = 0, high = copies->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (copies->op[middle] < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low < copies->count && copies->op[low] == op ? (uint32_t)low : GT_NO_ROW;
}

bool gt_copy_is_to_host(const struct gt_store *store, uint32_t op) {
    uint32_t copy = gt_copy_of_op(store, op);
    if (copy != GT_NO_ROW && store->copies.dst[copy] != GT_MEMORY_UNKNOWN)
        return gt_copy_memory_is_host(store->copies.dst[copy]) && !gt_copy_memory_is_host(store->copies.src[copy]);
    struct gt_str name = gt_store_string(store, store->ops.name[op]);
    return gt_str_find_nocase(name, GT_STR("DtoH")) || gt_str_find_nocase(name, GT_STR("Device-to-Host"));
}
