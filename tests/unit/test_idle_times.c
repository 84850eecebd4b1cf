/* Medians of times that are counted: as of the times themselves, wherever those that do not fit leave it known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/quantile.h"
#include "measure/results/idle_times.h"
#include "random.h"

enum { ROOM = 64, PARTS = 3, TIMES_MOST = 40 };

static void test_median(void **state) {
    uint64_t random = 1;
    int known = 0, unknown = 0;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        uint32_t counts[PARTS][ROOM] = {0};
        struct gt_idle_times parts[PARTS];
        int64_t times[TIMES_MOST], least = random_between(&random, -100, 60),
                                   most = random_between(&random, least, 150);
        size_t count = (size_t)random_below(&random, TIMES_MOST);
        double median_ns;
        for (size_t i = 0; i < PARTS; i++)
            parts[i] = (struct gt_idle_times){counts[i], ROOM, 0, 0, 0};
        for (size_t i = 0; i < count; i++) {
            times[i] = random_between(&random, least, most);
            gt_idle_times_add(&parts[i % PARTS], times[i]);
        }
        if (!gt_idle_times_median(parts, PARTS, &median_ns)) {
            unknown++;
            continue;
        }
        double expected_ns = gt_quantile(times, count, 0.5);
        known += count > 0;
        assert_true(expected_ns < 0 ? median_ns == -1 : median_ns == expected_ns);
    }
    assert_true(known > 1000 && unknown > 1000);
}

static void test_clear(void **state) {
    uint32_t counts[ROOM] = {0};
    struct gt_idle_times times = {counts, ROOM, 0, 0, 0};
    double median_ns;
    (void)state;
    gt_idle_times_add(&times, 3);
    gt_idle_times_add(&times, -3);
    gt_idle_times_add(&times, ROOM);
    gt_idle_times_clear(&times);
    assert_int_equal(times.count, 0);
    gt_idle_times_add(&times, 7);
    assert_true(gt_idle_times_median(&times, 1, &median_ns));
    assert_true(median_ns == 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_median), cmocka_unit_test(test_clear)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
