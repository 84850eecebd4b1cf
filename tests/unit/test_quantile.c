/* Order statistics and moments, against sorting and two-pass sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/moments.h"
#include "base/quantile.h"
#include "random.h"

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double naive_quantile(const int64_t *sorted, size_t count, double q) {
    double position = q * (double)(count - 1);
    size_t low = (size_t)position;
    long double part = (long double)(position - (double)low);

    if (low + 1 >= count)
        return (double)sorted[count - 1];
    return (double)((long double)sorted[low] + ((long double)sorted[low + 1] - (long double)sorted[low]) * part);
}

/* Samples that fit 32 bits, stored as such: the same. */
static void check_narrow(const int64_t *samples, size_t count, double level, double expected) {
    uint32_t *narrow = gt_mem_array(count, sizeof(*narrow));
    struct gt_slice slice = {.narrow = narrow, .count = count};
    bool fits = true;
    double got;

    assert_non_null(narrow);
    for (size_t i = 0; i < count; i++) {
        narrow[i] = (uint32_t)samples[i];
        fits &= narrow[i] == samples[i];
    }
    gt_quantile_all(&slice, 1, &level, 1, &got);
    assert_true(!fits || got == expected);
    gt_mem_free(narrow);
}

/* Samples between positions that have none. */
static size_t make_samples(const void *context, size_t first, size_t end, int64_t *samples) {
    const struct gt_slice *stored = context;
    size_t count = 0;

    assert_true(first <= end && end <= 2 * stored->count + 1);
    for (size_t i = first; i < end; i++)
        if (i % 2)
            samples[count++] = stored->samples[i / 2];
    return count;
}

/* Samples that are made when they are looked at: the same. */
static void check_made(const int64_t *samples, size_t count, double level, double expected) {
    struct gt_slice stored = {.samples = samples, .count = count};
    struct gt_slice made = {.count = count, .make = make_samples, .context = &stored, .position_count = 2 * count + 1};
    double got;

    gt_quantile_all(&made, 1, &level, 1, &got);
    assert_true(got == expected);
    gt_quantile_all((const struct gt_slice[]){made, {.make = make_samples, .context = &stored}, {0}}, 3, &level, 1,
                    &got);
    assert_true(got == expected);
}

/* Samples that are counted by their value, as far as they are small: the same, if it is one of these. */
static void check_counted(const int64_t *samples, size_t count, double level, double expected) {
    enum { COUNTED = 64 };
    uint32_t counts[COUNTED] = {0};
    size_t counted = 0;
    double got;

    for (size_t i = 0; i < count; i++) {
        if (samples[i] < 0)
            return;
        if (samples[i] < COUNTED) {
            counts[samples[i]]++;
            counted++;
        }
    }
    bool is_known = gt_quantile_of_counts(counts, COUNTED, count, level, &got);
    assert_true(is_known || counted < count);
    assert_true(!is_known || counted > 0 || count == 0);
    assert_true(!is_known || got == expected);
}

/* Also checks that the samples are as they were. */
static void check_quantiles(const int64_t *samples, size_t count) {
    static const double levels[] = {0, 0.25, 0.5, 0.9, 0.95, 0.99, 1, 1.0 / 3};
    int64_t *sorted = gt_mem_array(count, sizeof(*sorted)), *given = gt_mem_array(count, sizeof(*given));

    assert_non_null(sorted);
    assert_non_null(given);
    memcpy(sorted, samples, count * sizeof(*sorted));
    memcpy(given, samples, count * sizeof(*given));
    qsort(sorted, count, sizeof(*sorted), by_value);
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        double got = gt_quantile(samples, count, levels[i]);
        double expected = naive_quantile(sorted, count, levels[i]);
        check_narrow(samples, count, levels[i], got);
        check_made(samples, count, levels[i], got);
        check_counted(samples, count, levels[i], got);
        assert_true(fabs(got - expected) <= fabs(expected) * 4e-16 || fabs(got - expected) <= 1e-9);
    }
    assert_memory_equal(samples, given, count * sizeof(*given));
    gt_mem_free(given);
    gt_mem_free(sorted);
}

static void random_samples_of_every_shape(void **state) {
    enum { COUNT = 2000 };
    int64_t samples[COUNT];
    uint64_t seed = 9;
    (void)state;

    for (unsigned shape = 0; shape < 300; shape++) {
        size_t count = 1 + random_below(&seed, shape % 3 ? 100 : COUNT);
        for (size_t i = 0; i < count; i++) {
            uint64_t bits = random_u64(&seed);
            samples[i] = shape % 5 == 0   ? (int64_t)bits
                         : shape % 5 == 1 ? (int64_t)(bits >> (bits % 64))
                         : shape % 5 == 2 ? (int64_t)(bits % 3)
                         : shape % 5 == 3 ? (int64_t)i * 1000
                                          : -(int64_t)(bits % 5000000);
        }
        check_quantiles(samples, count);
    }
}

