/* Lists launch waits, and asks what calls and code cover of them. */
#include "measure/results/launch_wait.h"

#include "base/mem.h"
#include "base/threads.h"
#include "measure/results/results.h"

/* ---- the waits ---- */

/* Gaps are listed in slices, which count before they list. */
struct listing {
    const struct gt_calls *calls;
    const struct gt_idle *idle;
    struct gt_cover_span *items;
    size_t *first;                 /* by slice: places of its waits; one more than there are slices */
    struct gt_cover_thread *parts; /* by slice and thread: where it has waits */
    size_t thread_count;
};

/* In most traces few gaps have launch waits. */
static inline size_t next_wait(const struct gt_idle *idle, size_t gap, size_t end) {
    return gt_idle_next_with(idle, GT_IDLE_WAIT_BIT, true, gap, end);
}

static void count_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct listing *listing = context;
    listing->first[slice + 1] = gt_idle_count_with(listing->idle, GT_IDLE_WAIT_BIT, begin, end);
}

static void list_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct listing *listing = context;
    const struct gt_idle *idle = listing->idle;
    const struct gt_calls *calls = listing->calls;
    struct gt_cover_thread *parts = listing->parts + slice * listing->thread_count;
    size_t place = listing->first[slice];
    for (size_t i = begin; (i = next_wait(idle, i, end)) < end; i++) {
        uint32_t call = gt_idle_gap_call(idle, i), thread = calls->thread[call];
        listing->items[place] =
            (struct gt_cover_span){{gt_idle_gap_start_ns(idle, i), calls->start_ns[call]}, thread, (uint32_t)i};
        parts[thread].first = parts[thread].end ? parts[thread].first : place;
        parts[thread].end = ++place;
    }
}

/* Waits of one device come in order and do not overlap. */
static void find_threads(const struct listing *listing, size_t slices, struct gt_cover_spans *waits) {
    for (size_t thread = 0; thread < waits->thread_count; thread++) {
        struct gt_cover_thread *of = &waits->threads[thread];
        for (size_t slice = 0; slice < slices; slice++) {
            const struct gt_cover_thread *part = &listing->parts[slice * listing->thread_count + thread];
            of->first = of->end ? of->first : part->first;
            of->end = part->end ? part->end : of->end;
        }
        if (of->end)
            of->is_one_by_one = gt_idle_device_of(listing->idle, waits->items[of->first].id) ==
                                gt_idle_device_of(listing->idle, waits->items[of->end - 1].id);
    }
}

bool gt_launch_wait_init(struct gt_cover_spans *waits, size_t count, size_t thread_count) {
    *waits = (struct gt_cover_spans){.items = gt_mem_uninitialised(count, sizeof *waits->items),
                                     .threads = gt_mem_array(thread_count, sizeof *waits->threads),
                                     .count = count,
                                     .thread_count = thread_count};
    return waits->items && waits->threads;
}

void gt_launch_wait_release(struct gt_cover_spans *waits) {
    gt_mem_free(waits->items);
    gt_mem_free(waits->threads);
    *waits = (struct gt_cover_spans){0};
}

bool gt_launch_wait_list(struct gt_cover_spans *waits, const struct gt_view *view, const struct gt_idle *idle) {
    size_t thread_count = view->store->threads.count;
    size_t slices = gt_threads_slices(gt_threads_count(view->request->threads), idle->count, thread_count);
    struct listing listing = {.calls = &view->store->calls,
                              .idle = idle,
                              .first = gt_mem_array(slices + 1, sizeof *listing.first),
                              .parts = gt_mem_array(slices * thread_count, sizeof *listing.parts),
                              .thread_count = thread_count};
    *waits = (struct gt_cover_spans){0};
    bool ok = listing.first && listing.parts;
    if (ok) {
        gt_threads_rows(slices, idle->count, count_slice, &listing);
        for (size_t i = 0; i < slices; i++)
            listing.first[i + 1] += listing.first[i];
        ok = gt_launch_wait_init(waits, listing.first[slices], thread_count);
    }
    if (ok) {
        listing.items = waits->items;
        gt_threads_rows(slices, idle->count, list_slice, &listing);
        find_threads(&listing, slices, waits);
    }
    gt_mem_free(listing.first);
    gt_mem_free(listing.parts);
    return ok;
}

/* ---- what covers them ---- */

/* Waits are looked at in slices. */
struct asking {
    const struct gt_cover_spans *waits;
    const struct gt_cover *cover;
    size_t *hints; /* by slice and thread */
    gt_launch_wait_report *report;
    void *context;
};

static void ask_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct asking *it = context;
    size_t *hints = it->hints + slice * it->waits->thread_count;
    for (size_t i = begin; i < end; i++) {
        const struct gt_cover_span *wait = &it->waits->items[i];
        struct gt_cover_part part = gt_cover_of(it->cover, wait, &hints[wait->thread]);
        it->report(it->context, (uint32_t)i, &part);
    }
}

/* false: memory was short. */
static bool ask_all(struct asking *it, const struct gt_cover_table tables[2], bool has_names, size_t threads) {
    struct gt_cover cover;
    size_t count = it->waits->count, thread_count = it->waits->thread_count;
    size_t slices = gt_threads_slices(threads, count, thread_count);
    it->hints = gt_mem_array(slices * thread_count, sizeof *it->hints);
    bool ok = gt_cover_init(&cover, tables, it->waits, has_names, threads) && it->hints;
    struct asking asking = *it;
    asking.cover = &cover;
    if (ok)
        gt_threads_rows(slices, count, ask_slice, &asking);
    gt_cover_release(&cover);
    gt_mem_free(it->hints);
    return ok;
}

bool gt_launch_wait_calls(const struct gt_view *view, const struct gt_cover_spans *waits, bool only_waits,
                          gt_launch_wait_report *in_calls, void *context) {
    const struct gt_calls *calls = &view->store->calls;
    struct gt_error err = {0};
    const struct gt_blocking_names *names = only_waits ? gt_results_blocking_names(view, &err) : NULL;
    const uint8_t *blocks = names ? names->of_name : NULL;
    const struct gt_cover_table tables[2] = {
        {0}, {calls->count, calls->start_ns, calls->end_ns, calls->thread, calls->name, NULL, blocks}};
    struct asking it = {.waits = waits, .report = in_calls, .context = context};
    bool ok = (blocks || !only_waits) && ask_all(&it, tables, false, gt_threads_count(view->request->threads));
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

bool gt_launch_wait_code(const struct gt_view *view, const struct gt_cover_spans *waits, gt_launch_wait_report *in_code,
                         void *context) {
    const struct gt_ranges *ranges = &view->store->ranges;
    const struct gt_cpu_ops *cpu_ops = &view->store->cpu_ops;
    uint8_t *is_counted = new_code_ranges(view);
    const struct gt_cover_table tables[2] = {
        {ranges->count, ranges->start_ns, ranges->end_ns, ranges->thread, ranges->name, is_counted, NULL},
        {cpu_ops->count, cpu_ops->start_ns, cpu_ops->end_ns, cpu_ops->thread, cpu_ops->name, NULL, NULL}};
    struct asking it = {.waits = waits, .report = in_code, .context = context};
    bool ok = is_counted && ask_all(&it, tables, true, gt_threads_count(view->request->threads));
    gt_mem_free(is_counted);
    return ok;
}

struct gt_str gt_launch_wait_code_text(const struct gt_view *view, gt_strid name) {
    struct gt_str text = gt_store_string(view->store, name);
    return text.len ? text : GT_STR("(outside ranges and operators)");
}
