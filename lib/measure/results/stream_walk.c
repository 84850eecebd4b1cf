/* The gaps of streams: one linear pass over the view's ops by stream, without memory of its own. */
#include "measure/results/stream_walk.h"

#include "base/ns.h"
#include "measure/results/measure.h"

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
            bool is_gap = walk->index > 0 && view->start_ns[next] > walk->reached_ns;
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

size_t gt_stream_walk_gap_count(const struct gt_view *view) {
    size_t count = 0;
    struct gt_stream_gap gap;
    for (struct gt_stream_walk walk = {.view = view}; gt_stream_walk_next(&walk, &gap);)
        count++;
    return count;
}