/* Samples in several places, some of them empty, and several levels at once: as if they were in one. */
static void slices_are_taken_together(void **state) {
    enum { COUNT = 3000 };
    static const double levels[GT_QUANTILES_MOST] = {0.99, 0.5, 0.5, 0.013};
    int64_t samples[COUNT], sorted[COUNT];
    uint64_t seed = 12;
    (void)state;

    for (unsigned shape = 0; shape < 200; shape++) {
        size_t count = random_below(&seed, shape % 2 ? 70 : COUNT), slice_count = 0, taken = 0;
        struct gt_slice slices[COUNT + 1];
        double values[GT_QUANTILES_MOST];
        for (size_t i = 0; i < count; i++)
            sorted[i] = samples[i] = (int64_t)(random_u64(&seed) >> (shape % 60)) - (shape % 7 ? 0 : 1 << 20);
        while (taken < count && slice_count < COUNT) {
            size_t most = count - taken, size = random_below(&seed, 40);
            slices[slice_count++] = (struct gt_slice){.samples = samples + taken, .count = size < most ? size : most};
            taken += size < most ? size : most;
        }
        slices[slice_count++] = (struct gt_slice){.samples = samples + taken, .count = count - taken};
        qsort(sorted, count, sizeof *sorted, by_value);
        gt_quantile_all(slices, slice_count, levels, GT_QUANTILES_MOST, values);
        for (size_t i = 0; i < GT_QUANTILES_MOST; i++) {
            double expected = count ? naive_quantile(sorted, count, levels[i]) : 0;
            assert_true(fabs(values[i] - expected) <= fabs(expected) * 4e-16 || fabs(values[i] - expected) <= 1e-9);
        }
        assert_true(count == 0 || values[1] == gt_quantile(samples, count, 0.5));
    }
}

static void few_samples(void **state) {
    int64_t pair[2] = {7, 4}, extremes[2] = {INT64_MAX, INT64_MIN}, large[2] = {INT64_MAX, INT64_MAX - 2048};
    int64_t one = -5, same[100];
    (void)state;

    assert_true(gt_quantile(NULL, 0, 0.5) == 0);
    assert_true(gt_quantile(&one, 1, 0) == -5);
    assert_true(gt_quantile(&one, 1, 1) == -5);
    assert_true(gt_quantile(pair, 2, 0.5) == 5.5);
    assert_true(gt_quantile(pair, 2, 0.25) == 4.75);
    assert_true(gt_quantile(extremes, 2, 0.5) == -0.5);
    assert_true(gt_quantile(extremes, 2, 1) == (double)INT64_MAX);
    assert_true(gt_quantile(large, 2, 0.5) == (double)(INT64_MAX - 1024));
    for (size_t i = 0; i < 100; i++)
        same[i] = INT64_MIN;
    assert_true(gt_quantile(same, 100, 0.99) == (double)INT64_MIN);
}

static void levels_outside_are_clamped(void **state) {
    int64_t samples[3] = {3, 1, 2};
    (void)state;

    assert_true(gt_quantile(samples, 3, -1) == 1);
    assert_true(gt_quantile(samples, 3, 2) == 3);
    assert_true(gt_quantile(samples, 3, NAN) == 1);
    assert_true(gt_quantile(samples, 3, INFINITY) == 3);
}

/* Whole numbers have the same quantiles as real ones; real ones are between their neighbours. */
static void real_samples(void **state) {
    enum { COUNT = 300 };
    static const double levels[] = {-1, 0, 0.25, 0.5, 0.9, 0.99, 1, 2, 1.0 / 3, NAN};
    int64_t samples[COUNT];
    double reals[COUNT], few[3] = {0.5, -0.25, 8}, ends[3] = {INFINITY, 1, -INFINITY};
    uint64_t seed = 13;
    (void)state;

    for (size_t count = 0; count <= COUNT; count += 1 + count / 3)
        for (size_t l = 0; l < sizeof(levels) / sizeof(levels[0]); l++) {
            for (size_t i = 0; i < count; i++)
                reals[i] = (double)(samples[i] = random_between(&seed, -1000000, 1000000));
            double expected = gt_quantile(samples, count, levels[l]);
            assert_true(fabs(gt_quantile_real(reals, count, levels[l]) - expected) <= 1e-9);
        }
    assert_true(gt_quantile_real(few, 3, 0.5) == 0.5);
    assert_true(gt_quantile_real(few, 3, 0.25) == 0.125);
    assert_true(gt_quantile_real(few, 3, 0.75) == 4.25);
    assert_true(gt_quantile_real(ends, 3, 0) == -INFINITY);
    assert_true(gt_quantile_real(ends, 3, 0.5) == 1);
    assert_true(gt_quantile_real(ends, 3, 1) == INFINITY);
}

