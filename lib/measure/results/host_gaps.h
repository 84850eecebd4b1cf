/* Gaps that the host made, each counted once: by what the rules on idle time say of it. */
#ifndef GT_MEASURE_RESULTS_HOST_GAPS_H
#define GT_MEASURE_RESULTS_HOST_GAPS_H

#include "measure/results/idle.h"

/* Gaps of a device this long are pauses: loading, compiling, waiting for data. Launching alone never takes as long. */
#define GT_PAUSE_NS 1000000

/* The first that holds. */
enum gt_host_gap {
    GT_HOST_GAP_WARM_UP,
    GT_HOST_GAP_NONE,     /* not made by the host, or a launch that took as long as a pause */
    GT_HOST_GAP_READBACK, /* after a copy from the GPU that the CPU waited for, of the kind with the longest gaps, if it
                             launched less than a pause after it had the data */
    GT_HOST_GAP_SYNC,     /* cause sync */
    GT_HOST_GAP_STALL,    /* cause host, a pause */
    GT_HOST_GAP_LATE,     /* cause host or launch, no pause */
    GT_HOST_GAP_COUNT,
};

/* Copies from the GPU of one name by one call, which the CPU waits for. */
struct gt_readback {
    gt_strid copy, call, wait; /* wait: the call after it; GT_STRID_EMPTY: the copy call itself waits */
    size_t count;              /* steady; 0: there are none worth reporting */
    uint64_t most_bytes;       /* of the largest of them; UINT64_MAX where the trace does not say */
    uint32_t longest;          /* position of the one with the longest gap after it */
    uint32_t *waits; /* by copy, in the order of the view: the call in which it is waited for, the copy's own or
                        the one after it */
};

struct gt_host_gaps {
    uint8_t *of;                      /* enum gt_host_gap, by gap */
    size_t counts[GT_HOST_GAP_COUNT]; /* but for GT_HOST_GAP_NONE */
    __int128 late_ns;                 /* of all of GT_HOST_GAP_LATE */
    struct gt_readback readback;
};

/* Which copies count as readback. */
struct gt_readback_limits {
    size_t fewest_copies;
    double most_bytes; /* those of so many or more move data, and are not read for a value */
};

/* Gaps before `steady_ns` are warm-up. */
enum gt_status gt_host_gaps_init(struct gt_host_gaps *gaps, const struct gt_view *view, const struct gt_idle *idle,
                                 int64_t steady_ns, struct gt_readback_limits limits, struct gt_error *err);
void gt_host_gaps_release(struct gt_host_gaps *gaps);

#endif
