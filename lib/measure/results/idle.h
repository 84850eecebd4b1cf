/* Idle time of whole devices: every gap with the reason why the GPU had nothing to do. */
#ifndef GT_MEASURE_RESULTS_IDLE_H
#define GT_MEASURE_RESULTS_IDLE_H

#include "base/moments.h"
#include "base/ns.h"
#include "base/quantile.h"
#include "measure/results/measure.h"

enum gt_idle_cause {
    GT_IDLE_SYNC,       /* the launching thread waited in a blocking call */
    GT_IDLE_HOST,       /* the CPU had not asked yet */
    GT_IDLE_LAUNCH,     /* the launch was under way */
    GT_IDLE_DEPENDENCY, /* queued, waiting for other work */
    GT_IDLE_UNKNOWN,    /* no launch call in the trace */
    GT_IDLE_END,        /* runs to the end of a chosen window */
    GT_IDLE_CAUSE_COUNT,
};
extern const char *const gt_idle_cause_names[GT_IDLE_CAUSE_COUNT];

/* A late start, of an op that had been launched long before, is two gaps, one after the other: until the launch had
   reached the GPU, which has the cause found, and after that, in which the op was queued. */
enum gt_gap_part { GT_GAP_WHOLE, GT_GAP_FIRST, GT_GAP_QUEUED };

/* Kept small, for there may be as many as ops. */
struct gt_idle_gap {
    int64_t start_ns, end_ns;
    uint32_t previous, next; /* positions of the op that ended last and of the one that ends the gap; GT_NO_ROW */
    uint32_t call;           /* launch call of the next op; GT_NO_ROW */
    uint8_t cause;
    bool has_launch_wait; /* the call starts after the start of the gap, on a known thread: the launch wait is the
                             time in between, which the CPU spent on something else */
    uint8_t part;         /* enum gt_gap_part */
};

/* The gaps of one device. */
struct gt_idle_device {
    size_t first, count;
    size_t late_starts;        /* as in gt_idle */
    int64_t launch_latency_ns; /* how long a launch takes after its call, as gaps show it */
    uint64_t twice_floor_ns; /* what remains of a gap even when the CPU is in time, in half nanoseconds: it is a median,
                                which may lie between two */
    __int128 total_ns;
};

struct gt_idle {
    struct gt_idle_gap *gaps; /* by device, then start */
    size_t count;
    size_t late_starts;             /* how many of them are two */
    struct gt_idle_device *devices; /* those of the view */
    size_t device_count;
};

struct gt_idle_sum {
    struct gt_moments gaps; /* their lengths */
    __int128 twice_recoverable_ns;
};

enum gt_status gt_idle_init(struct gt_idle *idle, const struct gt_view *view, struct gt_error *err);
void gt_idle_release(struct gt_idle *idle);

/* Of the gaps of one device by cause; one pass over them. */
void gt_idle_sum_causes(const struct gt_idle *idle, size_t device, struct gt_idle_sum sums[GT_IDLE_CAUSE_COUNT]);

/* The device of a gap, by its number. */
size_t gt_idle_device_of(const struct gt_idle *idle, size_t gap);

static inline int64_t gt_idle_gap_ns(const struct gt_idle_gap *gap) {
    return gt_ns_between(gap->start_ns, gap->end_ns);
}

/* Of a late start the time in which the op was queued, else 0. */
static inline int64_t gt_idle_gap_queued_ns(const struct gt_idle_gap *gap) {
    return gap->part == GT_GAP_FIRST ? gt_idle_gap_ns(gap + 1) : 0;
}

/* When the GPU ran something again: of a late start the end of both gaps. */
static inline int64_t gt_idle_gap_whole_end_ns(const struct gt_idle_gap *gap) {
    return gap[gap->part == GT_GAP_FIRST].end_ns;
}

/* In half nanoseconds. */
static inline int64_t gt_idle_gap_twice_recoverable_ns(const struct gt_idle_gap *gap,
                                                       const struct gt_idle_device *device) {
    uint64_t twice_ns = 2 * (uint64_t)gt_idle_gap_ns(gap), floor_ns = device->twice_floor_ns;
    uint64_t above_ns = gap->cause <= GT_IDLE_LAUNCH && twice_ns > floor_ns ? twice_ns - floor_ns : 0;
    return above_ns > INT64_MAX ? INT64_MAX : (int64_t)above_ns;
}

static inline void gt_idle_sum_add(struct gt_idle_sum *sum, const struct gt_idle_gap *gap,
                                   const struct gt_idle_device *device) {
    gt_moments_add(&sum->gaps, gt_idle_gap_ns(gap));
    if (gap->cause <= GT_IDLE_LAUNCH) /* others have nothing that is recoverable */
        sum->twice_recoverable_ns += gt_idle_gap_twice_recoverable_ns(gap, device);
}

/* The CPU part of a gap: from its start until the launch call of the next op had returned, on the thread of this call.
   Of a late start the rest is not the thread's. */
struct gt_idle_cpu_part {
    int64_t start_ns, end_ns;
    uint32_t thread;
};

/* false: it has none. */
static inline bool gt_idle_gap_cpu_part(const struct gt_idle_gap *gap, const struct gt_calls *calls,
                                        struct gt_idle_cpu_part *part) {
    if (gap->call == GT_NO_ROW || gap->part == GT_GAP_QUEUED || calls->thread[gap->call] == GT_NO_TRACK)
        return false;
    int64_t call_end_ns = calls->end_ns[gap->call];
    *part = (struct gt_idle_cpu_part){gap->start_ns, call_end_ns < gap->end_ns ? call_end_ns : gap->end_ns,
                                      calls->thread[gap->call]};
    return part->end_ns > part->start_ns;
}

/* The step of the op that ends the gap; GT_NO_ROW: none. */
static inline uint32_t gt_idle_gap_step(const struct gt_view *view, const struct gt_idle_gap *gap) {
    return gap->next == GT_NO_ROW ? GT_NO_ROW : view->labels->op_step[view->row[gap->next]];
}

/* Whether the CPU is to blame: its launch came late. Such gaps have a call. */
static inline bool gt_idle_gap_is_of_cpu(const struct gt_idle_gap *gap) {
    return gap->cause == GT_IDLE_SYNC || gap->cause == GT_IDLE_HOST;
}

#endif
