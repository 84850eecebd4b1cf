/* Groups of lengths by a key of two numbers: made on first use, in order of appearance. */
#ifndef GT_MEASURE_KEYED_H
#define GT_MEASURE_KEYED_H

#include "events/view.h"
#include "measure/grouping.h"
#include "measure/samples.h"

/* Sums are exact. */
struct gt_tally {
    __int128 sum;
    uint64_t count;
    int64_t min, max; /* 0 while count is 0 */
};

static inline void gt_tally_add(struct gt_tally *tally, int64_t value) {
    if (tally->count++ == 0)
        tally->min = tally->max = value;
    tally->min = value < tally->min ? value : tally->min;
    tally->max = value > tally->max ? value : tally->max;
    tally->sum += value;
}

static inline double gt_tally_mean(const struct gt_tally *tally) {
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

/* The key of the op at a position; false: it belongs to no group. */
typedef bool gt_op_key_fn(const struct gt_view *view, size_t position, uint64_t *hi, uint64_t *lo);

/* Adds the durations of the view's ops. group_of (by position; may be NULL) is set to the group of each, GT_NO_ROW for
   none. */
enum gt_status gt_keyed_add_ops(struct gt_keyed *keyed, const struct gt_view *view, gt_op_key_fn *key,
                                uint32_t *group_of, struct gt_error *err);

/* Those durations, each group a set of its index. false: memory was short. Release the samples either way. */
bool gt_keyed_op_samples(const struct gt_keyed *keyed, const struct gt_view *view, const uint32_t *group_of,
                         struct gt_samples *samples);

#endif
