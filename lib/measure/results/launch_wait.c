/* Takes calls and code of threads in order of their start to the spans of launch waits. Most programs write the
   rows of a thread in that order; what is not is sorted. */
#include "measure/results/launch_wait.h"

#include "base/mem.h"
#include "base/spans.h"
#include "base/threads.h"
#include "measure/results/calls.h"

/* ---- the waits ---- */

/* Gaps are listed in slices, which count before they list. */
struct listing {
    const struct gt_calls *calls;
    const struct gt_idle *idle;
    struct gt_host_span *items;
    size_t *first; /* by slice: places of its waits; one more than there are slices */
};

static void count_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct listing *listing = context;
    size_t count = 0;
    for (size_t i = begin; i < end; i++)
        count += listing->idle->gaps[i].has_launch_wait;
    listing->first[slice + 1] = count;
}

static void list_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct listing *listing = context;
    const struct gt_calls *calls = listing->calls;
    struct gt_host_span *item = listing->items + listing->first[slice];
    for (size_t i = begin; i < end; i++) {
        const struct gt_idle_gap *gap = &listing->idle->gaps[i];
        if (gap->has_launch_wait)
            *item++ = (struct gt_host_span){.start_ns = gap->start_ns,
                                            .end_ns = calls->start_ns[gap->call],
                                            .thread = calls->thread[gap->call],
                                            .gap = (uint32_t)i};
    }
}

/* Those of each device come in order of start. */
static bool link_devices(struct gt_host_spans *spans, const struct gt_idle *idle, size_t count) {
    bool ok = true;
    for (size_t d = 0; d < idle->device_count && ok; d++) {
        size_t low = spans->count, high = count, gap_end = idle->devices[d].first + idle->devices[d].count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (spans->items[middle].gap < gap_end)
                low = middle + 1;
            else
                high = middle;
        }
        gt_host_spans_rewind(spans);
        ok = gt_host_spans_link(spans, low);
    }
    return ok;
}

bool gt_launch_wait_list(struct gt_host_spans *spans, const struct gt_view *view, const struct gt_idle *idle) {
    size_t slices = gt_threads_slices(gt_threads_count(view->request->threads), idle->count, 0);
    struct listing listing = {
        .calls = &view->store->calls, .idle = idle, .first = gt_mem_array(slices + 1, sizeof *listing.first)};
    *spans = (struct gt_host_spans){0};
    if (!listing.first)
        return false;
    gt_threads_rows(slices, idle->count, count_slice, &listing);
    for (size_t i = 0; i < slices; i++)
        listing.first[i + 1] += listing.first[i];
    size_t count = listing.first[slices];
    bool ok = gt_host_spans_init(spans, count, view->store->threads.count);
    if (ok) {
        listing.items = spans->items;
        gt_threads_rows(slices, idle->count, list_slice, &listing);
        ok = link_devices(spans, idle, count);
    }
    gt_mem_free(listing.first);
    return ok;
}

/* ---- tables ---- */

/* Columns of a table of calls, ranges or operators. */
struct table {
    size_t count;
    const int64_t *start_ns, *end_ns;
    const uint32_t *thread;
    const gt_strid *name;
    const uint8_t *is_counted; /* by row; NULL: all are */
};

/* Rows of threads that have spans, by start; NULL: memory was short. */
static uint32_t *new_sorted_rows(const struct gt_host_spans *spans, const struct table *table, size_t *count) {
    uint32_t *rows = table->count > UINT32_MAX ? NULL : gt_mem_uninitialised(table->count, sizeof *rows);
    *count = 0;
    for (uint32_t i = 0; i < table->count && rows; i++)
        if (gt_host_spans_has(spans, table->thread[i]))
            rows[(*count)++] = i;
    if (rows && gt_spans_sort(rows, *count, table->start_ns, table->end_ns))
        return rows;
    gt_mem_free(rows);
    return NULL;
}

/* ---- calls ---- */

/* How far the calls of a thread have come. */
struct reach {
    int64_t start_ns; /* of the latest */
    int64_t end_ns;   /* of those that were taken: the latest */
    int64_t next_ns;  /* what ends by then need not be taken */
};

