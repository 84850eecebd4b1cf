/* Comparisons and limits: plain names, patterns, what a limit says, and the join of two small reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "compare/compare.h"
#include "compare/join.h"
#include "measure/analysis.h"
#include "null_row.h"
#include "verdict/limit.h"

/* ---- names ---- */

static void assert_same_work(const char *a, const char *b, bool is_same) {
    char plain_a[256], plain_b[256];
    size_t length_a = 0, length_b = 0;
    assert_true(GT_JOIN_PLAIN_MAX(strlen(a)) <= sizeof plain_a && GT_JOIN_PLAIN_MAX(strlen(b)) <= sizeof plain_b);
    gt_join_plain_name(gt_str_of(a), plain_a, &length_a);
    gt_join_plain_name(gt_str_of(b), plain_b, &length_b);
    bool is_equal = length_a == length_b && memcmp(plain_a, plain_b, length_a) == 0;
    if (is_equal != is_same)
        fail_msg("'%s' is '%.*s', '%s' is '%.*s'", a, (int)length_a, plain_a, b, (int)length_b, plain_b);
}

static void names_of_the_same_work(void **state) {
    (void)state;
    assert_same_work("triton_poi_fused_add_3", "triton_poi_fused_add_7", true);
    assert_same_work("triton_poi_fused_add", "triton_poi_fused_add_7", true);
    assert_same_work("sm80_xmma_gemm_f16f16_f32", "sm90_xmma_gemm_f16f16_f32", true);
    assert_same_work("ampere_sgemm_128x64_nn", "hopper_sgemm_256x128_nn", true);
    assert_same_work("gemm_128x128x64", "gemm_256x128", true);
    assert_same_work("kernel<sm_90a>", "kernel<sm_80>", true);
    assert_same_work("cudaLaunchKernel", "hipLaunchKernel", true);
    assert_same_work("", "", true);
    assert_same_work("12", "7", true);
}

static void names_of_other_work(void **state) {
    (void)state;
    assert_same_work("gemm_f16", "gemm_f32", false);
    assert_same_work("gemm_bf16", "gemm_f16", false);
    assert_same_work("cast_e4m3", "cast_e5m2", false);
    assert_same_work("triton_poi_fused_add_3", "triton_poi_fused_mul_3", false);
    assert_same_work("culling", "ling", false);
    assert_same_work("smooth", "oth", false);
}

/* ---- patterns ---- */

static bool matches(const char *glob, const char *text) {
    return gt_limit_glob_matches(gt_str_of(glob), gt_str_of(text));
}

static void patterns(void **state) {
    (void)state;
    assert_true(matches("*flash*", "void flash_fwd_kernel<1>"));
    assert_true(matches("*FLASH*", "flash"));
    assert_true(matches("a?c", "abc"));
    assert_true(matches("*", ""));
    assert_true(matches("**a**b*", "xxaxxbxx"));
    assert_true(matches("", ""));
    assert_false(matches("", "a"));
    assert_false(matches("flash", "flash_fwd"));
    assert_false(matches("a?c", "ac"));
    assert_false(matches("*ab", "aba"));
}

static bool names(const char *glob, const char *text) {
    return gt_limit_name_matches(gt_str_of(glob), gt_str_of(text));
}

static void names_without_their_parentheses(void **state) {
    (void)state;
    assert_true(names("cpu", "cpu"));
    assert_true(names("CPU", "cpu (forward)"));
    assert_true(names("cpu", "cpu (range (with more))"));
    assert_true(names("cpu (forward)", "cpu (forward)"));
    assert_false(names("cpu (forward)", "cpu"));
    assert_false(names("cpu", "cpus (forward)"));
    assert_false(names("forward", "cpu (forward)"));
    assert_false(names("f", "f(int)"));
    assert_false(names("f", "f (int) more"));
    assert_false(names("", "("));
}

/* ---- limits ---- */

