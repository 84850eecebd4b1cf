/* The protobuf wire reader: numbers of every length, every wire type, and bytes that are no message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/proto/proto.h"
#include "random.h"

/* A message in a block of exactly its size and padding, so that a sanitizer sees every byte read beyond. */
struct copy {
    char *block;
    struct gt_str bytes;
};

static struct copy copy_of(const void *bytes, size_t size) {
    struct copy copy = {malloc(size + GT_PROTO_PADDING), {NULL, size}};
    assert_non_null(copy.block);
    if (size)
        memcpy(copy.block, bytes, size);
    memset(copy.block + size, 0xff, GT_PROTO_PADDING);
    copy.bytes.ptr = copy.block;
    return copy;
}

static size_t put_varint(unsigned char *to, uint64_t value) {
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        to[size++] = (unsigned char)(value | 0x80);
    to[size++] = (unsigned char)value;
    return size;
}

static void varint_gives(const void *bytes, size_t size, uint64_t expected, size_t length) {
    struct copy copy = copy_of(bytes, size);
    struct gt_proto message = gt_proto_of(copy.bytes);
    uint64_t value = 0;
    assert_true(gt_proto_varint(&message, &value));
    assert_int_equal(value, expected);
    assert_int_equal(message.p - (const unsigned char *)copy.block, length);
    free(copy.block);
}

static void varint_fails(const void *bytes, size_t size) {
    struct copy copy = copy_of(bytes, size);
    struct gt_proto message = gt_proto_of(copy.bytes);
    uint64_t value;
    assert_false(gt_proto_varint(&message, &value));
    free(copy.block);
}

