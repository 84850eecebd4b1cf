/* Stable sort of row numbers by 64-bit keys: linear radix passes over only the bytes that differ, none if sorted. */
#ifndef GT_BASE_RADIX_H
#define GT_BASE_RADIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_radix_item {
    uint64_t key;
    uint32_t value;
};

/* Ascending by key, equal keys keep their order. false: memory was short, items are unchanged. */
bool gt_radix_sort(struct gt_radix_item *items, size_t count);

/* The same of the first `wanted` of them alone; those after are not kept. Cheaper than sorting all. */
bool gt_radix_sort_first(struct gt_radix_item *items, size_t count, size_t wanted);

/* Signed times as keys that sort the same. */
static inline uint64_t gt_radix_key(int64_t value) {
    return (uint64_t)value ^ ((uint64_t)1 << 63);
}

#endif
