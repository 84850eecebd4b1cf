/* Values sorted into sets in two linear passes: count the members of every set, then place every value. */
#ifndef GT_MEASURE_RESULTS_SAMPLES_H
#define GT_MEASURE_RESULTS_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/quantile.h"

struct gt_samples {
    size_t set_count;
    size_t *bounds;  /* set_count + 2; once filled, set i has the values from bounds[i] to bounds[i + 1] */
    int64_t *values; /* placed by set */
};

/* What a table says about one set. */
struct gt_sample_stats {
    size_t count;
    int64_t total_ns, min_ns, max_ns;
    double mean_ns, stddev_ns, median_ns, p90_ns, p99_ns;
};

bool gt_samples_init(struct gt_samples *samples, size_t set_count); /* false: memory was short */
void gt_samples_release(struct gt_samples *samples);

static inline void gt_samples_count(struct gt_samples *samples, size_t set) {
    samples->bounds[set + 2]++;
}

/* After counting, before adding. false: memory was short. */
bool gt_samples_place(struct gt_samples *samples);

static inline void gt_samples_add(struct gt_samples *samples, size_t set, int64_t value) {
    samples->values[samples->bounds[set + 1]++] = value;
}

static inline size_t gt_samples_size(const struct gt_samples *samples, size_t set) {
    return samples->bounds[set + 1] - samples->bounds[set];
}

/* Exact; all zero for no value. */
struct gt_sample_stats gt_samples_slice_stats(struct gt_slice slice);
/* The same of a set. */
struct gt_sample_stats gt_samples_stats(const struct gt_samples *samples, size_t set);
/* Fills in the quantiles of samples, at least one. */
void gt_samples_slice_quantiles(struct gt_slice slice, struct gt_sample_stats *stats);
/* Fills in quantiles and deviation if the extremes determine them: all values are equal. false: they do not. */
bool gt_sample_stats_complete(struct gt_sample_stats *stats);
void gt_samples_quantiles(const struct gt_samples *samples, size_t set, const double *levels, size_t level_count,
                          double *values);
int64_t gt_samples_max(const struct gt_samples *samples, size_t set); /* of a set that is not empty */

#endif
