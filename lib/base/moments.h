/* Exact mean, standard deviation, minimum and maximum of int64 samples, by 128-bit sums. */
#ifndef GT_BASE_MOMENTS_H
#define GT_BASE_MOMENTS_H

#include <stdint.h>

/* Mean and sample standard deviation (n - 1; 0 for fewer than two) from exact sums, so that neither order nor merging
   changes a bit of the results, whatever the samples. */
struct gt_moments {
    __int128 sum;
    unsigned __int128 squares; /* sum of squares, low 128 bits */
    uint64_t squares_carry;    /* and what is above them */
    uint64_t count;
    int64_t min, max; /* 0 while count is 0 */
};

static inline void gt_moments_add_squares(struct gt_moments *moments, unsigned __int128 squares) {
    moments->squares_carry += __builtin_add_overflow(moments->squares, squares, &moments->squares);
}

/* Zero-initialise before. */
static inline void gt_moments_add(struct gt_moments *moments, int64_t value) {
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    if (moments->count++ == 0)
        moments->min = moments->max = value;
    moments->min = value < moments->min ? value : moments->min;
    moments->max = value > moments->max ? value : moments->max;
    moments->sum += value;
    gt_moments_add_squares(moments, (unsigned __int128)magnitude * magnitude);
}

/* Samples on their way into moments, in 64 bits: so many at most, each from 0 to below the limit. Zero-initialise
 * before.
 */
#define GT_MOMENTS_BATCH       4096
#define GT_MOMENTS_BATCH_LIMIT ((uint64_t)1 << 26)
struct gt_moments_batch {
    uint64_t count, sum, squares;
    uint64_t min, max;
};

static inline void gt_moments_batch_add(struct gt_moments_batch *batch, uint64_t value) {
    batch->min = value < batch->min || batch->count == 0 ? value : batch->min;
    batch->max = value > batch->max ? value : batch->max;
    batch->sum += value;
    batch->squares += value * value;
    batch->count++;
}
/* Empties the batch. */
void gt_moments_take(struct gt_moments *moments, struct gt_moments_batch *batch);

void gt_moments_merge(struct gt_moments *into, const struct gt_moments *from);
double gt_moments_mean(const struct gt_moments *moments);
double gt_moments_stddev(const struct gt_moments *moments);

#endif
