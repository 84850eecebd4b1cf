/* Counts times by their length, and finds the median of what several slices have counted. */
#include "measure/results/idle_times.h"

#include <string.h>

size_t gt_idle_times_room(size_t gap_count) {
    enum { LEAST = 256, MOST = 32768 };
    size_t room = gap_count / 2;
    return room < LEAST ? LEAST : room < MOST ? room : MOST;
}

void gt_idle_times_clear(struct gt_idle_times *times) {
    memset(times->counts, 0, times->room * sizeof *times->counts);
    times->count = times->too_low = times->too_high = 0;
}

/* Those below a median, and the lower one of the two in the middle: adds the counts time by time. */
static double walk_to_middle(const struct gt_idle_times *parts, size_t part_count, size_t count, size_t below) {
    size_t lower_ns = SIZE_MAX;
    for (size_t ns = 0;; ns++) {
        for (size_t i = 0; i < part_count; i++)
            below += parts[i].counts[ns];
        if (lower_ns == SIZE_MAX && below > (count - 1) / 2)
            lower_ns = ns;
        if (below > count / 2)
            return (double)(lower_ns + ns) / 2;
    }
}

/* All that are below 0 say the same: calls return after their ops have started. */
bool gt_idle_times_median(const struct gt_idle_times *parts, size_t part_count, double *median_ns) {
    size_t count = 0, too_low = 0, too_high = 0;
    for (size_t i = 0; i < part_count; i++) {
        count += parts[i].count;
        too_low += parts[i].too_low;
        too_high += parts[i].too_high;
    }
    *median_ns = too_low > count / 2 ? -1 : 0;
    if (count == 0 || too_low > count / 2)
        return true;
    if (too_low > (count - 1) / 2 || too_high > (count - 1) / 2) /* one of the two in the middle */
        return false;
    *median_ns = walk_to_middle(parts, part_count, count, too_low);
    return true;
}
