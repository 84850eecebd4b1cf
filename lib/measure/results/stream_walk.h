/* Walks the gaps between the ops of every stream, stream by stream in order of time. */
#ifndef GT_MEASURE_RESULTS_STREAM_WALK_H
#define GT_MEASURE_RESULTS_STREAM_WALK_H

#include "base/fail.h"
#include "events/view.h"

/* The time from the latest end of the earlier ops of a stream to the start of the next op, where it is above 0. */
struct gt_stream_gap {
    size_t lane; /* index into view->lanes */
    int64_t start_ns, end_ns, gap_ns;
    uint32_t previous; /* position of the op that ended last; of several, the latest in view order */
    uint32_t next;     /* position of the op that ends the gap */
};

/* How long the gaps are that the user wants to see: the options hist_min_ns and hist_max_ns. */
struct gt_gap_bounds {
    int64_t least_ns, most_ns;
};
enum gt_status gt_stream_walk_read_bounds(struct gt_gap_bounds *bounds, const struct gt_view *view,
                                          struct gt_error *err);
bool gt_stream_walk_is_bounded(const struct gt_view *view); /* not all gaps are wanted */

/* Set view and bounds, zero the rest. */
struct gt_stream_walk {
    const struct gt_view *view;
    const struct gt_gap_bounds *bounds; /* NULL: all gaps */
    size_t lane, index;                 /* where to go on: index counts inside the lane */
    int64_t reached_ns;
    uint32_t last;
};

bool gt_stream_walk_next(struct gt_stream_walk *walk, struct gt_stream_gap *gap); /* false: no more */

/* How many there are; bounds as above. */
size_t gt_stream_walk_gap_count(const struct gt_view *view, const struct gt_gap_bounds *bounds);

/* What a table says that has no gap to show; NULL: nothing, since the trace has no single ops. */
const char *gt_stream_walk_why_none(const struct gt_view *view);

#endif
