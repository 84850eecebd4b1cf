/* Error messages and borrowed text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fail.h"
#include "base/str.h"
#include "random.h"

static void failures_set_code_and_message(void **state) {
    struct gt_error err = {0};
    (void)state;

    assert_int_equal(gt_fail(&err, "cannot read '%s'", "a.json"), GT_ERR);
    assert_int_equal(err.code, GT_ERR);
    assert_string_equal(err.message, "cannot read 'a.json'");
    assert_int_equal(gt_fail_usage(&err, "bad step %d", 7), GT_ERR_USAGE);
    assert_int_equal(err.code, GT_ERR_USAGE);
    assert_string_equal(err.message, "bad step 7");
    assert_int_equal(gt_fail_memory(&err), GT_ERR);
    assert_string_equal(err.message, "out of memory; free some, or raise the limit (ulimit -v, container, job)");
}

static void context_goes_in_front_and_keeps_the_code(void **state) {
    struct gt_error err = {0};
    (void)state;

    gt_fail_usage(&err, "column '%s' missing", "start");
    assert_int_equal(gt_fail_context(&err, "table %s", "KERNEL"), GT_ERR_USAGE);
    assert_int_equal(gt_fail_context(&err, "cannot read '%s'", "a.sqlite"), GT_ERR_USAGE);
    assert_string_equal(err.message, "cannot read 'a.sqlite': table KERNEL: column 'start' missing");
}

static void a_message_may_quote_itself(void **state) {
    struct gt_error err = {0};
    (void)state;

    gt_fail(&err, "inner");
    gt_fail(&err, "outer and %s", err.message);
    assert_string_equal(err.message, "outer and inner");
    gt_fail_context(&err, "again %s", err.message);
    assert_string_equal(err.message, "again outer and inner: outer and inner");
}

static void long_messages_are_cut(void **state) {
    struct gt_error err = {0};
    char name[3000];
    (void)state;

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    gt_fail(&err, "%s", name);
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
    gt_fail_context(&err, "short");
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
    assert_memory_equal(err.message, "short: xxx", 10);
    gt_fail_context(&err, "%s", name);
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
}

static void no_error_struct_is_fine(void **state) {
    (void)state;
    assert_int_equal(gt_fail(NULL, "x"), GT_ERR);
    assert_int_equal(gt_fail_usage(NULL, "x"), GT_ERR_USAGE);
    assert_int_equal(gt_fail_memory(NULL), GT_ERR);
    assert_int_equal(gt_fail_context(NULL, "x"), GT_ERR);
}

static void text_compares_by_bytes(void **state) {
    struct gt_str none = {NULL, 0};
    (void)state;

    assert_true(gt_str_eq(none, GT_STR("")));
    assert_false(gt_str_eq(GT_STR("ab"), GT_STR("abc")));
    assert_true(gt_str_starts(none, none));
    assert_true(gt_str_starts(GT_STR("re:x"), GT_STR("re:")));
    assert_false(gt_str_starts(GT_STR("re"), GT_STR("re:")));
    assert_true(gt_str_cmp(GT_STR("a"), GT_STR("ab")) < 0);
    assert_true(gt_str_cmp(GT_STR("b"), GT_STR("ab")) > 0);
    assert_true(gt_str_cmp(GT_STR("\xff"), GT_STR("a")) > 0);
    assert_int_equal(gt_str_cmp(none, GT_STR("")), 0);
}

static void search_ignores_ascii_case_only(void **state) {
    struct gt_str text = GT_STR("void AmpereGEMM<\xc3\x84>\0tail");
    (void)state;

    assert_ptr_equal(gt_str_find_nocase(text, GT_STR("gemm")), text.ptr + 11);
    assert_ptr_equal(gt_str_find_nocase(text, GT_STR("GEMM<")), text.ptr + 11);
    assert_ptr_equal(gt_str_find_nocase(text, GT_STR("TAIL")), text.ptr + text.len - 4);
    assert_ptr_equal(gt_str_find_nocase(text, GT_STR("v")), text.ptr);
    assert_null(gt_str_find_nocase(text, GT_STR("\xc3\xa4")));
    assert_null(gt_str_find_nocase(GT_STR("[{@`"), GT_STR("{[`@")));
    assert_null(gt_str_find_nocase(GT_STR("gem"), GT_STR("gemm")));
    assert_ptr_equal(gt_str_find_nocase(text, GT_STR("")), text.ptr);
    assert_non_null(gt_str_find_nocase((struct gt_str){NULL, 0}, GT_STR("")));
    assert_null(gt_str_find_nocase((struct gt_str){NULL, 0}, GT_STR("a")));
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static const char *find_plainly(struct gt_str text, struct gt_str needle) {
    for (size_t at = 0; at + needle.len <= text.len; at++) {
        size_t same = 0;
        while (same < needle.len && lower(text.ptr[at + same]) == lower(needle.ptr[same]))
            same++;
        if (same == needle.len)
            return text.ptr + at;
    }
    return NULL;
}

/* Texts of few different bytes, some of them neighbours of letters. They end where their memory does. */
static void search_finds_the_first_place(void **state) {
    static const char bytes[] = "aAbB@`{[\xc1\xe1";
    uint64_t seed = 17;
    size_t found = 0;
    (void)state;

    for (size_t round = 0; round < 20000; round++) {
        size_t kinds = 2 + random_below(&seed, sizeof bytes - 2), needle_len = 1 + random_below(&seed, 6);
        size_t text_len = random_below(&seed, 70), all = text_len + needle_len;
        char *needle = malloc(all), *text = needle ? needle + needle_len : NULL;
        assert_non_null(needle);
        for (size_t i = 0; i < all; i++)
            needle[i] = bytes[random_below(&seed, kinds)];
        struct gt_str in = {text, text_len}, word = {needle, needle_len};
        const char *place = gt_str_find_nocase(in, word);
        assert_ptr_equal(place, find_plainly(in, word));
        found += place != NULL;
        free(needle);
    }
    assert_in_range(found, 2000, 18000);
}

