/* The gaps of all devices in little memory: there may be as many as ops, and most begin where one op ends and end where
   another begins. */
#ifndef GT_EXPLORE_IDLE_LANES_H
#define GT_EXPLORE_IDLE_LANES_H

#include "base/intervals.h"
#include "events/view.h"
#include "measure/results/idle_code.h"
#include "measure/results/tiles.h"

struct gt_idle_lanes {
    const struct gt_store *store;
    size_t count;
    uint32_t *previous, *next; /* rows of ops around a gap; GT_NO_ROW */
    uint8_t *code;             /* cause, activity, part, and whether it is an odd one */
    uint32_t *odd;             /* numbers of the gaps with other times than those of the ops */
    struct gt_interval *odd_times;
    size_t odd_count;
};

/* false: memory was short. Release in any case. */
bool gt_idle_lanes_init(struct gt_idle_lanes *lanes, const struct gt_view *view, const struct gt_idle *idle,
                        const struct gt_idle_code *code);
void gt_idle_lanes_release(struct gt_idle_lanes *lanes);
size_t gt_idle_lanes_bytes(const struct gt_idle_lanes *lanes);

/* A gap by its number. */
struct gt_idle_lanes_gap {
    int64_t start_ns, end_ns;
    uint32_t previous, next;
    enum gt_idle_cause cause;
    enum gt_host_activity activity;
    enum gt_gap_part part;
};
struct gt_idle_lanes_gap gt_idle_lanes_gap(const struct gt_idle_lanes *lanes, size_t gap);
enum gt_idle_cause gt_idle_lanes_cause(const struct gt_idle_lanes *lanes, size_t gap);

/* As struct gt_spans wants it; categories are causes. */
void gt_idle_lanes_read(const void *data, size_t first, size_t count, struct gt_span *out);

#endif
