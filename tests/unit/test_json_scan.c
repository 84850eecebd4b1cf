/* The JSON scanner: where strings, bare values and nested values end, in good text, broken text and text that is cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/json/json_scan.h"

typedef enum gt_json_status scan_text(const char **p, const char *end, struct gt_json_value_text *text);

/* A copy without a byte to spare, so that reading past the end is noticed by sanitizers. */
static char *exact_copy(const char *bytes, size_t len) {
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    return copy;
}

/* The string at the start of text must be `raw` with these marks, and the same for every longer piece of the text; any
   shorter piece must ask for more. needed: bytes that decide. */
static void string_is(scan_text *scan, const char *text, size_t needed, const char *raw, unsigned marks) {
    for (size_t len = 1; len <= strlen(text); len++) {
        char *copy = exact_copy(text, len);
        const char *p = copy;
        struct gt_json_value_text found;
        enum gt_json_status status = scan(&p, copy + len, &found);
        if (len < needed) {
            assert_int_equal(status, GT_JSON_MORE);
            assert_ptr_equal(p, copy);
        } else {
            assert_int_equal(status, GT_JSON_OK);
            assert_int_equal(found.raw.len, strlen(raw));
            assert_memory_equal(found.raw.ptr, raw, strlen(raw));
            assert_int_equal(found.marks, marks);
            assert_ptr_equal(p, found.raw.ptr + found.raw.len + 1);
        }
        free(copy);
    }
}

static void strings_end_at_their_quote(void **state) {
    (void)state;
    string_is(gt_json_scan_string, "\"\",", 3, "", 0);
    string_is(gt_json_scan_string, "\"kernel\", \"name\"", 9, "kernel", 0);
    string_is(gt_json_scan_string, "\"a\"  \n}", 7, "a", 0);
    string_is(gt_json_scan_string, "\"a\":1", 4, "a", 0);
    string_is(gt_json_scan_string, "\"a\"]", 4, "a", 0);
    string_is(gt_json_scan_string, "\"0123456789abcdef0123456789\",", 29, "0123456789abcdef0123456789", 0);
}

static void escaped_quotes_belong_to_the_string(void **state) {
    (void)state;
    string_is(gt_json_scan_string, "\"a\\\",b\",", 8, "a\\\",b", GT_JSON_ESCAPES);
    string_is(gt_json_scan_string, "\"a\\\\\",", 6, "a\\\\", GT_JSON_ESCAPES);
    string_is(gt_json_scan_string, "\"C:\\Program\",", 13, "C:\\Program", GT_JSON_ESCAPES);
}

static void control_characters_are_marked_wherever_they_are(void **state) {
    (void)state;
    for (size_t at = 0; at < 20; at++) {
        char text[] = "\"xxxxxxxxxxxxxxxxxxxx\",";
        char raw[] = "xxxxxxxxxxxxxxxxxxxx";
        text[1 + at] = raw[at] = '\n';
        string_is(gt_json_scan_string, text, 23, raw, GT_JSON_CONTROLS);
    }
    /* ... but not those after the string, nor bytes above 127 */
    string_is(gt_json_scan_string, "\"ab\",\n\n\n\n\n\n", 5, "ab", 0);
    string_is(gt_json_scan_string, "\"\xc3\xa9\xff\x80zzzzzzzz\",", 15, "\xc3\xa9\xff\x80zzzzzzzz", 0);
}

static void unescaped_quotes_do_not_end_a_string(void **state) {
    (void)state;
    string_is(gt_json_scan_string, "\"say \"hi\" now\", \"pid\"", 15, "say \"hi\" now", GT_JSON_QUOTES);
    string_is(gt_json_scan_string, "\"f(\"a\")\"}", 9, "f(\"a\")", GT_JSON_QUOTES);
    /* A list of words looks like the end ... */
    string_is(gt_json_scan_string, "\"f(\"a\", \"b\")\", \"pid\": 1", 7, "f(\"a", GT_JSON_QUOTES);
    /* ... and does not on the second try. */
    string_is(gt_json_scan_member_string, "\"f(\"a\", \"b\")\", \"pid\": 1", 21, "f(\"a\", \"b\")", GT_JSON_QUOTES);
    string_is(gt_json_scan_member_string, "\"f({\"a\"})\"}, {", 12, "f({\"a\"})", GT_JSON_QUOTES);
    string_is(gt_json_scan_member_string, "\"plain\"\n}\n}", 11, "plain", 0);
}

