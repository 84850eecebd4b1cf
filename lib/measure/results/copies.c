/* Looks up what a trace records about copies. */
#include "measure/results/copies.h"

#include <string.h>

/* The copies are in the order of ops. From one place to before another, in growing strides from the first. */
static uint32_t find_between(const struct gt_copies *copies, uint32_t op, size_t low, size_t high, size_t stride) {
    for (; low < high; stride = 2 * stride + 1) {
        size_t middle = low + (high - low) / 2, at = stride < middle - low ? low + stride : middle;
        if (copies->op[at] < op)
            low = at + 1;
        else
            high = at;
    }
    return low < copies->count && copies->op[low] == op ? (uint32_t)low : GT_NO_ROW;
}

uint32_t gt_copy_of_op(const struct gt_store *store, uint32_t op) {
    return find_between(&store->copies, op, 0, store->copies.count, store->copies.count);
}

uint32_t gt_copy_next_of_op(const struct gt_store *store, uint32_t op, uint32_t *next) {
    const struct gt_copies *copies = &store->copies;
    bool is_after = *next < copies->count && copies->op[*next] <= op;
    uint32_t copy = is_after ? find_between(copies, op, *next, copies->count, 0) : gt_copy_of_op(store, op);
    *next = copy == GT_NO_ROW ? *next : copy + 1;
    return copy;
}

bool gt_copy_is_to_host(const struct gt_store *store, uint32_t op) {
    uint32_t copy = gt_copy_of_op(store, op);
    if (copy != GT_NO_ROW && store->copies.dst[copy] != GT_MEMORY_UNKNOWN)
        return gt_copy_memory_is_host(store->copies.dst[copy]) && !gt_copy_memory_is_host(store->copies.src[copy]);
    struct gt_str name = gt_store_string(store, store->ops.name[op]);
    return gt_str_find_nocase(name, GT_STR("DtoH")) || gt_str_find_nocase(name, GT_STR("Device-to-Host"));
}
