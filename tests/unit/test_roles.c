/* Roles: what analyses declare for comparisons and limits names tables that there are, and the columns of a table are
   found by what they mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "measure/analysis.h"
#include "verdict/limit.h"

static const struct gt_roles *const roles = &gt_analysis_roles;

static void assert_made(const char *table) {
    for (size_t i = 0; i < gt_analysis_count; i++) {
        struct gt_str rest = gt_str_of(gt_analyses[i].tables), key;
        while (gt_str_next_item(&rest, &key))
            if (gt_str_eq(key, gt_str_of(table)))
                return;
    }
    fail_msg("no analysis makes the table '%s'", table);
}

static const struct gt_measure *find_measure(const char *key) {
    for (size_t i = 0; i < roles->measure_count; i++)
        if (strcmp(roles->measure_list[i].key, key) == 0)
            return &roles->measure_list[i];
    fail_msg("unknown measure '%s'", key);
    return NULL;
}

static void tables_with_roles_exist(void **state) {
    (void)state;
    assert_made(roles->measures);
    assert_made(roles->gpus);
    for (size_t i = 0; i < roles->divisor_count; i++)
        assert_made(roles->divisors[i].table);
    for (size_t i = 0; i < roles->kind_count; i++)
        assert_made(roles->kinds[i].table);
    for (size_t i = 0; i < roles->measure_count; i++)
        if (roles->measure_list[i].table)
            assert_made(roles->measure_list[i].table);
}

static void measures_say_what_they_need(void **state) {
    (void)state;
    assert_int_equal(find_measure(roles->whole)->from, GT_FROM_ROW);
    for (size_t i = 0; i < roles->measure_count; i++) {
        const struct gt_measure *measure = &roles->measure_list[i];
        bool is_always_known = measure->from == GT_FROM_ISSUES || measure->from == GT_FROM_LOSSES;
        assert_true(measure->needs || is_always_known);
        assert_true(measure->from == GT_FROM_ROW || is_always_known || (measure->table && measure->column));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(roles->measure_list[k].key, measure->key);
    }
    for (size_t i = 0; i < roles->divisor_count; i++)
        if (roles->divisors[i].measure)
            assert_int_equal(find_measure(roles->divisors[i].measure)->from, GT_FROM_ROW);
}

/* The colon distinguishes a kind from a measure, so that both may have one name. */
static void every_kind_and_measure_can_be_limited(void **state) {
    (void)state;
    for (size_t i = 0; i < roles->measure_count + roles->kind_count; i++) {
        bool is_kind = i >= roles->measure_count;
        char text[128];
        struct gt_limit limit;
        struct gt_error err = {0};
        const char *table = NULL;
        if (is_kind)
            snprintf(text, sizeof text, "each %s:*<1", roles->kinds[i - roles->measure_count].key);
        else
            snprintf(text, sizeof text, "%s<1", roles->measure_list[i].key);
        assert_int_equal(gt_limit_parse(text, roles, &limit, &err), GT_OK);
        assert_int_equal(gt_limit_find_table(&limit, roles, &table, &err), GT_OK);
        assert_string_equal(table, is_kind ? roles->kinds[i - roles->measure_count].table : roles->measures);
        assert_ptr_equal(limit.measure, is_kind ? NULL : &roles->measure_list[i]);
    }
}

static void what_is_not_declared_is_listed(void **state) {
    (void)state;
    struct gt_limit limit;
    struct gt_error err = {0};
    const char *table;
    assert_int_equal(gt_limit_parse("bogus<1", roles, &limit, &err), GT_ERR_USAGE);
    assert_non_null(strstr(err.message, "use one of step, span, "));
    assert_int_equal(gt_limit_parse("bogus:*<1", roles, &limit, &err), GT_OK);
    assert_int_equal(gt_limit_find_table(&limit, roles, &table, &err), GT_ERR_USAGE);
    assert_non_null(strstr(err.message, "use one of kernel, category, "));
    assert_int_equal(gt_limit_parse("step<1", &gt_no_roles, &limit, &err), GT_ERR_USAGE);
    assert_non_null(strstr(err.message, "use one of none"));
}

/* ---- columns ---- */

static const struct gt_report_column columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"note", "Note", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"name", "Name", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"domain", "Domain", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_DIVISOR},
};

static void columns_are_found_by_their_meaning(void **state) {
    (void)state;
    struct gt_report *report = gt_report_new("test", 1);
    assert_non_null(report);
    struct gt_table *table = gt_section_table(&report->sections[0], "things", "Things", columns, 5);
    assert_int_equal(gt_table_name_column(table), 2);
    assert_int_equal(gt_table_column_flagged(table, GT_COLUMN_DIVISOR), 4);
    assert_int_equal(gt_table_column_flagged(table, GT_COLUMN_NAME | GT_COLUMN_KEY), 2);
    assert_true(gt_table_column_flagged(table, GT_COLUMN_PART) == SIZE_MAX);
    table->column_count = 2; /* no key has long text */
    assert_int_equal(gt_table_name_column(table), 0);
    table->column_count = 0;
    assert_true(gt_table_name_column(table) == SIZE_MAX);
    gt_report_free(report);
}

/* ---- what every comparison needs ---- */

static void comparisons_need_the_analyses_of_the_words(void **state) {
    (void)state;
    static const char *const made_from[] = {"measures", "accounting", "categories", "gaps", "steps"};
    for (size_t i = 0; i < sizeof made_from / sizeof *made_from; i++)
        assert_int_not_equal(gt_analysis_find(made_from[i])->comparing, GT_COMPARING_NOTHING);
    assert_int_equal(gt_analysis_find("kernels")->comparing, GT_COMPARING_NOTHING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_with_roles_exist),
        cmocka_unit_test(measures_say_what_they_need),
        cmocka_unit_test(every_kind_and_measure_can_be_limited),
        cmocka_unit_test(what_is_not_declared_is_listed),
        cmocka_unit_test(columns_are_found_by_their_meaning),
        cmocka_unit_test(comparisons_need_the_analyses_of_the_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
