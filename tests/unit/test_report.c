/* The report model: building, memory failure, sorting, limits and shapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "null_row.h"
#include "random.h"
#include "report/layouts.h"
#include "report/report.h"

static const struct gt_report_column columns[] = {
    {.key = "name", .title = "Name", .flags = GT_COLUMN_NAME},
    {.key = "count", .title = "Count", .unit = GT_UNIT_COUNT},
    {.key = "avg_ns", .title = "Average", .unit = GT_UNIT_NS, .flags = GT_COLUMN_DETAIL},
};

static struct gt_report *report;
static struct gt_section *section;

static int make_report(void **state) {
    (void)state;
    report = gt_report_new("test", 2);
    section = report ? &report->sections[0] : NULL;
    return report ? 0 : -1;
}

static int free_report(void **state) {
    (void)state;
    gt_report_free(report);
    return 0;
}

static struct gt_table *table_of(const char *const *names, const int64_t *counts, size_t rows) {
    struct gt_table *table = gt_section_table(section, "things", "Things", columns, 3);
    for (size_t i = 0; i < rows; i++) {
        struct gt_cell *row = null_row(table);
        row[0] = names[i] ? gt_cell_text(gt_str_of(names[i])) : gt_cell_null();
        row[1] = counts[i] >= 0 ? gt_cell_int(counts[i]) : gt_cell_null();
        row[2] = gt_cell_real((double)i);
    }
    return table;
}

/* The third column has the original place of each row. */
static void assert_order(const struct gt_table *table, const char *expected) {
    char order[64] = "";
    for (size_t row = 0; row < table->row_count; row++)
        snprintf(order + strlen(order), sizeof order - strlen(order), "%.0f", table->cells[row * 3 + 2].real);
    assert_string_equal(order, expected);
}

static void new_sections_know_nothing(void **state) {
    (void)state;
    assert_int_equal(report->section_count, 2);
    assert_ptr_equal(report->sections[1].report, report);
    assert_int_equal(report->sections[1].input.rank, -1);
    assert_null(gt_section_find(section, "things"));
}

static void units_have_the_names_of_the_data_formats(void **state) {
    (void)state;
    assert_string_equal(gt_cell_unit_name(GT_UNIT_NONE), "");
    assert_string_equal(gt_cell_unit_name(GT_UNIT_COUNT), "count");
    assert_string_equal(gt_cell_unit_name(GT_UNIT_NS), "ns");
    assert_string_equal(gt_cell_unit_name(GT_UNIT_BYTES), "bytes");
    assert_string_equal(gt_cell_unit_name(GT_UNIT_SHARE), "share");
}

static void tables_grow_and_new_rows_are_null(void **state) {
    (void)state;
    struct gt_table *table = gt_section_table(section, "things", "Things", columns, 3);
    for (int64_t i = 0; i < 10000; i++) {
        struct gt_cell *row = null_row(table);
        for (size_t c = 0; c < 3; c++)
            assert_int_equal(row[c].type, GPUTIME_CELL_NULL);
        row[1] = gt_cell_int(i);
    }
    assert_int_equal(table->row_count, 10000);
    assert_int_equal(table->total_rows, 10000);
    for (int64_t i = 0; i < 10000; i++)
        assert_int_equal(table->cells[i * 3 + 1].integer, i);
    assert_ptr_equal(gt_section_find(section, "things"), table);
    assert_int_equal(gt_table_column(table, "avg_ns"), 2);
    assert_true(gt_table_column(table, "none") == SIZE_MAX);
}

static void facts_are_kept_however_many_blocks_follow(void **state) {
    (void)state;
    struct gt_block *facts = gt_section_facts(section, "First");
    for (int i = 0; i < 100; i++) {
        gt_section_note(section, GT_FOR_ALL, GT_STR("a sentence"));
        gt_section_add_fact(section, facts, "key", "Title", GT_UNIT_COUNT, gt_cell_int(i));
    }
    assert_int_equal(section->block_count, 101);
    assert_int_equal(section->blocks[0].fact_count, 100);
    assert_string_equal(section->blocks[0].title, "First");
    for (int i = 0; i < 100; i++)
        assert_int_equal(section->blocks[0].facts[i].value.integer, i);
    assert_true(gt_str_eq(section->blocks[100].note, GT_STR("a sentence")));
}

