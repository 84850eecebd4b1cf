/* Inside of lib/explore: what is kept of a trace to answer questions. */
#ifndef GT_EXPLORE_MODEL_H
#define GT_EXPLORE_MODEL_H

#include <pthread.h>

#include "base/arena.h"
#include "base/intervals.h"
#include "events/view.h"
#include "explore/explore.h"
#include "explore/idle_lanes.h"
#include "explore/pyramid.h"
#include "measure/results/curves.h"
#include "measure/results/lane_set.h"
#include "report/timeline.h"

struct gt_name_index;

/* What is made when it is first asked for. */
struct gt_model_lazy {
    pthread_mutex_t lock;
    struct gt_name_index *names; /* NULL: nobody has searched yet */
};

struct gt_model_lane {
    struct gt_timeline_row row;   /* without items; count and busy time of all */
    uint32_t track;               /* stream, thread or the like */
    const struct gt_spans *spans; /* NULL: it is a curve */
    const struct gt_curve *curve;
    struct gt_pyramid pyramid; /* of a curve empty */
};

struct gt_explore {
    struct gt_explore_trace trace;
    struct gt_arena arena; /* owns texts of lanes */
    struct gt_lane_set sets[GT_TIMELINE_KIND_COUNT];
    struct gt_idle_lanes idle;
    struct gt_curves curves;
    struct gt_spans spans[GT_TIMELINE_KIND_COUNT];
    struct gt_model_lane *lanes; /* by number */
    size_t lane_count, lane_capacity;
    uint64_t lanes_left_out[GT_TIMELINE_KIND_COUNT];
    int64_t start_ns, end_ns;  /* of the ops, since the first one */
    int64_t first_ns, last_ns; /* of all lanes */
    struct gt_model_lazy *lazy;
};

/* Makes all lanes. */
enum gt_status gt_model_build(struct gt_explore *explore, struct gt_error *err);
void gt_model_release(struct gt_explore *explore);

/* A span of a lane. */
struct gt_model_place {
    uint32_t lane;
    size_t span; /* its number in its kind */
};

/* Where the spans of a lane with exactly these times are, since the first op; gives how many. */
size_t gt_model_find_times(const struct gt_explore *explore, uint32_t lane, int64_t start_ns, int64_t end_ns,
                           size_t *first);
/* Where the row of a table is; false: in no lane. track: its stream or thread. */
bool gt_model_find(const struct gt_explore *explore, enum gt_timeline_kind kind, uint32_t track, uint32_t row,
                   struct gt_model_place *place);
/* The first lane of a kind and track, whose others follow; lane_count: none. */
size_t gt_model_first_lane(const struct gt_explore *explore, enum gt_timeline_kind kind, uint32_t track);

/* The row of a span in its table: of ops (also of collectives), ranges, projections, steps of the labels, cpu_ops,
   python_calls or calls; of a gap its number. */
uint32_t gt_model_row(const struct gt_explore *explore, enum gt_timeline_kind kind, size_t span);
/* When a span was, since the first op. */
struct gt_interval gt_model_times(const struct gt_explore *explore, enum gt_timeline_kind kind, size_t span);

/* The name of a span by its number, and what distinguishes it from others of its kind. */
struct gt_str gt_model_name(const struct gt_explore *explore, enum gt_timeline_kind kind, size_t span, gt_strid *id);
/* NULL: the kind has none. */
const char *gt_model_category(const struct gt_explore *explore, enum gt_timeline_kind kind, size_t span);

#endif
