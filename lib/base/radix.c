/* Least significant digit first, 8 bits a pass: unsorted items come in, the same items sorted go out. */
#include "base/radix.h"

#include <string.h>

#include "base/mem.h"

#define DIGITS      8
#define BUCKETS     256
#define SMALL_COUNT 48

static bool is_sorted(const struct gt_radix_item *items, size_t count, uint64_t *lowest, uint64_t *highest) {
    uint64_t low = UINT64_MAX, high = 0, previous = 0;
    bool sorted = true;

    for (size_t i = 0; i < count; i++) {
        uint64_t key = items[i].key;
        sorted &= key >= previous;
        previous = key;
        low = key < low ? key : low;
        high = key > high ? key : high;
    }
    *lowest = low;
    *highest = high;
    return sorted;
}

static void insertion_sort(struct gt_radix_item *items, size_t count) {
    for (size_t i = 1; i < count; i++) {
        struct gt_radix_item item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].key > item.key; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Digits of key - lowest: a range that straddles a power of 256 needs no more passes than its width. */
static void count_digits(const struct gt_radix_item *items, size_t count, uint64_t lowest, unsigned digits,
                         size_t counts[DIGITS][BUCKETS]) {
    memset(counts, 0, digits * sizeof(counts[0]));
    for (size_t i = 0; i < count; i++) {
        uint64_t key = items[i].key - lowest;
        for (unsigned digit = 0; digit < digits; digit++, key >>= 8)
            counts[digit][key & 0xff]++;
    }
}

static void scatter(const struct gt_radix_item *from, struct gt_radix_item *to, size_t count, uint64_t lowest,
                    unsigned shift, size_t *counts) {
    size_t begin = 0;

    for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
        size_t in_bucket = counts[bucket];
        counts[bucket] = begin;
        begin += in_bucket;
    }
    for (size_t i = 0; i < count; i++)
        to[counts[((from[i].key - lowest) >> shift) & 0xff]++] = from[i];
}

bool gt_radix_sort(struct gt_radix_item *items, size_t count) {
    size_t counts[DIGITS][BUCKETS];
    uint64_t lowest, highest;
    unsigned digits = 0;
    struct gt_radix_item *from = items, *to, *spare;

    if (is_sorted(items, count, &lowest, &highest))
        return true;
    if (count <= SMALL_COUNT) {
        insertion_sort(items, count);
        return true;
    }
    spare = to = count <= SIZE_MAX / sizeof(*items) ? gt_mem_alloc(count * sizeof(*items)) : NULL;
    if (!spare)
        return false;
    while (digits < DIGITS && (highest - lowest) >> (8 * digits))
        digits++;
    count_digits(items, count, lowest, digits, counts);
    for (unsigned digit = 0; digit < digits; digit++) {
        struct gt_radix_item *sorted = to;
        if (counts[digit][((items[0].key - lowest) >> (8 * digit)) & 0xff] == count)
            continue;
        scatter(from, to, count, lowest, 8 * digit, counts[digit]);
        to = from;
        from = sorted;
    }
    if (from != items)
        memcpy(items, from, count * sizeof(*items));
    gt_mem_free(spare);
    return true;
}

/* Drops items after the bucket in which the last wanted one is, 11 bits of the keys at a time: what a digit leaves
   over the next one distinguish. Equal keys are dropped from the sorted end alone. */
bool gt_radix_sort_first(struct gt_radix_item *items, size_t count, size_t wanted) {
    enum { SELECT_BITS = 11 };
    uint64_t lowest, highest;
    unsigned bits = 0;

    if (is_sorted(items, count, &lowest, &highest) || wanted == 0)
        return true;
    while (bits < 64 && (highest - lowest) >> bits)
        bits++;
    while (bits > 0 && count / 2 > wanted) {
        size_t in_bucket[1 << SELECT_BITS] = {0}, before = 0, bucket = 0, kept = 0;
        unsigned shift = bits > SELECT_BITS ? bits - SELECT_BITS : 0;
        for (size_t i = 0; i < count; i++) {
            if (items[i].key < lowest)
                before++;
            else
                in_bucket[(items[i].key - lowest) >> shift]++;
        }
        while (before + in_bucket[bucket] < wanted)
            before += in_bucket[bucket++];
        uint64_t bound = ((uint64_t)bucket << shift) + (((uint64_t)1 << shift) - 1); /* above lowest */
        for (size_t i = 0; i < count; i++)
            if (items[i].key < lowest || items[i].key - lowest <= bound)
                items[kept++] = items[i];
        count = kept;
        lowest += (uint64_t)bucket << shift;
        bits = shift;
    }
    return gt_radix_sort(items, count);
}
