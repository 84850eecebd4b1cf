/* The gaps of streams: one linear pass over the view's ops by stream, without memory of its own. */
#include "measure/results/stream_walk.h"

#include "base/ns.h"
#include "base/num.h"
#include "measure/results/measure.h"

static enum gt_status parse_bound(const char *text, int64_t *bound_ns, struct gt_error *err) {
    if (!text || gt_num_parse_decimal(gt_str_of(text), 3, bound_ns))
        return GT_OK;
    return gt_fail_usage(err, "'%s' is no number of microseconds for a bound of the histogram; write for example 2.5",
                         text);
}

enum gt_status gt_gap_bounds_read(struct gt_gap_bounds *bounds, const struct gputime_options *options,
                                  struct gt_error *err) {
    *bounds = (struct gt_gap_bounds){INT64_MIN, INT64_MAX};
    enum gt_status status = parse_bound(options->hist_min, &bounds->least_ns, err);
    if (status == GT_OK)
        status = parse_bound(options->hist_max, &bounds->most_ns, err);
    if (status == GT_OK && bounds->least_ns > bounds->most_ns)
        return gt_fail_usage(err, "the least gap of the histogram, '%s', is above the largest, '%s'", options->hist_min,
                             options->hist_max);
    return status;
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

const char *gt_stream_gaps_missing(const struct gt_view *view) {
    if (view->is_summed)
        return NULL;
    return view->options->hist_min || view->options->hist_max
               ? "No gap between the ops of any stream is within --hist-min and --hist-max."
               : "No gap between the ops of any stream.";
}
