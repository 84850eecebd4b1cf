/* Gaps that the host made, each counted once: by what the rules on idle time say of it. */
#ifndef GT_MEASURE_RESULTS_HOST_GAPS_H
#define GT_MEASURE_RESULTS_HOST_GAPS_H

#include "measure/results/idle.h"

/* Gaps of a device this long are pauses: loading, compiling, waiting for data. Launching alone never takes as long. */
#define GT_PAUSE_NS 1000000

/* The first that holds. */
enum gt_host_gap {
    GT_HOST_GAP_WARM_UP,
    GT_HOST_GAP_NONE,     /* not made by the host */
    GT_HOST_GAP_READBACK, /* after a copy from the GPU that the CPU waited for, of the kind with the longest gaps */
    GT_HOST_GAP_SYNC,     /* cause sync */
    GT_HOST_GAP_STALL,    /* cause host, a pause */
    GT_HOST_GAP_LATE,     /* cause host or launch, no pause */
    GT_HOST_GAP_COUNT,
};

struct gt_gap_sum {
    size_t count;
    __int128 total_ns, twice_recoverable_ns;
};
int64_t gt_host_gaps_sum_recoverable(const struct gt_gap_sum *sum);

/* Copies from the GPU of one name by one call, which the CPU waits for. */
struct gt_readback {
    gt_strid copy, call, wait; /* wait: the call after it; GT_STRID_EMPTY: the copy call itself waits */
    size_t count;              /* 0: there are none worth reporting */
    uint32_t range;            /* an innermost range of theirs; GT_NO_ROW */
    size_t in_range;           /* how many are in ranges of its name */
};

struct gt_host_gaps {
    uint8_t *of; /* enum gt_host_gap, by gap */
    struct gt_gap_sum sums[GT_HOST_GAP_COUNT];
    const struct gt_idle_gap *longest_stall; /* NULL: there is none */
    __int128 pauses_ns;                      /* after the warm-up, of whatever cause */
    struct gt_readback readback;
};

/* Gaps before `steady_ns` are warm-up. Borrows `idle`, which is that of the view. */
enum gt_status gt_host_gaps_init(struct gt_host_gaps *gaps, const struct gt_view *view, const struct gt_idle *idle,
                                 int64_t steady_ns, struct gt_error *err);
void gt_host_gaps_release(struct gt_host_gaps *gaps);

#endif
