/* Walks the gaps between the ops of every stream, stream by stream in order of time. */
#ifndef GT_MEASURE_RESULTS_STREAM_WALK_H
#define GT_MEASURE_RESULTS_STREAM_WALK_H

#include "events/view.h"

/* The time from the latest end of the earlier ops of a stream to the start of the next op, where it is above 0. */
struct gt_stream_gap {
    size_t lane; /* index into view->lanes */
    int64_t start_ns, end_ns, gap_ns;
    uint32_t previous; /* position of the op that ended last; of several, the latest in view order */
    uint32_t next;     /* position of the op that ends the gap */
};

/* Set view, zero the rest. */
struct gt_stream_walk {
    const struct gt_view *view;
    size_t lane, index; /* where to go on: index counts inside the lane */
    int64_t reached_ns;
    uint32_t last;
};

bool gt_stream_walk_next(struct gt_stream_walk *walk, struct gt_stream_gap *gap); /* false: no more */

/* How many there are. */
size_t gt_stream_walk_gap_count(const struct gt_view *view);

#endif
