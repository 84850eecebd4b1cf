/* Writes the wire format of protobuf: fields come in, bytes go out. */
#include "export/wire.h"

#include "base/mem.h"
#include "base/utf8.h"

void gt_wire_release(struct gt_wire *wire) {
    gt_mem_free(wire->bytes);
    *wire = (struct gt_wire){0};
}

bool gt_wire_grow(struct gt_wire *wire, size_t more) {
    size_t needed, capacity = wire->capacity ? wire->capacity : 4096;
    if (wire->failed || __builtin_add_overflow(wire->count, more, &needed) || needed > SIZE_MAX / 2) {
        wire->failed = true;
        return false;
    }
    while (capacity < needed)
        capacity *= 2;
    uint8_t *bytes = gt_mem_realloc(wire->bytes, capacity);
    if (!bytes) {
        wire->failed = true;
        return false;
    }
    wire->bytes = bytes;
    wire->capacity = capacity;
    return true;
}

void gt_wire_double(struct gt_wire *wire, uint32_t field, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (!gt_wire_has_room(wire, GT_WIRE_NUMBER_MAX))
        return;
    gt_wire_varint(wire, (uint64_t)field << 3 | 1);
    for (int i = 0; i < 8; i++) /* little endian on every machine */
        wire->bytes[wire->count++] = (uint8_t)(bits >> 8 * i);
}

void gt_wire_bytes(struct gt_wire *wire, uint32_t field, const void *bytes, size_t size) {
    if (!gt_wire_has_room(wire, GT_WIRE_NUMBER_MAX) || !gt_wire_has_room(wire, GT_WIRE_NUMBER_MAX + size))
        return;
    gt_wire_varint(wire, (uint64_t)field << 3 | 2);
    gt_wire_varint(wire, size);
    if (size)
        memcpy(wire->bytes + wire->count, bytes, size);
    wire->count += size;
}

static bool is_plain(struct gt_str text) {
    for (size_t i = 0; i < text.len; i++)
        if ((uint8_t)(text.ptr[i] - 1) >= 0x7f)
            return false;
    return true;
}

void gt_wire_text(struct gt_wire *wire, uint32_t field, struct gt_str text) {
    if (is_plain(text)) {
        gt_wire_bytes(wire, field, text.ptr, text.len);
        return;
    }
    size_t begin = gt_wire_begin(wire, field);
    for (const char *at = text.ptr, *end = at + text.len; at < end && gt_wire_has_room(wire, 4);) {
        uint32_t c = gt_utf8_next(&at, end);
        wire->count += gt_utf8_encode((char *)wire->bytes + wire->count, c ? c : GT_UTF8_UNKNOWN);
    }
    gt_wire_end(wire, begin);
}

void gt_wire_lengthen(struct gt_wire *wire, size_t begin) {
    size_t size = wire->count - begin, more = 0;
    for (size_t rest = size; rest >= 0x80; rest >>= 7)
        more++;
    if (!gt_wire_has_room(wire, more))
        return;
    memmove(wire->bytes + begin + more, wire->bytes + begin, size);
    wire->count = begin - 1;
    gt_wire_varint(wire, size);
    wire->count += size;
}