static void limits_that_can_be_read(void **state) {
    (void)state;
    struct gt_limit limit;
    struct gt_error err = {0};
    assert_int_equal(gt_limit_parse(" step >= +3.5 % ", &gt_analysis_roles, &limit, &err), GT_OK);
    assert_true(limit.is_above && limit.takes_equal && limit.unit == GT_LIMIT_PERCENT && !limit.kind.len);
    assert_true(fabs(limit.bound - 0.035) < 1e-12 && gt_str_eq(limit.pattern, GT_STR("step")));
    assert_int_equal(gt_limit_parse("kernel:a:b*<-2ms", &gt_analysis_roles, &limit, &err), GT_OK);
    assert_true(gt_str_eq(limit.kind, GT_STR("kernel")) && gt_str_eq(limit.pattern, GT_STR("a:b*")));
    assert_true(limit.unit == GT_LIMIT_TIME && limit.bound == -2e6 && !limit.is_above);
    assert_true(limit.is_signed && !limit.is_each);
    assert_int_equal(gt_limit_parse("each  kernel:void f<1, 2>(int)>=+10us", &gt_analysis_roles, &limit, &err), GT_OK);
    assert_true(limit.is_each && limit.is_above && limit.takes_equal && limit.is_signed && limit.bound == 1e4);
    assert_true(gt_str_eq(limit.pattern, GT_STR("void f<1, 2>(int)")));
    assert_int_equal(gt_limit_parse("kernel:each one<1%", &gt_analysis_roles, &limit, &err), GT_OK);
    assert_true(!limit.is_each && !limit.is_signed && gt_str_eq(limit.pattern, GT_STR("each one")));
    assert_int_equal(gt_limit_parse("utilization<0.5", &gt_analysis_roles, &limit, &err), GT_OK);
    assert_true(gt_str_eq(limit.pattern, GT_STR("utilisation")) && limit.measure->from == GT_FROM_MEAN);
    assert_int_equal(gt_limit_parse("Exposed_Comm<5%", &gt_analysis_roles, &limit, &err), GT_OK);
    assert_true(gt_str_eq(limit.pattern, GT_STR("exposed_comm")) && limit.measure->from == GT_FROM_ROW);
    assert_int_equal(gt_limit_parse("losses<1", &gt_analysis_roles, &limit, &err), GT_OK);
    assert_true(limit.unit == GT_LIMIT_NUMBER && gt_limit_holds(&limit, 0) && !gt_limit_holds(&limit, 1));
    assert_int_equal(gt_limit_parse("steps>=3", &gt_analysis_roles, &limit, &err), GT_OK);
    assert_true(gt_limit_holds(&limit, 3) && gt_limit_holds(&limit, 4) && !gt_limit_holds(&limit, 2));
}

static void limits_that_cannot(void **state) {
    (void)state;
    const char *const texts[] = {"",        "<",          "step",     "step>", ">3%",          "step>x%",
                                 "step>%",  "step>1e999", "step>nan", "a:b",   "each step>3%", "each kernel:*",
                                 "step=3%", "step>==3%",  "ste?>3%",  "s*>3%", ":step>3%",     "bogus>3%"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct gt_limit limit;
        struct gt_error err = {0};
        if (gt_limit_parse(texts[i], &gt_analysis_roles, &limit, &err) != GT_ERR_USAGE || !err.message[0])
            fail_msg("'%s' is no limit", texts[i]);
    }
}

/* ---- joining ---- */

static const struct gt_report_column columns[] = {
    {"name", "Name", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"stddev_ns", "Std dev", GT_UNIT_NS, NULL, GT_COLUMN_SPREAD},
    {"category", "Category", GT_UNIT_NONE, NULL, GT_COLUMN_CLASS},
};

struct thing {
    const char *name;
    int64_t count, total_ns;
    double stddev_ns;
    const char *category;
};

