/* Sorts rows of spans: a list of rows and the columns of their times come in, the list goes out in order. */
#include "base/spans.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/radix.h"
#include "base/threads.h"

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

/* ---- on several threads ---- */

/* Rows are dealt to buckets by their start, which keeps their order, and each bucket is sorted by itself. */
enum { BUCKETS = 1024 };

struct dealing {
    uint32_t *rows, *dealt;
    const struct columns *columns;
    size_t slices, count;
    int64_t *first_ns, *last_ns;  /* by slice: least and greatest start */
    unsigned shift;               /* from the distance to the least start to a bucket */
    size_t (*places)[BUCKETS];    /* by slice: where the next row of a bucket goes */
    size_t first_in[BUCKETS + 1]; /* places of buckets */
    atomic_bool has_failed;
};

static size_t bucket_of(const struct dealing *it, uint32_t row) {
    return (size_t)(((uint64_t)it->columns->start_ns[row] - (uint64_t)it->first_ns[0]) >> it->shift);
}

static void find_bounds(void *context, size_t slice, size_t begin, size_t end) {
    struct dealing *it = context;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (size_t i = begin; i < end; i++) {
        int64_t start_ns = it->columns->start_ns[it->rows[i]];
        first_ns = start_ns < first_ns ? start_ns : first_ns;
        last_ns = start_ns > last_ns ? start_ns : last_ns;
    }
    it->first_ns[slice] = first_ns;
    it->last_ns[slice] = last_ns;
}

static void count_buckets(void *context, size_t slice, size_t begin, size_t end) {
    struct dealing *it = context;
    for (size_t i = begin; i < end; i++)
        it->places[slice][bucket_of(it, it->rows[i])]++;
}

static void deal_rows(void *context, size_t slice, size_t begin, size_t end) {
    struct dealing *it = context;
    for (size_t i = begin; i < end; i++)
        it->dealt[it->places[slice][bucket_of(it, it->rows[i])]++] = it->rows[i];
}

static void sort_bucket(void *context, size_t bucket) {
    struct dealing *it = context;
    size_t first = it->first_in[bucket], count = it->first_in[bucket + 1] - first;
    if (!gt_spans_sort_by(it->dealt + first, count, span_of_columns, it->columns))
        it->has_failed = true;
    memcpy(it->rows + first, it->dealt + first, count * sizeof *it->rows);
}

/* The least start goes to the first slice's place. */
static void choose_shift(struct dealing *it) {
    for (size_t slice = 1; slice < it->slices; slice++) {
        it->first_ns[0] = it->first_ns[slice] < it->first_ns[0] ? it->first_ns[slice] : it->first_ns[0];
        it->last_ns[0] = it->last_ns[slice] > it->last_ns[0] ? it->last_ns[slice] : it->last_ns[0];
    }
    while (((uint64_t)it->last_ns[0] - (uint64_t)it->first_ns[0]) >> it->shift >= BUCKETS)
        it->shift++;
}

static void place_buckets(struct dealing *it) {
    size_t place = 0;
    for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
        it->first_in[bucket] = place;
        for (size_t slice = 0; slice < it->slices; slice++) {
            size_t here = it->places[slice][bucket];
            it->places[slice][bucket] = place;
            place += here;
        }
    }
    it->first_in[BUCKETS] = place;
}

static bool sort_buckets(struct dealing *it) {
    it->dealt = gt_mem_uninitialised(it->count, sizeof *it->dealt);
    it->first_ns = gt_mem_array(it->slices, sizeof *it->first_ns);
    it->last_ns = gt_mem_array(it->slices, sizeof *it->last_ns);
    it->places = gt_mem_array(it->slices, sizeof *it->places);
    bool is_good = it->dealt && it->first_ns && it->last_ns && it->places;
    if (is_good) {
        gt_threads_rows(it->slices, it->count, find_bounds, it);
        choose_shift(it);
        gt_threads_rows(it->slices, it->count, count_buckets, it);
        place_buckets(it);
        gt_threads_rows(it->slices, it->count, deal_rows, it);
        gt_threads_parts(it->slices, BUCKETS, sort_bucket, it);
    }
    gt_mem_free(it->places);
    gt_mem_free(it->last_ns);
    gt_mem_free(it->first_ns);
    gt_mem_free(it->dealt);
    return is_good && !it->has_failed;
}

/* ---- in the way that is quickest ---- */

bool gt_spans_sort_on(uint32_t *rows, size_t count, const int64_t *start_ns, const int64_t *end_ns, size_t threads) {
    const struct columns columns = {start_ns, end_ns};
    size_t begins[MOST_RUNS + 1], runs = find_runs(rows, count, start_ns, end_ns, begins);

    if (runs <= MOST_RUNS)
        return runs == 1 || merge_runs(rows, begins, runs, start_ns, end_ns);
    if (insert_rows(rows, count, start_ns, end_ns))
        return true;
    struct dealing dealing = {.rows = rows, .columns = &columns, .count = count};
    dealing.slices = gt_threads_slices(threads, count, BUCKETS);
    return dealing.slices > 1 ? sort_buckets(&dealing) : gt_spans_sort_by(rows, count, span_of_columns, &columns);
}

bool gt_spans_sort(uint32_t *rows, size_t count, const int64_t *start_ns, const int64_t *end_ns) {
    return gt_spans_sort_on(rows, count, start_ns, end_ns, 1);
}
