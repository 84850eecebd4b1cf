/* Counters as curves of a timeline: sampled hardware counters, memory, and how many ops are queued. */
#ifndef GT_MEASURE_RESULTS_CURVES_H
#define GT_MEASURE_RESULTS_CURVES_H

#include "base/arena.h"
#include "measure/results/lane_list.h"

/* 64 values, or 16 such blocks. */
struct gt_curve_block {
    int64_t time_ns; /* of its first value */
    double low, high;
};

enum { GT_CURVE_LEVELS = 6, GT_CURVE_BLOCK = 64, GT_CURVE_FAN = 16 };

struct gt_curve {
    const struct gt_store *store;
    int64_t origin_ns; /* what windows count from */
    uint32_t track;    /* of the store's counters; GT_NO_TRACK: the next two */
    int64_t *times_ns;
    double *values;
    size_t count;
    struct gt_curve_block *levels[GT_CURVE_LEVELS];
    size_t level_count, block_counts[GT_CURVE_LEVELS];
};

/* Zero-initialise. */
struct gt_curves {
    struct gt_curve *items;
    size_t count, capacity;
};

/* All of a view, as far as it asks for them, with a lane for each whose spans.first is its number. Texts that are made
   are in the arena. GT_ERR: memory was short. Release in any case. */
enum gt_status gt_curves_make(struct gt_curves *curves, const struct gt_view *view, struct gt_arena *arena,
                              struct gt_lane_list *list, struct gt_error *err);
void gt_curves_release(struct gt_curves *curves);
size_t gt_curves_bytes(const struct gt_curves *curves);

/* A growing list. Zero-initialise. */
struct gt_curve_points {
    struct gt_timeline_point *items;
    size_t count, capacity;
    bool failed;
};

/* Adds the points of a window, times since the first op: the value before it, and those in it, of which more than
   `most` are joined at a grain. Gives the grain, 0: all are single. */
int64_t gt_curve_window(const struct gt_curve *curve, int64_t from_ns, int64_t to_ns, size_t most, int64_t grain_ns,
                        struct gt_curve_points *out);

#endif