static struct gt_report *report_of(const struct thing *things, size_t count) {
    struct gt_report *report = gt_report_new("test", 1);
    assert_non_null(report);
    report->sections[0].input.label = GT_STR("a capture");
    struct gt_table *table = gt_section_table(&report->sections[0], "things", "Things", columns, 5);
    for (size_t i = 0; i < count; i++) {
        struct gt_cell *cell = null_row(table);
        cell[0] = gt_cell_text(gt_str_of(things[i].name));
        cell[1] = gt_cell_int(things[i].count);
        cell[2] = gt_cell_int(things[i].total_ns);
        cell[3] = gt_cell_real(things[i].stddev_ns);
        cell[4] = gt_cell_text(gt_str_of(things[i].category));
    }
    return report;
}

static const struct gt_cell *cell_of(const struct gt_table *table, const char *name, const char *column) {
    for (size_t row = 0; row < table->row_count; row++) {
        const struct gt_cell *cells = &table->cells[row * table->column_count];
        if (gt_str_eq((struct gt_str){cells[0].text, cells[0].text_bytes}, gt_str_of(name)))
            return &cells[gt_table_column(table, column)];
    }
    fail_msg("there is no row '%s'", name);
    return NULL;
}

static void assert_text(const struct gt_table *table, const char *name, const char *column, const char *expected) {
    const struct gt_cell *cell = cell_of(table, name, column);
    assert_int_equal(cell->type, GPUTIME_CELL_TEXT);
    if (!gt_str_eq((struct gt_str){cell->text, cell->text_bytes}, gt_str_of(expected)))
        fail_msg("%s of %s is '%.*s', not '%s'", column, name, (int)cell->text_bytes, cell->text, expected);
}

static const struct thing things_of_a[] = {{"same", 10, 1000, 0, "x"},     {"noisy", 4, 4000, 300, "x"},
                                           {"slower", 100, 10000, 2, "x"}, {"gone_1", 1, 50, 0, "y"},
                                           {"gone_2", 1, 60, 0, "y"},      {"only", 1, 5, 0, "z"}};
static const struct thing things_of_b[] = {
    {"same", 10, 1000, 0, "x"}, {"noisy", 4, 5000, 300, "x"}, {"slower", 100, 12000, 2, "x"}, {"new", 2, 90, 0, "y"}};

static void rows_find_each_other(void **state) {
    (void)state;
    struct gt_report *a = report_of(things_of_a, 6), *b = report_of(things_of_b, 4), *diff;
    struct gt_error err = {0};
    assert_int_equal(gt_compare_new(a, b, NULL, &diff, &err), GT_OK);
    const struct gt_table *table = gt_section_find(&diff->sections[0], "things");
    assert_non_null(table);
    assert_int_equal(table->row_count, 5);
    assert_text(table, "same", "status", "same");
    assert_text(table, "noisy", "status", "noise");
    assert_text(table, "slower", "status", "up");
    assert_text(table, "only", "status", "only A");
    assert_text(table, "y (2 -> 1 names)", "match", "category");
    assert_int_equal(cell_of(table, "y (2 -> 1 names)", "a_total_ns")->integer, 110);
    assert_int_equal(cell_of(table, "y (2 -> 1 names)", "delta_count")->integer, 0);
    assert_int_equal(cell_of(table, "slower", "delta_total_ns")->integer, 2000);
    /* 2 sqrt(2 n s^2) = 2 sqrt(2 * 4 * 300^2) */
    assert_true(fabs(cell_of(table, "noisy", "noise_total_ns")->real - 1697.0562748) < 1e-3);
    assert_memory_equal(table->cells[0].text, "slower", 6); /* the largest change comes first, then noise by its size */
    assert_memory_equal(table->cells[table->column_count].text, "noisy", 5);
    gt_report_free(diff);
    gt_report_free(b);
    gt_report_free(a);
}

