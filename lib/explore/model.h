/* Inside of lib/explore: what is kept of a trace to answer questions. */
#ifndef GT_EXPLORE_MODEL_H
#define GT_EXPLORE_MODEL_H

#include <pthread.h>

#include "base/arena.h"
#include "events/view.h"
#include "explore/explore.h"
#include "explore/idle_lanes.h"
#include "explore/pyramid.h"
#include "measure/results/lane_set.h"
#include "report/timeline.h"

struct gt_model_lane {
    struct gt_timeline_row row; /* without items; count and busy time of all */
    const struct gt_spans *spans;
    struct gt_pyramid pyramid;
};

struct gt_explore {
    struct gt_explore_trace trace;
    struct gt_arena arena; /* owns texts of lanes */
    struct gt_lane_set sets[GT_TIMELINE_KIND_COUNT];
    struct gt_idle_lanes idle;
    struct gt_spans spans[GT_TIMELINE_KIND_COUNT];
    struct gt_model_lane *lanes; /* by number */
    size_t lane_count, lane_capacity;
    uint64_t lanes_left_out[GT_TIMELINE_KIND_COUNT];
    int64_t start_ns, end_ns; /* of the ops, since the first one */
    int64_t first_ns, last_ns; /* of all lanes */
};

/* Makes all lanes. */
enum gt_status gt_model_build(struct gt_explore *explore, struct gt_error *err);
void gt_model_release(struct gt_explore *explore);

/* The name of a span by its number, and what distinguishes it from others of its kind. */
struct gt_str gt_model_name(const struct gt_explore *explore, enum gt_timeline_kind kind, size_t span, gt_strid *id);
/* NULL: the kind has none. */
const char *gt_model_category(const struct gt_explore *explore, enum gt_timeline_kind kind, size_t span);

#endif
