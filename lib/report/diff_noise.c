/* What a change may be without meaning anything: the spread inside each capture, between captures, and a floor. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/diff_parts.h"

enum { RESAMPLES = 1000, RESAMPLED_ROWS = 5000 };

/* A change of twice its standard error is noise in about one case of twenty. */
#define ERRORS_OF_NOISE 2.0

struct captures {
    size_t first, count;
};

static struct captures captures_of(const struct gt_diff_sides *sides, enum gt_side side) {
    size_t of_a = sides->reports[GT_SIDE_A]->section_count;
    return side == GT_SIDE_A ? (struct captures){0, of_a} : (struct captures){of_a, sides->capture_count - of_a};
}

static double lead_of(const struct gt_diff_join *join, size_t row, size_t capture) {
    return gt_join_slots(join, row, capture)[GT_SLOT_AMOUNTS + join->lead];
}

/* Variance of the amount by what varies inside the capture: the events of each row, or the rows themselves. */
static double variance_inside(const struct gt_diff_join *join, size_t row, size_t capture) {
    const double *slots = gt_join_slots(join, row, capture);
    if (!isnan(slots[GT_SLOT_VARIANCE]))
        return slots[GT_SLOT_VARIANCE];
    double rows = slots[GT_SLOT_ROWS];
    return rows > 1 && slots[GT_SLOT_SQUARES] > 0 ? rows * slots[GT_SLOT_SQUARES] / (rows - 1) : NAN;
}

static double variance_between(const struct gt_diff_join *join, size_t row, struct captures captures) {
    double mean = 0, squares = 0, count = (double)captures.count;
    if (captures.count < 2)
        return NAN;
    for (size_t i = 0; i < captures.count; i++)
        mean += lead_of(join, row, captures.first + i) / count;
    for (size_t i = 0; i < captures.count; i++)
        squares += pow(lead_of(join, row, captures.first + i) - mean, 2);
    return squares / (count - 1) / count;
}

/* Of the mean over the captures of a side: the larger of both kinds of spread; NAN where neither is known. */
static double side_variance(const struct gt_diff_join *join, size_t row, enum gt_side side) {
    struct captures captures = captures_of(join->sides, side);
    double inside = 0, between = variance_between(join, row, captures);
    for (size_t i = 0; i < captures.count; i++)
        inside += variance_inside(join, row, captures.first + i);
    inside /= (double)captures.count * (double)captures.count;
    return isnan(inside) ? between : isnan(between) ? inside : fmax(inside, between);
}

/* ---- resampling ---- */

/* Small, fast and always the same: the interval of a comparison does not change from run to run. */
static uint64_t next_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1d;
}

static double resampled_mean(const struct gt_diff_join *join, size_t row, struct captures captures, uint64_t *state) {
    double sum = 0;
    for (size_t i = 0; i < captures.count; i++)
        sum += lead_of(join, row, captures.first + (next_random(state) >> 32) % captures.count);
    return sum / (double)captures.count;
}

static int compare_reals(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void resample(const struct gt_diff_join *join, size_t row, struct gt_noise *noise) {
    struct captures of_a = captures_of(join->sides, GT_SIDE_A), of_b = captures_of(join->sides, GT_SIDE_B);
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

struct gt_noise gt_join_noise(const struct gt_diff_join *join, size_t row) {
    struct gt_noise noise = {.floor_ns = NAN, .low_ns = NAN, .high_ns = NAN};
    double a = gt_join_amount(join, row, GT_SIDE_A, join->lead), b = gt_join_amount(join, row, GT_SIDE_B, join->lead);
    double change = b - a;
    const struct gt_diff_row *entry = &join->rows[row];
    if (join->sides->capture_count > GT_SIDE_COUNT && join->row_count <= RESAMPLED_ROWS)
        resample(join, row, &noise);
    if (!entry->cells[GT_SIDE_A] || !entry->cells[GT_SIDE_B]) {
        noise.is_beyond = change < 0 || change > 0;
        return noise;
    }
    double of_a = side_variance(join, row, GT_SIDE_A), of_b = side_variance(join, row, GT_SIDE_B);
    of_a = isnan(of_a) ? of_b : of_a; /* a side that does not tell is taken to be like the other */
    of_b = isnan(of_b) ? of_a : of_b;
    noise.floor_ns = join->sides->noise_share * fmax(fabs(a), fabs(b));
    if (!isnan(of_a))
        noise.floor_ns = fmax(noise.floor_ns, ERRORS_OF_NOISE * sqrt(of_a + of_b));
    bool is_certain = isnan(noise.low_ns) || noise.low_ns > 0 || noise.high_ns < 0;
    noise.is_beyond = fabs(change) > noise.floor_ns && is_certain;
    return noise;
}
