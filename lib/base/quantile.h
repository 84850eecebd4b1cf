/* Exact order statistics. */
#ifndef GT_BASE_QUANTILE_H
#define GT_BASE_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* A run of samples, borrowed. */
struct gt_slice {
    const int64_t *samples;
    size_t count;
    const uint32_t *narrow; /* the samples, where all fit; else NULL */
};

static inline int64_t gt_quantile_sample(const struct gt_slice *slice, size_t index) {
    return slice->narrow ? (int64_t)slice->narrow[index] : slice->samples[index];
}

#define GT_QUANTILES_MOST 4

/* The value at level * (count - 1) of all slices together, interpolated linearly between neighbours, for each of up to
   GT_QUANTILES_MOST levels. 0 for no sample. Several at once cost little more than one. */
void gt_quantile_all(const struct gt_slice *slices, size_t slice_count, const double *levels, size_t level_count,
                     double *values);
double gt_quantile(const int64_t *samples, size_t count, double level);
/* Likewise, of real samples, none of them NaN: they are sorted in place. */
double gt_quantile_real(double *samples, size_t count, double level);

#endif
