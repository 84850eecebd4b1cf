/* Looks at the kernels of each stream in their order. Most are short: their names need not be looked at. */
#include "measure/findings/chain_links.h"

#include <math.h>

#include "base/mem.h"
#include "measure/findings/thresholds.h"

static bool is_link(const struct gt_view *view, const struct gt_traits *traits, const struct gt_updates *updates,
                    uint32_t position) {
    return gt_traits_of_op(traits, view, position) & GT_TRAIT_ELEMENTWISE &&
           !(updates->is_update && updates->is_update[position]);
}

enum gt_status gt_chain_links_init(struct gt_chain_links *links, const struct gt_view *view,
                                   const struct gt_traits *traits, const struct gt_updates *updates,
                                   struct gt_error *err) {
    const int64_t least_ns = (int64_t)ceil(gt_thresholds.chain_kernel_ns);
    const uint32_t *order = view->lane_order;
    const int64_t *start_ns = view->start_ns, *end_ns = view->end_ns;
    size_t capacity = 0, end = traits->of_any & GT_TRAIT_ELEMENTWISE ? view->op_count : 0;
    *links = (struct gt_chain_links){0};
    for (size_t i = 0; i < end; i++) {
        if (gt_ns_between(start_ns[order[i]], end_ns[order[i]]) < least_ns || !is_link(view, traits, updates, order[i]))
            continue;
        uint32_t *items = gt_mem_room(links->items, links->count, &capacity, sizeof *items);
        if (!items) {
            gt_chain_links_release(links);
            return gt_fail_memory(err);
        }
        links->items = items;
        items[links->count++] = (uint32_t)i;
    }
    return GT_OK;
}

void gt_chain_links_release(struct gt_chain_links *links) {
    gt_mem_free(links->items);
    *links = (struct gt_chain_links){0};
}
