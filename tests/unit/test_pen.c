/* Pens: what they put in a buffer is what calls of the output write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "write/escape.h"
#include "write/pen.h"

static struct gt_out *open_memory(void) {
    struct gt_error err = {0};
    struct gt_out *out = NULL;
    assert_int_equal(gt_out_open_memory(&out, &err), GT_OK);
    return out;
}

static void check(struct gt_str text, void (*escape)(struct gt_out *out, struct gt_str text),
                  void (*put)(struct gt_pen *pen, struct gt_str text)) {
    struct gt_out *expected = open_memory(), *out = open_memory();
    struct gt_pen pen;
    escape(expected, text);
    gt_pen_init(&pen, out);
    put(&pen, text);
    gt_pen_lift(&pen);
    assert_int_equal(gt_out_bytes(out).len, gt_out_bytes(expected).len);
    assert_memory_equal(gt_out_bytes(out).ptr, gt_out_bytes(expected).ptr, gt_out_bytes(out).len);
    gt_out_close(out);
    gt_out_close(expected);
}

static void check_both(struct gt_str text) {
    check(text, gt_escape_json, gt_pen_json);
    check(text, gt_escape_csv, gt_pen_csv);
}

static void texts_are_the_same(void **state) {
    static const char *const texts[] = {"",
                                        "a",
                                        "plain text of some words",
                                        "void f<(int)2, A<B>>(T)",
                                        "</script>",
                                        "a<!-- b -->",
                                        "ends with <",
                                        "\"quoted\" and \\",
                                        "line\nbreak\ttab\r",
                                        "caf\xc3\xa9 \xe2\x80\xa8 \xf0\x9f\x98\x80 \xf3\xa0\x80\x81",
                                        "broken \xff\xc3",
                                        "\x7f\x01 control",
                                        "one, two",
                                        " blank",
                                        "blank ",
                                        " ",
                                        "=SUM(A1)",
                                        "-1",
                                        "@x",
                                        "+",
                                        "a=b+c-d@e"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_both(gt_str_of(texts[i]));
}

/* Every byte at every place of eight, with plain ones around it. */
static void every_byte_is_the_same(void **state) {
    char text[19];
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++)
        for (size_t place = 0; place < sizeof text; place++) {
            memset(text, 'x', sizeof text);
            text[place] = (char)byte;
            check_both((struct gt_str){text, sizeof text});
        }
}

static void long_texts_are_the_same(void **state) {
    static char text[100000];
    (void)state;
    memset(text, '\x01', sizeof text);
    for (size_t size = 1000; size < sizeof text; size *= 3)
        check_both((struct gt_str){text, size});
}

static void texts_and_numbers_come_in_order(void **state) {
    struct gt_out *out = open_memory();
    struct gt_pen pen;
    static char text[70000];
    (void)state;
    memset(text, 'y', sizeof text);
    gt_pen_init(&pen, out);
    for (int64_t i = -5; i < 5; i++) {
        gt_pen_text(&pen, (struct gt_str){text, sizeof text / 10 * (size_t)(i + 5)});
        gt_pen_int(&pen, i);
        gt_pen_json(&pen, GT_STR("z"));
    }
    gt_pen_lift(&pen);
    struct gt_str bytes = gt_out_bytes(out);
    for (int64_t i = -5; i < 5; i++) {
        char end[16];
        size_t size = sizeof text / 10 * (size_t)(i + 5);
        size_t length = gt_num_format_int(end, i);
        memcpy(end + length, "\"z\"", 3);
        length += 3;
        assert_true(bytes.len >= size + length);
        assert_memory_equal(bytes.ptr, text, size);
        assert_memory_equal(bytes.ptr + size, end, length);
        bytes = (struct gt_str){bytes.ptr + size + length, bytes.len - size - length};
    }
    assert_int_equal(bytes.len, 0);
    gt_out_close(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_the_same),
        cmocka_unit_test(every_byte_is_the_same),
        cmocka_unit_test(long_texts_are_the_same),
        cmocka_unit_test(texts_and_numbers_come_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
