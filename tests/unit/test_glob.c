/* Names with wildcards, and names as patterns that only they match. */
#include "base/glob.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool matches(const char *glob, const char *text) {
    return gt_glob_matches(gt_str_of(glob), gt_str_of(text));
}

static void test_wildcards(void **state) {
    (void)state;
    assert_true(matches("", ""));
    assert_false(matches("", "a"));
    assert_true(matches("*", ""));
    assert_true(matches("a*c", "abbc"));
    assert_true(matches("*ab", "aab"));
    assert_true(matches("*a?", "*a*ab"));
    assert_false(matches("a?", "a"));
    assert_false(matches("ab", "abc"));
}

static void test_escapes(void **state) {
    (void)state;
    assert_true(matches("f(float\\*)", "f(float*)"));
    assert_false(matches("f(float\\*)", "f(float*, int*)"));
    assert_true(matches("f(float\\**", "f(float*, int*)"));
    assert_true(matches("*\\?", "what?"));
    assert_false(matches("*\\?", "whatx"));
    assert_true(matches("\\\\*", "\\x"));
}

/* So that patterns with paths of Windows mean what they say. */
static void test_other_backslashes(void **state) {
    (void)state;
    assert_true(matches("C:\\a\\b", "C:\\a\\b"));
    assert_true(matches("a\\", "a\\"));
    assert_false(matches("\\a", "a"));
}

static void test_names(void **state) {
    (void)state;
    static const char *const names[] = {"", "*", "?", "\\", "\\*", "\\\\", "f(a*, b?)", "\\a", "**", "a", "*a", "\\?"};
    enum { COUNT = sizeof names / sizeof *names };
    struct gt_arena arena = {0};
    for (size_t i = 0; i < COUNT; i++) {
        struct gt_str glob = gt_glob_of_name(&arena, gt_str_of(names[i]));
        for (size_t k = 0; k < COUNT; k++)
            assert_int_equal(gt_glob_matches(glob, gt_str_of(names[k])), i == k);
        assert_true(gt_str_eq(gt_glob_plain(&arena, glob), gt_str_of(names[i])));
        assert_int_equal(glob.ptr[glob.len], 0);
    }
    gt_arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wildcards),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_other_backslashes),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
