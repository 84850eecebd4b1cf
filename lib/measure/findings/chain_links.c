/* Looks at the kernels of each stream in their order. Most are short: their names need not be looked at. Of the others
   most are alone: they need not be listed. */
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

/* Slices of the streams' order, each of which lists its links at its place. */
struct listing {
    const struct gt_view *view;
    const struct gt_traits *traits;
    const struct gt_updates *updates;
    uint32_t *items;
    size_t least_run;
    size_t counts[GT_THREADS_MOST];
};

/* Takes back the last links, one directly after the other, where they are too few for a chain whatever their names. A
   run at the edge of a slice may go on in the next one. */
static size_t count_without_short(const struct listing *it, size_t begin, size_t end, size_t run, size_t count) {
    const uint32_t *items = it->items + begin;
    bool is_cut = count > run && (items[run] == begin || items[count - 1] + 1 == end);
    return count - run < it->least_run && !is_cut ? run : count;
}

static void list_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct listing *it = context;
    const int64_t least_ns = (int64_t)ceil(gt_thresholds.chain_kernel_ns);
    const uint32_t *order = it->view->lane_order;
    const int64_t *start_ns = it->view->start_ns, *end_ns = it->view->end_ns;
    uint32_t *items = it->items + begin;
    size_t run = 0, count = 0; /* links until the last run, and with it */
    for (size_t i = begin; i < end; i++) {
        if (gt_ns_between(start_ns[order[i]], end_ns[order[i]]) < least_ns ||
            !is_link(it->view, it->traits, it->updates, order[i]))
            continue;
        if (count > run && items[count - 1] + 1 != i)
            run = count = count_without_short(it, begin, end, run, count);
        items[count++] = (uint32_t)i;
    }
    it->counts[slice] = count_without_short(it, begin, end, run, count);
}

static size_t least_run(void) {
    double chain = gt_thresholds.chain_length, loop = gt_thresholds.loop_length;
    return (size_t)ceil(chain < loop ? chain : loop);
}

enum gt_status gt_chain_links_init(struct gt_chain_links *links, const struct gt_view *view,
                                   const struct gt_traits *traits, const struct gt_updates *updates,
                                   struct gt_error *err) {
    size_t ops = traits->of_any & GT_TRAIT_ELEMENTWISE ? view->op_count : 0;
    size_t slices = gt_threads_slices(gt_threads_count(view->request->threads), ops, 0);
    *links = (struct gt_chain_links){0};
    struct listing it = {view, traits, updates, gt_mem_uninitialised(ops, sizeof *it.items), least_run(), {0}};
    if (!it.items)
        return gt_fail_memory(err);
    gt_threads_rows(slices, ops, list_slice, &it);
    for (size_t i = 0; i < slices; i++) {
        memmove(it.items + links->count, it.items + gt_threads_slice_begin(ops, slices, i),
                it.counts[i] * sizeof *it.items);
        links->count += it.counts[i];
    }
    uint32_t *kept = gt_mem_realloc(it.items, links->count * sizeof *kept);
    links->items = kept ? kept : it.items;
    return GT_OK;
}

void gt_chain_links_release(struct gt_chain_links *links) {
    gt_mem_free(links->items);
    *links = (struct gt_chain_links){0};
}
