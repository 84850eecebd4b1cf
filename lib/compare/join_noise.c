/* Noise of a change: from the spread within each capture, between captures, and a lower bound. */
#include <math.h>
#include <stdlib.h>

#include "compare/join.h"

enum { RESAMPLES = 1000, RESAMPLED_ROWS = 5000 };

/* A change of twice its standard error is noise in about one case of twenty. */
#define ERRORS_OF_NOISE 2.0

static double lead_of(const struct gt_join *join, size_t row, size_t capture) {
    return gt_join_slots(join, row, capture)[GT_SLOT_AMOUNTS + join->lead];
}

/* Variance of the amount within the capture: over the events of each row, or over the rows. */
static double variance_inside(const struct gt_join *join, size_t row, size_t capture) {
    const double *slots = gt_join_slots(join, row, capture);
    if (!isnan(slots[GT_SLOT_VARIANCE]))
        return slots[GT_SLOT_VARIANCE];
    double rows = slots[GT_SLOT_ROWS];
    return rows > 1 && slots[GT_SLOT_SQUARES] > 0 ? rows * slots[GT_SLOT_SQUARES] / (rows - 1) : NAN;
}

double gt_join_variance_of_mean(const double *values, size_t stride, size_t count) {
    double mean = 0, squares = 0;
    if (count < 2)
        return NAN;
    for (size_t i = 0; i < count; i++)
        mean += values[i * stride] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += pow(values[i * stride] - mean, 2);
    return squares / (double)(count - 1) / (double)count;
}

/* Variance of the mean over the captures of a side. With enough captures their spread is used; with fewer, the larger
 * of both. NAN: neither is known. */
enum { ENOUGH_CAPTURES = 3 };
static double side_variance(const struct gt_join *join, size_t row, enum gt_side side) {
    struct gt_captures captures = gt_compare_captures(join->sides, side);
    const double *leads = gt_join_slots(join, row, captures.first) + GT_SLOT_AMOUNTS + join->lead;
    double inside = 0, between = gt_join_variance_of_mean(leads, gt_join_slot_count(join), captures.count);
    for (size_t i = 0; i < captures.count; i++)
        inside += variance_inside(join, row, captures.first + i);
    inside /= (double)captures.count * (double)captures.count;
    if (captures.count >= ENOUGH_CAPTURES || isnan(inside))
        return between;
    return isnan(between) ? inside : fmax(inside, between);
}

/* ---- resampling ---- */

/* Small, fast and deterministic: the interval of a comparison is the same in every run. */
static uint64_t next_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1d;
}

static double resampled_mean(const struct gt_join *join, size_t row, struct gt_captures captures, uint64_t *state) {
    double sum = 0;
    for (size_t i = 0; i < captures.count; i++)
        sum += lead_of(join, row, captures.first + (next_random(state) >> 32) % captures.count);
    return sum / (double)captures.count;
}

static int compare_reals(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void resample(const struct gt_join *join, size_t row, struct gt_noise *noise) {
    struct gt_captures of_a = gt_compare_captures(join->sides, GT_SIDE_A),
                       of_b = gt_compare_captures(join->sides, GT_SIDE_B);
    double changes[RESAMPLES];
    uint64_t state = 0x9e3779b97f4a7c15;
    for (size_t i = 0; i < RESAMPLES; i++) {
        double a = resampled_mean(join, row, of_a, &state);
        changes[i] = resampled_mean(join, row, of_b, &state) - a;
    }
    qsort(changes, RESAMPLES, sizeof *changes, compare_reals);
    noise->low_ns = changes[RESAMPLES / 40];
    noise->high_ns = changes[RESAMPLES - 1 - RESAMPLES / 40];
}

/* ---- both ---- */

double gt_join_noise_floor(const struct gt_compare_sides *sides, double a, double b, double variance_a,
                           double variance_b, bool *is_guess) {
    double floor = sides->noise_share * fmax(fabs(a), fabs(b));
    variance_a =
        isnan(variance_a) ? variance_b : variance_a; /* a side without variance is assumed to be like the other */
    variance_b = isnan(variance_b) ? variance_a : variance_b;
    *is_guess = isnan(variance_a) && !sides->is_noise_given;
    return isnan(variance_a) ? floor : fmax(floor, ERRORS_OF_NOISE * sqrt(variance_a + variance_b));
}

struct gt_noise gt_join_noise(const struct gt_join *join, size_t row) {
    struct gt_noise noise = {.floor_ns = NAN, .low_ns = NAN, .high_ns = NAN};
    double a = gt_join_amount(join, row, GT_SIDE_A, join->lead), b = gt_join_amount(join, row, GT_SIDE_B, join->lead);
    double change = b - a;
    const struct gt_join_row *entry = &join->rows[row];
    if (join->sides->capture_count > GT_SIDE_COUNT && join->row_count <= RESAMPLED_ROWS)
        resample(join, row, &noise);
    if (!entry->cells[GT_SIDE_A] || !entry->cells[GT_SIDE_B]) {
        noise.is_beyond = change < 0 || change > 0;
        return noise;
    }
    double of_a = side_variance(join, row, GT_SIDE_A), of_b = side_variance(join, row, GT_SIDE_B);
    noise.floor_ns = gt_join_noise_floor(join->sides, a, b, of_a, of_b, &noise.is_guess);
    bool is_certain = isnan(noise.low_ns) || noise.low_ns > 0 || noise.high_ns < 0;
    noise.is_beyond = fabs(change) > noise.floor_ns && is_certain;
    return noise;
}
