/* Idle time of whole devices: every gap with the reason why the GPU had nothing to do. */
#ifndef GT_MEASURE_IDLE_H
#define GT_MEASURE_IDLE_H

#include "measure/outers.h"

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

/* What the launching thread did during a host gap. */
enum gt_host_activity { GT_HOST_API, GT_HOST_RANGE, GT_HOST_OUTSIDE, GT_HOST_ACTIVITY_COUNT };
extern const char *const gt_host_activity_names[GT_HOST_ACTIVITY_COUNT];

struct gt_idle_gap {
    int64_t start_ns, end_ns, gap_ns;
    uint32_t device;              /* index into view->devices */
    uint32_t previous, next;      /* positions of the op that ended last and of the one that ends the gap; GT_NO_ROW */
    uint32_t call;                /* launch call of the next op; GT_NO_ROW */
    uint8_t cause, activity;      /* activity only counts for host gaps */
    bool is_late;                 /* the call starts after the gap has begun, on a thread that is known: the stretch
                                     between is what the CPU spent otherwise */
    int64_t twice_recoverable_ns; /* in half nanoseconds: a median may lie between two */
};

struct gt_idle {
    struct gt_idle_gap *gaps; /* by device, then start */
    size_t count;
    struct gt_outers outers; /* empty where no launch was late */
};

enum gt_status gt_idle_init(struct gt_idle *idle, const struct gt_view *view, struct gt_error *err);
void gt_idle_release(struct gt_idle *idle);

/* The step of the op that ends the gap; GT_NO_ROW: none. */
static inline uint32_t gt_idle_gap_step(const struct gt_view *view, const struct gt_idle_gap *gap) {
    return gap->next == GT_NO_ROW ? GT_NO_ROW : view->labels->op_step[view->row[gap->next]];
}

/* Whether the CPU is to blame: its launch came late. Such gaps have a call. */
static inline bool gt_idle_gap_is_of_cpu(const struct gt_idle_gap *gap) {
    return gap->cause == GT_IDLE_SYNC || gap->cause == GT_IDLE_HOST;
}

#endif
