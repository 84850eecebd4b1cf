/* Exact order statistics of int64 samples by selection, and exact moments by 128-bit sums. */
#ifndef GT_BASE_QUANTILE_H
#define GT_BASE_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* The value at q * (count - 1), interpolated linearly between neighbours. Reorders the samples. 0 for no sample. */
double gt_quantile(int64_t *samples, size_t count, double q);

/* Mean and sample standard deviation (n - 1; 0 for fewer than two) from exact sums, independent of order. */
struct gt_moments {
    uint64_t count;
    __int128 sum;
    unsigned __int128 sum_of_squares; /* of offsets from base */
    int64_t base;                     /* first sample: keeps the squares small */
    int64_t min, max;
};

void gt_moments_add(struct gt_moments *moments, int64_t value); /* zero-initialise before */
void gt_moments_merge(struct gt_moments *into, const struct gt_moments *from);
double gt_moments_mean(const struct gt_moments *moments);
double gt_moments_stddev(const struct gt_moments *moments);

#endif
