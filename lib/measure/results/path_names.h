/* What names of ops have to do with the critical path: how much of it they are, how late they may be, and how much time
   is saved where they get faster. */
#ifndef GT_MEASURE_RESULTS_PATH_NAMES_H
#define GT_MEASURE_RESULTS_PATH_NAMES_H

#include "events/view.h"

struct gt_path_name {
    gt_strid name;    /* as the view names ops */
    uint8_t category; /* of its first op */
    uint32_t count;   /* all ops of that name in the trace */
    int64_t total_ns;
    uint32_t path_count;
    int64_t path_ns;
    uint32_t critical; /* ops with no slack */
    bool has_slack;    /* not all of its ops ended after the last window */
    int64_t slack_min_ns, slack_median_ns, slack_max_ns;
    bool has_saving;
    int64_t saved_ns; /* if its ops took 10 % less */
};

struct gt_path_names {
    struct gt_path_name *items; /* by path_ns, then total_ns, longest first */
    size_t count, on_path;
    int64_t faster_saves_ns; /* what windows save if all compute took 10 % less */
};

enum gt_status gt_path_names_init(struct gt_path_names *names, const struct gt_view *view, struct gt_error *err);
void gt_path_names_release(struct gt_path_names *names);

#endif
