/* Sorts slices at the same time, then merges them two by two. */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"

enum { SLICE_LEAST = 4096 }; /* items: what takes longer to sort than a thread to start */

struct sorting {
    char *from, *to; /* the runs; where merged ones go */
    size_t count, item_bytes;
    int (*compare)(const void *a, const void *b, void *context);
    void *context;
    size_t slices; /* how many there were in the beginning */
    size_t width;  /* so many of them are a run */
};

static char *run_begin(const struct sorting *sorting, char *items, size_t slice) {
    size_t place =
        slice < sorting->slices ? gt_threads_slice_begin(sorting->count, sorting->slices, slice) : sorting->count;
    return items + place * sorting->item_bytes;
}

static void sort_slice(void *context, size_t slice) {
    const struct sorting *sorting = context;
    char *begin = run_begin(sorting, sorting->from, slice), *end = run_begin(sorting, sorting->from, slice + 1);
    qsort_r(begin, (size_t)(end - begin) / sorting->item_bytes, sorting->item_bytes, sorting->compare,
            sorting->context);
}

/* Two runs become one; the last may have none next to it. */
static void merge_runs(void *context, size_t pair) {
    const struct sorting *sorting = context;
    size_t first = 2 * pair * sorting->width, bytes = sorting->item_bytes;
    char *to = run_begin(sorting, sorting->to, first), *left = run_begin(sorting, sorting->from, first);
    char *right = run_begin(sorting, sorting->from, first + sorting->width), *left_end = right;
    char *right_end = run_begin(sorting, sorting->from, first + 2 * sorting->width);
    for (; left < left_end && right < right_end; to += bytes) {
        char **next = sorting->compare(left, right, sorting->context) <= 0 ? &left : &right;
        memcpy(to, *next, bytes);
        *next += bytes;
    }
    memcpy(to, left, (size_t)(left_end - left));
    memcpy(to + (left_end - left), right, (size_t)(right_end - right));
}

static void merge_all(struct sorting *sorting, size_t threads) {
    for (; sorting->width < sorting->slices; sorting->width *= 2) {
        size_t pairs = (sorting->slices + 2 * sorting->width - 1) / (2 * sorting->width);
        char *from = sorting->from;
        gt_threads_parts(threads, pairs, merge_runs, sorting);
        sorting->from = sorting->to;
        sorting->to = from;
    }
}

void gt_sort(void *items, size_t count, size_t item_bytes, int (*compare)(const void *a, const void *b, void *context),
             void *context, size_t threads) {
    struct sorting sorting = {
        .from = items, .count = count, .item_bytes = item_bytes, .compare = compare, .context = context, .width = 1};
    size_t most = count / SLICE_LEAST;
    sorting.slices = threads < most ? threads : most;
    char *room = sorting.slices > 1 ? gt_mem_uninitialised(count, item_bytes) : NULL;
    if (room) {
        sorting.to = room;
        gt_threads_parts(threads, sorting.slices, sort_slice, &sorting);
        merge_all(&sorting, threads);
        if (sorting.from == room)
            memcpy(items, room, count * item_bytes);
    } else if (count > 1) {
        qsort_r(items, count, item_bytes, compare, context);
    }
    gt_mem_free(room);
}