static void bare_values_end_at_punctuation(void **state) {
    (void)state;
    static const struct {
        const char *text, *value;
    } cases[] = {{"12,", "12"}, {"-1.5e3}", "-1.5e3"}, {"N/A ]", "N/A"}, {"-Infinity\n", "-Infinity"}, {",", ""},
                 {"}", ""},     {"nan\"x\"", "nan"},   {"null]", "null"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *p = cases[i].text;
        struct gt_str value;
        assert_int_equal(gt_json_scan_bare(&p, p + strlen(p), &value), GT_JSON_OK);
        assert_int_equal(value.len, strlen(cases[i].value));
        assert_memory_equal(value.ptr, cases[i].value, value.len);
        assert_ptr_equal(p, cases[i].text + value.len);
    }
    const char *p = "123";
    struct gt_str value;
    assert_int_equal(gt_json_scan_bare(&p, p + 3, &value), GT_JSON_MORE);
}

/* All of text but its last byte, which must not be touched, is the nested value. */
static void nested_is(const char *text) {
    size_t whole = strlen(text) - 1;
    for (size_t len = 1; len <= whole + 1; len++) {
        char *copy = exact_copy(text, len);
        const char *p = copy;
        assert_int_equal(gt_json_scan_skip_nested(&p, copy + len), len < whole ? GT_JSON_MORE : GT_JSON_OK);
        assert_int_equal(p - copy, len < whole ? 0 : (ptrdiff_t)whole);
        free(copy);
    }
}

static void nested_values_are_skipped_whole(void **state) {
    (void)state;
    nested_is("{}x");
    nested_is("[],");
    nested_is("{\"a\": [1, [2, {\"b\": \"}]\\\"\"}]], \"Infinity_y\": Infinity, \"c\": {}} ");
    nested_is("[{\"a\": 1}, {\"b\": 2}\n, [ {} ]] ");
}

static void lost_brackets_are_noticed(void **state) {
    (void)state;
    static const struct {
        const char *text;
        ptrdiff_t at;
    } cases[] = {
        {"[1, 2}", 5},                             /* an array closed as an object */
        {"{\"a\": {\"b\": 1]}", 13},               /* and the other way round */
        {"{\"a\": 1, {\"ph\": 1}}", 9},            /* an object where a key belongs */
        {"{\"a\": {\"b\": 1}\n {\"ph\": 1}}", 16}, /* the same without a comma */
        {"{\"a\": {\"b\": [1, 2, \"c\": 3}}", 25},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *p = cases[i].text;
        assert_int_equal(gt_json_scan_skip_nested(&p, p + strlen(p)), GT_JSON_BAD);
        assert_int_equal(p - cases[i].text, cases[i].at);
    }
}

/* Objects that hold no others end at their first closing brace; so do those whose first brace begins a line, whatever
   the quotes before it say. */
static void flat_objects_end_at_their_first_brace(void **state) {
    (void)state;
    nested_is("{\"a\": [1, 2, \"b\": \"}\"} ");
    nested_is("{\"a\": \"{}\"}}");
    nested_is("{\n  \"a\": \"one \" quote\n  },");
    nested_is("{\n  \"a\": [1\n,\n\t } ");
    nested_is("{\"a\": {\"b\": 1}\n} ");
}

static void any_depth_is_safe(void **state) {
    (void)state;
    enum { DEPTH = 1000000 };
    char *text = malloc(2 * DEPTH);
    assert_non_null(text);
    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH);
    const char *p = text;
    assert_int_equal(gt_json_scan_skip_nested(&p, text + 2 * DEPTH), GT_JSON_OK);
    assert_ptr_equal(p, text + 2 * DEPTH);
    p = text;
    assert_int_equal(gt_json_scan_skip_nested(&p, text + 2 * DEPTH - 1), GT_JSON_MORE);
    free(text);
}

static void decoded_is(const char *raw, unsigned marks, const char *decoded, size_t decoded_len, bool repaired) {
    struct gt_json_value_text text = {{raw, strlen(raw)}, marks};
    char *buf = exact_copy(raw, strlen(raw));
    bool found = false;
    size_t len = gt_json_scan_decode(text, buf, &found);
    assert_int_equal(len, decoded_len);
    assert_memory_equal(buf, decoded, len);
    assert_int_equal(found, repaired);
    free(buf);
}

#define DECODED(raw, decoded, repaired) decoded_is(raw, GT_JSON_ESCAPES, decoded, sizeof(decoded) - 1, repaired)

static void escapes_are_decoded(void **state) {
    (void)state;
    DECODED("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t", false);
    DECODED("a\\u0041\\u00e9\\u20AC", "aA\xc3\xa9\xe2\x82\xac", false);
    DECODED("\\ud83d\\ude00!", "\xf0\x9f\x98\x80!", false);
    DECODED("x\\u0000y", "x\0y", false);
}

static void bad_escapes_stay_as_they_are(void **state) {
    (void)state;
    DECODED("C:\\Program Files\\x", "C:\\Program Files\\x", true);
    DECODED("\\u12", "\\u12", true);
    DECODED("\\u12g4", "\\u12g4", true);
    DECODED("a\\", "a\\", true);
    DECODED("\\ud83d", "\xef\xbf\xbd", true);
    DECODED("\\ud83d\\u0041",
            "\xef\xbf\xbd"
            "A",
            true);
    DECODED("\\ude00\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80", true);
    decoded_is("a\nb", GT_JSON_CONTROLS, "a\nb", 3, true);
    decoded_is("a\"b", GT_JSON_QUOTES, "a\"b", 3, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_end_at_their_quote),
        cmocka_unit_test(escaped_quotes_belong_to_the_string),
        cmocka_unit_test(control_characters_are_marked_wherever_they_are),
        cmocka_unit_test(unescaped_quotes_do_not_end_a_string),
        cmocka_unit_test(bare_values_end_at_punctuation),
        cmocka_unit_test(nested_values_are_skipped_whole),
        cmocka_unit_test(lost_brackets_are_noticed),
        cmocka_unit_test(flat_objects_end_at_their_first_brace),
        cmocka_unit_test(any_depth_is_safe),
        cmocka_unit_test(escapes_are_decoded),
        cmocka_unit_test(bad_escapes_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
