/* Interval algebra, against one flag per nanosecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/intervals.h"
#include "random.h"

enum { SPAN = 300, MAX_COUNT = 40 };

static int by_start(const void *a, const void *b) {
    const struct gt_interval *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void make_random(uint64_t *seed, struct gt_intervals *list, bool *covered) {
    struct gt_interval raw[MAX_COUNT];
    size_t count = random_below(seed, MAX_COUNT);

    for (size_t i = 0; i < count; i++) {
        raw[i].start_ns = random_between(seed, 0, SPAN - 1);
        raw[i].end_ns = raw[i].start_ns + random_between(seed, 0, i % 10 ? 6 : 60);
        if (raw[i].end_ns > SPAN)
            raw[i].end_ns = SPAN;
    }
    qsort(raw, count, sizeof(raw[0]), by_start);
    gt_intervals_clear(list);
    memset(covered, 0, SPAN * sizeof(*covered));
    for (size_t i = 0; i < count; i++) {
        gt_intervals_add(list, raw[i].start_ns, raw[i].end_ns);
        for (int64_t t = raw[i].start_ns; t < raw[i].end_ns; t++)
            covered[t] = true;
    }
}

static void check_is(const struct gt_intervals *list, const bool *covered) {
    bool got[SPAN] = {false};
    const struct gt_intervals none = {0};
    int64_t length = 0;

    for (size_t i = 0; i < list->count; i++) {
        assert_true(list->items[i].start_ns < list->items[i].end_ns);
        assert_true(i == 0 || list->items[i - 1].end_ns < list->items[i].start_ns);
        for (int64_t t = list->items[i].start_ns; t < list->items[i].end_ns; t++)
            got[t] = true;
        length += list->items[i].end_ns - list->items[i].start_ns;
    }
    assert_memory_equal(got, covered, sizeof(got));
    assert_int_equal(gt_intervals_minus_length(list, &none), length);
}

static void random_lists_agree_with_flags(void **state) {
    struct gt_intervals a = {0}, b = {0};
    bool in_a[SPAN], in_b[SPAN];
    uint64_t seed = 4;
    (void)state;

    for (int round = 0; round < 3000; round++) {
        int64_t minus = 0;
        make_random(&seed, &a, in_a);
        make_random(&seed, &b, in_b);
        for (size_t t = 0; t < SPAN; t++)
            minus += in_a[t] && !in_b[t];
        check_is(&a, in_a);
        check_is(&b, in_b);
        assert_int_equal(gt_intervals_minus_length(&a, &b), minus);
    }
    gt_intervals_release(&a);
    gt_intervals_release(&b);
    assert_null(b.items);
}

static void touching_is_joined_and_empty_is_nothing(void **state) {
    struct gt_intervals list = {0};
    (void)state;

    gt_intervals_add(&list, 5, 5);
    gt_intervals_add(&list, 7, 6);
    assert_int_equal(list.count, 0);
    gt_intervals_add(&list, 10, 20);
    gt_intervals_add(&list, 20, 30);
    gt_intervals_add(&list, 25, 26);
    gt_intervals_add(&list, 31, 40);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.items[0].end_ns, 30);
    assert_int_equal(list.items[1].start_ns, 31);
    gt_intervals_release(&list);
}

static void extreme_times_do_not_overflow(void **state) {
    struct gt_intervals all = {0}, edges = {0};
    (void)state;

    gt_intervals_add(&all, INT64_MIN, INT64_MAX);
    gt_intervals_add(&edges, INT64_MIN, INT64_MIN + 10);
    gt_intervals_add(&edges, INT64_MAX - 5, INT64_MAX);
    assert_int_equal(gt_intervals_minus_length(&edges, &all), 0);
    assert_int_equal(gt_intervals_minus_length(&all, &edges), INT64_MAX);
    gt_intervals_release(&all);
    gt_intervals_release(&edges);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_lists_agree_with_flags),
        cmocka_unit_test(touching_is_joined_and_empty_is_nothing),
        cmocka_unit_test(extreme_times_do_not_overflow),
    };
    return cmocka_run_group_tests_name("interval", tests, NULL, NULL);
}
