/* The row writer: cells in the wrong place are errors that stay, and nothing is written beyond a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "report/row.h"

enum { COLUMN_COUNT = 3, UNCHECKED_FROM = 64 };

static const struct gt_report_column columns[COLUMN_COUNT] = {
    {.key = "name", .title = "Name"},
    {.key = "count", .title = "Count", .unit = GT_UNIT_COUNT},
    {.key = "share", .title = "Share", .unit = GT_UNIT_SHARE},
};

static struct gt_report *report;
static struct gt_table *table;

static int make_table(void **state) {
    (void)state;
    report = gt_report_new("test", 1);
    if (!report)
        return -1;
    table = gt_section_table(&report->sections[0], "things", "Things", columns, COLUMN_COUNT);
    return 0;
}

static int free_table(void **state) {
    (void)state;
    gt_report_free(report);
    return 0;
}

static void add_rows(size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "name", GT_STR("thing"));
        gt_row_count(&row, "count", i);
        gt_row_share(&row, "share", 1, 4);
        gt_row_end(&row);
    }
}

static void assert_failed(const char *message) {
    struct gt_error err = {0};
    assert_int_equal(gt_report_status(report, &err), GT_ERR);
    assert_string_equal(err.message, message);
}

static void assert_no_failure(void) {
    struct gt_error err = {0};
    assert_int_equal(gt_report_status(report, &err), GT_OK);
    assert_string_equal(err.message, "");
}

static void cells_are_where_their_columns_are(void **state) {
    (void)state;
    struct gt_row row = gt_row_begin(table);
    gt_row_null(&row, "name");
    gt_row_int(&row, "count", -5);
    gt_row_real(&row, "share", 0.5);
    assert_int_equal(table->row_count, 0);
    gt_row_end(&row);
    add_rows(1000);
    assert_no_failure();
    assert_int_equal(table->row_count, 1001);
    assert_int_equal(table->total_rows, 1001);
    assert_int_equal(table->cells[0].type, GPUTIME_CELL_NULL);
    assert_int_equal(table->cells[1].integer, -5);
    assert_true(table->cells[2].real == 0.5);
    for (size_t i = 0; i < 1000; i++) {
        const struct gt_cell *cells = table->cells + (i + 1) * COLUMN_COUNT;
        assert_memory_equal(cells[0].text, "thing", cells[0].text_bytes);
        assert_int_equal(cells[1].integer, i);
        assert_true(cells[2].real == 0.25);
    }
}

static void keys_are_compared_by_their_text(void **state) {
    (void)state;
    char name[] = "name", count[] = "count", share[] = "share";
    struct gt_row row = gt_row_begin(table);
    gt_row_null(&row, name);
    gt_row_null(&row, count);
    gt_row_null(&row, share);
    gt_row_end(&row);
    assert_no_failure();
    assert_int_equal(table->row_count, 1);
}

static void a_moved_cell_is_an_error(void **state) {
    (void)state;
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "name", GT_STR("thing"));
    gt_row_share(&row, "share", 1, 4);
    gt_row_count(&row, "count", 1);
    gt_row_end(&row);
    assert_failed("internal error: table 'things': column 2 is 'count', got 'share'");
    assert_int_equal(table->row_count, 0);
}

static void a_missing_last_cell_is_an_error(void **state) {
    (void)state;
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "name", GT_STR("thing"));
    gt_row_count(&row, "count", 1);
    gt_row_end(&row);
    assert_failed("internal error: table 'things': column 3 is 'share', got the end of the row");
    assert_int_equal(table->row_count, 0);
}

static void a_missing_first_cell_is_an_error(void **state) {
    (void)state;
    struct gt_row row = gt_row_begin(table);
    gt_row_count(&row, "count", 1);
    gt_row_share(&row, "share", 1, 4);
    gt_row_end(&row);
    assert_failed("internal error: table 'things': column 1 is 'name', got 'count'");
    assert_int_equal(table->row_count, 0);
}

static void an_extra_cell_is_an_error(void **state) {
    (void)state;
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "name", GT_STR("thing"));
    gt_row_count(&row, "count", 1);
    gt_row_share(&row, "share", 1, 4);
    gt_row_int(&row, "other", 7);
    gt_row_end(&row);
    assert_failed("internal error: table 'things': 3 columns, got 'other' after the last");
    assert_int_equal(table->row_count, 0);
}

static void a_doubled_cell_is_an_error(void **state) {
    (void)state;
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "name", GT_STR("thing"));
    gt_row_text(&row, "name", GT_STR("thing"));
    gt_row_count(&row, "count", 1);
    gt_row_share(&row, "share", 1, 4);
    gt_row_end(&row);
    assert_failed("internal error: table 'things': column 2 is 'count', got 'name'");
    assert_int_equal(table->row_count, 0);
}

static void the_first_error_stays(void **state) {
    (void)state;
    a_moved_cell_is_an_error(state);
    struct gt_row row = gt_row_begin(table);
    gt_row_end(&row);
    add_rows(1);
    assert_failed("internal error: table 'things': column 2 is 'count', got 'share'");
}

/* Far more than the row has, where names are not compared any more: the memory after it belongs to others. */
static void too_many_cells_go_nowhere(void **state) {
    (void)state;
    add_rows(UNCHECKED_FROM);
    assert_int_equal(table->row_count, UNCHECKED_FROM);
    gt_row_reserve(table, UNCHECKED_FROM + 2);
    struct gt_cell *after = table->cells + (UNCHECKED_FROM + 1) * COLUMN_COUNT;
    memset(after, 0x5a, COLUMN_COUNT * sizeof *after);
    struct gt_row row = gt_row_begin(table);
    for (int i = 0; i < 1000; i++) {
        gt_row_null(&row, "name");
        gt_row_null(&row, "count");
        gt_row_null(&row, "share");
    }
    gt_row_end(&row);
    assert_failed("internal error: table 'things': 3 columns, got 'name' after the last");
    for (size_t i = 0; i < COLUMN_COUNT * sizeof *after; i++)
        assert_int_equal(((const unsigned char *)after)[i], 0x5a);
}

