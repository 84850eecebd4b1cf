/* Findings: their order, their rows, and what people see of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/report.h"

static struct gt_report *report;
static struct gt_section *section;
static struct gt_table *table;

static int make_report(void **state) {
    (void)state;
    report = gt_report_new("test", 1);
    section = report ? &report->sections[0] : NULL;
    table = section ? gt_finding_list_new(section) : NULL;
    return table ? 0 : -1;
}

static int free_report(void **state) {
    (void)state;
    gt_report_free(report);
    return 0;
}

static void add(const char *id, enum gt_severity severity, int64_t recoverable_ns) {
    gt_finding_list_add(section, &(struct gt_finding){.id = id,
                                                      .severity = severity,
                                                      .title = GT_STR("Something"),
                                                      .evidence = {GT_STR("One."), GT_STR("Two.")},
                                                      .evidence_count = 2,
                                                      .advice = {GT_STR("Do."), GT_STR("Do more.")},
                                                      .advice_count = 2,
                                                      .recoverable_ns = recoverable_ns,
                                                      .table = "kernels"});
}

static void assert_ids(const char *const *expected, size_t count) {
    assert_int_equal(table->row_count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(gt_finding_list_at(section, table, i)->id, expected[i]);
}

static struct gt_str text_at(size_t row, const char *column) {
    struct gt_cell cell = table->cells[row * table->column_count + gt_table_column(table, column)];
    assert_int_equal(cell.type, GPUTIME_CELL_TEXT);
    return (struct gt_str){cell.text, cell.text_bytes};
}

static void the_most_severe_comes_first_then_the_most_time_to_win_back(void **state) {
    (void)state;
    add("unknown", GT_SEVERITY_MEDIUM, -1);
    add("little", GT_SEVERITY_LOW, 5);
    add("much", GT_SEVERITY_LOW, 500);
    add("none", GT_SEVERITY_HIGH, 0);
    add("also-unknown", GT_SEVERITY_MEDIUM, -1);
    add("also-much", GT_SEVERITY_HIGH, 500);
    assert_ids((const char *const[]){"also-much", "none", "unknown", "also-unknown", "much", "little"}, 6);
}

static void overlapping_findings_come_last_of_their_severity(void **state) {
    (void)state;
    gt_finding_list_add(
        section, &(struct gt_finding){
                     .id = "overlapping", .severity = GT_SEVERITY_HIGH, .recoverable_ns = -1, .overlaps_id = "worth"});
    add("own", GT_SEVERITY_MEDIUM, -1);
    add("also-high", GT_SEVERITY_HIGH, -1);
    add("worth", GT_SEVERITY_HIGH, 1);
    add("much", GT_SEVERITY_LOW, 100);
    assert_ids((const char *const[]){"worth", "also-high", "overlapping", "own", "much"}, 5);
}

static void rows_hold_what_the_findings_do(void **state) {
    (void)state;
    add("b", GT_SEVERITY_LOW, -1);
    add("a", GT_SEVERITY_HIGH, 7);
    assert_true(gt_str_eq(text_at(0, "id"), GT_STR("a")));
    assert_true(gt_str_eq(text_at(0, "severity"), GT_STR("high")));
    assert_true(gt_str_eq(text_at(0, "evidence"), GT_STR("One. Two.")));
    assert_true(gt_str_eq(text_at(0, "advice"), GT_STR("Do. Do more.")));
    assert_true(gt_str_eq(text_at(1, "table"), GT_STR("kernels")));
    size_t recoverable = gt_table_column(table, "recoverable_ns");
    assert_int_equal(table->cells[recoverable].integer, 7);
    assert_int_equal(table->cells[table->column_count + recoverable].type, GPUTIME_CELL_NULL);
}

static void sorted_rows_still_find_their_findings(void **state) {
    (void)state;
    struct gt_error err = {0};
    add("b", GT_SEVERITY_LOW, 9);
    add("c", GT_SEVERITY_LOW, 8);
    add("a", GT_SEVERITY_LOW, 7);
    assert_int_equal(gt_table_sort(table, "+id", &err), GT_OK);
    assert_ids((const char *const[]){"a", "b", "c"}, 3);
    gt_table_limit(table, 2);
    assert_ids((const char *const[]){"a", "b"}, 2);
}

static void columns_choose_the_parts_that_people_see(void **state) {
    (void)state;
    add("a", GT_SEVERITY_LOW, 9);
    const struct gt_finding *finding = gt_finding_list_at(section, table, 0);
    assert_true(gt_finding_list_shows(table, "evidence"));
    assert_int_equal(gt_finding_list_advice_shown(table, finding), 2);
    table->screen_columns = "title,advice";
    assert_false(gt_finding_list_shows(table, "evidence"));
    assert_int_equal(gt_finding_list_advice_shown(table, finding), 1);
    table->screen_columns = "title,evidence";
    assert_int_equal(gt_finding_list_advice_shown(table, finding), 0);
}

static void the_worth_has_the_saving_of_a_step_where_there_are_steps(void **state) {
    (void)state;
    char text[128], small[12];
    struct gt_finding finding = {
        .severity = GT_SEVERITY_HIGH, .recoverable_ns = 106000000, .step_ns = 26500000, .share = 0.52};
    assert_string_equal(gt_finding_list_worth(&finding, text, sizeof text).ptr, "high, saves up to 26.5 ms a step");
    finding.step_ns = -1;
    assert_string_equal(gt_finding_list_worth(&finding, text, sizeof text).ptr, "high, saves up to 106 ms");
    struct gt_str cut = gt_finding_list_worth(&finding, small, sizeof small);
    assert_true(gt_str_eq(cut, GT_STR("high, saves")));
    finding.recoverable_ns = -1;
    finding.severity = GT_SEVERITY_LOW;
    assert_string_equal(gt_finding_list_worth(&finding, text, sizeof text).ptr, "low");
}

static void one_finding_can_be_kept_with_its_rank(void **state) {
    (void)state;
    add("a", GT_SEVERITY_HIGH, 9);
    add("b", GT_SEVERITY_LOW, 5);
    gt_finding_list_keep(section, "b");
    assert_ids((const char *const[]){"b"}, 1);
    assert_int_equal(gt_finding_list_rank(section, gt_finding_list_at(section, table, 0)), 2);
    assert_int_equal(table->total_rows, 1);
    gt_finding_list_keep(section, "c");
    assert_int_equal(table->row_count, 0);
}

static void the_verdict_is_a_fact(void **state) {
    (void)state;
    assert_int_equal(gt_finding_list_verdict(section).len, 0);
    gt_section_add_fact(section, gt_section_facts(section, NULL), GT_FINDINGS_VERDICT.ptr, "Verdict", GT_UNIT_NONE,
                        gt_cell_text(GT_STR("Nothing stands out.")));
    assert_true(gt_str_eq(gt_finding_list_verdict(section), GT_STR("Nothing stands out.")));
}

static void a_section_without_the_block_takes_none(void **state) {
    (void)state;
    struct gt_report *other = gt_report_new("test", 1);
    assert_non_null(other);
    gt_finding_list_add(&other->sections[0], &(struct gt_finding){.id = "a", .recoverable_ns = -1});
    assert_int_equal(other->sections[0].finding_count, 0);
    gt_report_free(other);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_report, free_report)

static void a_finding_on_the_same_time_refers_to_the_other_by_its_number(void **state) {
    (void)state;
    add("first", GT_SEVERITY_HIGH, 500);
    add("cause", GT_SEVERITY_MEDIUM, 5);
    gt_finding_list_add(section, &(struct gt_finding){.id = "effect",
                                                      .severity = GT_SEVERITY_LOW,
                                                      .title = GT_STR("Something"),
                                                      .evidence = {GT_STR("One.")},
                                                      .evidence_count = 1,
                                                      .recoverable_ns = -1,
                                                      .overlaps_id = "cause"});
    gt_finding_list_link(section);
    assert_true(gt_str_eq(text_at(2, "evidence"), GT_STR("One. Overlaps finding 2 (cause).")));
    assert_true(gt_str_eq(text_at(1, "evidence"), GT_STR("One. Two.")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_most_severe_comes_first_then_the_most_time_to_win_back),
        TEST(overlapping_findings_come_last_of_their_severity),
        TEST(rows_hold_what_the_findings_do),
        TEST(sorted_rows_still_find_their_findings),
        TEST(columns_choose_the_parts_that_people_see),
        TEST(the_worth_has_the_saving_of_a_step_where_there_are_steps),
        TEST(one_finding_can_be_kept_with_its_rank),
        TEST(the_verdict_is_a_fact),
        TEST(a_section_without_the_block_takes_none),
        TEST(a_finding_on_the_same_time_refers_to_the_other_by_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
