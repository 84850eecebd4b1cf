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

/* Places of a slice, and up to where its long kernels are listed. */
struct part {
    size_t begin, end, listed;
};

/* Lists the links of the long kernels around one, one directly after the other, unless they are too few. */
static void list_around(const struct listing *it, struct list *list, struct part *part, size_t place) {
    size_t first = place, end = place + 1;
    while (first > part->listed && is_long(it, first - 1))
        first--;
    while (end < part->end && is_long(it, end))
        end++;
    part->listed = end;
    if (end - first < it->least_run && first != part->begin && end != part->end)
        return;
    for (; first < end && !list->has_failed; first++) {
        if (!is_link(it->view, it->traits, it->updates, it->view->lane_order[first]))
            continue;
        if (list->count > list->run && list->items[list->count - 1] + 1 != first)
            take_back_short(it, list, part->begin, part->end);
        add_link(list, first);
    }
}

/* As many as a chain needs have one of these places, so far apart, among them; those at the edges may have fewer. Many
   are looked at before one of them is gone into: most are short, and which one is not nobody can foretell. */
static void list_slice(void *context, size_t slice, size_t begin, size_t end) {
    enum { TOGETHER = 64 };
    struct listing *it = context;
    struct list list = {0};
    struct part part = {begin, end, begin};
    const size_t stride = it->least_run;
    size_t next = begin;
    while (next < end && !list.has_failed) {
        uint64_t are_long = 0;
        size_t count = (end - next - 1) / stride + 1;
        count = count < TOGETHER ? count : TOGETHER;
        for (size_t i = 0; i < count; i++)
            are_long |= (uint64_t)is_long(it, next + i * stride) << i;
        for (; are_long; are_long &= are_long - 1) {
            size_t place = next + (size_t)__builtin_ctzll(are_long) * stride;
            if (place >= part.listed)
                list_around(it, &list, &part, place);
        }
        next += count * stride;
    }
    if (part.listed < end && is_long(it, end - 1))
        list_around(it, &list, &part, end - 1);
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
