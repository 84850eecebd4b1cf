/* Protobuf as it is written, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "export/wire.h"

static void assert_bytes(struct gt_wire *wire, const char *bytes, size_t size) {
    assert_false(wire->failed);
    assert_int_equal(wire->count, size);
    assert_memory_equal(wire->bytes, bytes, size);
    gt_wire_release(wire);
}
#define ASSERT_BYTES(wire, literal) assert_bytes(wire, literal, sizeof(literal) - 1)

static void numbers(void **unused) {
    (void)unused;
    struct gt_wire wire = {0};
    gt_wire_uint(&wire, 1, 0);
    gt_wire_uint(&wire, 1, 127);
    gt_wire_uint(&wire, 2, 300);
    gt_wire_uint(&wire, 3000, UINT64_MAX);
    gt_wire_int(&wire, 4, -1);
    gt_wire_double(&wire, 5, 1.0);
    ASSERT_BYTES(&wire, "\x08\x00\x08\x7f\x10\xac\x02\xc0\xbb\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                        "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x29\x00\x00\x00\x00\x00\x00\xf0\x3f");
}

static void texts_are_utf8_without_nul(void **unused) {
    (void)unused;
    struct gt_wire wire = {0};
    gt_wire_text(&wire, 1, GT_STR("plain"));
    gt_wire_text(&wire, 1, GT_STR(""));
    gt_wire_text(&wire, 1, GT_STR("\xc3\xbc"));
    gt_wire_text(&wire, 1, GT_STR("a\0b"));
    gt_wire_text(&wire, 1,
                 GT_STR("\xff"
                        "a\xc3"));
    gt_wire_text(&wire, 1, GT_STR("\xed\xa0\x80"));
    ASSERT_BYTES(&wire, "\x0a\x05plain\x0a\x00\x0a\x02\xc3\xbc\x0a\x05"
                        "a\xef\xbf\xbd"
                        "b"
                        "\x0a\x07\xef\xbf\xbd"
                        "a\xef\xbf\xbd\x0a\x09\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

/* Of every length the size is as short as it can be, and what was inside is still there. */
static void messages_in_messages(void **unused) {
    (void)unused;
    static const size_t sizes[] = {0, 1, 127, 128, 200, 16383, 16384, 2097151, 2097152};
    static const size_t prefixes[] = {1, 1, 1, 2, 2, 2, 3, 3, 4};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct gt_wire wire = {0};
        char *text = calloc(1, sizes[i] + 1);
        memset(text, 'x', sizes[i]);
        size_t outer = gt_wire_begin(&wire, 1), inner = gt_wire_begin(&wire, 2);
        if (sizes[i] > 8)
            gt_wire_bytes(&wire, 3, text, sizes[i] - 1 - prefixes[i]);
        gt_wire_end(&wire, inner);
        gt_wire_uint(&wire, 4, 5);
        gt_wire_end(&wire, outer);
        assert_false(wire.failed);
        assert_int_equal(wire.bytes[0], 0x0a);
        assert_int_equal(wire.bytes[wire.count - 2], 0x20);
        assert_int_equal(wire.bytes[wire.count - 1], 5);
        size_t length = 0, at = 1;
        for (unsigned shift = 0;; shift += 7) {
            length |= (size_t)(wire.bytes[at] & 0x7f) << shift;
            if (wire.bytes[at++] < 0x80)
                break;
        }
        assert_int_equal(at + length, wire.count);
        assert_int_equal(wire.bytes[at], 0x12);
        gt_wire_release(&wire);
        free(text);
    }
}

static void short_memory_sticks(void **unused) {
    (void)unused;
    struct gt_wire wire = {.failed = true};
    size_t begin = gt_wire_begin(&wire, 1);
    gt_wire_uint(&wire, 1, 1);
    gt_wire_text(&wire, 1, GT_STR("a\0"));
    gt_wire_bytes(&wire, 1, "abc", 3);
    gt_wire_double(&wire, 1, 2);
    gt_wire_end(&wire, begin);
    assert_true(wire.failed);
    assert_int_equal(wire.count, 0);
    assert_null(wire.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(texts_are_utf8_without_nul),
        cmocka_unit_test(messages_in_messages),
        cmocka_unit_test(short_memory_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
