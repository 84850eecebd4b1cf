/* Protobuf messages in memory: varints, fixed numbers, bytes, and messages inside messages. The first failure sticks:
   check `failed` once, at the end. */
#ifndef GT_EXPORT_WIRE_H
#define GT_EXPORT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

/* Zeroed: empty. */
struct gt_wire {
    uint8_t *bytes;
    size_t count, capacity;
    bool failed; /* memory was short */
};

void gt_wire_release(struct gt_wire *wire);

/* Room for so many more bytes; false: memory was short. */
bool gt_wire_grow(struct gt_wire *wire, size_t more);

/* The longest tag with a number after it. */
#define GT_WIRE_NUMBER_MAX 16

static inline bool gt_wire_has_room(struct gt_wire *wire, size_t more) {
    return wire->capacity - wire->count >= more || gt_wire_grow(wire, more);
}

/* Without a check for room. */
static inline void gt_wire_varint(struct gt_wire *wire, uint64_t value) {
    uint8_t *at = wire->bytes + wire->count;
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    wire->count = (size_t)(at - wire->bytes);
}

static inline void gt_wire_uint(struct gt_wire *wire, uint32_t field, uint64_t value) {
    if (!gt_wire_has_room(wire, GT_WIRE_NUMBER_MAX))
        return;
    gt_wire_varint(wire, (uint64_t)field << 3);
    gt_wire_varint(wire, value);
}

/* int32 and int64: negative ones take ten bytes. */
static inline void gt_wire_int(struct gt_wire *wire, uint32_t field, int64_t value) {
    gt_wire_uint(wire, field, (uint64_t)value);
}

void gt_wire_double(struct gt_wire *wire, uint32_t field, double value);
void gt_wire_bytes(struct gt_wire *wire, uint32_t field, const void *bytes, size_t size);

/* As UTF-8 without NUL, which viewers take for the end of a text: bytes that are none become U+FFFD. */
void gt_wire_text(struct gt_wire *wire, uint32_t field, struct gt_str text);

/* Begins a message inside a message; what it gives is for gt_wire_end. */
static inline size_t gt_wire_begin(struct gt_wire *wire, uint32_t field) {
    if (!gt_wire_has_room(wire, GT_WIRE_NUMBER_MAX))
        return wire->count;
    gt_wire_varint(wire, (uint64_t)field << 3 | 2);
    return ++wire->count;
}

/* The length of one byte was left out: most messages are shorter than 128 bytes. Longer ones are moved. */
void gt_wire_lengthen(struct gt_wire *wire, size_t begin);

static inline void gt_wire_end(struct gt_wire *wire, size_t begin) {
    if (wire->failed)
        return;
    size_t size = wire->count - begin;
    if (size < 0x80)
        wire->bytes[begin - 1] = (uint8_t)size;
    else
        gt_wire_lengthen(wire, begin);
}

#endif
