/* Putting the ops of a view in order. */
#ifndef GT_EVENTS_VIEW_ORDER_H
#define GT_EVENTS_VIEW_ORDER_H

#include "events/view.h"

/* lane_order has the rows stream by stream, each stream in the order of rows; afterwards it and view->row are as the
   view promises. false: memory was short. */
bool gt_view_order_ops(struct gt_view *view);

#endif
