/* Sets of values for statistics by name, call or pair: counting sort of (set, value), then moments and quantiles. */
#include "measure/results/samples.h"

#include <string.h>

#include "base/mem.h"
#include "base/moments.h"
#include "base/ns.h"
#include "measure/results/measure.h"

bool gt_samples_init(struct gt_samples *samples, size_t set_count) {
    *samples = (struct gt_samples){.set_count = set_count};
    samples->bounds = gt_mem_array(set_count + 2, sizeof *samples->bounds);
    return samples->bounds != NULL;
}

void gt_samples_release(struct gt_samples *samples) {
    gt_mem_free(samples->bounds);
    gt_mem_free(samples->values);
    memset(samples, 0, sizeof *samples);
}

/* Counts are two places up. After this sum, bounds[i + 1] is where set i begins; adding moves it to where it ends,
   which is where set i + 1 begins. */
bool gt_samples_place(struct gt_samples *samples) {
    for (size_t i = 1; i < samples->set_count + 2; i++)
        samples->bounds[i] += samples->bounds[i - 1];
    samples->values = gt_mem_alloc(samples->bounds[samples->set_count + 1] * sizeof *samples->values);
    return samples->values != NULL;
}

void gt_samples_slice_quantiles(struct gt_slice slice, struct gt_sample_stats *stats) {
    double quantiles[3];
    gt_quantile_all(&slice, 1, (const double[]){0.5, 0.9, 0.99}, GT_ARRAY_COUNT(quantiles), quantiles);
    stats->median_ns = quantiles[0];
    stats->p90_ns = quantiles[1];
    stats->p99_ns = quantiles[2];
}

struct gt_sample_stats gt_samples_slice_stats(struct gt_slice slice) {
    struct gt_moments moments = {0};
    for (size_t i = 0; i < slice.count; i++)
        gt_moments_add(&moments, gt_quantile_sample(&slice, i));
    if (moments.count == 0)
        return (struct gt_sample_stats){0};
    struct gt_sample_stats stats = {
        .count = moments.count,
        .total_ns = gt_ns_of_sum(moments.sum),
        .min_ns = moments.min,
        .max_ns = moments.max,
        .mean_ns = gt_moments_mean(&moments),
        .stddev_ns = gt_moments_stddev(&moments),
    };
    gt_samples_slice_quantiles(slice, &stats);
    return stats;
}

bool gt_sample_stats_complete(struct gt_sample_stats *stats) {
    if (stats->min_ns != stats->max_ns)
        return false;
    stats->median_ns = stats->p90_ns = stats->p99_ns = (double)stats->min_ns;
    stats->stddev_ns = 0;
    return true;
}

static struct gt_slice slice_of(const struct gt_samples *samples, size_t set) {
    return (struct gt_slice){.samples = samples->values + samples->bounds[set], .count = gt_samples_size(samples, set)};
}

struct gt_sample_stats gt_samples_stats(const struct gt_samples *samples, size_t set) {
    return gt_samples_slice_stats(slice_of(samples, set));
}

void gt_samples_quantiles(const struct gt_samples *samples, size_t set, const double *levels, size_t level_count,
                          double *values) {
    struct gt_slice slice = slice_of(samples, set);
    gt_quantile_all(&slice, 1, levels, level_count, values);
}

int64_t gt_samples_max(const struct gt_samples *samples, size_t set) {
    int64_t max = samples->values[samples->bounds[set]];
    for (size_t i = samples->bounds[set]; i < samples->bounds[set + 1]; i++)
        max = samples->values[i] > max ? samples->values[i] : max;
    return max;
}
