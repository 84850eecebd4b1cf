/* What is odd about the ops of streams, counted without a list of each stream's ops. */
#ifndef GT_MEASURE_RESULTS_LANE_OVERLAPS_H
#define GT_MEASURE_RESULTS_LANE_OVERLAPS_H

#include "events/view.h"

struct gt_lane_overlaps {
    uint64_t empty; /* ops of no length */
    uint64_t unnamed;
    uint64_t overlaps; /* ops that start before an earlier one of their stream ends */
};

/* A walk through the ops of a view by row, in slices (base/threads.h) on several threads. One pass is enough if late
   ops are in a table of their own, as those of copies in an export; a second one is made at the end where others of a
   stream come after later ones in the file. Only late ops are listed and sorted. NULL: memory was short. */
struct gt_lane_walk *gt_lane_overlaps_begin(const struct gt_view *view, size_t slice_count);
/* The next rows of a slice. */
void gt_lane_overlaps_look(struct gt_lane_walk *walk, size_t slice, size_t begin, size_t end);
/* After all rows. Frees the walk. false: memory was short. */
bool gt_lane_overlaps_end(struct gt_lane_walk *walk, struct gt_lane_overlaps *out);

#endif
