/* Patterns in names: order of rules, stars, ends, scopes, and agreement with a plain matcher on random names. */
#include "label/globs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

static struct gt_globs *globs_of(enum gt_glob_scope scope, const char *const *patterns, size_t count) {
    struct gt_globs *globs = calloc(1, sizeof *globs);
    for (size_t i = 0; i < count; i++)
        assert_true(gt_globs_add(globs, (uint32_t)i, scope, patterns[i]));
    return globs;
}

static void drop(struct gt_globs *globs) {
    gt_globs_release(globs);
    free(globs);
}

/* The rule that fires; -1: none. */
static int rule_of(struct gt_globs *globs, const char *full, size_t name_at, size_t name_bytes) {
    uint32_t match = gt_globs_match(globs, gt_str_of(full), (struct gt_str){full + name_at, name_bytes});
    return match == GT_GLOBS_NONE ? -1 : (int)globs->items[match].rule;
}

static bool matches(const char *pattern, const char *name) {
    struct gt_globs *globs = globs_of(GT_GLOB_FULL, &pattern, 1);
    bool found = rule_of(globs, name, 0, strlen(name)) == 0;
    drop(globs);
    return found;
}

static void stars_and_ends(void **unused) {
    (void)unused;
    assert_true(matches("gemm", "SGeMM_x"));
    assert_false(matches("gemm", "gem_m"));
    assert_true(matches("aaa*bbb", "xaaaybbbz"));
    assert_true(matches("aaa*bbb", "aaabbb"));
    assert_false(matches("aaa*bbb", "bbbaaa"));
    assert_false(matches("aba*aba", "ababa"));
    assert_true(matches("^abc", "abcd"));
    assert_false(matches("^abc", "xabcd"));
    assert_true(matches("^abc*def", "abc_def_"));
    assert_true(matches("def$", "abcdef"));
    assert_true(matches("def_$", "abcdef_12"));
    assert_true(matches("f_12$", "abcdef_12"));
    assert_false(matches("def$", "abcdef_"));
    assert_true(matches("^abc$", "abc7"));
    assert_false(matches("^abc$", "abcabc"));
    assert_true(matches("^abc*abc$", "abcabc"));
    assert_false(matches("abc*bcd$", "abcd"));
    assert_true(matches("xxx | yyy|zzz", "__yyy"));
    assert_true(matches("xxx | yyy|zzz", "zzz"));
    assert_false(matches("xxx | yyy|zzz", "xx|yy"));
}

static void malformed_patterns_are_refused(void **unused) {
    (void)unused;
    static const char *const bad[] = {"",       "ab", "abc*de", "abc||def", "abc**def", "^", "abc*def*ghi*jkl*mno",
                                      "abc | $"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gt_globs *globs = calloc(1, sizeof *globs);
        assert_false(gt_globs_add(globs, 0, GT_GLOB_FULL, bad[i]));
        drop(globs);
    }
}

static void scopes(void **unused) {
    (void)unused;
    static const char *const patterns[] = {"^copy | norm$"};
    struct gt_globs *globs = globs_of(GT_GLOB_NAME, patterns, 1);
    assert_int_equal(rule_of(globs, "void copy_k<norm>(int)", 5, 6), 0);
    assert_int_equal(rule_of(globs, "void my_copy<norm>(int)", 5, 7), -1);
    assert_int_equal(rule_of(globs, "void my_norm2<int>(int)", 5, 8), 0);
    drop(globs);
}

static void the_first_rule_wins(void **unused) {
    (void)unused;
    static const char *const patterns[] = {"flash", "flash*gemm | conv", "gemm", "flash"};
    struct gt_globs *globs = globs_of(GT_GLOB_FULL, patterns, 4);
    assert_int_equal(rule_of(globs, "gemm_flash", 0, 10), 0);
    assert_int_equal(rule_of(globs, "gemm_conv", 0, 9), 1);
    assert_int_equal(rule_of(globs, "gemm", 0, 4), 2);
    assert_int_equal(rule_of(globs, "else", 0, 4), -1);
    drop(globs);
}

/* ---- a plain matcher to compare with ---- */

static bool plain_tail(const char *pattern, const char *name) {
    if (!*pattern)
        return true;
    if (strcmp(pattern, "$") == 0)
        return strspn(name, "0123456789") == strlen(name);
    if (*pattern == '*') {
        for (;; name++) {
            if (plain_tail(pattern + 1, name))
                return true;
            if (!*name)
                return false;
        }
    }
    return *name == *pattern && plain_tail(pattern + 1, name + 1);
}

static bool plain_match(const char *pattern, const char *name) {
    if (*pattern == '^')
        return plain_tail(pattern + 1, name);
    for (;; name++) {
        if (plain_tail(pattern, name))
            return true;
        if (!*name)
            return false;
    }
}

static void random_text(uint64_t *state, char *text, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        text[i] = "aab1"[random_below(state, 4)];
    text[bytes] = '\0';
}

static void random_pattern(uint64_t *state, char *pattern) {
    char *at = pattern;
    if (random_below(state, 3) == 0)
        *at++ = '^';
    for (uint64_t pieces = 1 + random_below(state, 3); pieces > 0; pieces--) {
        random_text(state, at, 3 + random_below(state, 2));
        at += strlen(at);
        if (pieces > 1)
            *at++ = '*';
    }
    if (random_below(state, 3) == 0)
        *at++ = '$';
    *at = '\0';
}

static void agrees_with_a_plain_matcher(void **unused) {
    (void)unused;
    size_t hits = 0;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        uint64_t state = seed;
        char patterns[6][64], name[64];
        const char *list[6];
        for (size_t i = 0; i < 6; i++) {
            random_pattern(&state, patterns[i]);
            list[i] = patterns[i];
        }
        struct gt_globs *globs = globs_of(GT_GLOB_FULL, list, 6);
        for (int n = 0; n < 10; n++) {
            random_text(&state, name, random_below(&state, 30));
            int expected = -1;
            for (int i = 5; i >= 0; i--)
                expected = plain_match(patterns[i], name) ? i : expected;
            hits += expected >= 0;
            if (rule_of(globs, name, 0, strlen(name)) != expected)
                fail_msg("seed %llu, '%s': not rule %d", (unsigned long long)seed, name, expected);
        }
        drop(globs);
    }
    assert_in_range(hits, 3000, 27000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stars_and_ends),
        cmocka_unit_test(malformed_patterns_are_refused),
        cmocka_unit_test(scopes),
        cmocka_unit_test(the_first_rule_wins),
        cmocka_unit_test(agrees_with_a_plain_matcher),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