struct call_sweep {
    const struct gt_calls *calls;
    const uint8_t *waits; /* by name; NULL: all are looked at */
    struct gt_host_spans_sweep sweep;
    struct reach *reach; /* by thread */
    size_t thread_count;
};

/* Gives a call what of it is after the end of those before it. false: it starts before the one before it. */
static inline bool take_call(struct call_sweep *it, size_t row) {
    const struct gt_calls *calls = it->calls;
    uint32_t thread = calls->thread[row];
    int64_t start_ns = calls->start_ns[row], end_ns = calls->end_ns[row];
    if (!gt_host_spans_has(it->sweep.spans, thread))
        return true;
    struct reach *reach = &it->reach[thread];
    if (start_ns < reach->start_ns)
        return false;
    reach->start_ns = start_ns;
    if (end_ns <= reach->next_ns || end_ns <= start_ns || end_ns <= reach->end_ns)
        return true;
    gt_host_spans_sweep_take(&it->sweep, thread, start_ns > reach->end_ns ? start_ns : reach->end_ns, end_ns,
                             calls->name[row]);
    reach->end_ns = end_ns;
    reach->next_ns = gt_host_spans_sweep_next_ns(&it->sweep, thread);
    return true;
}

static bool is_looked_at(const struct call_sweep *it, size_t row) {
    return !it->waits || it->waits[it->calls->name[row]];
}

static void start_calls(struct call_sweep *it) {
    for (uint32_t i = 0; i < it->thread_count; i++)
        it->reach[i] = (struct reach){INT64_MIN, INT64_MIN, gt_host_spans_sweep_next_ns(&it->sweep, i)};
}

static bool take_calls_as_they_are(struct call_sweep *it) {
    start_calls(it);
    for (size_t row = 0; row < it->calls->count; row++)
        if (is_looked_at(it, row) && !take_call(it, row))
            return false;
    return true;
}

static bool take_calls_sorted(struct call_sweep *it) {
    const struct gt_calls *calls = it->calls;
    const struct table table = {calls->count, calls->start_ns, calls->end_ns, calls->thread, calls->name, NULL};
    size_t count;
    uint32_t *rows = new_sorted_rows(it->sweep.spans, &table, &count);
    bool ok = rows != NULL;
    gt_host_spans_sweep_restart(&it->sweep);
    start_calls(it);
    for (size_t i = 0; i < count && ok; i++)
        if (is_looked_at(it, rows[i]))
            take_call(it, rows[i]);
    gt_mem_free(rows);
    return ok;
}

bool gt_launch_wait_calls(const struct gt_view *view, const struct gt_host_spans *spans, bool only_waits,
                          void (*in_calls)(void *, uint32_t, const struct gt_host_span_part *), void *context) {
    uint8_t *waits = only_waits ? gt_calls_blocking_names_new(view->store) : NULL;
    struct call_sweep it = {.calls = &view->store->calls, .waits = waits, .thread_count = spans->thread_count};
    it.reach = gt_mem_uninitialised(it.thread_count, sizeof *it.reach);
    bool ok = gt_host_spans_sweep_init(&it.sweep, spans,
                                       &(struct gt_host_spans_sweep){.report = in_calls, .context = context}) &&
              (waits || !only_waits) && it.reach && (take_calls_as_they_are(&it) || take_calls_sorted(&it));
    if (ok)
        gt_host_spans_sweep_finish(&it.sweep);
    gt_host_spans_sweep_release(&it.sweep);
    gt_mem_free(it.reach);
    gt_mem_free(waits);
    return ok;
}

/* ---- code ---- */

/* The outermost code of a thread that came last. It is taken when the next one comes: of those that start together the
   longest encloses the others. */
struct outer {
    int64_t start_ns, end_ns; /* end INT64_MIN: none came yet */
    int64_t from_ns;          /* its part that is not inside the one before it, as damaged traces have them */
    int64_t next_ns;          /* what ends by then need not be taken */
    gt_strid name;
};

/* Rows of the smaller table that may be outermost, thread by thread in order of start. They join those of the other as
   these come along. */
struct joining {
    const struct table *table;
    uint32_t *rows;
    size_t *next, *end; /* by thread */
    bool goes_first;    /* of code that starts together */
};