static void too_few_cells_are_an_error_in_any_row(void **state) {
    (void)state;
    add_rows(10000);
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "name", GT_STR("thing"));
    gt_row_end(&row);
    assert_failed("internal error: table 'things': column 2 is 'count', got the end of the row");
    assert_int_equal(table->row_count, 10000);
}

static void the_last_of_the_first_rows_is_checked(void **state) {
    (void)state;
    add_rows(UNCHECKED_FROM - 1);
    struct gt_row row = gt_row_begin(table);
    gt_row_null(&row, "share");
    assert_failed("internal error: table 'things': column 1 is 'name', got 'share'");
}

static void the_rest_of_a_row_may_be_null(void **state) {
    (void)state;
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "name", GT_STR("thing"));
    gt_row_null_rest(&row, "count");
    gt_row_end(&row);
    assert_no_failure();
    assert_int_equal(table->cells[0].type, GPUTIME_CELL_TEXT);
    assert_int_equal(table->cells[1].type, GPUTIME_CELL_NULL);
    assert_int_equal(table->cells[2].type, GPUTIME_CELL_NULL);
    row = gt_row_begin(table);
    gt_row_null_rest(&row, "count");
    gt_row_end(&row);
    assert_failed("internal error: table 'things': column 1 is 'name', got 'count'");
}

static void after_a_memory_failure_rows_are_not_kept(void **state) {
    (void)state;
    add_rows(1);
    report->arena.failed = true;
    add_rows(1000);
    struct gt_row row = gt_row_begin(table);
    for (int i = 0; i < 1000; i++)
        gt_row_int(&row, "name", i);
    gt_row_end(&row);
    assert_int_equal(table->row_count, 1);
    struct gt_error err = {0}, memory = {0};
    gt_fail_memory(&memory);
    assert_int_equal(gt_report_status(report, &err), GT_ERR);
    assert_string_equal(err.message, memory.message);
}

static void memory_that_fails_inside_a_row_loses_it(void **state) {
    (void)state;
    struct gt_row row = gt_row_begin(table);
    gt_row_null(&row, "name");
    report->arena.failed = true;
    gt_row_null(&row, "count");
    gt_row_null(&row, "share");
    gt_row_end(&row);
    assert_int_equal(table->row_count, 0);
}

static void a_part_of_a_report_brings_its_error(void **state) {
    (void)state;
    struct gt_report *whole = gt_report_new("test", 1);
    assert_non_null(whole);
    a_doubled_cell_is_an_error(state);
    gt_section_splice(&whole->sections[0], &report->sections[0]);
    struct gt_error err = {0};
    assert_int_equal(gt_report_status(whole, &err), GT_ERR);
    assert_string_equal(err.message, "internal error: table 'things': column 2 is 'count', got 'name'");
    gt_report_free(whole);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_table, free_table)

static void fill_row(const void *context, struct gt_row *row, size_t index) {
    const size_t *short_row = context;
    gt_row_text(row, "name", GT_STR("thing"));
    gt_row_count(row, "count", index);
    if (index != *short_row)
        gt_row_share(row, "share", 1, 4);
}

static void many_rows_are_filled_on_threads(void **state) {
    enum { MANY = 40000 };
    size_t none = SIZE_MAX;
    (void)state;
    add_rows(3);
    gt_row_fill(table, MANY, 4, fill_row, &none);
    assert_no_failure();
    assert_int_equal(table->row_count, MANY + 3);
    assert_int_equal(table->total_rows, MANY + 3);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(table->cells[(i + 3) * COLUMN_COUNT + 1].integer, i);
}

static void a_filled_row_that_is_too_short_is_an_error(void **state) {
    enum { MANY = 40000 };
    size_t late = MANY - 1;
    (void)state;
    gt_row_fill(table, MANY, 4, fill_row, &late);
    assert_failed("internal error: table 'things': a row has not 3 cells");
    assert_int_equal(table->row_count, UNCHECKED_FROM);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(cells_are_where_their_columns_are),
        TEST(keys_are_compared_by_their_text),
        TEST(a_moved_cell_is_an_error),
        TEST(a_missing_last_cell_is_an_error),
        TEST(a_missing_first_cell_is_an_error),
        TEST(an_extra_cell_is_an_error),
        TEST(a_doubled_cell_is_an_error),
        TEST(the_first_error_stays),
        TEST(too_many_cells_go_nowhere),
        TEST(too_few_cells_are_an_error_in_any_row),
        TEST(the_last_of_the_first_rows_is_checked),
        TEST(the_rest_of_a_row_may_be_null),
        TEST(after_a_memory_failure_rows_are_not_kept),
        TEST(memory_that_fails_inside_a_row_loses_it),
        TEST(a_part_of_a_report_brings_its_error),
        TEST(many_rows_are_filled_on_threads),
        TEST(a_filled_row_that_is_too_short_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