static void issues_are_kept_in_order(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 20; i++)
        gt_section_issue(section, &(struct gt_report_issue){.id = "odd", .count = i});
    assert_int_equal(section->issue_count, 20);
    assert_int_equal(section->issues[19].count, 19);
}

static void after_a_memory_failure_building_goes_on_and_keeps_nothing(void **state) {
    (void)state;
    struct gt_table *before = gt_section_table(section, "things", "Things", columns, 3);
    null_row(before)[0] = gt_cell_int(1);
    report->arena.failed = true;
    struct gt_table *table = gt_section_table(section, "more", "More", columns, 3);
    struct gt_block *facts = gt_section_facts(section, NULL);
    assert_non_null(table);
    assert_non_null(facts);
    for (int i = 0; i < 100; i++) {
        null_row(table)[2] = gt_cell_int(i);
        null_row(before)[2] = gt_cell_int(i);
        gt_section_add_fact(section, facts, "key", "Title", GT_UNIT_NONE, gt_cell_int(i));
        gt_section_note(section, GT_FOR_ALL, GT_STR("text"));
    }
    assert_int_equal(table->row_count, 0);
    assert_int_equal(before->row_count, 1);
    assert_int_equal(section->block_count, 1);
    struct gt_error err = {0};
    assert_int_equal(gt_table_sort(table, "count", &err), GT_OK);
}

/* ---- sorting ---- */

static const char *const letters[] = {"b", "a", NULL, "ab", "b"};
static const int64_t numbers[] = {5, -1, 7, 5, 0};

static void numbers_sort_largest_first_with_nulls_last(void **state) {
    (void)state;
    struct gt_error err = {0};
    struct gt_table *table = table_of(letters, numbers, 5);
    assert_int_equal(gt_table_sort(table, "count", &err), GT_OK);
    assert_order(table, "20341");
    assert_string_equal(table->sort, "count");
    assert_int_equal(gt_table_sort(table, "+count", &err), GT_OK);
    assert_order(table, "40321");
}

static void text_sorts_by_bytes(void **state) {
    (void)state;
    struct gt_error err = {0};
    struct gt_table *table = table_of(letters, numbers, 5);
    assert_int_equal(gt_table_sort(table, "+name", &err), GT_OK);
    assert_order(table, "13042");
    assert_int_equal(gt_table_sort(table, "name", &err), GT_OK);
    assert_order(table, "04312");
}

static void reals_of_any_kind_sort(void **state) {
    (void)state;
    const double values[] = {-0.0, 3.5, NAN, -INFINITY, 0.0, INFINITY, -2};
    struct gt_error err = {0};
    struct gt_table *table = gt_section_table(section, "things", "Things", columns, 3);
    for (size_t i = 0; i < 7; i++) {
        struct gt_cell *row = null_row(table);
        row[1] = gt_cell_real(values[i]);
        row[2] = gt_cell_real((double)i);
    }
    table->cells[6 * 3 + 1] = gt_cell_int(-2); /* whole numbers among them */
    assert_int_equal(gt_table_sort(table, "count", &err), GT_OK);
    assert_order(table, "5104632");
    assert_int_equal(gt_table_sort(table, "+count", &err), GT_OK);
    assert_order(table, "3604152");
}

static void text_comes_after_numbers_in_a_mixed_column(void **state) {
    (void)state;
    struct gt_error err = {0};
    struct gt_table *table = table_of(letters, numbers, 5);
    table->cells[1 * 3] = gt_cell_int(12);
    table->cells[3 * 3] = gt_cell_real(3.5);
    assert_int_equal(gt_table_sort(table, "+name", &err), GT_OK);
    assert_order(table, "31042");
}

