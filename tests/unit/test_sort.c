/* Sorting on several threads gives the order that one thread gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/sort.h"

enum { MOST = 100000 };

struct item {
    uint32_t key, number;
};

static int by_key(const void *a, const void *b, void *context) {
    const struct item *x = a, *y = b;
    (void)context;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static void fill(struct item *items, size_t count) {
    uint32_t seed = 7;
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        items[i] = (struct item){seed >> 20, (uint32_t)i};
    }
}

static void threads_change_nothing(void **state) {
    static const size_t counts[] = {0, 1, 2, 4095, 8192, 8193, 30000, MOST};
    static struct item expected[MOST], sorted[MOST];
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t threads = 1; threads <= 16; threads = threads * 2 + 1) {
            fill(expected, counts[i]);
            fill(sorted, counts[i]);
            qsort_r(expected, counts[i], sizeof *expected, by_key, NULL);
            gt_sort(sorted, counts[i], sizeof *sorted, by_key, NULL, threads);
            assert_memory_equal(sorted, expected, counts[i] * sizeof *sorted);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
