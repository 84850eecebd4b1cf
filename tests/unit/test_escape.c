/* Text from anywhere made safe: UTF-8, JSON, CSV, Markdown, and the cells of a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "write/escape.h"
#include "write/glyph.h"

static struct gt_out *out;

static int open_out(void **state) {
    struct gt_error err = {0};
    (void)state;
    return gt_out_open_memory(&out, &err) ? -1 : 0;
}

static int close_out(void **state) {
    (void)state;
    gt_out_close(out);
    return 0;
}

/* What was written since the last call. */
static const char *written(void) {
    static char text[4096];
    static size_t seen;
    struct gt_str all = gt_out_bytes(out);
    if (all.len < seen)
        seen = 0;
    size_t length = all.len - seen;
    assert_true(length < sizeof text);
    memcpy(text, all.ptr + seen, length);
    text[length] = '\0';
    seen = all.len;
    return text;
}

static void start(void) {
    written();
}

#define BYTES(literal) GT_STR(literal)

static void assert_chars(struct gt_str text, const uint32_t *expected, size_t count) {
    const char *at = text.ptr, *end = text.ptr + text.len;
    for (size_t i = 0; i < count; i++) {
        assert_true(at < end);
        assert_int_equal(gt_utf8_next(&at, end), expected[i]);
    }
    assert_ptr_equal(at, end);
}

static void utf8_is_decoded_and_what_is_broken_is_marked(void **state) {
    (void)state;
    assert_chars(BYTES("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), (uint32_t[]){'a', 0xe9, 0x20ac, 0x1f600}, 4);
    assert_chars(BYTES("\xff\x80z"), (uint32_t[]){0xfffd, 0xfffd, 'z'}, 3);
    assert_chars(BYTES("\xe2\x82z"), (uint32_t[]){0xfffd, 'z'}, 2);
    assert_chars(BYTES("\xf0\x9f\x98"), (uint32_t[]){0xfffd}, 1);
    assert_chars(BYTES("\xc0\xaf"), (uint32_t[]){0xfffd, 0xfffd}, 2);
    assert_chars(BYTES("\xed\xa0\x80"), (uint32_t[]){0xfffd, 0xfffd, 0xfffd}, 3); /* a surrogate */
    assert_chars(BYTES("\xf4\x90\x80\x80"), (uint32_t[]){0xfffd, 0xfffd, 0xfffd, 0xfffd}, 4);
    assert_chars(BYTES("\0x"), (uint32_t[]){0, 'x'}, 2);
}

static void every_character_survives_encoding(void **state) {
    (void)state;
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        char bytes[4];
        if (c >= 0xd800 && c <= 0xdfff)
            continue;
        size_t length = gt_utf8_encode(bytes, c);
        const char *at = bytes;
        assert_int_equal(gt_utf8_next(&at, bytes + length), c);
        assert_ptr_equal(at, bytes + length);
    }
}

static void json_strings_hold_anything(void **state) {
    static const struct {
        struct gt_str text;
        const char *expected;
    } cases[] = {
        {GT_STR("plain"), "\"plain\""},
        {GT_STR(""), "\"\""},
        {{NULL, 0}, "\"\""},
        {GT_STR("a\"b\\c"), "\"a\\\"b\\\\c\""},
        {GT_STR("\b\f\n\r\t\0\x1b[31m\x7f"), "\"\\u0008\\u000c\\n\\r\\t\\u0000\\u001b[31m\\u007f\""},
        {GT_STR("</script><!-- <b> a<b"), "\"<\\/script>\\u003c!-- <b> a<b\""},
        {GT_STR("<"), "\"<\""},
        {GT_STR("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xae"), "\"\\u2028\\u2029\\u202e\""},
        {GT_STR("\xff\xe2\x82"), "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {GT_STR("\xc2\x9b\xe6\xa0\xb8\xf0\x9f\x98\x80"), "\"\\u009b\xe6\xa0\xb8\xf0\x9f\x98\x80\""},
        {GT_STR("\xf3\xa0\x80\x81"), "\"\\udb40\\udc01\""},
    };
    (void)state;
    start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gt_escape_json(out, cases[i].text);
        assert_string_equal(written(), cases[i].expected);
    }
}

