/* Finds the calls that kept launching threads during gaps: in come gaps and calls, out goes the longest call of each
 * gap.
 */
#include "measure/results/gap_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/radix.h"
#include "base/threads.h"
#include "measure/results/measure.h"

/* From the start of a gap to the launch that ends it, on the launching thread. Those of one thread and device are
   disjoint and in order. */
struct wait {
    int64_t start_ns, end_ns;
    uint32_t thread, gap, place; /* place: in the list of gaps */
    size_t device, group_end;    /* group_end: index after the last of its thread and device */
    size_t found;                /* of the first of a group: what its last search gave */
    int64_t longest_ns;          /* of the calls seen so far, what lies in it */
};

struct waits {
    struct wait *items; /* by thread, device, start */
    size_t count;
    size_t *first; /* by thread, and one more */
};

static int by_thread(const void *a, const void *b) {
    const struct wait *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->gap > y->gap) - (x->gap < y->gap); /* gaps come by device and start */
}

static bool waits_init(struct waits *waits, const struct gt_view *view, const struct gt_idle *idle,
                       const uint32_t *gaps, size_t count) {
    const struct gt_calls *calls = &view->store->calls;
    size_t thread_count = view->store->threads.count;
    *waits = (struct waits){0};
    waits->items = gt_mem_uninitialised(count, sizeof *waits->items);
    waits->first = gt_mem_array(thread_count + 1, sizeof *waits->first);
    if (!waits->items || !waits->first)
        return false;
    for (uint32_t place = 0; place < count; place++) {
        if (!gt_idle_gap_has_launch_wait(idle, gaps[place]))
            continue;
        uint32_t call = gt_idle_gap_call(idle, gaps[place]);
        waits->items[waits->count++] = (struct wait){.start_ns = gt_idle_gap_start_ns(idle, gaps[place]),
                                                     .end_ns = calls->start_ns[call],
                                                     .thread = calls->thread[call],
                                                     .device = gt_idle_device_of(idle, gaps[place]),
                                                     .gap = gaps[place],
                                                     .place = place};
        waits->first[calls->thread[call] + 1]++;
    }
    for (size_t thread = 0; thread < thread_count; thread++)
        waits->first[thread + 1] += waits->first[thread];
    qsort(waits->items, waits->count, sizeof *waits->items, by_thread);
    for (size_t i = waits->count; i-- > 0;) {
        const struct wait *next = i + 1 < waits->count ? &waits->items[i + 1] : NULL;
        bool is_last = !next || next->thread != waits->items[i].thread || next->device != waits->items[i].device;
        waits->items[i].found = i;
        waits->items[i].group_end = is_last ? i + 1 : next->group_end;
    }
    return true;
}

/* The first of the waits of one device that ends after a time; they are disjoint. Calls come mostly in order, so
   it mostly is that of the call before: the first of a group remembers. */
static size_t first_after(struct wait *items, size_t first, size_t end, int64_t time_ns) {
    size_t low = first, high = end, hint = items[first].found;
    if ((hint == first || items[hint - 1].end_ns <= time_ns) && (hint == end || items[hint].end_ns > time_ns))
        return hint;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (items[middle].end_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    items[first].found = low;
    return low;
}

static void try_call(const struct waits *waits, const struct gt_calls *calls, uint32_t call, size_t first, size_t end,
                     uint32_t *longest) {
    for (size_t i = first_after(waits->items, first, end, calls->start_ns[call]);
         i < end && waits->items[i].start_ns < calls->end_ns[call]; i++) {
        struct wait *it = &waits->items[i];
        int64_t from_ns = calls->start_ns[call] > it->start_ns ? calls->start_ns[call] : it->start_ns;
        int64_t to_ns = calls->end_ns[call] < it->end_ns ? calls->end_ns[call] : it->end_ns;
        int64_t inside_ns = gt_ns_between(from_ns, to_ns);
        if (inside_ns <= it->longest_ns)
            continue;
        it->longest_ns = inside_ns;
        if (inside_ns > gt_ns_between(it->start_ns, it->end_ns) / 2)
            longest[it->place] = call;
    }
}

/* Calls looked at in slices, each with waits of its own. */
struct search {
    const struct gt_calls *calls;
    const struct waits *waits;
    size_t gap_count;
    struct wait *items; /* by slice and wait, without the first slice, whose waits are those that all begin with */
    uint32_t *longest;  /* by slice and gap */
};

static struct wait *items_of(const struct search *search, size_t slice) {
    return slice == 0 ? search->waits->items : search->items + (slice - 1) * search->waits->count;
}

static void search_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct search *search = context;
    const struct gt_calls *calls = search->calls;
    struct waits waits = *search->waits;
    uint32_t *longest = search->longest + slice * search->gap_count;
    waits.items = items_of(search, slice);
    for (size_t call = begin; call < end; call++) {
        uint32_t thread = calls->thread[call];
        if (thread == GT_NO_TRACK)
            continue;
        for (size_t first = waits.first[thread], last; first < waits.first[thread + 1]; first = last) {
            last = waits.items[first].group_end;
            try_call(&waits, calls, (uint32_t)call, first, last, longest);
        }
    }
}

