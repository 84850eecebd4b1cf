/* Sorts rows of spans: a list of rows and the columns of their times come in, the list goes out in order. */
#include "base/spans.h"

#include <string.h>

#include "base/mem.h"
#include "base/radix.h"

/* So many runs in order are merged: an activity of each kind has its own table in a file, in order of time. */
#define MOST_RUNS 8

/* Rows that may be passed for each that is sorted, before radix passes are cheaper. */
#define MOVES_PER_ROW 4

/* Inserts each row after those that do not come after it. false: they are in too much disorder; equal ones still have
   their order. */
static bool insert_rows(uint32_t *rows, size_t count, const int64_t *start_ns, const int64_t *end_ns) {
    size_t moves_left = MOVES_PER_ROW * count;

    for (size_t i = 1; i < count; i++) {
        uint32_t row = rows[i];
        int64_t row_start_ns = start_ns[row], row_end_ns = end_ns[row];
        size_t at = i;
        for (; at > 0; at--) {
            uint32_t before = rows[at - 1];
            if (start_ns[before] < row_start_ns || (start_ns[before] == row_start_ns && end_ns[before] >= row_end_ns) ||
                moves_left == 0)
                break;
            rows[at] = before;
            moves_left--;
        }
        rows[at] = row;
        if (moves_left == 0)
            return false;
    }
    return true;
}

static bool comes_after(uint32_t row, uint32_t other, const int64_t *start_ns, const int64_t *end_ns) {
    return start_ns[row] > start_ns[other] || (start_ns[row] == start_ns[other] && end_ns[row] < end_ns[other]);
}

/* Where runs of rows in order begin, and after them the count; how many there are, at most one above MOST_RUNS. */
static size_t find_runs(const uint32_t *rows, size_t count, const int64_t *start_ns, const int64_t *end_ns,
                        size_t begins[MOST_RUNS + 1]) {
    size_t runs = 1;
    int64_t before_ns = count ? start_ns[rows[0]] : 0;

    begins[0] = 0;
    for (size_t i = 1; i < count; i++) {
        int64_t now_ns = start_ns[rows[i]];
        bool is_later = now_ns > before_ns; /* nearly always: ends need not be looked at */
        before_ns = now_ns;
        if (is_later || !comes_after(rows[i - 1], rows[i], start_ns, end_ns))
            continue;
        if (runs == MOST_RUNS)
            return MOST_RUNS + 1;
        begins[runs++] = i;
    }
    begins[runs] = count;
    return runs;
}

/* Merges the second part of the rows into the first, from the end on; `room` has space for the second. Mostly it is far
   shorter, so that many of the first move at once. */
static void merge_two(uint32_t *rows, size_t first, size_t count, const int64_t *start_ns, const int64_t *end_ns,
                      uint32_t *room) {
    size_t left = first;

    memcpy(room, rows + first, (count - first) * sizeof *room);
    for (size_t right = count - first; right-- > 0;) {
        int64_t row_ns = start_ns[room[right]];
        size_t end = left;
        while (left > 0 &&
               (start_ns[rows[left - 1]] > row_ns || comes_after(rows[left - 1], room[right], start_ns, end_ns)))
            left--;
        memmove(rows + left + right + 1, rows + left, (end - left) * sizeof *rows);
        rows[left + right] = room[right];
    }
}

/* Neighbours first, so that each row is moved a few times only. */
static bool merge_runs(uint32_t *rows, size_t *begins, size_t runs, const int64_t *start_ns, const int64_t *end_ns) {
    uint32_t *room = gt_mem_uninitialised(begins[runs], sizeof *room);

    if (!room)
        return false;
    while (runs > 1) {
        size_t merged = 0;
        for (size_t i = 0; i < runs; i += 2) {
            size_t end = i + 2 <= runs ? begins[i + 2] : begins[i + 1];
            if (i + 1 < runs)
                merge_two(rows + begins[i], begins[i + 1] - begins[i], end - begins[i], start_ns, end_ns, room);
            begins[merged++] = begins[i];
        }
        begins[merged] = begins[runs];
        runs = merged;
    }
    gt_mem_free(room);
    return true;
}

/* One stable sort for each key, the last key first. */
bool gt_spans_sort_by(uint32_t *rows, size_t count, gt_span_fn *span_of, const void *context) {
    struct gt_radix_item *items = gt_mem_uninitialised(count, sizeof(*items));
    bool sorted;

    if (!items)
        return false;
    for (size_t i = 0; i < count; i++)
        items[i] = (struct gt_radix_item){~gt_radix_key(span_of(context, rows[i]).end_ns), rows[i]};
    sorted = gt_radix_sort(items, count);
    for (size_t i = 0; i < count; i++)
        items[i].key = gt_radix_key(span_of(context, items[i].value).start_ns);
    sorted = sorted && gt_radix_sort(items, count);
    for (size_t i = 0; i < count && sorted; i++)
        rows[i] = items[i].value;
    gt_mem_free(items);
    return sorted;
}

struct columns {
    const int64_t *start_ns, *end_ns;
};

static struct gt_interval span_of_columns(const void *context, uint32_t row) {
    const struct columns *columns = context;
    return (struct gt_interval){columns->start_ns[row], columns->end_ns[row]};
}

bool gt_spans_sort(uint32_t *rows, size_t count, const int64_t *start_ns, const int64_t *end_ns) {
    const struct columns columns = {start_ns, end_ns};
    size_t begins[MOST_RUNS + 1], runs = find_runs(rows, count, start_ns, end_ns, begins);

    if (runs <= MOST_RUNS)
        return runs == 1 || merge_runs(rows, begins, runs, start_ns, end_ns);
    return insert_rows(rows, count, start_ns, end_ns) || gt_spans_sort_by(rows, count, span_of_columns, &columns);
}
