/* Groups of lengths by a key of two numbers: made on first use, in order of appearance. */
#ifndef GT_MEASURE_RESULTS_KEYED_H
#define GT_MEASURE_RESULTS_KEYED_H

#include "events/view.h"
#include "measure/results/grouping.h"

/* Sums are exact. */
struct gt_tally {
    __int128 sum;
    uint64_t count;
    int64_t min, max; /* 0 while count is 0 */
};

static inline void gt_keyed_tally_add(struct gt_tally *tally, int64_t value) {
    if (tally->count++ == 0)
        tally->min = tally->max = value;
    tally->min = value < tally->min ? value : tally->min;
    tally->max = value > tally->max ? value : tally->max;
    tally->sum += value;
}

static inline void gt_keyed_tally_merge(struct gt_tally *into, const struct gt_tally *from) {
    if (from->count == 0)
        return;
    into->min = into->count == 0 || from->min < into->min ? from->min : into->min;
    into->max = into->count == 0 || from->max > into->max ? from->max : into->max;
    into->count += from->count;
    into->sum += from->sum;
}

static inline double gt_keyed_tally_mean(const struct gt_tally *tally) {
    return tally->count ? (double)tally->sum / (double)tally->count : 0;
}

struct gt_keyed_group {
    uint64_t hi, lo; /* its key */
    struct gt_tally lengths;
};

#define GT_KEYED_RECENT 1024 /* a power of two */

/* Zero-initialise. */
struct gt_keyed {
    struct gt_keyed_group *items;
    size_t count;
    struct gt_grouping groups; /* owns the items */
    uint32_t *recent;          /* GT_KEYED_RECENT, by a hash of the key: the group that was found there last */
    bool failed;               /* sticky: memory was short */
};

/* Adds a length to the group of the key; its index, GT_NO_ROW when memory was short. One look-up, and none where the
   key is that of the time before. */
uint32_t gt_keyed_add(struct gt_keyed *keyed, uint64_t hi, uint64_t lo, int64_t length_ns);
/* The same of all lengths of a tally. */
void gt_keyed_merge(struct gt_keyed *keyed, uint64_t hi, uint64_t lo, const struct gt_tally *lengths);
/* NULL if there is none. */
const struct gt_keyed_group *gt_keyed_find(const struct gt_keyed *keyed, uint64_t hi, uint64_t lo);
void gt_keyed_release(struct gt_keyed *keyed);

#endif
