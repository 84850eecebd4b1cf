/* How fast kernels were launched, over all and for each process: what the tables launch_rate and process_launch_rates
   say. */
#ifndef GT_MEASURE_RESULTS_LAUNCH_RATES_H
#define GT_MEASURE_RESULTS_LAUNCH_RATES_H

#include "events/view.h"

/* Kernels of one process, or of all. */
struct gt_launch_rate {
    uint32_t process; /* GT_NO_TRACK: of all */
    size_t count, under_5us, under_10us, under_20us;
    int64_t window_ns; /* without long gaps */
    double per_second;
    int64_t span_ns; /* with them; 1 at least */
    double span_per_second;
    double median_ns, p90_ns, p99_ns; /* of the kernels' lengths */
    bool is_storm;
};

struct gt_launch_rates {
    struct gt_launch_rate *items; /* by process track, then that of all */
    size_t count;
};

enum gt_status gt_launch_rates_init(struct gt_launch_rates *rates, const struct gt_view *view, struct gt_error *err);
/* The rate of all kernels alone, and of their lengths the median only, which is 0 where launches come too slowly to be
   a storm: a fraction of the cost. */
enum gt_status gt_launch_rates_of_all(struct gt_launch_rate *rate, const struct gt_view *view, struct gt_error *err);
void gt_launch_rates_release(struct gt_launch_rates *rates);

#endif