/* Spread over all magnitudes every round keeps most of the samples, the worst that can happen. */
static void lopsided_samples_stay_linear(void **state) {
    enum { COUNT = 1000000 };
    int64_t *samples = gt_mem_array(COUNT, sizeof(*samples));
    uint64_t seed = 10;
    clock_t start;
    (void)state;

    assert_non_null(samples);
    for (size_t i = 0; i < COUNT; i++)
        samples[i] = i % 1000 ? (int64_t)random_below(&seed, 100) : (int64_t)1 << (i / 1000 % 63);
    start = clock();
    assert_true(gt_quantile(samples, COUNT, 0.5) <= 100);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
    check_quantiles(samples, COUNT);
    gt_mem_free(samples);
}

static void check_moments(const int64_t *samples, size_t count) {
    struct gt_moments moments = {0};
    long double sum = 0, squares = 0, mean, deviation;
    int64_t least = samples[0], most = samples[0];

    for (size_t i = 0; i < count; i++) {
        gt_moments_add(&moments, samples[i]);
        sum += (long double)samples[i];
        least = samples[i] < least ? samples[i] : least;
        most = samples[i] > most ? samples[i] : most;
    }
    mean = sum / (long double)count;
    for (size_t i = 0; i < count; i++)
        squares += ((long double)samples[i] - mean) * ((long double)samples[i] - mean);
    deviation = count > 1 ? sqrtl(squares / (long double)(count - 1)) : 0;
    assert_int_equal(moments.count, count);
    assert_int_equal(moments.min, least);
    assert_int_equal(moments.max, most);
    assert_true(fabsl((long double)gt_moments_mean(&moments) - mean) <=
                fabsl(mean) * 1e-15L + 1e-3L / (long double)count);
    assert_true(fabsl((long double)gt_moments_stddev(&moments) - deviation) <= deviation * 1e-12L);
}

static void moments_agree_with_two_passes(void **state) {
    enum { COUNT = 500 };
    int64_t samples[COUNT];
    uint64_t seed = 11;
    (void)state;

    for (unsigned width = 1; width < 63; width++) {
        size_t count = 1 + random_below(&seed, COUNT);
        int64_t offset = width < 40 ? random_between(&seed, -1000000000000, 1000000000000) : 0;
        for (size_t i = 0; i < count; i++)
            samples[i] = offset + (int64_t)(random_u64(&seed) >> (64 - width));
        check_moments(samples, count);
        for (size_t i = 0; i < count; i++)
            samples[i] = -samples[i];
        check_moments(samples, count);
    }
}

static void check_same(const struct gt_moments *a, const struct gt_moments *b) {
    double mean_a = gt_moments_mean(a), mean_b = gt_moments_mean(b);
    double deviation_a = gt_moments_stddev(a), deviation_b = gt_moments_stddev(b);

    assert_int_equal(a->count, b->count);
    assert_int_equal(a->min, b->min);
    assert_int_equal(a->max, b->max);
    assert_true(a->sum == b->sum);
    assert_memory_equal(&mean_a, &mean_b, sizeof(mean_a));
    assert_memory_equal(&deviation_a, &deviation_b, sizeof(deviation_a));
}

/* Parts of any size, merged in any order, must give the very same bits. */
static void merging_changes_nothing(void **state) {
    enum { COUNT = 1000, PARTS = 7 };
    uint64_t seed = 12;
    (void)state;

    for (int round = 0; round < 50; round++) {
        struct gt_moments whole = {0}, parts[PARTS] = {{0}}, forward = {0}, backward = {0};
        for (size_t i = 0; i < COUNT; i++) {
            int64_t sample = (int64_t)(random_u64(&seed) >> (round % 2 ? 0 : 20)) - (round % 3 ? 0 : 1000);
            gt_moments_add(&whole, sample);
            gt_moments_add(&parts[random_below(&seed, PARTS - 1)], sample);
        }
        for (size_t i = 0; i < PARTS; i++) {
            gt_moments_merge(&forward, &parts[i]);
            gt_moments_merge(&backward, &parts[PARTS - 1 - i]);
        }
        check_same(&whole, &forward);
        check_same(&whole, &backward);
    }
}

