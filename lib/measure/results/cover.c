/* Lists the intervals that reach further than all before them, in slices of the longer table. What a slice needs to
   know of those before it is how far they reach, which is found first: nothing depends on how many slices there are. */
#include "measure/results/cover.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/spans.h"
#include "base/threads.h"

enum { SUMMED = 64 }; /* rows between two sums */

/* How far the intervals of a thread have come. */
struct reach {
    int64_t end_ns, start_ns; /* of the one that reaches furthest, of several the first; end INT64_MIN: none came */
    int64_t latest_ns;        /* start of the latest of the longer table; INT64_MIN: none came */
    size_t next, last;        /* of the shorter table: the next, and the end of those that come before the next slice */
    size_t near;              /* of spans that come one by one: none before ends after that has begun */
    int64_t until_ns;         /* while listing: what ends by then changes nothing, unless it starts before start_ns */
    size_t count;             /* of what the slice lists */
};

struct listing {
    struct gt_cover *cover;
    struct gt_cover_table tables[2];
    const struct gt_cover_spans *spans;
    size_t longer;   /* which table comes in slices; the other one joins */
    uint32_t *order; /* of the rows of the longer one; NULL: they are in order */
    size_t row_count;
    size_t slice_count, threads;
    struct reach *reach;   /* by slice and thread: before the slice; after it is listed, how it ended */
    uint32_t *joining;     /* rows of the shorter one, thread by thread by start */
    size_t *first_joining; /* by thread, and one more */
    uint32_t *listed;      /* rows as slices list them, those of the second table from the count of the first on */
    size_t *places;        /* by slice: where it begins to list; one more than there are slices */
    atomic_bool is_unordered, starts_together;
};

/* Where few names count, that is all that is looked up of most rows. */
static inline bool has_name_that_counts(const struct gt_cover_table *table, size_t row) {
    return !table->counts || table->counts[table->name[row]];
}

static inline bool counts(const struct listing *it, const struct gt_cover_table *table, size_t row) {
    return table->end_ns[row] > table->start_ns[row] && table->thread[row] < it->cover->thread_count &&
           it->spans->threads[table->thread[row]].first < it->spans->threads[table->thread[row]].end &&
           (!table->is_counted || table->is_counted[row]) && has_name_that_counts(table, row);
}

static const struct gt_cover_table *longer_table(const struct listing *it) {
    return &it->tables[it->longer];
}

static const struct gt_cover_table *shorter_table(const struct listing *it) {
    return &it->tables[!it->longer];
}

static struct reach *reach_of(const struct listing *it, size_t slice) {
    return it->reach + slice * it->cover->thread_count;
}

static inline size_t row_at(const struct listing *it, size_t index) {
    return it->order ? it->order[index] : index;
}

/* ---- the shorter table ---- */

static bool list_joining(struct listing *it) {
    const struct gt_cover_table *table = shorter_table(it);
    size_t threads = it->cover->thread_count;
    it->joining = gt_mem_uninitialised(table->count, sizeof *it->joining);
    it->first_joining = gt_mem_array(threads + 2, sizeof *it->first_joining);
    if (!it->joining || !it->first_joining)
        return false;
    size_t *first = it->first_joining + 1; /* where a thread's own end, too, once they are listed */
    for (size_t row = 0; row < table->count; row++)
        if (counts(it, table, row))
            first[table->thread[row] + 1]++;
    for (size_t thread = 0; thread < threads; thread++)
        first[thread + 1] += first[thread];
    for (uint32_t row = 0; row < table->count; row++)
        if (counts(it, table, row))
            it->joining[first[table->thread[row]]++] = row;
    bool ok = true;
    for (size_t thread = 0; thread < threads && ok; thread++) {
        size_t begin = it->first_joining[thread], end = it->first_joining[thread + 1];
        ok = gt_spans_sort_on(it->joining + begin, end - begin, table->start_ns, table->end_ns, it->threads);
    }
    return ok;
}

/* Whether a row of the shorter table comes before one of the longer table that starts at a time. */
static inline bool joins_before(const struct listing *it, uint32_t row, int64_t start_ns) {
    int64_t other_ns = shorter_table(it)->start_ns[row];
    return it->longer == 1 ? other_ns <= start_ns : other_ns < start_ns;
}