/* '@' and '`', '[' and '{' differ by the same bit as letters do. */
static void search_folds_letters_only(void **state) {
    (void)state;
    assert_null(gt_str_find_nocase(GT_STR("@"), GT_STR("`")));
    assert_null(gt_str_find_nocase(GT_STR("["), GT_STR("{")));
    assert_null(gt_str_find_nocase(GT_STR("\xc1"), GT_STR("\xe1")));
}

static void messages_are_one_line(void **state) {
    struct gt_error err = {0};
    char name[2000];
    (void)state;
    gt_fail(&err, "no key '%s'", "a\nb\x1b[2J\x7f\xc3\xa4");
    assert_string_equal(err.message, "no key 'a\\x0ab\\x1b[2J\\x7f\xc3\xa4'");
    gt_fail_context(&err, "%s", "f\t");
    assert_string_equal(err.message, "f\\x09: no key 'a\\x0ab\\x1b[2J\\x7f\xc3\xa4'");
    memset(name, '\n', sizeof name);
    name[sizeof name - 1] = '\0';
    gt_fail(&err, "%s", name);
    assert_true(strlen(err.message) < sizeof err.message);
    assert_null(strchr(err.message, '\n'));
}

static void distance_counts_changed_bytes(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        size_t distance;
    } cases[] = {{"", "", 0},
                 {"", "abc", 3},
                 {"step", "STEP", 0},
                 {"step", "stop", 1},
                 {"Train_step", "Train", 5},
                 {"kitten", "sitting", 3}};
    char longer[200];
    memset(longer, 'x', sizeof longer);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(gt_str_distance_nocase(gt_str_of(cases[i].a), gt_str_of(cases[i].b)), cases[i].distance);
        assert_int_equal(gt_str_distance_nocase(gt_str_of(cases[i].b), gt_str_of(cases[i].a)), cases[i].distance);
    }
    assert_int_equal(gt_str_distance_nocase((struct gt_str){longer, 200}, (struct gt_str){longer, 150}), 0);
    assert_int_equal(gt_str_distance_nocase((struct gt_str){longer, 200}, GT_STR("")), GT_STR_DISTANCE_MAX);
}

static void distance_within_is_that_of_the_nearest_part(void **state) {
    (void)state;
    static const struct {
        const char *text, *needle;
        size_t distance;
    } cases[] = {{"", "", 0},
                 {"", "abc", 3},
                 {"any", "", 0},
                 {"module=jit_train_step,id=4", "JIT_train_step", 0},
                 {"module=jit_train_step,id=4", "train_stp", 1},
                 {"Train", "Train_step", 5},
                 {"xyz", "abc", 3}};
    char longer[GT_STR_SEARCHED_MAX + 4];
    memset(longer, 'x', sizeof longer);
    memcpy(longer + GT_STR_SEARCHED_MAX - 2, "step", 4);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(gt_str_distance_within_nocase(gt_str_of(cases[i].text), gt_str_of(cases[i].needle)),
                         cases[i].distance);
    assert_int_equal(gt_str_distance_within_nocase((struct gt_str){longer, sizeof longer}, GT_STR("step")), 2);
}

static void text_is_cut_between_characters(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t bytes, kept;
    } cases[] = {{"", 0, 0},
                 {"abc", 3, 3},
                 {"abc", 2, 2},
                 {"a\xc3\xa4", 2, 1},
                 {"\xf0\x9f\x98\x80z", 3, 0},
                 {"\xf0\x9f\x98\x80z", 4, 4},
                 {"\x80\x80\x80\x80\x80\x80", 5, 2}}; /* no text at all */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(gt_str_cut(gt_str_of(cases[i].text), cases[i].bytes).len, cases[i].kept);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_set_code_and_message),  cmocka_unit_test(context_goes_in_front_and_keeps_the_code),
        cmocka_unit_test(a_message_may_quote_itself),     cmocka_unit_test(long_messages_are_cut),
        cmocka_unit_test(no_error_struct_is_fine),        cmocka_unit_test(text_compares_by_bytes),
        cmocka_unit_test(search_ignores_ascii_case_only), cmocka_unit_test(search_finds_the_first_place),
        cmocka_unit_test(search_folds_letters_only),      cmocka_unit_test(messages_are_one_line),
        cmocka_unit_test(distance_counts_changed_bytes),  cmocka_unit_test(distance_within_is_that_of_the_nearest_part),
        cmocka_unit_test(text_is_cut_between_characters),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
