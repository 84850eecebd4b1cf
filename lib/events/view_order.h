/* Putting the ops of a view in order. */
#ifndef GT_EVENTS_VIEW_ORDER_H
#define GT_EVENTS_VIEW_ORDER_H

#include "events/view.h"

/* Listed ops of a stream, one after the other, that are in order: by start, longer first, row. */
struct gt_view_run {
    size_t lane; /* of the view */
    size_t first, count;
};

/* The ops of a view stream by stream, as view->lanes says, and the runs that they consist of, likewise. */
struct gt_view_listed {
    uint32_t *row;
    struct gt_view_run *runs;
    size_t run_count;
};

/* Writes all columns of ops and the spans of devices, as the view promises, but does not clip. false: memory was short.
 */
bool gt_view_order_ops(struct gt_view *view, const struct gt_view_listed *listed);

#endif