/* A full batch of the largest samples there may be, and of others. */
static void batches_change_nothing(void **state) {
    uint64_t seed = 13;
    (void)state;

    for (int round = 0; round < 20; round++) {
        struct gt_moments whole = {0}, taken = {0};
        struct gt_moments_batch batch = {0};
        for (size_t i = 0; i < 3 * GT_MOMENTS_BATCH; i++) {
            uint64_t largest = GT_MOMENTS_BATCH_LIMIT - 1;
            uint64_t sample = round == 0 ? largest : random_below(&seed, largest >> round % 20) + (round % 3 ? 0 : 5);
            gt_moments_add(&whole, (int64_t)sample);
            gt_moments_batch_add(&batch, sample);
            if (i % GT_MOMENTS_BATCH == GT_MOMENTS_BATCH - 1)
                gt_moments_take(&taken, &batch);
        }
        assert_int_equal(batch.count, 0);
        check_same(&whole, &taken);
    }
}

static void moments_of_few(void **state) {
    struct gt_moments none = {0}, one = {0}, same = {0}, small = {0};
    (void)state;

    assert_true(gt_moments_mean(&none) == 0);
    assert_true(gt_moments_stddev(&none) == 0);
    gt_moments_add(&one, -7);
    assert_true(gt_moments_mean(&one) == -7);
    assert_true(gt_moments_stddev(&one) == 0);
    assert_int_equal(one.max, -7);
    gt_moments_merge(&one, &none);
    assert_int_equal(one.max, -7);
    for (int i = 0; i < 1000; i++)
        gt_moments_add(&same, 3847745009978503);
    assert_true(gt_moments_mean(&same) == 3847745009978503.0);
    assert_true(gt_moments_stddev(&same) == 0);
    for (int i = 1; i <= 3; i++)
        gt_moments_add(&small, i);
    assert_true(gt_moments_mean(&small) == 2);
    assert_true(gt_moments_stddev(&small) == 1);
}

/* The mean is the double nearest to the true one: 2^62 / 3 and (2^53 + 1) / 3 are written out exactly. */
static void means_round_once(void **state) {
    struct gt_moments third = {0}, odd = {0}, half = {0}, above_tie = {0};
    (void)state;

    /* 2^53 + 1 lies between two doubles; the least bit more must round up. */
    gt_moments_add(&above_tie, ((int64_t)1 << 53) + 2);
    for (int i = 0; i < 10006; i++)
        gt_moments_add(&above_tie, ((int64_t)1 << 53) + 1);
    assert_true(gt_moments_mean(&above_tie) == 0x1p53 + 2);

    gt_moments_add(&third, (int64_t)1 << 62);
    gt_moments_add(&third, 0);
    gt_moments_add(&third, 0);
    assert_true(gt_moments_mean(&third) == 0x1.5555555555555p+60);
    gt_moments_add(&odd, ((int64_t)1 << 53) + 1);
    gt_moments_add(&odd, 0);
    assert_true(gt_moments_mean(&odd) == 0x1p52 + 0.5);
    gt_moments_add(&half, -1);
    gt_moments_add(&half, -2);
    assert_true(gt_moments_mean(&half) == -1.5);
}

static void extreme_samples_do_not_overflow(void **state) {
    struct gt_moments pair = {0}, many = {0};
    (void)state;

    gt_moments_add(&pair, INT64_MIN);
    gt_moments_add(&pair, INT64_MAX);
    assert_true(gt_moments_mean(&pair) == -0.5);
    assert_true(fabs(gt_moments_stddev(&pair) / (0x1p64 / sqrt(2)) - 1) < 1e-15);
    for (int i = 0; i < 10000; i++) {
        gt_moments_add(&many, INT64_MIN);
        gt_moments_add(&many, INT64_MAX);
    }
    assert_true(gt_moments_mean(&many) == -0.5);
    assert_true(fabs(gt_moments_stddev(&many) / (0x1p63 * sqrt(20000.0 / 19999)) - 1) < 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_samples_of_every_shape),
        cmocka_unit_test(slices_are_taken_together),
        cmocka_unit_test(few_samples),
        cmocka_unit_test(levels_outside_are_clamped),
        cmocka_unit_test(real_samples),
        cmocka_unit_test(lopsided_samples_stay_linear),
        cmocka_unit_test(moments_agree_with_two_passes),
        cmocka_unit_test(merging_changes_nothing),
        cmocka_unit_test(batches_change_nothing),
        cmocka_unit_test(moments_of_few),
        cmocka_unit_test(means_round_once),
        cmocka_unit_test(extreme_samples_do_not_overflow),
    };
    return cmocka_run_group_tests_name("quantile", tests, NULL, NULL);
}
