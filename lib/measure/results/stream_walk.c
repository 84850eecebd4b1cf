/* The gaps of streams: one linear pass over the view's ops by stream, without allocations. */
#include "measure/results/stream_walk.h"

#include "base/ns.h"
#include "measure/results/measure.h"

enum gt_status gt_stream_walk_read_bounds(struct gt_gap_bounds *bounds, const struct gt_view *view,
                                          struct gt_error *err) {
    *bounds =
        (struct gt_gap_bounds){gt_option_int(view, GT_OPTION_hist_min_ns), gt_option_int(view, GT_OPTION_hist_max_ns)};
    if (bounds->least_ns <= bounds->most_ns)
        return GT_OK;
    return gt_fail_usage(err, "the histogram's shortest gap, %g us, is longer than its longest, %g us",
                         (double)bounds->least_ns / 1e3, (double)bounds->most_ns / 1e3);
}

bool gt_stream_walk_is_bounded(const struct gt_view *view) {
    return gt_option_int(view, GT_OPTION_hist_min_ns) != INT64_MIN ||
           gt_option_int(view, GT_OPTION_hist_max_ns) != INT64_MAX;
}

static bool is_wanted(const struct gt_stream_walk *walk, int64_t gap_ns) {
    return !walk->bounds || (gap_ns >= walk->bounds->least_ns && gap_ns <= walk->bounds->most_ns);
}

/* Takes the next op of the lane in. */
static void advance(struct gt_stream_walk *walk, uint32_t position) {
    if (walk->index == 0 || walk->view->end_ns[position] >= walk->reached_ns) {
        walk->reached_ns = walk->view->end_ns[position];
        walk->last = position;
    }
    walk->index++;
}

bool gt_stream_walk_next(struct gt_stream_walk *walk, struct gt_stream_gap *gap) {
    const struct gt_view *view = walk->view;
    for (; walk->lane < view->lane_count; walk->lane++, walk->index = 0) {
        const struct gt_view_lane *lane = &view->lanes[walk->lane];
        while (walk->index < lane->count) {
            uint32_t next = view->lane_order[lane->first + walk->index];
            bool is_gap = walk->index > 0 && view->start_ns[next] > walk->reached_ns &&
                          is_wanted(walk, gt_ns_between(walk->reached_ns, view->start_ns[next]));
            if (is_gap)
                *gap = (struct gt_stream_gap){
                    .lane = walk->lane,
                    .start_ns = walk->reached_ns,
                    .end_ns = view->start_ns[next],
                    .gap_ns = gt_ns_between(walk->reached_ns, view->start_ns[next]),
                    .previous = walk->last,
                    .next = next,
                };
            advance(walk, next);
            if (is_gap)
                return true;
        }
    }
    return false;
}

size_t gt_stream_walk_gap_count(const struct gt_view *view, const struct gt_gap_bounds *bounds) {
    size_t count = 0;
    struct gt_stream_gap gap;
    for (struct gt_stream_walk walk = {.view = view, .bounds = bounds}; gt_stream_walk_next(&walk, &gap);)
        count++;
    return count;
}

const char *gt_stream_walk_why_none(const struct gt_view *view) {
    if (view->is_summed)
        return NULL;
    return gt_stream_walk_is_bounded(view) ? "No gap of any stream is within --hist-min and --hist-max."
                                           : "No gaps on any stream.";
}
