/* CPU time on the critical path by what the thread was doing: innermost range, operator and call. */
#ifndef GT_MEASURE_RESULTS_PATH_CPU_H
#define GT_MEASURE_RESULTS_PATH_CPU_H

#include "events/view.h"

struct gt_path_cpu_item {
    gt_strid range, cpu_op, call; /* GT_STRID_EMPTY: none */
    bool is_handover;             /* between two threads, in neither */
    int64_t total_ns;
};

/* What a segment of CPU time is mostly in. GT_STRID_EMPTY: nothing, or the segment is of something else. */
struct gt_path_cpu_place {
    gt_strid range, cpu_op;
};

struct gt_path_cpu {
    struct gt_path_cpu_place *places; /* of all segments of all walks */
    size_t *walk_first;               /* by walk: its first one */
    struct gt_path_cpu_item *items;   /* longest first */
    size_t count;
    gt_strid main_range; /* with most time over all its items; GT_STRID_EMPTY: none */
    int64_t main_range_ns;
    int64_t total_ns;  /* of all */
    int64_t window_ns; /* length of the windows */
};

enum gt_status gt_path_cpu_init(struct gt_path_cpu *cpu, const struct gt_view *view, struct gt_error *err);
void gt_path_cpu_release(struct gt_path_cpu *cpu);

#endif
