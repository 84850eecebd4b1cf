/* What is odd about the ops of streams, counted without a list of each stream's ops. */
#ifndef GT_MEASURE_RESULTS_LANE_OVERLAPS_H
#define GT_MEASURE_RESULTS_LANE_OVERLAPS_H

#include "events/view.h"

struct gt_lane_overlaps {
    uint64_t empty; /* ops of no length */
    uint64_t unnamed;
    uint64_t overlaps; /* ops that start before an earlier one of their stream ends */
};

/* Of a view by row. One pass over the ops; a second one where some of a stream come after later ones in the file, as an
   export has kernels and copies in tables of their own. Only those are listed and sorted. false: memory was short. */
bool gt_lane_overlaps_count(const struct gt_view *view, struct gt_lane_overlaps *out);

#endif