static void large_tables_keep_the_order_of_equal_rows(void **state) {
    (void)state;
    enum { ROWS = 100000 };
    struct gt_error err = {0};
    struct gt_table *table = gt_section_table(section, "things", "Things", columns, 3);
    uint64_t seed = 7;
    for (int64_t i = 0; i < ROWS; i++) {
        static const char *const names[] = {"x", "yy", "z", "xx", "y"};
        struct gt_cell *row = null_row(table);
        row[0] = gt_cell_text(gt_str_of(names[random_below(&seed, 5)]));
        row[1] = gt_cell_int(random_between(&seed, -500, 500));
        row[2] = gt_cell_real((double)i);
    }
    assert_int_equal(gt_table_sort(table, "count", &err), GT_OK);
    assert_int_equal(gt_table_sort(table, "+name", &err), GT_OK);
    for (size_t i = 1; i < ROWS; i++) {
        const struct gt_cell *before = &table->cells[(i - 1) * 3], *row = &table->cells[i * 3];
        int order = gt_str_cmp((struct gt_str){before[0].text, before[0].text_bytes},
                               (struct gt_str){row[0].text, row[0].text_bytes});
        assert_true(order < 0 || (order == 0 && before[1].integer > row[1].integer) ||
                    (order == 0 && before[1].integer == row[1].integer && before[2].real < row[2].real));
    }
}

static void unknown_columns_are_usage_errors_that_list_the_columns(void **state) {
    (void)state;
    struct gt_error err = {0};
    struct gt_table *table = table_of(letters, numbers, 5);
    assert_int_equal(gt_table_sort(table, "+size", &err), GT_ERR_USAGE);
    assert_string_equal(err.message, "table 'things' has no column 'size'; it has name, count, avg_ns");
    assert_order(table, "01234");
}

/* ---- limits and shapes ---- */

static void a_limit_keeps_the_first_rows_and_the_number_of_all(void **state) {
    (void)state;
    struct gt_table *table = table_of(letters, numbers, 5);
    gt_table_limit(table, 0);
    assert_int_equal(table->row_count, 5);
    gt_table_limit(table, 9);
    assert_int_equal(table->row_count, 5);
    gt_table_limit(table, 2);
    assert_int_equal(table->row_count, 2);
    assert_int_equal(table->total_rows, 5);
}

static void a_later_shape_wins_field_by_field(void **state) {
    (void)state;
    const struct gt_shape shapes[] = {
        {.table = "things", .sort = "count", .limit = 1, .screen_limit = 4, .columns = "name"},
        {.table = "other", .sort = "nonsense", .limit = 1},
        {.table = "things", .sort = "+avg_ns", .limit = 3, .screen_limit = -1},
    };
    struct gt_error err = {0};
    struct gt_table *table = table_of(letters, numbers, 5);
    table->screen_limit = 2;
    assert_int_equal(gt_report_shape(report, shapes, 3, &err), GT_OK);
    assert_order(table, "012");
    assert_int_equal(table->screen_limit, 0);
    assert_string_equal(table->screen_columns, "name");
    assert_int_equal(section->blocks[0].audience, GT_FOR_ALL);
}

static void shapes_reach_the_tables_of_every_section(void **state) {
    (void)state;
    const struct gt_shape shape = {.table = "things", .sort = "avg_ns", .limit = 2, .hidden = 1};
    struct gt_error err = {0};
    struct gt_table *first = table_of(letters, numbers, 5);
    section = &report->sections[1];
    struct gt_table *second = table_of(letters, numbers, 4);
    assert_int_equal(gt_report_shape(report, &shape, 1, &err), GT_OK);
    assert_order(first, "43");
    assert_order(second, "32");
    assert_int_equal(section->blocks[0].audience, GT_FOR_DATA | GT_FOR_PAGE);
}