struct code_sweep {
    struct gt_host_spans_sweep sweep;
    struct outer *outers; /* by thread */
    size_t thread_count;
    struct joining joining;
};

static inline bool is_code(const struct table *table, const struct code_sweep *it, size_t row) {
    return table->end_ns[row] > table->start_ns[row] && gt_host_spans_has(it->sweep.spans, table->thread[row]) &&
           (!table->is_counted || table->is_counted[row]);
}

static void take_outer(struct code_sweep *it, uint32_t thread) {
    struct outer *outer = &it->outers[thread];
    if (outer->end_ns <= outer->next_ns) /* also where none came yet */
        return;
    gt_host_spans_sweep_take(&it->sweep, thread, outer->from_ns, outer->end_ns, outer->name);
    outer->next_ns = gt_host_spans_sweep_next_ns(&it->sweep, thread);
}

/* false: it starts before the one before it, and is not inside that. */
static inline bool take_code(struct code_sweep *it, const struct table *table, size_t row) {
    uint32_t thread = table->thread[row];
    struct outer *outer = &it->outers[thread];
    int64_t start_ns = table->start_ns[row], end_ns = table->end_ns[row];
    if (start_ns < outer->start_ns)
        return false;
    if (end_ns <= outer->end_ns)
        return true;
    bool encloses = start_ns == outer->start_ns && outer->end_ns > INT64_MIN;
    if (!encloses) {
        take_outer(it, thread);
        outer->from_ns = start_ns > outer->end_ns ? start_ns : outer->end_ns;
        outer->start_ns = start_ns;
    }
    outer->end_ns = end_ns;
    outer->name = table->name[row];
    return true;
}

/* Takes the code of the smaller table that comes before code that starts at a time. */
static void take_joining(struct code_sweep *it, uint32_t thread, int64_t start_ns) {
    struct joining *joining = &it->joining;
    for (; joining->next[thread] < joining->end[thread]; joining->next[thread]++) {
        uint32_t row = joining->rows[joining->next[thread]];
        int64_t other_ns = joining->table->start_ns[row];
        if (joining->goes_first ? other_ns > start_ns : other_ns >= start_ns)
            return;
        take_code(it, joining->table, row);
    }
}

static inline bool take_row(struct code_sweep *it, const struct table *table, size_t row) {
    uint32_t thread = table->thread[row];
    if (it->joining.next[thread] < it->joining.end[thread])
        take_joining(it, thread, table->start_ns[row]);
    return take_code(it, table, row);
}

static void start_code(struct code_sweep *it) {
    for (uint32_t i = 0; i < it->thread_count; i++)
        it->outers[i] = (struct outer){
            .start_ns = INT64_MIN, .end_ns = INT64_MIN, .next_ns = gt_host_spans_sweep_next_ns(&it->sweep, i)};
    for (size_t i = 0, first = 0; i < it->thread_count; first = it->joining.end[i++])
        it->joining.next[i] = first;
}

static bool take_code_as_it_is(struct code_sweep *it, const struct table *table) {
    start_code(it);
    for (size_t row = 0; row < table->count; row++)
        if (is_code(table, it, row) && !take_row(it, table, row))
            return false;
    return true;
}

static bool take_code_sorted(struct code_sweep *it, const struct table *table) {
    size_t count;
    uint32_t *rows = new_sorted_rows(it->sweep.spans, table, &count);
    bool ok = rows != NULL;
    gt_host_spans_sweep_restart(&it->sweep);
    start_code(it);
    for (size_t i = 0; i < count && ok; i++)
        if (is_code(table, it, rows[i]))
            take_row(it, table, rows[i]);
    gt_mem_free(rows);
    return ok;
}

static void finish_code(struct code_sweep *it) {
    for (uint32_t thread = 0; thread < it->thread_count; thread++) {
        for (; it->joining.next[thread] < it->joining.end[thread]; it->joining.next[thread]++)
            take_code(it, it->joining.table, it->joining.rows[it->joining.next[thread]]);
        take_outer(it, thread);
    }
    gt_host_spans_sweep_finish(&it->sweep);
}