/* ---- spans ---- */

/* The first of the spans around those of a thread that ends after what reaches furthest starts: what starts together
   with that and is longer takes its place. */
static size_t find_near(const struct listing *it, size_t thread, const struct reach *reach) {
    int64_t time_ns = reach->end_ns > INT64_MIN ? reach->start_ns : INT64_MIN;
    size_t low = it->spans->threads[thread].first, high = it->spans->threads[thread].end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (it->spans->items[middle].time.end_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Nobody asks for what ends before the next span starts, and what ends before the end so far is inside. */
static inline void note_until(const struct gt_cover_spans *spans, size_t thread, struct reach *reach) {
    const struct gt_cover_thread *of = &spans->threads[thread];
    bool is_left = of->is_one_by_one ? reach->near < of->end : of->first < of->end;
    int64_t asked_ns = !is_left ? INT64_MAX : of->is_one_by_one ? spans->items[reach->near].time.start_ns : INT64_MIN;
    reach->until_ns = asked_ns > reach->end_ns ? asked_ns : reach->end_ns;
}

/* Whether a span may have a part of a time that comes after all before. */
static inline bool is_asked(const struct listing *it, const struct gt_cover_thread *thread, struct reach *reach,
                            int64_t from_ns, int64_t end_ns) {
    const struct gt_cover_span *spans = it->spans->items;
    if (!thread->is_one_by_one)
        return true;
    while (reach->near < thread->end && spans[reach->near].time.end_ns <= from_ns)
        reach->near++;
    return reach->near < thread->end && spans[reach->near].time.start_ns < end_ns;
}

/* ---- what comes before a slice ---- */

static inline void note_reach(struct reach *reach, int64_t start_ns, int64_t end_ns) {
    if (end_ns > reach->end_ns || (end_ns == reach->end_ns && start_ns < reach->start_ns)) {
        reach->end_ns = end_ns;
        reach->start_ns = start_ns;
    }
}

/* Most are inside another, and nothing changes for them: what joins before one may as well join after it. */
static inline bool is_inside(const struct listing *it, const struct gt_cover_table *table, size_t row,
                             const struct reach *reach) {
    uint32_t thread = table->thread[row];
    return thread < it->cover->thread_count && table->end_ns[row] <= reach[thread].end_ns &&
           table->start_ns[row] >= reach[thread].start_ns;
}

static void find_reach(void *context, size_t slice, size_t begin, size_t end) {
    const struct listing *it = context;
    const struct gt_cover_table *table = longer_table(it);
    struct reach *reach = reach_of(it, slice);
    for (size_t i = begin; i < end; i++) {
        size_t row = row_at(it, i);
        if (!has_name_that_counts(table, row) || is_inside(it, table, row, reach) || !counts(it, table, row))
            continue;
        struct reach *of = &reach[table->thread[row]];
        note_reach(of, table->start_ns[row], table->end_ns[row]);
        of->latest_ns = table->start_ns[row] > of->latest_ns ? table->start_ns[row] : of->latest_ns;
    }
}

/* The first of a thread's shorter table that does not come before the rows so far. */
static size_t find_next(const struct listing *it, size_t thread, const struct reach *reach) {
    size_t low = it->first_joining[thread], high = it->first_joining[thread + 1];
    while (low < high && reach->end_ns > INT64_MIN) {
        size_t middle = low + (high - low) / 2;
        if (joins_before(it, it->joining[middle], reach->latest_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* From what each slice has to what all before it have, first of the longer table alone. */
static void pass_on_reach(struct listing *it) {
    size_t threads = it->cover->thread_count;
    for (size_t thread = 0; thread < threads; thread++) {
        struct reach before = {.end_ns = INT64_MIN, .latest_ns = INT64_MIN};
        for (size_t slice = 0; slice < it->slice_count; slice++) {
            struct reach *reach = &reach_of(it, slice)[thread], own = *reach;
            *reach = before;
            reach->next = find_next(it, thread, reach);
            note_reach(&before, own.start_ns, own.end_ns);
            before.latest_ns = own.latest_ns > before.latest_ns ? own.latest_ns : before.latest_ns;
        }
    }
}

/* Then with what has joined by then. */
static void join_reach(struct listing *it) {
    const struct gt_cover_table *table = shorter_table(it);
    for (size_t thread = 0; thread < it->cover->thread_count; thread++) {
        struct reach joined = {.end_ns = INT64_MIN};
        size_t next = it->first_joining[thread];
        for (size_t slice = 0; slice < it->slice_count; slice++) {
            struct reach *reach = &reach_of(it, slice)[thread];
            for (; next < reach->next; next++)
                note_reach(&joined, table->start_ns[it->joining[next]], table->end_ns[it->joining[next]]);
            note_reach(reach, joined.start_ns, joined.end_ns);
            reach->near = it->spans->threads[thread].is_one_by_one ? find_near(it, thread, reach) : 0;
            note_until(it->spans, thread, reach);
            reach->last =
                slice + 1 < it->slice_count ? reach_of(it, slice + 1)[thread].next : it->first_joining[thread + 1];
        }
    }
}

static void prepare_slices(struct listing *it) {
    size_t threads = it->cover->thread_count;
    for (size_t i = 0; i < it->slice_count * threads; i++)
        it->reach[i] = (struct reach){.end_ns = INT64_MIN, .latest_ns = INT64_MIN};
    if (it->slice_count > 1)
        gt_threads_rows(it->slice_count, it->row_count, find_reach, it);
    pass_on_reach(it);
    join_reach(it);
    for (size_t slice = 0; slice <= it->slice_count; slice++) {
        it->places[slice] = gt_threads_slice_begin(it->row_count, it->slice_count, slice);
        for (size_t thread = 0; thread < threads; thread++)
            it->places[slice] +=
                (slice < it->slice_count ? reach_of(it, slice)[thread].next : it->first_joining[thread + 1]) -
                it->first_joining[thread];
    }
}

/* ---- listing ---- */

/* A slice while it is listed. */
struct run {
    struct listing *it;
    struct reach *reach; /* by thread */
    uint32_t *place;     /* for the next row */
    bool is_unordered, starts_together;
};

/* number: of the row, as it is listed. One that encloses those that started with it takes their place. */
static inline void take(struct run *run, uint32_t thread, int64_t start_ns, int64_t end_ns, size_t number) {
    struct reach *reach = &run->reach[thread];
    const bool has_any = reach->end_ns > INT64_MIN, is_together = has_any && start_ns == reach->start_ns;
    run->is_unordered |= has_any && start_ns < reach->start_ns;
    if (end_ns <= reach->end_ns)
        return;
    int64_t from_ns = start_ns > reach->end_ns ? start_ns : reach->end_ns;
    reach->end_ns = end_ns;
    reach->start_ns = start_ns;
    bool is_listed = is_together || is_asked(run->it, &run->it->spans->threads[thread], reach, from_ns, end_ns);
    note_until(run->it->spans, thread, reach);
    if (!is_listed)
        return;
    run->starts_together |= is_together;
    reach->count++;
    *run->place++ = (uint32_t)number;
}

/* Those of a thread that come before a row that starts at a time, or all before the next slice. */
static void take_joining(struct run *run, uint32_t thread, int64_t until_ns, bool takes_all) {
    const struct listing *it = run->it;
    const struct gt_cover_table *table = shorter_table(it);
    struct reach *reach = &run->reach[thread];
    size_t offset = it->longer == 1 ? 0 : it->tables[0].count;
    size_t end = takes_all ? reach->last : it->first_joining[thread + 1];
    for (; reach->next < end; reach->next++) {
        uint32_t row = it->joining[reach->next];
        if (!takes_all && !joins_before(it, row, until_ns))
            return;
        take(run, thread, table->start_ns[row], table->end_ns[row], offset + row);
    }
}

/* Most rows are: this is all that is looked up of them. */
static inline bool changes_nothing(const struct listing *it, const struct gt_cover_table *table, size_t row,
                                   const struct reach *reach) {
    uint32_t thread = table->thread[row];
    return thread < it->cover->thread_count && table->end_ns[row] <= reach[thread].until_ns &&
           table->start_ns[row] >= reach[thread].start_ns;
}

static void list_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct listing *it = context;
    const struct gt_cover_table *table = longer_table(it);
    struct run run = {.it = it, .reach = reach_of(it, slice), .place = it->listed + it->places[slice]};
    size_t offset = it->longer == 1 ? it->tables[0].count : 0;
    for (size_t i = begin; i < end; i++) {
        size_t row = row_at(it, i);
        if (!has_name_that_counts(table, row) || changes_nothing(it, table, row, run.reach) || !counts(it, table, row))
            continue;
        uint32_t thread = table->thread[row];
        int64_t start_ns = table->start_ns[row];
        if (run.reach[thread].next < it->first_joining[thread + 1])
            take_joining(&run, thread, start_ns, false);
        take(&run, thread, start_ns, table->end_ns[row], offset + row);
    }
    for (uint32_t thread = 0; thread < it->cover->thread_count; thread++) /* the last rows may have changed nothing */
        take_joining(&run, thread, 0, true);
    if (run.is_unordered)
        it->is_unordered = true;
    if (run.starts_together)
        it->starts_together = true;
}

/* ---- joining slices ---- */

static size_t count_listed(const struct listing *it, size_t slice) {
    size_t count = 0;
    for (size_t thread = 0; thread < it->cover->thread_count; thread++)
        count += reach_of(it, slice)[thread].count;
    return count;
}

/* By then reach has the place of the next of a thread, in `next`. */
static void scatter_slice(void *context, size_t slice) {
    const struct listing *it = context;
    const uint32_t *listed = it->listed + it->places[slice];
    struct reach *reach = reach_of(it, slice);
    size_t first = it->tables[0].count;
    for (size_t i = 0, count = count_listed(it, slice); i < count; i++) {
        bool is_second = listed[i] >= first;
        const struct gt_cover_table *table = &it->tables[is_second];
        size_t row = is_second ? listed[i] - first : listed[i], place = reach[table->thread[row]].next++;
        it->cover->items[place] = (struct gt_interval){table->start_ns[row], table->end_ns[row]};
        if (it->cover->names)
            it->cover->names[place] = table->name[row];
    }
}

/* Of those that start together the last is the longest. */
static void drop_enclosed(struct gt_cover *cover) {
    size_t count = 0;
    for (size_t thread = 0, begin = 0; thread < cover->thread_count; thread++) {
        size_t end = cover->first[thread + 1];
        cover->first[thread] = count;
        for (size_t i = begin; i < end; i++) {
            if (i + 1 < end && cover->items[i + 1].start_ns == cover->items[i].start_ns)
                continue;
            if (cover->names)
                cover->names[count] = cover->names[i];
            cover->items[count++] = cover->items[i];
        }
        begin = end;
    }
    cover->first[cover->thread_count] = count;
}

static bool group_by_thread(struct listing *it, bool has_names) {
    struct gt_cover *cover = it->cover;
    size_t count = 0;
    for (size_t thread = 0; thread < cover->thread_count; thread++) {
        cover->first[thread] = count;
        for (size_t slice = 0; slice < it->slice_count; slice++) {
            struct reach *reach = &reach_of(it, slice)[thread];
            reach->next = count;
            count += reach->count;
        }
    }
    cover->first[cover->thread_count] = count;
    cover->items = gt_mem_uninitialised(count, sizeof *cover->items);
    cover->names = has_names ? gt_mem_uninitialised(count, sizeof *cover->names) : NULL;
    if (!cover->items || (has_names && !cover->names))
        return false;
    gt_threads_parts(it->threads, it->slice_count, scatter_slice, it);
    if (it->starts_together)
        drop_enclosed(cover);
    return true;
}

/* ---- looking ---- */

static inline int64_t end_of(const struct gt_cover *cover, size_t place) {
    return cover->items[place].end_ns;
}

/* Of an interval that begins inside the one before it only what is after that counts. */
static inline int64_t from_of(const struct gt_cover *cover, uint32_t thread, size_t place) {
    int64_t start_ns = cover->items[place].start_ns;
    int64_t before_ns = place > cover->first[thread] ? end_of(cover, place - 1) : INT64_MIN;
    return start_ns > before_ns ? start_ns : before_ns;
}

static uint64_t length_of(int64_t start_ns, int64_t end_ns) {
    return (uint64_t)end_ns - (uint64_t)start_ns;
}

/* The first place from one on that ends after a time, or at it; the end: none does. */
static size_t find_end(const struct gt_cover *cover, size_t from, size_t end, int64_t time_ns, bool or_at) {
    size_t low = from, step = 1;
    if (from < end && time_ns == INT64_MIN)
        return from;                                 /* none ends as early */
    int64_t last_ns = or_at ? time_ns - 1 : time_ns; /* of those before it */
    while (low < end && end_of(cover, low) <= last_ns) {
        from = low + 1;
        low += step;
        step *= 2;
    }
    size_t high = low < end ? low : end;
    while (from < high) {
        size_t middle = from + (high - from) / 2;
        if (end_of(cover, middle) <= last_ns)
            from = middle + 1;
        else
            high = middle;
    }
    return from;
}

/* What the places from one on up to before another have. */
static uint64_t sum_of(const struct gt_cover *cover, uint32_t thread, size_t begin, size_t end) {
    uint64_t sum_ns = 0;
    size_t first = (begin + SUMMED - 1) / SUMMED, last = end / SUMMED;
    if (first < last) {
        sum_ns = cover->sums_ns[last] - cover->sums_ns[first];
        for (size_t i = last * SUMMED; i < end; i++)
            sum_ns += length_of(from_of(cover, thread, i), end_of(cover, i));
        end = first * SUMMED;
    }
    for (size_t i = begin; i < end; i++)
        sum_ns += length_of(from_of(cover, thread, i), end_of(cover, i));
    return sum_ns;
}

/* What a place has of a span, before the end of which it begins or not. */
static uint64_t part_of(const struct gt_cover *cover, uint32_t thread, size_t place, int64_t start_ns, int64_t end_ns) {
    int64_t from_ns = from_of(cover, thread, place), to_ns = end_of(cover, place);
    from_ns = from_ns > start_ns ? from_ns : start_ns;
    to_ns = to_ns < end_ns ? to_ns : end_ns;
    return to_ns > from_ns ? length_of(from_ns, to_ns) : 0;
}

/* A look at each place from one on up to before another. */
static struct gt_cover_part look_at_all(const struct gt_cover *cover, uint32_t thread, size_t begin, size_t end,
                                        struct gt_interval span) {
    struct gt_cover_part part = {.name = GT_STRID_EMPTY};
    uint64_t covered_ns = 0, largest_ns = 0;
    for (size_t i = begin; i < end; i++) {
        uint64_t part_ns = part_of(cover, thread, i, span.start_ns, span.end_ns);
        covered_ns += part_ns;
        if (part_ns <= largest_ns)
            continue;
        largest_ns = part_ns;
        part.name = cover->names[i];
    }
    part.is_most = covered_ns > length_of(span.start_ns, span.end_ns) / 2;
    return part;
}

/* No place after the last begins before the end of the span. */
static struct gt_cover_part sum_all(const struct gt_cover *cover, uint32_t thread, size_t first, size_t last,
                                    size_t end, struct gt_interval span) {
    uint64_t covered_ns = part_of(cover, thread, first, span.start_ns, span.end_ns);
    if (last > first) {
        covered_ns += sum_of(cover, thread, first + 1, last);
        covered_ns += last < end ? part_of(cover, thread, last, span.start_ns, span.end_ns) : 0;
    }
    return (struct gt_cover_part){covered_ns > length_of(span.start_ns, span.end_ns) / 2, GT_STRID_EMPTY};
}

struct gt_cover_part gt_cover_of(const struct gt_cover *cover, const struct gt_cover_span *span, size_t *hint) {
    size_t begin = cover->first[span->thread], end = cover->first[span->thread + 1];
    bool is_near = *hint > begin && *hint <= end && end_of(cover, *hint - 1) <= span->time.start_ns;
    size_t first = find_end(cover, is_near ? *hint : begin, end, span->time.start_ns, false);
    *hint = first;
    if (first == end)
        return (struct gt_cover_part){.name = GT_STRID_EMPTY};
    size_t last = find_end(cover, first, end, span->time.end_ns, true);
    return cover->sums_ns ? sum_all(cover, span->thread, first, last, end, span->time)
                          : look_at_all(cover, span->thread, first, last < end ? last + 1 : end, span->time);
}

/* ---- the whole ---- */

/* Rows of threads with spans by start. false: memory was short. */
static bool sort_longer(struct listing *it) {
    const struct gt_cover_table *table = longer_table(it);
    it->order = gt_mem_uninitialised(table->count, sizeof *it->order);
    it->row_count = 0;
    for (uint32_t row = 0; row < table->count && it->order; row++)
        if (counts(it, table, row))
            it->order[it->row_count++] = row;
    return it->order && gt_spans_sort_on(it->order, it->row_count, table->start_ns, table->end_ns, it->threads);
}

/* As the rows are, or once more in order. */
static bool list(struct listing *it, bool has_names) {
    bool ok = true;
    prepare_slices(it);
    gt_threads_rows(it->slice_count, it->row_count, list_slice, it);
    if (it->is_unordered) {
        it->is_unordered = it->starts_together = false;
        ok = sort_longer(it);
        if (ok) {
            prepare_slices(it);
            gt_threads_rows(it->slice_count, it->row_count, list_slice, it);
        }
    }
    return ok && group_by_thread(it, has_names);
}

static void sum_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct gt_cover *cover = context;
    uint32_t thread = 0;
    (void)slice;
    for (size_t block = begin; block < end; block++)
        for (size_t i = block * SUMMED; i < (block + 1) * SUMMED; i++) {
            while (cover->first[thread + 1] <= i)
                thread++;
            cover->sums_ns[block + 1] += length_of(from_of(cover, thread, i), end_of(cover, i));
        }
}

static bool sum_up(struct gt_cover *cover, size_t threads) {
    size_t blocks = cover->first[cover->thread_count] / SUMMED;
    cover->sums_ns = gt_mem_array(blocks + 1, sizeof *cover->sums_ns);
    if (!cover->sums_ns)
        return false;
    gt_threads_rows(gt_threads_slices(threads, blocks * SUMMED, 0), blocks, sum_slice, cover);
    for (size_t i = 0; i < blocks; i++)
        cover->sums_ns[i + 1] += cover->sums_ns[i];
    return true;
}

static bool prepare(struct listing *it) {
    size_t threads = it->cover->thread_count, both = it->tables[0].count + it->tables[1].count;
    it->slice_count = gt_threads_slices(it->threads, it->row_count, threads);
    it->reach = gt_mem_uninitialised(it->slice_count * threads, sizeof *it->reach);
    it->places = gt_mem_uninitialised(it->slice_count + 1, sizeof *it->places);
    it->listed = both < UINT32_MAX ? gt_mem_uninitialised(both, sizeof *it->listed) : NULL;
    it->cover->first = gt_mem_array(threads + 1, sizeof *it->cover->first);
    return it->reach && it->places && it->listed && it->cover->first && list_joining(it);
}

bool gt_cover_init(struct gt_cover *cover, const struct gt_cover_table tables[2], const struct gt_cover_spans *spans,
                   bool has_names, size_t threads) {
    *cover = (struct gt_cover){.thread_count = spans->thread_count};
    struct listing it = {.cover = cover,
                         .tables = {tables[0], tables[1]},
                         .spans = spans,
                         .longer = tables[1].count >= tables[0].count,
                         .threads = threads};
    it.row_count = longer_table(&it)->count;
    bool ok = prepare(&it) && list(&it, has_names) && (has_names || sum_up(cover, threads));
    gt_mem_free(it.reach);
    gt_mem_free(it.places);
    gt_mem_free(it.listed);
    gt_mem_free(it.joining);
    gt_mem_free(it.first_joining);
    gt_mem_free(it.order);
    return ok;
}

void gt_cover_release(struct gt_cover *cover) {
    gt_mem_free(cover->items);
    gt_mem_free(cover->names);
    gt_mem_free(cover->first);
    gt_mem_free(cover->sums_ns);
    *cover = (struct gt_cover){0};
}
