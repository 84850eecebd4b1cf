/* Exact order statistics of int64 samples by selection, and exact moments by 128-bit sums. */
#ifndef GT_BASE_QUANTILE_H
#define GT_BASE_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* The value at q * (count - 1), interpolated linearly between neighbours. Reorders the samples. 0 for no sample. */
double gt_quantile(int64_t *samples, size_t count, double q);

/* Mean and sample standard deviation (n - 1; 0 for fewer than two) from exact sums, so that neither order nor merging
   changes a bit of the results, whatever the samples. */
struct gt_moments {
    __int128 sum;
    unsigned __int128 squares; /* sum of squares, low 128 bits */
    uint64_t squares_carry;    /* and what is above them */
    uint64_t count;
    int64_t min, max; /* 0 while count is 0 */
};

void gt_moments_add(struct gt_moments *moments, int64_t value); /* zero-initialise before */
void gt_moments_merge(struct gt_moments *into, const struct gt_moments *from);
double gt_moments_mean(const struct gt_moments *moments);
double gt_moments_stddev(const struct gt_moments *moments);

#endif