static void what_cannot_be_compared(void **state) {
    (void)state;
    struct gt_report *a = report_of(things_of_a, 6), *b = report_of(things_of_b, 4), *none = gt_report_new("test", 0);
    struct gt_report *diff;
    struct gt_error err = {0};
    assert_int_equal(gt_compare_new(a, none, NULL, &diff, &err), GT_ERR_USAGE);
    assert_int_equal(gt_compare_new(a, b, &(struct gt_compare_options){.per = "step"}, &diff, &err), GT_ERR_USAGE);
    assert_int_equal(gt_compare_new(a, b, &(struct gt_compare_options){.labels = {"same", "same"}}, &diff, &err),
                     GT_ERR_USAGE);
    assert_null(diff);
    b->sections[0].blocks[0].table->total_rows = 9; /* was cut: sums would be wrong */
    assert_int_equal(gt_compare_new(a, b, &(struct gt_compare_options){.tables = "things"}, &diff, &err), GT_ERR_USAGE);
    assert_non_null(strstr(err.message, "things"));
    gt_report_free(none);
    gt_report_free(b);
    gt_report_free(a);
}

/* ---- what a report contains ---- */

static void numbers_have_digits(void **state) {
    (void)state;
    static const struct {
        enum gt_limit_unit unit;
        double value;
        const char *text;
    } cases[] = {
        {GT_LIMIT_NUMBER, 0.4912345, "0.4912"}, {GT_LIMIT_NUMBER, 1234, "1,234"}, {GT_LIMIT_NUMBER, -3, "-3"},
        {GT_LIMIT_PERCENT, 0.4912, "49.1%"},    {GT_LIMIT_TIME, 1500, "1.5 us"},  {GT_LIMIT_PERCENT, 1e300, "1e+302%"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[GT_NUM_MAX];
        gt_limit_format(text, cases[i].unit, cases[i].value);
        assert_string_equal(text, cases[i].text);
    }
}

static enum gt_status judge(struct gt_report *report, const char *limit, size_t *broken) {
    struct gt_error err = {0};
    enum gt_status status = gt_limit_check(report, &limit, 1, broken, &err);
    assert_true(status == GT_OK || err.message[0]);
    return status;
}

/* A row that is not there is 0, or a name that cannot be, or not known, as the report says of its table. */
static void what_is_absent(void **state) {
    (void)state;
    struct gt_report *report = report_of(NULL, 0);
    report->roles = &gt_analysis_roles;
    struct gt_section *section = &report->sections[0];
    struct gt_table *kernels = gt_section_table(section, "kernels", "Kernels", columns, 5);
    size_t broken = 0;
    assert_int_equal(judge(report, "kernel:*a*<1s", &broken), GT_OK);
    assert_int_equal(broken, 0);
    assert_int_equal(judge(report, "kernel:*a*>1s", &broken), GT_OK);
    assert_int_equal(broken, 1);
    assert_int_equal(judge(report, "kernel:a<1s", &broken), GT_ERR_USAGE);
    gt_table_name(kernels, GT_STR("a"));
    assert_int_equal(judge(report, "kernel:a<1s", &broken), GT_OK);
    assert_int_equal(judge(report, "kernel:b<1s", &broken), GT_ERR_USAGE);
    gt_section_lack(section, GT_STR("kernels"), GT_STR("kernels"));
    assert_true(gt_str_eq(gt_section_lacks(section, "kernels"), GT_STR("kernels")));
    assert_int_equal(gt_section_lacks(section, "ranges").len, 0);
    assert_int_equal(judge(report, "kernel:a<1s", &broken), GT_ERR_USAGE);
    assert_int_equal(judge(report, "kernel:*a*<1s", &broken), GT_ERR_USAGE);
    assert_int_equal(judge(report, "each kernel:*<1s", &broken), GT_ERR_USAGE);
    assert_int_equal(judge(report, "launches<1", &broken), GT_ERR_USAGE);
    gt_report_free(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_the_same_work),
        cmocka_unit_test(names_of_other_work),
        cmocka_unit_test(patterns),
        cmocka_unit_test(names_without_their_parentheses),
        cmocka_unit_test(limits_that_can_be_read),
        cmocka_unit_test(limits_that_cannot),
        cmocka_unit_test(rows_find_each_other),
        cmocka_unit_test(what_cannot_be_compared),
        cmocka_unit_test(numbers_have_digits),
        cmocka_unit_test(what_is_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