/* Lists the rows of the smaller table. */
static bool joining_init(struct code_sweep *it, const struct table *table, bool goes_first) {
    struct joining *joining = &it->joining;
    size_t threads = it->thread_count, count = 0;
    *joining = (struct joining){.table = table, .goes_first = goes_first};
    joining->rows = table->count > UINT32_MAX ? NULL : gt_mem_uninitialised(table->count, sizeof *joining->rows);
    joining->next = gt_mem_array(threads, sizeof *joining->next);
    joining->end = gt_mem_array(threads, sizeof *joining->end);
    if (!joining->rows || !joining->next || !joining->end)
        return false;
    for (size_t row = 0; row < table->count; row++)
        if (is_code(table, it, row))
            joining->end[table->thread[row]]++;
    for (size_t thread = 0; thread < threads; thread++) {
        joining->next[thread] = count;
        count += joining->end[thread];
        joining->end[thread] = joining->next[thread];
    }
    for (uint32_t row = 0; row < table->count; row++)
        if (is_code(table, it, row))
            joining->rows[joining->end[table->thread[row]]++] = row;
    bool ok = true;
    for (size_t thread = 0; thread < threads && ok; thread++)
        ok = gt_spans_sort(joining->rows + joining->next[thread], joining->end[thread] - joining->next[thread],
                           table->start_ns, table->end_ns);
    return ok;
}

/* One byte for each range, not 0 where it says something about the code that ran: not marks, and not steps, which
   enclose everything. NULL: memory was short. */
static uint8_t *new_code_ranges(const struct gt_view *view) {
    const struct gt_ranges *ranges = &view->store->ranges;
    uint8_t *is_counted = gt_mem_array(ranges->count, 1);
    for (size_t i = 0; i < ranges->count && is_counted; i++)
        is_counted[i] = ranges->kind[i] != GT_RANGE_MARK && ranges->kind[i] != GT_RANGE_GPU;
    for (size_t i = 0; i < view->labels->step_count && is_counted; i++)
        if (view->labels->steps[i].range < ranges->count)
            is_counted[view->labels->steps[i].range] = 0;
    return is_counted;
}

bool gt_launch_wait_code(const struct gt_view *view, const struct gt_host_spans *spans,
                         void (*in_code)(void *, uint32_t, const struct gt_host_span_part *), void *context) {
    const struct gt_ranges *ranges = &view->store->ranges;
    const struct gt_cpu_ops *cpu_ops = &view->store->cpu_ops;
    uint8_t *is_counted = new_code_ranges(view);
    const struct table range_table = {ranges->count,  ranges->start_ns, ranges->end_ns,
                                      ranges->thread, ranges->name,     is_counted};
    const struct table operator_table = {cpu_ops->count,  cpu_ops->start_ns, cpu_ops->end_ns,
                                         cpu_ops->thread, cpu_ops->name,     NULL};
    bool has_more_ranges = ranges->count > cpu_ops->count;
    const struct table *larger = has_more_ranges ? &range_table : &operator_table;
    const struct table *smaller = has_more_ranges ? &operator_table : &range_table;
    struct code_sweep it = {.thread_count = spans->thread_count};
    it.outers = gt_mem_uninitialised(it.thread_count, sizeof *it.outers);
    const struct gt_host_spans_sweep how = {.wants_names = true, .report = in_code, .context = context};
    bool ok = gt_host_spans_sweep_init(&it.sweep, spans, &how) && is_counted && it.outers &&
              joining_init(&it, smaller, !has_more_ranges) &&
              (take_code_as_it_is(&it, larger) || take_code_sorted(&it, larger));
    if (ok)
        finish_code(&it);
    gt_host_spans_sweep_release(&it.sweep);
    gt_mem_free(it.joining.rows);
    gt_mem_free(it.joining.next);
    gt_mem_free(it.joining.end);
    gt_mem_free(it.outers);
    gt_mem_free(is_counted);
    return ok;
}

struct gt_str gt_launch_wait_code_text(const struct gt_view *view, gt_strid name) {
    struct gt_str text = gt_store_string(view->store, name);
    return text.len ? text : GT_STR("(outside ranges and operators)");
}
