/* Exact order statistics. */
#ifndef GT_BASE_QUANTILE_H
#define GT_BASE_QUANTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes the samples of some positions, first to end - 1, one of each at most; how many. The same ones each time. */
typedef size_t gt_quantile_fn(const void *context, size_t first, size_t end, int64_t *samples);

/* A run of samples, borrowed. */
struct gt_slice {
    const int64_t *samples;
    size_t count;
    const uint32_t *narrow; /* the samples, where all fit; else NULL */
    gt_quantile_fn *make;   /* makes them whenever they are looked at, which needs no memory for them; else NULL */
    const void *context;    /* of make */
    size_t position_count;  /* likewise: count of them have a sample */
};

/* Of samples that are stored. */
static inline int64_t gt_quantile_sample(const struct gt_slice *slice, size_t index) {
    return slice->narrow ? (int64_t)slice->narrow[index] : slice->samples[index];
}

#define GT_QUANTILES_MOST 4

/* The value at level * (count - 1) of all slices together, interpolated linearly between neighbours, for each of up to
   GT_QUANTILES_MOST levels. 0 for no sample. Several at once cost little more than one. */
void gt_quantile_all(const struct gt_slice *slices, size_t slice_count, const double *levels, size_t level_count,
                     double *values);
double gt_quantile(const int64_t *samples, size_t count, double level);
/* Likewise, of samples of which counts[i] are i, for i below the number of counts, and the rest are larger. false: it
   takes one of these. */
bool gt_quantile_of_counts(const uint32_t *counts, size_t counted, size_t count, double level, double *value);
/* Likewise, of real samples, none of them NaN: they are sorted in place. */
double gt_quantile_real(double *samples, size_t count, double level);

#endif
