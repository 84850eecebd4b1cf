/* Thrift's compact protocol: fields by the distance of their numbers, whole numbers as zigzag varints. */
#include "columns/thrift.h"

#include <assert.h>

enum { TYPE_TRUE = 1, TYPE_FALSE = 2, TYPE_I8 = 3, TYPE_I16 = 4, TYPE_I32 = 5, TYPE_I64 = 6, TYPE_LIST = 9 };
enum { LONGEST_DISTANCE = 15, LONG_LIST = 15 };

void gt_thrift_init(struct gt_thrift *thrift, struct gt_out *out) {
    *thrift = (struct gt_thrift){.out = out};
}

static void put_byte(struct gt_thrift *thrift, unsigned value) {
    gt_out_char(thrift->out, (char)value);
}

static void put_varint(struct gt_thrift *thrift, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        put_byte(thrift, (unsigned)(value & 0x7f) | 0x80);
    put_byte(thrift, (unsigned)value);
}

static void put_zigzag(struct gt_thrift *thrift, int64_t value) {
    put_varint(thrift, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_text(struct gt_thrift *thrift, struct gt_str text) {
    put_varint(thrift, text.len);
    gt_out_str(thrift->out, text);
}

static void put_field(struct gt_thrift *thrift, int16_t field, unsigned type) {
    int16_t *last = &thrift->last_field[thrift->depth];
    int distance = field - *last;
    if (distance > 0 && distance <= LONGEST_DISTANCE) {
        put_byte(thrift, (unsigned)distance << 4 | type);
    } else {
        put_byte(thrift, type);
        put_zigzag(thrift, field);
    }
    *last = field;
}

void gt_thrift_bool(struct gt_thrift *thrift, int16_t field, bool value) {
    put_field(thrift, field, value ? TYPE_TRUE : TYPE_FALSE);
}

void gt_thrift_i8(struct gt_thrift *thrift, int16_t field, int8_t value) {
    put_field(thrift, field, TYPE_I8);
    put_byte(thrift, (uint8_t)value);
}

void gt_thrift_i16(struct gt_thrift *thrift, int16_t field, int16_t value) {
    put_field(thrift, field, TYPE_I16);
    put_zigzag(thrift, value);
}

void gt_thrift_i32(struct gt_thrift *thrift, int16_t field, int32_t value) {
    put_field(thrift, field, TYPE_I32);
    put_zigzag(thrift, value);
}

void gt_thrift_i64(struct gt_thrift *thrift, int16_t field, int64_t value) {
    put_field(thrift, field, TYPE_I64);
    put_zigzag(thrift, value);
}

void gt_thrift_text(struct gt_thrift *thrift, int16_t field, struct gt_str text) {
    put_field(thrift, field, GT_THRIFT_BINARY);
    put_text(thrift, text);
}

void gt_thrift_begin(struct gt_thrift *thrift, int16_t field) {
    put_field(thrift, field, GT_THRIFT_STRUCT);
    gt_thrift_begin_element(thrift);
}

void gt_thrift_begin_element(struct gt_thrift *thrift) {
    assert(thrift->depth + 1 < GT_THRIFT_DEPTH);
    thrift->last_field[++thrift->depth] = 0;
}

void gt_thrift_end(struct gt_thrift *thrift) {
    put_byte(thrift, 0);
    if (thrift->depth > 0)
        thrift->depth--;
}

void gt_thrift_list(struct gt_thrift *thrift, int16_t field, enum gt_thrift_type type, size_t count) {
    put_field(thrift, field, TYPE_LIST);
    put_byte(thrift, (unsigned)(count < LONG_LIST ? count : LONG_LIST) << 4 | (unsigned)type);
    if (count >= LONG_LIST)
        put_varint(thrift, count);
}

void gt_thrift_item_i32(struct gt_thrift *thrift, int32_t value) {
    put_zigzag(thrift, value);
}

void gt_thrift_item_text(struct gt_thrift *thrift, struct gt_str text) {
    put_text(thrift, text);
}
