/* Times of gaps of which only the median is asked: those that fit are counted one by one, by their length. */
#ifndef GT_MEASURE_RESULTS_IDLE_TIMES_H
#define GT_MEASURE_RESULTS_IDLE_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Medians of most traces are some microseconds: they are found without the times themselves. */
struct gt_idle_times {
    uint32_t *counts; /* by time, 0 ns to below `room` */
    size_t room;
    size_t count, too_low, too_high; /* how many there are, and how many of them do not fit */
};

/* Into how many counts the times of so many gaps go: no more memory than half of the times would take. */
size_t gt_idle_times_room(size_t gap_count);

static inline void gt_idle_times_add(struct gt_idle_times *times, int64_t time_ns) {
    times->count++;
    if (__builtin_expect((uint64_t)time_ns < times->room, 1)) {
        times->counts[time_ns]++;
    } else {
        times->too_low += time_ns < 0;
        times->too_high += time_ns > 0;
    }
}

/* Forgets what was added. */
void gt_idle_times_clear(struct gt_idle_times *times);

/* The median of the times of some parts, all of which have as much room; 0 where there are none, -1 where it is below
   0. false: it is not known, as those that do not fit lie there. */
bool gt_idle_times_median(const struct gt_idle_times *parts, size_t part_count, double *median_ns);

#endif
