/* Name patterns: substrings, expressions, and expressions made to hurt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/pattern.h"

static bool matches(const char *text, struct gt_str name) {
    struct gt_pattern *pattern;
    struct gt_error err = {0};
    bool found;

    assert_int_equal(gt_pattern_new(text, &pattern, &err), GT_OK);
    assert_non_null(pattern);
    found = gt_pattern_matches(pattern, name);
    assert_int_equal(gt_pattern_matches(pattern, name), found);
    gt_pattern_free(pattern);
    return found;
}

static void substrings_ignore_case(void **state) {
    (void)state;
    assert_true(matches("gemm", GT_STR("ampere_fp16_GEMM_128x128")));
    assert_false(matches("gem.", GT_STR("gemm")));
    assert_false(matches("gemm", (struct gt_str){NULL, 0}));
    assert_true(matches("", GT_STR("anything")));
    assert_true(matches("", (struct gt_str){NULL, 0}));
    assert_true(matches("RE:", GT_STR("share:x")));
}

static void expressions_match_anywhere(void **state) {
    (void)state;
    assert_true(matches("re:gem+_", GT_STR("ampere_gemm_128")));
    assert_false(matches("re:GEMM", GT_STR("ampere_gemm_128")));
    assert_true(matches("re:(?i)GEMM", GT_STR("ampere_gemm_128")));
    assert_true(matches("re:^a.*8$", GT_STR("ampere_gemm_128")));
    assert_false(matches("re:^gemm", GT_STR("ampere_gemm_128")));
    assert_true(matches("re:", GT_STR("x")));
    assert_true(matches("re:^$", (struct gt_str){NULL, 0}));
    assert_true(matches("re:(a)(b)(c)\\3", GT_STR("xabcc")));
}

static void names_are_bytes(void **state) {
    (void)state;
    assert_true(matches("re:a.b", (struct gt_str){"a\0b", 3}));
    assert_true(matches("re:\\xff$", (struct gt_str){"a\xff", 2}));
    assert_true(matches("re:\xc3\xa4", GT_STR("\xff\xc3\xa4")));
    assert_true(matches("\xff", (struct gt_str){"\0\xff", 2}));
}

static void bad_expressions_are_usage_errors_with_a_place(void **state) {
    static const struct {
        const char *text, *place;
    } bad[] = {{"re:ab(cd", "offset 5"}, {"re:*", "offset 0"}, {"re:[z-a]", "offset 3"}, {"re:(*UTF)x", "offset"}};
    (void)state;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct gt_error err = {0};
        struct gt_pattern *pattern = (struct gt_pattern *)&err;
        assert_int_equal(gt_pattern_new(bad[i].text, &pattern, &err), GT_ERR_USAGE);
        assert_null(pattern);
        assert_non_null(strstr(err.message, bad[i].text + 3));
        assert_non_null(strstr(err.message, bad[i].place));
    }
    gt_pattern_free(NULL);
}

/* Each of these tries exponentially many ways; with the library's own limits 300 names would take minutes. */
static void hostile_expressions_end(void **state) {
    static const char *const hostile[] = {"re:(a+)+$", "re:(a|a)*$", "re:^(?:a+)+c!", "re:(?=(a+)+$)b|(a|aa)+$"};
    char name[2000];
    clock_t start = clock();
    (void)state;

    memset(name, 'a', sizeof(name));
    name[sizeof(name) - 1] = '!';
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
        struct gt_pattern *pattern;
        struct gt_error err = {0};
        assert_int_equal(gt_pattern_new(hostile[i], &pattern, &err), GT_OK);
        for (int repeat = 0; repeat < 300; repeat++)
            assert_false(gt_pattern_matches(pattern, (struct gt_str){name, sizeof(name)}));
        gt_pattern_free(pattern);
    }
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 10);
}

/* Deep recursion needs more than the compiled code's own stack. */
static void long_names_match_after_all(void **state) {
    static char name[20000];
    (void)state;

    memset(name, 'a', sizeof(name));
    name[sizeof(name) - 1] = 'b';
    assert_true(matches("re:^(?:a|c(d))+b", (struct gt_str){name, sizeof(name)}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(substrings_ignore_case),  cmocka_unit_test(expressions_match_anywhere),
        cmocka_unit_test(names_are_bytes),         cmocka_unit_test(bad_expressions_are_usage_errors_with_a_place),
        cmocka_unit_test(hostile_expressions_end), cmocka_unit_test(long_names_match_after_all),
    };
    return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
