/* Rows that several threads write to one output: the same bytes in the same order as one thread writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/out_slices.h"

enum { MANY_ROWS = 20000 };

static struct gt_out *open_memory(void) {
    struct gt_error err = {0};
    struct gt_out *out = NULL;
    assert_int_equal(gt_out_open_memory(&out, &err), GT_OK);
    return out;
}

/* Rows of different lengths, so that slices end at different times. */
static void write_rows(const void *context, struct gt_out *to, size_t begin, size_t end) {
    const char *text = context;
    for (size_t row = begin; row < end; row++)
        for (size_t i = 0; i <= row / 512 % 7; i++)
            gt_out_printf(to, "%zu %s\n", row, text);
}

static void check_threads(size_t rows, size_t threads) {
    struct gt_out *expected = open_memory(), *out = open_memory();
    gt_out_text(out, "before\n");
    gt_out_text(expected, "before\n");
    write_rows("row", expected, 0, rows);
    gt_out_slices_write(out, threads, rows, write_rows, "row");
    assert_int_equal(gt_out_bytes(out).len, gt_out_bytes(expected).len);
    assert_memory_equal(gt_out_bytes(out).ptr, gt_out_bytes(expected).ptr, gt_out_bytes(out).len);
    assert_false(gt_out_failed(out));
    gt_out_close(out);
    gt_out_close(expected);
}

static void threads_change_nothing(void **state) {
    static const size_t rows[] = {0, 1, 511, 1023, 1024, 1025, MANY_ROWS};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t threads = 1; threads <= 16; threads = threads * 2 + 1)
            check_threads(rows[i], threads);
}

static void write_until_failure(const void *context, struct gt_out *to, size_t begin, size_t end) {
    write_rows("row", to, begin, end);
    if (begin <= MANY_ROWS / 2 && MANY_ROWS / 2 < end)
        gt_out_fail_memory(to);
    (void)context;
}

static void a_slice_that_fails_fails_the_output(void **state) {
    struct gt_error err = {0};
    struct gt_out *out = open_memory();
    (void)state;
    gt_out_slices_write(out, 4, MANY_ROWS, write_until_failure, NULL);
    assert_true(gt_out_failed(out));
    assert_int_not_equal(gt_out_commit(out, &err), GT_OK);
    gt_out_close(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(a_slice_that_fails_fails_the_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
