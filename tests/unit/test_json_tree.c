/* JSON of configuration files: what is read, what is forgiven, where errors are, and that no bytes break it. */
#include "base/json_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

static struct gt_json *parse(struct gt_arena *arena, const char *text) {
    struct gt_json *root;
    struct gt_error err = {0};
    if (gt_json_tree_parse(gt_str_of(text), arena, &root, &err) != GT_OK)
        fail_msg("'%s': %s", text, err.message);
    return root;
}

static void order_and_places(void **unused) {
    (void)unused;
    struct gt_arena arena = {0};
    struct gt_json *root = parse(&arena, "{\n  \"b\": [1, -2.5e3, true, null],\n  \"a\": {\"x\": \"y\"}}");
    assert_int_equal(root->type, GT_JSON_OBJECT);
    const struct gt_json *b = root->first, *a = b->next;
    assert_string_equal(b->key.ptr, "b");
    assert_string_equal(a->key.ptr, "a");
    assert_null(a->next);
    assert_int_equal(b->line, 2);
    assert_int_equal(b->column, 3);
    assert_int_equal(a->line, 3);
    assert_string_equal(b->first->text.ptr, "1");
    assert_string_equal(b->first->next->text.ptr, "-2.5e3");
    assert_int_equal(b->first->next->next->type, GT_JSON_TRUE);
    assert_int_equal(b->first->next->next->next->type, GT_JSON_NULL);
    assert_string_equal(gt_json_tree_find(a, "x")->text.ptr, "y");
    assert_null(gt_json_tree_find(a, "y"));
    assert_null(gt_json_tree_find(b, "x"));
    gt_arena_release(&arena);
}

static void comments_and_trailing_commas(void **unused) {
    (void)unused;
    struct gt_arena arena = {0};
    struct gt_json *root =
        parse(&arena, "\xef\xbb\xbf// head\n{ # one\n/* two */ \"a\": [1, 2,], \"b\": \"// no\",}\n# end");
    assert_string_equal(gt_json_tree_find(root, "b")->text.ptr, "// no");
    assert_string_equal(gt_json_tree_find(root, "a")->first->next->text.ptr, "2");
    assert_null(gt_json_tree_find(root, "a")->first->next->next);
    assert_null(parse(&arena, "{}")->first);
    assert_null(parse(&arena, "[]")->first);
    gt_arena_release(&arena);
}

static void escapes(void **unused) {
    (void)unused;
    struct gt_arena arena = {0};
    struct gt_json *root = parse(&arena, "\"\\\"\\\\\\/\\n\\t\\u00e9\\u20ac\\ud83d\\ude00\\ud800x\"");
    assert_string_equal(root->text.ptr, "\"\\/\n\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbdx");
    assert_int_equal(root->text.len, strlen(root->text.ptr));
    gt_arena_release(&arena);
}

static void the_last_of_a_repeated_key(void **unused) {
    (void)unused;
    struct gt_arena arena = {0};
    assert_string_equal(gt_json_tree_find(parse(&arena, "{\"a\": 1, \"a\": 2}"), "a")->text.ptr, "2");
    gt_arena_release(&arena);
}

static void errors_have_places(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "line 1, column 1: expected a value, found the end of the file"},
        {"{\n \"a\" 1}", "line 2, column 6: expected ':' after a key"},
        {"{a: 1}", "line 1, column 2: expected a key in double quotes"},
        {"[1 2]", "line 1, column 4: expected ',' or ']'"},
        {"{\"a\": 1", "line 1, column 8: expected ',' or '}', found the end of the file"},
        {"\"ab", "line 1, column 4: expected the end of a string, found the end of the file"},
        {"\"a\nb\"", "line 1, column 3: expected the end of a string"},
        {"\"\\x\"", "line 1, column 2: invalid escape"},
        {"\"\\u0000\"", "line 1, column 2: invalid escape"},
        {"[1] 2", "line 1, column 5: unexpected text after the value"},
        {"/* x", "line 1, column 5: expected the end of a comment, found the end of the file"},
        {"[,]", "line 1, column 2: expected a value"},
        {"nul", "line 1, column 1: expected a value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gt_arena arena = {0};
        struct gt_json *root;
        struct gt_error err = {0};
        assert_int_equal(gt_json_tree_parse(gt_str_of(cases[i].text), &arena, &root, &err), GT_ERR);
        assert_null(root);
        assert_string_equal(err.message, cases[i].message);
        gt_arena_release(&arena);
    }
}

static void deep_nesting_ends(void **unused) {
    (void)unused;
    struct gt_arena arena = {0};
    struct gt_json *root;
    struct gt_error err = {0};
    char text[1000];
    memset(text, '[', sizeof text);
    assert_int_equal(gt_json_tree_parse((struct gt_str){text, sizeof text}, &arena, &root, &err), GT_ERR);
    assert_non_null(strstr(err.message, "nested too deep"));
    gt_arena_release(&arena);
}

/* Every cut and many changes of a good text, in a block of exactly that size so that a sanitizer sees overruns. */
static void any_bytes_are_safe(void **unused) {
    (void)unused;
    static const char good[] = "{\"a\": [1, \"\\u00e9\\ud83d\\ude00\", {\"b\": null}], // c\n \"d\": -1.5e+3, /* e */}";
    for (uint64_t seed = 0; seed < 5000; seed++) {
        uint64_t state = seed;
        size_t bytes = seed < sizeof good ? seed : sizeof good - 1;
        char *text = malloc(bytes + 1);
        memcpy(text, good, bytes);
        for (uint64_t n = seed < sizeof good ? 0 : 1 + random_below(&state, 3); n > 0; n--)
            text[random_below(&state, bytes)] = "\"\\u{}[],:/*#\n\0\xff"[random_below(&state, 15)];
        struct gt_arena arena = {0};
        struct gt_json *root;
        struct gt_error err = {0};
        bool ok = gt_json_tree_parse((struct gt_str){text, bytes}, &arena, &root, &err) == GT_OK;
        assert_true(ok == (root != NULL) && ok == (err.message[0] == '\0'));
        gt_arena_release(&arena);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_places),
        cmocka_unit_test(comments_and_trailing_commas),
        cmocka_unit_test(escapes),
        cmocka_unit_test(the_last_of_a_repeated_key),
        cmocka_unit_test(errors_have_places),
        cmocka_unit_test(deep_nesting_ends),
        cmocka_unit_test(any_bytes_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
