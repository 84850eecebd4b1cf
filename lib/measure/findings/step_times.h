/* How long steps take on the GPU: from the end of the step before to their own. Unlike their length on the CPU this
   does not vary with how far the CPU is ahead. */
#ifndef GT_MEASURE_FINDINGS_STEP_TIMES_H
#define GT_MEASURE_FINDINGS_STEP_TIMES_H

#include "events/view.h"
#include "measure/results/step_set.h"

/* A step after the warm-up, on one device. */
struct gt_step_time {
    uint32_t step; /* index into labels->steps */
    uint32_t device;
    int64_t start_ns, end_ns; /* end of the last op of the step before, and of its own last op */
    uint32_t loop;            /* index into loops */
    size_t ops;               /* between them, whoever launched them; where they are counted */
};

/* Steps of a device whose numbers grow: where they start again, the program runs another loop. */
struct gt_step_loop {
    size_t first, count; /* of items */
    int64_t usual_ns;    /* the lower median */
    size_t usual_ops;    /* likewise, where ops are counted */
};

struct gt_step_times_device {
    size_t first, count;           /* of items */
    size_t first_loop, loop_count; /* of loops */
};

struct gt_step_times {
    struct gt_step_time *items; /* by device, then time */
    size_t count;
    struct gt_step_times_device *devices; /* those of the view */
    struct gt_step_loop *loops;
    size_t loop_count;
};

/* false: memory was short, and all is empty. */
bool gt_step_times_init(struct gt_step_times *times, const struct gt_view *view, const struct gt_step_set *steps);
/* Counts the ops of all, which few traces need. false: memory was short. */
bool gt_step_times_count_ops(struct gt_step_times *times, const struct gt_view *view);
void gt_step_times_release(struct gt_step_times *times);

static inline int64_t gt_step_time_ns(const struct gt_step_time *time) {
    return gt_ns_between(time->start_ns, time->end_ns);
}

/* Lower median. 0 for no sample. Sorts them. */
int64_t gt_step_times_lower_median(int64_t *samples, size_t count);

/* The item that holds a moment, at or after *next, which only grows; SIZE_MAX: none does. */
static inline size_t gt_step_times_at(const struct gt_step_times *times, const struct gt_step_times_device *device,
                                      int64_t time_ns, size_t *next) {
    *next = *next < device->first ? device->first : *next;
    size_t end = device->first + device->count;
    while (*next < end && times->items[*next].end_ns <= time_ns)
        ++*next;
    return *next < end && times->items[*next].start_ns <= time_ns ? *next : SIZE_MAX;
}

#endif
