/* The radix sort, against a stable comparison sort. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/radix.h"
#include "random.h"

/* Values number the items as they were, so that ordering by (key, value) is the stable order. */
static int by_key_then_place(const void *a, const void *b) {
    const struct gt_radix_item *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static void check_sort(struct gt_radix_item *items, size_t count) {
    struct gt_radix_item *expected = gt_mem_array(count, sizeof(*expected));

    assert_non_null(expected);
    for (size_t i = 0; i < count; i++) {
        items[i].value = (uint32_t)i;
        expected[i] = items[i];
    }
    qsort(expected, count, sizeof(*expected), by_key_then_place);
    assert_true(gt_radix_sort(items, count));
    for (size_t i = 0; i < count; i++) {
        assert_true(items[i].key == expected[i].key);
        assert_int_equal(items[i].value, expected[i].value);
    }
    gt_mem_free(expected);
}

static void random_keys_of_every_width(void **state) {
    enum { COUNT = 700 };
    struct gt_radix_item items[COUNT];
    uint64_t seed = 5;
    (void)state;

    for (unsigned width = 1; width <= 64; width++)
        for (unsigned shift = 0; shift + width <= 64; shift += 7) {
            uint64_t base = random_u64(&seed);
            for (size_t i = 0; i < COUNT; i++)
                items[i].key = base + ((random_u64(&seed) >> (64 - width)) << shift);
            check_sort(items, COUNT);
        }
}

static void every_small_count(void **state) {
    struct gt_radix_item items[200];
    uint64_t seed = 6;
    (void)state;

    for (size_t count = 0; count < 200; count++) {
        for (size_t i = 0; i < count; i++)
            items[i].key = random_below(&seed, 1 + count / 2);
        check_sort(items, count);
        check_sort(items, count);
        for (size_t i = 0; i < count; i++)
            items[i].key = count - i;
        check_sort(items, count);
    }
}

static void skipped_digits_in_the_middle(void **state) {
    enum { COUNT = 1000 };
    struct gt_radix_item items[COUNT];
    uint64_t seed = 7;
    (void)state;

    for (size_t i = 0; i < COUNT; i++)
        items[i].key = random_below(&seed, 3) << 56 | random_below(&seed, 200);
    check_sort(items, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        items[i].key = i % 2 ? UINT64_MAX : 0;
    check_sort(items, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        items[i].key = i == 500 ? ((uint64_t)1 << 40) + 500 : COUNT - i;
    check_sort(items, COUNT);
}

static void many_items(void **state) {
    enum { COUNT = 300000 };
    struct gt_radix_item *items = gt_mem_array(COUNT, sizeof(*items));
    uint64_t seed = 8;
    (void)state;

    assert_non_null(items);
    for (size_t i = 0; i < COUNT; i++)
        items[i].key = gt_radix_key(random_between(&seed, -1000000, 1000000));
    check_sort(items, COUNT);
    gt_mem_free(items);
}

/* Few different keys, keys of all sizes, and one that dwarfs the others. */
static uint64_t key_of_shape(int shape, uint64_t *seed) {
    uint64_t number = random_u64(seed);
    if (shape == 0)
        return UINT64_MAX - number % 5;
    if (shape == 1)
        return number >> (number & 63);
    return number % 1000 ? number >> 54 : number;
}

static void the_first_are_those_of_the_whole_order(void **state) {
    enum { COUNT = 3000 };
    static const size_t wanted[] = {0, 1, 2, 10, 49, 700, COUNT - 1, COUNT};
    static struct gt_radix_item all[COUNT], first[COUNT];
    uint64_t seed = 8;
    (void)state;

    for (int shape = 0; shape < 3; shape++)
        for (size_t w = 0; w < sizeof(wanted) / sizeof(wanted[0]); w++) {
            for (size_t i = 0; i < COUNT; i++)
                all[i] = first[i] = (struct gt_radix_item){key_of_shape(shape, &seed), (uint32_t)i};
            qsort(all, COUNT, sizeof(*all), by_key_then_place);
            assert_true(gt_radix_sort_first(first, COUNT, wanted[w]));
            for (size_t i = 0; i < wanted[w]; i++) {
                assert_true(first[i].key == all[i].key);
                assert_int_equal(first[i].value, all[i].value);
            }
        }
}

static void signed_times_keep_their_order(void **state) {
    static const int64_t times[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    (void)state;

    for (size_t i = 1; i < sizeof(times) / sizeof(times[0]); i++)
        assert_true(gt_radix_key(times[i - 1]) < gt_radix_key(times[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_keys_of_every_width),    cmocka_unit_test(every_small_count),
        cmocka_unit_test(skipped_digits_in_the_middle),  cmocka_unit_test(many_items),
        cmocka_unit_test(signed_times_keep_their_order), cmocka_unit_test(the_first_are_those_of_the_whole_order),
    };
    return cmocka_run_group_tests_name("radix", tests, NULL, NULL);
}
