/* Putting the ops of one device of a view in order. */
#ifndef GT_EVENTS_VIEW_ORDER_H
#define GT_EVENTS_VIEW_ORDER_H

#include "events/view.h"

/* The ops of the device stand stream by stream, each stream in the order of rows; afterwards they and lane_order stand
   as the view promises. false: memory was short. */
bool gt_view_order_device(struct gt_view *view, const struct gt_view_device *device);

#endif
