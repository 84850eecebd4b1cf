/* Links of chains that could be fused: element-wise kernels over large tensors that belong to no optimizer, and have
   enough of their kind directly before and after them; in places a few that have not. */
#ifndef GT_MEASURE_FINDINGS_CHAIN_LINKS_H
#define GT_MEASURE_FINDINGS_CHAIN_LINKS_H

#include "measure/findings/updates.h"

struct gt_chain_links {
    uint32_t *items; /* places in view->lane_order, ascending */
    size_t count;
};

/* Linear in ops. */
enum gt_status gt_chain_links_init(struct gt_chain_links *links, const struct gt_view *view,
                                   const struct gt_traits *traits, const struct gt_updates *updates,
                                   struct gt_error *err);
void gt_chain_links_release(struct gt_chain_links *links);

#endif
