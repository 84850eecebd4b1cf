/* Orders of spans against a plain sort, whether nearly sorted or not. Linked with short_slices.c, so that few thousand
   are dealt to threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/spans.h"

enum { MOST_SPANS = 3000 };

static int64_t start_ns[MOST_SPANS], end_ns[MOST_SPANS];

static uint64_t random_state = 7;
static uint32_t random_below(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

static int naively(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (start_ns[x] != start_ns[y])
        return start_ns[x] < start_ns[y] ? -1 : 1;
    if (end_ns[x] != end_ns[y])
        return end_ns[x] > end_ns[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static struct gt_interval span_of(const void *context, uint32_t row) {
    assert_ptr_equal(context, start_ns);
    return (struct gt_interval){start_ns[row], end_ns[row]};
}

/* Rows come in ascending order, so equal spans must be ordered by row. */
static void assert_sorted(size_t count) {
    uint32_t rows[MOST_SPANS], by_start[MOST_SPANS], wanted[MOST_SPANS];
    for (uint32_t i = 0; i < count; i++)
        rows[i] = by_start[i] = wanted[i] = i;
    qsort(wanted, count, sizeof *wanted, naively);
    assert_true(gt_spans_sort(rows, count, start_ns, end_ns));
    assert_memory_equal(rows, wanted, count * sizeof *rows);
    assert_true(gt_spans_sort_by(by_start, count, span_of, start_ns));
    assert_memory_equal(by_start, wanted, count * sizeof *by_start);
}

enum { MANY_SPANS = 30000 };

/* Enough of them for several slices, with many that start together. */
static void many_spans_on_threads(void **unused) {
    (void)unused;
    int64_t *starts = calloc(MANY_SPANS, sizeof *starts), *ends = calloc(MANY_SPANS, sizeof *ends);
    uint32_t *rows = calloc(MANY_SPANS, sizeof *rows), *alone = calloc(MANY_SPANS, sizeof *alone);
    for (int round = 0; round < 12; round++) {
        uint32_t spread = 1 + random_below(round % 2 ? 300 : UINT32_MAX / 2);
        size_t count = MANY_SPANS - random_below(MANY_SPANS / 2);
        for (uint32_t i = 0; i < count; i++) {
            starts[i] = (int64_t)random_below(spread) - spread / 2;
            if (round % 3 == 2 && i % 100 == 0)
                starts[i] = i % 200 ? INT64_MIN : INT64_MAX - 50;
            ends[i] = starts[i] + random_below(50);
        }
        for (size_t threads = 2; threads <= 16; threads *= 2) {
            for (uint32_t i = 0; i < count; i++)
                rows[i] = alone[i] = i;
            assert_true(gt_spans_sort(alone, count, starts, ends));
            assert_true(gt_spans_sort_on(rows, count, starts, ends, threads));
            assert_memory_equal(rows, alone, count * sizeof *rows);
        }
    }
    free(starts);
    free(ends);
    free(rows);
    free(alone);
}

static void random_spans(void **unused) {
    (void)unused;
    for (int round = 0; round < 300; round++) {
        size_t count = random_below(MOST_SPANS);
        uint32_t spread = 1 + random_below(3 * MOST_SPANS), longest = 1 + random_below(50);
        for (size_t i = 0; i < count; i++) {
            start_ns[i] = (int64_t)random_below(spread) - spread / 2;
            end_ns[i] = start_ns[i] + random_below(longest);
        }
        assert_sorted(count);
    }
}

/* As a file has them that keeps kernels, copies and memsets apart: each in order. */
static void runs_of_spans(void **unused) {
    (void)unused;
    for (uint32_t runs = 1; runs < 14; runs++)
        for (int round = 0; round < 20; round++) {
            size_t count = 0;
            for (uint32_t run = 0; run < runs; run++) {
                int64_t clock_ns = random_below(40);
                for (uint32_t left = random_below(MOST_SPANS / 14); left > 0; left--, count++) {
                    start_ns[count] = clock_ns;
                    end_ns[count] = clock_ns + random_below(3);
                    clock_ns += random_below(4);
                }
            }
            assert_sorted(count);
        }
}

/* As they are written: by their ends, what is inside first. */
static void nested_spans(void **unused) {
    (void)unused;
    for (uint32_t below = 0; below < 40; below++) {
        size_t count = 0;
        for (int64_t clock_ns = 0; count + below + 1 < MOST_SPANS; clock_ns += 100) {
            for (uint32_t i = 0; i < below; i++, count++) {
                start_ns[count] = clock_ns + i;
                end_ns[count] = clock_ns + i + random_below(2);
            }
            start_ns[count] = clock_ns;
            end_ns[count++] = clock_ns + 99;
        }
        assert_sorted(count);
    }
}

static void extreme_spans(void **unused) {
    (void)unused;
    for (size_t i = 0; i < MOST_SPANS; i++) {
        start_ns[i] = i % 3 ? INT64_MIN : INT64_MAX - (int64_t)i;
        end_ns[i] = i % 2 ? INT64_MAX : start_ns[i];
    }
    assert_sorted(MOST_SPANS);
    for (size_t i = 0; i < MOST_SPANS; i++) {
        start_ns[i] = -(int64_t)i;
        end_ns[i] = 1;
    }
    assert_sorted(MOST_SPANS);
    for (size_t i = 0; i < MOST_SPANS; i++)
        start_ns[i] = end_ns[i] = 5;
    assert_sorted(MOST_SPANS);
    assert_sorted(0);
    assert_sorted(1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_spans), cmocka_unit_test(many_spans_on_threads), cmocka_unit_test(runs_of_spans),
        cmocka_unit_test(nested_spans), cmocka_unit_test(extreme_spans),
    };
    return cmocka_run_group_tests_name("spans", tests, NULL, NULL);
}
