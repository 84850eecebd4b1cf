/* CPU time on the critical path by what the thread was doing: innermost range, operator and call. */
#ifndef GT_MEASURE_RESULTS_PATH_CPU_H
#define GT_MEASURE_RESULTS_PATH_CPU_H

#include "events/view.h"

struct gt_path_cpu_item {
    gt_strid range, cpu_op, call; /* GT_STRID_EMPTY: none */
    bool is_handover;             /* between two threads, in neither */
    int64_t total_ns;
};

struct gt_path_cpu {
    struct gt_path_cpu_item *items; /* longest first */
    size_t count;
    int64_t total_ns;  /* of all */
    int64_t window_ns; /* length of the windows */
};

enum gt_status gt_path_cpu_init(struct gt_path_cpu *cpu, const struct gt_view *view, struct gt_error *err);
void gt_path_cpu_release(struct gt_path_cpu *cpu);

#endif