static void csv_fields_are_quoted_and_never_formulas(void **state) {
    static const struct {
        struct gt_str text;
        const char *expected;
    } cases[] = {
        {GT_STR("plain name"), "plain name"},
        {{NULL, 0}, ""},
        {GT_STR("f<int, 4>(char*)"), "\"f<int, 4>(char*)\""},
        {GT_STR("say \"hi\""), "\"say \"\"hi\"\"\""},
        {GT_STR("two\nlines\r"), "\"two\nlines\r\""},
        {GT_STR(" lead"), "\" lead\""},
        {GT_STR("=1+1"), "'=1+1"},
        {GT_STR("+a"), "'+a"},
        {GT_STR("-a,b"), "\"'-a,b\""},
        {GT_STR("@SUM(1)"), "'@SUM(1)"},
        {GT_STR("\tx"), "'\tx"},
        {GT_STR("\rx"), "\"'\rx\""},
        {GT_STR("a=b"), "a=b"},
        {GT_STR("\x1b[31m\0z\xff\xc2\x9b"), "\xef\xbf\xbd[31m\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd"},
        {GT_STR("\xe6\xa0\xb8"), "\xe6\xa0\xb8"},
    };
    (void)state;
    start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gt_escape_csv(out, cases[i].text);
        assert_string_equal(written(), cases[i].expected);
    }
}

static void markdown_names_render_as_they_are(void **state) {
    static const struct {
        struct gt_str text;
        const char *expected;
    } cases[] = {
        {GT_STR("exposed memory"), "exposed memory"},
        {GT_STR("NVIDIA H200 (80 GB)"), "NVIDIA H200 (80 GB)"},
        {{NULL, 0}, ""},
        {GT_STR("_a_"), "`_a_`"},
        {GT_STR("- item"), "`- item`"},
        {GT_STR("void f<int*>(char)"), "`void f<int*>(char)`"},
        {GT_STR("a`b"), "``a`b``"},
        {GT_STR("`b``"), "``` `b`` ```"},
        {GT_STR("a|b\\|c"), "<code>a&#124;b&#92;&#124;c</code>"},
        {GT_STR("</script>|*"), "<code>&#60;&#47;script&#62;&#124;&#42;</code>"},
        {GT_STR("x\ny\tz\x1b\xe2\x80\xae\xff"), "`x y z\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd`"},
        {GT_STR("@someone"), "`@someone`"},
    };
    (void)state;
    start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gt_escape_markdown_name(out, cases[i].text);
        assert_string_equal(written(), cases[i].expected);
    }
}

static void markdown_sentences_have_no_markup(void **state) {
    (void)state;
    start();
    gt_escape_markdown_sentence(out, GT_STR("a *b* _c_ [d](e) <f> | `g` & $h$ 100 % (i)\n"));
    assert_string_equal(written(), "a \\*b\\* \\_c\\_ \\[d\\](e) \\<f\\> \\| \\`g\\` \\& \\$h\\$ 100 % (i) ");
    gt_escape_markdown_sentence(out, (struct gt_str){NULL, 0});
    assert_string_equal(written(), "");
}

/* ---- the terminal ---- */

static void controls_are_shown_and_never_sent(void **state) {
    (void)state;
    start();
    gt_glyph_text_put(out, GT_STR("a\x1b[31m\n\x7f\xc2\x9b\xe2\x80\xae\xef\xbb\xbfz\xff"), true);
    assert_string_equal(written(),
                        "a\xe2\x90\x9b[31m\xe2\x90\x8a\xe2\x90\xa1\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd");
    gt_glyph_text_put(out, GT_STR("\x1b\xc3\xa9 1\xc2\xb5s \xe2\x86\x92 \xe2\x80\xa6"), false);
    assert_string_equal(written(), "?? 1us > ~");
}