/* Of calls that are as long in a wait the first counts, as it does in a slice. */
static void join_slices(const struct search *search, size_t slices) {
    size_t count = search->waits->count;
    for (size_t slice = 1; slice < slices; slice++)
        for (size_t i = 0; i < count; i++) {
            const struct wait *more = &items_of(search, slice)[i];
            struct wait *it = &items_of(search, 0)[i];
            if (more->longest_ns <= it->longest_ns)
                continue;
            it->longest_ns = more->longest_ns;
            search->longest[it->place] = search->longest[slice * search->gap_count + it->place];
        }
}

uint32_t *gt_gap_calls(const struct gt_view *view, const struct gt_idle *idle, const uint32_t *gaps, size_t count) {
    struct waits waits = {0};
    struct search search = {.calls = &view->store->calls, .waits = &waits, .gap_count = count};
    size_t threads = gt_threads_count(view->request->threads);
    size_t slices = gt_threads_slices(threads, search.calls->count, 8 * count);
    bool ok = waits_init(&waits, view, idle, gaps, count);
    search.items = ok ? gt_mem_uninitialised((slices - 1) * waits.count, sizeof *search.items) : NULL;
    search.longest = gt_mem_uninitialised(slices * count, sizeof *search.longest);
    ok = search.items && search.longest;
    for (size_t slice = 1; slice < slices && ok; slice++)
        memcpy(items_of(&search, slice), waits.items, waits.count * sizeof *waits.items);
    for (size_t i = 0; i < slices * count && ok; i++)
        search.longest[i] = GT_NO_ROW;
    if (ok && waits.count) {
        gt_threads_rows(slices, search.calls->count, search_slice, &search);
        join_slices(&search, slices);
    }
    gt_mem_free(waits.items);
    gt_mem_free(waits.first);
    gt_mem_free(search.items);
    if (!ok) {
        gt_mem_free(search.longest);
        return NULL;
    }
    return search.longest;
}

/* Launch waits are counted up to each listed gap, so the listed gaps are visited in their order. */
gt_strid *gt_gap_calls_code(const struct gt_idle *idle, const struct gt_idle_code *found, const uint32_t *gaps,
                            size_t count) {
    gt_strid *code = gt_mem_array(count, sizeof *code);
    struct gt_radix_item *order = gt_mem_uninitialised(count, sizeof *order);
    for (uint32_t i = 0; i < count && order; i++)
        order[i] = (struct gt_radix_item){gaps[i], i};
    bool ok = code && order && gt_radix_sort(order, count);
    for (size_t i = 0, gap = 0, wait = 0; i < count && ok; i++) {
        wait += gt_idle_count_with(idle, GT_IDLE_WAIT_BIT, gap, order[i].key);
        gap = order[i].key;
        if (gt_idle_gap_has_launch_wait(idle, gap) && gt_idle_gap_is_of_cpu(idle, gap))
            code[order[i].value] = found->of_wait[wait];
    }
    gt_mem_free(order);
    if (!ok) {
        gt_mem_free(code);
        code = NULL;
    }
    return code;
}