static void columns_of_a_shape_are_checked(void **state) {
    (void)state;
    struct gt_shape shape = {.table = "things", .columns = " count , name"};
    struct gt_error err = {0};
    struct gt_table *table = table_of(letters, numbers, 5);
    assert_int_equal(gt_report_shape(report, &shape, 1, &err), GT_OK);
    assert_string_equal(table->screen_columns, " count , name");
    shape.columns = "count,size";
    assert_int_equal(gt_report_shape(report, &shape, 1, &err), GT_ERR_USAGE);
    assert_string_equal(err.message, "table 'things' has no column 'size'; it has name, count, avg_ns");
}

/* A part of a report that says two facts, has a table and says how its rows vary. */
static struct gt_report *part_of(const char *own_fact, const char *own_table) {
    struct gt_report *part = gt_report_new("part", 1);
    assert_non_null(part);
    struct gt_section *from = &part->sections[0];
    struct gt_block *facts = gt_section_facts(from, NULL);
    gt_section_add_fact(from, facts, "both", "Both", GT_UNIT_COUNT, gt_cell_text(gt_str_of(own_fact)));
    if (own_fact[0])
        gt_section_add_fact(from, facts, own_fact, "Own", GT_UNIT_COUNT, gt_cell_int(1));
    gt_section_spread(from, own_table, gt_arena_copy(&part->arena, gt_str_of(own_table)), 3, 0.5);
    from->has_warm_up = own_fact[0] == 's';
    null_row(gt_section_table(from, own_table, "Own", columns, 3))[1] = gt_cell_int(7);
    gt_section_issue(from, &(struct gt_report_issue){.id = own_table, .count = 1});
    return part;
}

static void spliced_parts_are_one_section_in_their_order(void **state) {
    (void)state;
    struct gt_report *parts[] = {part_of("first", "one"), part_of("second", "two"), part_of("", "three")};
    for (size_t i = 0; i < 3; i++) {
        gt_section_splice(section, &parts[i]->sections[0]);
        gt_report_free(parts[i]);
    }
    /* facts, one; facts, two; three: all its facts are there already */
    assert_int_equal(section->block_count, 5);
    for (size_t b = 0; b < section->block_count; b++)
        assert_int_equal(section->blocks[b].index, b);
    assert_string_equal(gt_section_fact(section, GT_STR("both")).text, "first");
    assert_int_equal(section->blocks[2].fact_count, 1);
    assert_string_equal(section->blocks[2].facts[0].key, "second");
    assert_ptr_equal(section->blocks[1].table->report, report);
    assert_string_equal(section->blocks[4].table->key, "three");
    assert_int_equal(section->spread_count, 3);
    assert_string_equal(section->spreads[2].table, "three");
    assert_true(gt_str_eq(section->spreads[2].name, GT_STR("three")) && section->spreads[2].steps == 3);
    assert_true(section->has_warm_up);
    assert_int_equal(section->issue_count, 3);
    assert_string_equal(section->issues[2].id, "three");
}

static void layouts_are_found_by_their_keys(void **state) {
    (void)state;
    assert_non_null(gt_layout_find("kernel-analysis"));
    assert_non_null(gt_layout_find("gap-report"));
    assert_null(gt_layout_find("text"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_report, free_report)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(new_sections_know_nothing),
        TEST(units_have_the_names_of_the_data_formats),
        TEST(tables_grow_and_new_rows_are_null),
        TEST(facts_are_kept_however_many_blocks_follow),
        TEST(issues_are_kept_in_order),
        TEST(after_a_memory_failure_building_goes_on_and_keeps_nothing),
        TEST(numbers_sort_largest_first_with_nulls_last),
        TEST(text_sorts_by_bytes),
        TEST(reals_of_any_kind_sort),
        TEST(text_comes_after_numbers_in_a_mixed_column),
        TEST(large_tables_keep_the_order_of_equal_rows),
        TEST(unknown_columns_are_usage_errors_that_list_the_columns),
        TEST(a_limit_keeps_the_first_rows_and_the_number_of_all),
        TEST(a_later_shape_wins_field_by_field),
        TEST(shapes_reach_the_tables_of_every_section),
        TEST(columns_of_a_shape_are_checked),
        TEST(spliced_parts_are_one_section_in_their_order),
        TEST(layouts_are_found_by_their_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