static void numbers_of_every_length_are_read(void **state) {
    (void)state;
    unsigned char bytes[32];
    for (unsigned bit = 0; bit < 64; bit++) {
        const uint64_t values[] = {UINT64_C(1) << bit, (UINT64_C(1) << bit) - 1, UINT64_MAX >> bit};
        for (size_t i = 0; i < 3; i++) {
            size_t size = put_varint(bytes, values[i]);
            varint_gives(bytes, size, values[i], size);
            for (size_t cut = 0; cut < size; cut++)
                varint_fails(bytes, cut);
            memset(bytes + size, 0x55, 12); /* what follows does not matter */
            varint_gives(bytes, size + 12, values[i], size);
        }
    }
    varint_gives("\x80\x80\x00", 3, 0, 3); /* longer than need be */
    varint_gives("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, UINT64_MAX, 10);
    varint_fails("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
}

static void fields_of_every_wire_type_are_read(void **state) {
    (void)state;
    struct copy copy = copy_of("\x08\x96\x01"                         /* 1: 150 */
                               "\x11\x01\x02\x03\x04\x05\x06\x07\x08" /* 2: fixed64 */
                               "\x1a\x03"
                               "abc"                  /* 3: bytes */
                               "\x25\x0a\x00\x00\x80" /* 4: fixed32 */
                               "\xda\x06\x00"         /* 107: no bytes */
                               "\x90\x03\x05",        /* 50: 5 */
                               3 + 9 + 5 + 5 + 3 + 3);
    struct gt_proto message = gt_proto_of(copy.bytes);
    struct gt_proto_field field;
    assert_true(gt_proto_next(&message, &field));
    assert_int_equal(field.tag, GT_PROTO_VARINT(1));
    assert_int_equal(field.value, 150);
    assert_true(gt_proto_next(&message, &field));
    assert_int_equal(field.tag, GT_PROTO_FIXED64(2));
    assert_int_equal(field.value, UINT64_C(0x0807060504030201));
    assert_true(gt_proto_next(&message, &field));
    assert_int_equal(field.tag, GT_PROTO_BYTES(3));
    assert_true(gt_str_eq(field.bytes, GT_STR("abc")));
    assert_true(gt_proto_next(&message, &field));
    assert_int_equal(field.tag, GT_PROTO_FIXED32(4));
    assert_int_equal(field.value, UINT64_C(0x8000000a));
    assert_true(gt_proto_next(&message, &field));
    assert_int_equal(field.tag, GT_PROTO_BYTES(107));
    assert_int_equal(field.bytes.len, 0);
    assert_true(gt_proto_next(&message, &field));
    assert_int_equal(field.tag, GT_PROTO_VARINT(50));
    assert_int_equal(field.value, 5);
    assert_false(gt_proto_next(&message, &field));
    assert_false(message.is_damaged);
    free(copy.block);
}

/* Fields before the damage, and that it is seen. */
static void damage_follows(const void *bytes, size_t size, size_t fields) {
    struct copy copy = copy_of(bytes, size);
    struct gt_proto message = gt_proto_of(copy.bytes);
    struct gt_proto_field field;
    size_t count = 0;
    while (gt_proto_next(&message, &field))
        count++;
    assert_int_equal(count, fields);
    assert_true(message.is_damaged);
    assert_false(gt_proto_next(&message, &field));
    free(copy.block);
}

static void damage_ends_a_message(void **state) {
    (void)state;
    damage_follows("\x08", 1, 0);
    damage_follows("\x08\x80", 2, 0);
    damage_follows("\x80", 1, 0);
    damage_follows("\x00\x01", 2, 0); /* field 0 */
    damage_follows("\x0b\x0c", 2, 0); /* a group */
    damage_follows("\x0e\x01", 2, 0); /* wire type 6 */
    damage_follows("\x0a\x04"         /* four bytes, of which there are three */
                   "abc",
                   5, 0);
    damage_follows("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, 0);         /* a length of 2^64 - 1 */
    damage_follows("\x08\x01\x09\x01\x02\x03\x04\x05\x06\x07", 10, 1);             /* seven of eight bytes */
    damage_follows("\x08\x01\x0d\x01\x02\x03", 6, 1);                              /* three of four */
    damage_follows("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01", 11, 0);         /* a field number beyond all */
    damage_follows("\x08\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13, 1); /* eleven bytes */
}

static void single_fields_are_found(void **state) {
    (void)state;
    struct copy copy = copy_of("\x08\x01\x08\x02\x12\x01"
                               "a"
                               "\x12\x01"
                               "b"
                               "\x1d\x01\x00\x00\x00",
                               4 + 3 + 3 + 5);
    assert_int_equal(gt_proto_find_value(copy.bytes, GT_PROTO_VARINT(1), 7), 2); /* the last counts */
    assert_int_equal(gt_proto_find_value(copy.bytes, GT_PROTO_VARINT(3), 7), 7); /* of another type */
    assert_true(gt_str_eq(gt_proto_find_bytes(copy.bytes, GT_PROTO_BYTES(2)), GT_STR("b")));
    assert_null(gt_proto_find_bytes(copy.bytes, GT_PROTO_BYTES(4)).ptr);
    assert_int_equal(gt_proto_count(copy.bytes, GT_PROTO_BYTES(2)), 2);
    assert_int_equal(gt_proto_count((struct gt_str){NULL, 0}, GT_PROTO_BYTES(2)), 0);
    free(copy.block);
}

/* A reader that is slow and plain, to compare with. */
static bool plain_varint(const unsigned char **p, const unsigned char *end, uint64_t *value) {
    *value = 0;
    for (int i = 0; i < 10; i++) {
        if (*p == end)
            return false;
        unsigned char byte = *(*p)++;
        *value |= i < 9 ? (uint64_t)(byte & 0x7f) << (7 * i) : (uint64_t)(byte & 1) << 63;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool plain_next(const unsigned char **p, const unsigned char *end, uint64_t *tag, uint64_t *value) {
    if (*p == end || !plain_varint(p, end, tag) || *tag < 8 || *tag > UINT32_MAX)
        return false;
    size_t width = (*tag & 7) == 1 ? 8 : (*tag & 7) == 5 ? 4 : 0, left;
    if ((*tag & 7) == 0)
        return plain_varint(p, end, value);
    if ((*tag & 7) == 2) {
        if (!plain_varint(p, end, value) || *value > (uint64_t)(end - *p))
            return false;
        *p += *value;
        return true;
    }
    left = (size_t)(end - *p);
    if (width == 0 || width > left)
        return false;
    *value = 0;
    for (size_t i = 0; i < width; i++)
        *value |= (uint64_t)(*p)[i] << (8 * i);
    *p += width;
    return true;
}

static void random_bytes_read_as_a_plain_reader_reads_them(void **state) {
    (void)state;
    uint64_t seed = 7, fields = 0;
    for (int round = 0; round < 20000; round++) {
        unsigned char bytes[40];
        size_t size = random_u64(&seed) % (sizeof bytes + 1);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)(random_u64(&seed) % 3 ? random_u64(&seed) : random_u64(&seed) & 0x1a);
        struct copy copy = copy_of(bytes, size);
        struct gt_proto message = gt_proto_of(copy.bytes);
        const unsigned char *p = (const unsigned char *)copy.block, *end = p + size;
        struct gt_proto_field field;
        uint64_t tag, value;
        while (gt_proto_next(&message, &field)) {
            assert_true(plain_next(&p, end, &tag, &value));
            assert_int_equal(field.tag, tag);
            assert_int_equal(field.value, value);
            assert_ptr_equal(message.p, p);
            fields++;
        }
        assert_int_equal(message.is_damaged, p != end);
        free(copy.block);
    }
    assert_true(fields > 10000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_length_are_read),
        cmocka_unit_test(fields_of_every_wire_type_are_read),
        cmocka_unit_test(damage_ends_a_message),
        cmocka_unit_test(single_fields_are_found),
        cmocka_unit_test(random_bytes_read_as_a_plain_reader_reads_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
