/* Tables of several inputs as one: rows of one after those of the other, and a column for each input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "null_row.h"
#include "report/report.h"

static const struct gt_report_column columns[] = {
    {.key = "category", .title = "Category"},
    {.key = "elapsed_ns", .title = "Elapsed", .unit = GT_UNIT_NS},
};
static const struct gt_report_column other_columns[] = {
    {.key = "elapsed_ns", .title = "Elapsed", .unit = GT_UNIT_NS},
    {.key = "category", .title = "Category"},
    {.key = "more", .title = "More"},
};

static struct gt_report *report_of(size_t sections) {
    struct gt_report *report = gt_report_new("test", sections);
    assert_non_null(report);
    for (size_t s = 0; s < sections; s++)
        report->sections[s].input.label = gt_arena_printf(&report->arena, "run_%zu", s);
    return report;
}

static void add_row(struct gt_table *table, const char *category, struct gt_cell value) {
    struct gt_cell *row = null_row(table);
    row[gt_table_column(table, "category")] = gt_cell_text(gt_str_of(category));
    row[gt_table_column(table, "elapsed_ns")] = value;
}

/* "total 7 3|a 5 -|" */
static void assert_table(const struct gt_table *table, const char *expected) {
    char text[512] = "";
    assert_non_null(table);
    for (size_t row = 0; row < table->row_count; row++)
        for (size_t c = 0; c < table->column_count; c++) {
            const struct gt_cell *cell = &table->cells[row * table->column_count + c];
            size_t used = strlen(text), room = sizeof text - used;
            const char *after = c + 1 < table->column_count ? " " : "|";
            if (cell->type == GPUTIME_CELL_TEXT)
                snprintf(text + used, room, "%.*s%s", (int)cell->text_bytes, cell->text, after);
            else if (cell->type == GPUTIME_CELL_INT)
                snprintf(text + used, room, "%lld%s", (long long)cell->integer, after);
            else if (cell->type == GPUTIME_CELL_REAL)
                snprintf(text + used, room, "%.1f%s", cell->real, after);
            else
                snprintf(text + used, room, "-%s", after);
        }
    assert_string_equal(text, expected);
}

static struct gt_report *two_runs(void) {
    struct gt_report *report = report_of(2);
    struct gt_table *first = gt_section_table(&report->sections[0], "bars", "Bars", columns, 2);
    struct gt_table *second = gt_section_table(&report->sections[1], "bars", "Bars", other_columns, 3);
    add_row(first, "a", gt_cell_int(5));
    add_row(first, "b", gt_cell_int(2));
    add_row(second, "b", gt_cell_int(3));
    add_row(second, "c", gt_cell_real(0.5));
    add_row(second, "b", gt_cell_int(1)); /* the same row once more: both count */
    add_row(second, "d", gt_cell_null());
    return report;
}

static void shape(struct gt_report *report, struct gt_shape shape) {
    struct gt_error err = {0};
    assert_int_equal(gt_report_shape(report, &shape, 1, &err), GT_OK);
}

static void inputs_become_columns(void **state) {
    (void)state;
    struct gt_report *report = two_runs();
    shape(report, (struct gt_shape){.table = "bars", .pivot = "category,elapsed_ns"});
    const struct gt_table *table = gt_section_find(&report->joint, "bars");
    assert_table(table, "total 7 4.5|b 2 4|a 5 -|c - 0.5|");
    assert_string_equal(table->columns[1].title, "run_0");
    assert_int_equal(table->columns[2].unit, GT_UNIT_NS);
    assert_int_equal(report->joint.blocks[0].audience, GT_FOR_SCREEN);
    for (size_t s = 0; s < 2; s++)
        assert_int_equal(report->sections[s].blocks[0].audience, GT_FOR_DATA | GT_FOR_PAGE);
    gt_report_free(report);
}

