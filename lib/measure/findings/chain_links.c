/* Looks at the kernels of each stream in their order. Most are short: their names need not be looked at, and where a
   chain must be of three, two of three need not be looked at at all. Of the others most are alone: they need not be
   listed. */
#include "measure/findings/chain_links.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "measure/findings/thresholds.h"

static bool is_link(const struct gt_view *view, const struct gt_traits *traits, const struct gt_updates *updates,
                    uint32_t position) {
    return gt_traits_of_op(traits, view, position) & GT_TRAIT_ELEMENTWISE &&
           !(updates->is_update && updates->is_update[position]);
}

/* The links of a slice of the streams' order. */
struct list {
    uint32_t *items;
    size_t count, capacity;
    size_t run; /* the first of the last links, one directly after the other */
    bool has_failed;
};

struct listing {
    const struct gt_view *view;
    const struct gt_traits *traits;
    const struct gt_updates *updates;
    size_t least_run;
    int64_t least_ns;
    struct list lists[GT_THREADS_MOST]; /* by slice */
};

static bool is_long(const struct listing *it, size_t place) {
    uint32_t position = it->view->lane_order[place];
    return gt_ns_between(it->view->start_ns[position], it->view->end_ns[position]) >= it->least_ns;
}

/* Long kernels one directly after the other, from a place on: the first so many as a chain has, or fewer that reach the
   end, as they may go on in the next slice. Gives the first; end: there are none. */
static size_t find_long(const struct listing *it, size_t from, size_t end, size_t *long_end) {
    size_t first = from;
    do {
        from = first;
        *long_end = end - from < it->least_run ? end : from + it->least_run;
        for (first = *long_end; first > from && is_long(it, first - 1);)
            first--;
    } while (first > from && *long_end < end);
    while (*long_end < end && is_long(it, *long_end))
        ++*long_end;
    return first;
}

/* Takes back the last links, one directly after the other, where they are too few for a chain whatever their names. A
   run at the edge of a slice may go on in the next one. */
static void take_back_short(const struct listing *it, struct list *list, size_t begin, size_t end) {
    bool is_cut =
        list->count > list->run && (list->items[list->run] == begin || list->items[list->count - 1] + 1 == end);
    if (list->count - list->run < it->least_run && !is_cut)
        list->count = list->run;
    list->run = list->count;
}

static void add_link(struct list *list, size_t place) {
    uint32_t *items = gt_mem_room(list->items, list->count, &list->capacity, sizeof *items);
    list->has_failed |= !items;
    if (!items)
        return;
    list->items = items;
    items[list->count++] = (uint32_t)place;
}

static void list_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct listing *it = context;
    struct list list = {0};
    size_t next = begin, long_end = begin;
    while (long_end < end && is_long(it, long_end)) /* may have begun in the slice before */
        long_end++;
    for (; next < end && !list.has_failed; next = find_long(it, long_end, end, &long_end)) {
        for (; next < long_end; next++) {
            if (!is_link(it->view, it->traits, it->updates, it->view->lane_order[next]))
                continue;
            if (list.count > list.run && list.items[list.count - 1] + 1 != next)
                take_back_short(it, &list, begin, end);
            add_link(&list, next);
        }
    }
    take_back_short(it, &list, begin, end);
    it->lists[slice] = list;
}

static size_t least_run(void) {
    double chain = gt_thresholds.chain_length, loop = gt_thresholds.loop_length;
    return (size_t)ceil(chain < loop ? chain : loop);
}

/* Those of all slices; what a single one listed stays where it is. false: memory was short. */
static bool join_lists(struct listing *it, size_t slices, struct gt_chain_links *links) {
    bool ok = true;
    size_t count = 0;
    for (size_t i = 0; i < slices; i++) {
        ok = ok && !it->lists[i].has_failed;
        count += it->lists[i].count;
    }
    if (slices == 1) {
        *links = (struct gt_chain_links){it->lists[0].items, count};
        return ok;
    }
    links->items = ok ? gt_mem_uninitialised(count, sizeof *links->items) : NULL;
    for (size_t i = 0; i < slices; i++) {
        const struct list *list = &it->lists[i];
        if (links->items && list->count)
            memcpy(links->items + links->count, list->items, list->count * sizeof *list->items);
        links->count += links->items ? list->count : 0;
        gt_mem_free(list->items);
    }
    return links->items;
}

enum gt_status gt_chain_links_init(struct gt_chain_links *links, const struct gt_view *view,
                                   const struct gt_traits *traits, const struct gt_updates *updates,
                                   struct gt_error *err) {
    size_t ops = traits->of_any & GT_TRAIT_ELEMENTWISE ? view->op_count : 0;
    size_t slices = gt_threads_slices(gt_threads_count(view->request->threads), ops, 0);
    struct listing it = {.view = view,
                         .traits = traits,
                         .updates = updates,
                         .least_run = least_run(),
                         .least_ns = (int64_t)ceil(gt_thresholds.chain_kernel_ns)};
    *links = (struct gt_chain_links){0};
    gt_threads_rows(slices, ops, list_slice, &it);
    if (join_lists(&it, slices, links))
        return GT_OK;
    gt_chain_links_release(links);
    return gt_fail_memory(err);
}

void gt_chain_links_release(struct gt_chain_links *links) {
    gt_mem_free(links->items);
    *links = (struct gt_chain_links){0};
}
