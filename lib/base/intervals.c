/* Merged lists of intervals: sorted intervals come in, their union and lengths go out. */
#include "base/intervals.h"

#include <assert.h>

#include "base/mem.h"

void gt_intervals_release(struct gt_intervals *list) {
    gt_mem_free(list->items);
    *list = (struct gt_intervals){0};
}

void gt_intervals_clear(struct gt_intervals *list) {
    list->count = 0;
    list->failed = false;
}

static bool grow(struct gt_intervals *list) {
    struct gt_interval *items = gt_mem_room(list->items, list->count, &list->capacity, sizeof(*items));

    if (items)
        list->items = items;
    return items != NULL;
}

void gt_intervals_add(struct gt_intervals *list, int64_t start_ns, int64_t end_ns) {
    struct gt_interval *last = list->count ? &list->items[list->count - 1] : NULL;

    if (end_ns <= start_ns || list->failed)
        return;
    assert(!last || start_ns >= last->start_ns);
    if (last && start_ns <= last->end_ns) {
        if (end_ns > last->end_ns)
            last->end_ns = end_ns;
        return;
    }
    if (list->count == list->capacity && !grow(list)) {
        list->failed = true;
        return;
    }
    list->items[list->count++] = (struct gt_interval){start_ns, end_ns};
}

/* Any int64 times fit: disjoint lengths add up to less than 2^64, and only what an int64 holds is answered. */
static uint64_t length_of(int64_t start_ns, int64_t end_ns) {
    return (uint64_t)end_ns - (uint64_t)start_ns;
}

static int64_t saturate(uint64_t length) {
    return length > INT64_MAX ? INT64_MAX : (int64_t)length;
}

static uint64_t total_length(const struct gt_intervals *list) {
    uint64_t total = 0;

    for (size_t i = 0; i < list->count; i++)
        total += length_of(list->items[i].start_ns, list->items[i].end_ns);
    return total;
}

static uint64_t common_length(const struct gt_intervals *a, const struct gt_intervals *b) {
    uint64_t common = 0;

    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        struct gt_interval x = a->items[i], y = b->items[j];
        int64_t start = x.start_ns > y.start_ns ? x.start_ns : y.start_ns;
        int64_t end = x.end_ns < y.end_ns ? x.end_ns : y.end_ns;
        if (start < end)
            common += length_of(start, end);
        if (x.end_ns <= y.end_ns)
            i++;
        else
            j++;
    }
    return common;
}

int64_t gt_intervals_minus_length(const struct gt_intervals *a, const struct gt_intervals *b) {
    return saturate(total_length(a) - common_length(a, b));
}
