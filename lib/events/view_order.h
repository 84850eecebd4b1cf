/* Putting the ops of a view in order. */
#ifndef GT_EVENTS_VIEW_ORDER_H
#define GT_EVENTS_VIEW_ORDER_H

#include "events/view.h"

/* The ops of a view stream by stream, as view->lanes says, each stream in the order of rows, with the times that they
   have in the trace. Rows of a device are far apart in the store: here those that are merged lie next to each other. */
struct gt_view_listed {
    uint32_t *row;
    int64_t *start_ns, *end_ns;
};

/* Writes start_ns, end_ns, row, lane and lane_order as the view promises, but does not clip. The list may change.
   false: memory was short. */
bool gt_view_order_ops(struct gt_view *view, const struct gt_view_listed *listed);

#endif