static void rows_follow_each_other(void **state) {
    (void)state;
    struct gt_report *report = two_runs();
    shape(report, (struct gt_shape){.table = "bars", .joined = 1});
    assert_table(gt_section_find(&report->joint, "bars"),
                 "run_0 a 5|run_0 b 2|run_1 b 3|run_1 c 0.5|run_1 b 1|run_1 d -|");
    gt_report_free(report);
}

static void limits_leave_out_the_smallest(void **state) {
    (void)state;
    struct gt_report *report = two_runs();
    shape(report, (struct gt_shape){.table = "bars", .pivot = "category,elapsed_ns", .limit = 1});
    assert_table(gt_section_find(&report->joint, "bars"), "total 7 4.5|b 2 4|");
    assert_int_equal(gt_section_find(&report->sections[0], "bars")->row_count, 1);
    gt_report_free(report);
}

/* One input, a table asked for by name, one that is hidden, columns that are not there. */
static void what_is_not_joined(void **state) {
    (void)state;
    struct gt_shape shapes[] = {
        {.table = "bars", .pivot = "category,elapsed_ns", .hidden = 1},
        {.table = "bars", .pivot = "category,elapsed_ns", .hidden = -1},
        {.table = "bars", .pivot = "category,nothing"},
        {.table = "bars", .pivot = "nothing"},
        {.table = "none", .pivot = "category,elapsed_ns"},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct gt_report *report = two_runs();
        shape(report, shapes[i]);
        assert_int_equal(report->joint.block_count, 0);
        gt_report_free(report);
    }
    struct gt_report *report = report_of(1);
    gt_section_table(&report->sections[0], "bars", "Bars", columns, 2);
    shape(report, (struct gt_shape){.table = "bars", .pivot = "category,elapsed_ns"});
    assert_int_equal(report->joint.block_count, 0);
    gt_report_free(report);
}

static void sums_of_any_size(void **state) {
    (void)state;
    struct gt_report *report = report_of(2);
    for (size_t s = 0; s < 2; s++) {
        struct gt_table *table = gt_section_table(&report->sections[s], "bars", "Bars", columns, 2);
        for (size_t i = 0; i < 3; i++)
            add_row(table, "huge", gt_cell_int(INT64_MAX));
        add_row(table, "", gt_cell_int(1));
    }
    shape(report, (struct gt_shape){.table = "bars", .pivot = "category,elapsed_ns"});
    const struct gt_table *table = gt_section_find(&report->joint, "bars");
    assert_int_equal(table->row_count, 3);
    assert_int_equal(table->cells[table->column_count + 1].type, GPUTIME_CELL_REAL);
    gt_report_free(report);
}

/* A table has 256 columns at most: more runs keep theirs by themselves. */
static void very_many_inputs(void **state) {
    (void)state;
    for (size_t sections = GT_TABLE_COLUMNS_MAX - 1; sections <= GT_TABLE_COLUMNS_MAX; sections++) {
        struct gt_report *report = report_of(sections);
        for (size_t s = 0; s < sections; s++)
            add_row(gt_section_table(&report->sections[s], "bars", "Bars", columns, 2), "a", gt_cell_int((int64_t)s));
        shape(report, (struct gt_shape){.table = "bars", .pivot = "category,elapsed_ns"});
        assert_int_equal(report->joint.block_count, sections < GT_TABLE_COLUMNS_MAX);
        assert_int_equal(!(report->sections[0].blocks[0].audience & GT_FOR_SCREEN), sections < GT_TABLE_COLUMNS_MAX);
        gt_report_free(report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_become_columns),
        cmocka_unit_test(rows_follow_each_other),
        cmocka_unit_test(limits_leave_out_the_smallest),
        cmocka_unit_test(what_is_not_joined),
        cmocka_unit_test(sums_of_any_size),
        cmocka_unit_test(very_many_inputs),
    };
    return cmocka_run_group_tests_name("joint", tests, NULL, NULL);
}