static void widths_are_those_of_a_terminal(void **state) {
    (void)state;
    assert_int_equal(gt_glyph_text_width(GT_STR("abc"), true), 3);
    assert_int_equal(gt_glyph_text_width(GT_STR("\xe6\xa0\xb8\xe5\xbf\x83"), true), 4);
    assert_int_equal(gt_glyph_text_width(GT_STR("\xe6\xa0\xb8\xe5\xbf\x83"), false), 2);
    assert_int_equal(gt_glyph_text_width(GT_STR("e\xcc\x81"), true), 1);
    assert_int_equal(gt_glyph_text_width(GT_STR("\xf0\x9f\x98\x80"), true), 2);
    assert_int_equal(gt_glyph_text_width((struct gt_str){NULL, 0}, true), 0);
    /* A pile of marks does not hide: two stay on their letter, each further one takes a column. */
    assert_int_equal(gt_glyph_text_width(GT_STR("e\xcc\x81\xcc\x81\xcc\x81\xcc\x81"), true), 3);
}

static const char *cut_name(const char *name, size_t width) {
    struct gt_cut cut = gt_glyph_name_cut(gt_str_of(name), width, true);
    size_t taken = gt_glyph_cut_put(out, &cut, true);
    const char *text = written();
    assert_int_equal(taken, gt_glyph_text_width(gt_str_of(text), true));
    assert_true(taken <= width);
    return text;
}

static void plain_names_are_cut_in_the_middle(void **state) {
    (void)state;
    start();
    assert_string_equal(cut_name("abcdefghij", 10), "abcdefghij");
    assert_string_equal(cut_name("abcdefghij", 9), "abcd\xe2\x80\xa6ghij");
    assert_string_equal(cut_name("abcdefghij", 4), "ab\xe2\x80\xa6j");
    assert_string_equal(cut_name("abcdefghij", 1), "\xe2\x80\xa6");
    /* Wide characters are never cut in half, marks never lose their letter. */
    assert_string_equal(cut_name("\xe6\xa0\xb8\xe5\xbf\x83\xe6\xa0\xb8\xe5\xbf\x83", 6),
                        "\xe6\xa0\xb8\xe2\x80\xa6\xe5\xbf\x83");
    assert_string_equal(cut_name("abcde\xcc\x81"
                                 "fg",
                                 4),
                        "ab\xe2\x80\xa6g");
    assert_string_equal(cut_name("abcdefe\xcc\x81", 4), "ab\xe2\x80\xa6"
                                                        "e\xcc\x81");
}

static void signatures_keep_the_functions_own_name(void **state) {
    static const char name[] = "void at::native::(anonymous namespace)::copy_kernel<4, at::F<int>>(int, char*)";
    (void)state;
    start();
    assert_string_equal(cut_name(name, 100), name);
    assert_string_equal(cut_name(name, 60), "…copy_kernel<4, at::F<int>>(int, char*)");
    assert_string_equal(cut_name(name, 30), "…copy_kernel<4, at::F<int>>(i…");
    assert_string_equal(cut_name(name, 24), "…copy_kernel<4, at::F<i…");
    assert_string_equal(cut_name(name, 13), "…copy_kernel…");
    assert_string_equal(cut_name(name, 12), "copy_kernel…");
    assert_string_equal(cut_name(name, 11), "copy_kerne…");
    assert_string_equal(cut_name(name, 8), "copy…nel");
    assert_string_equal(cut_name("void flash_fwd<T>(P)", 12), "…flash_fwd<…");
    assert_string_equal(cut_name("f<unclosed (((", 6), "f<unc…");
    assert_string_equal(cut_name("(nothing but a bracket)", 9), "(not…ket)");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_out, close_out)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(utf8_is_decoded_and_what_is_broken_is_marked),
        TEST(every_character_survives_encoding),
        TEST(json_strings_hold_anything),
        TEST(csv_fields_are_quoted_and_never_formulas),
        TEST(markdown_names_render_as_they_are),
        TEST(markdown_sentences_have_no_markup),
        TEST(controls_are_shown_and_never_sent),
        TEST(widths_are_those_of_a_terminal),
        TEST(plain_names_are_cut_in_the_middle),
        TEST(signatures_keep_the_functions_own_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
