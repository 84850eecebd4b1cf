/* Protobuf wire format: bytes of a message come in, its fields go out one by one. Nothing is known here about what the
   fields mean, nothing is allocated, and any bytes are safe. */
#ifndef GT_DECODE_PROTO_PROTO_H
#define GT_DECODE_PROTO_PROTO_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* So many bytes after the end of a message must be readable: varints are loaded eight bytes at a time. */
#define GT_PROTO_PADDING 8

/* A tag holds number and wire type: a known field with another type than it should have is an unknown field. */
#define GT_PROTO_VARINT(number)  ((uint32_t)(number) << 3)
#define GT_PROTO_FIXED64(number) ((uint32_t)(number) << 3 | 1)
#define GT_PROTO_BYTES(number)   ((uint32_t)(number) << 3 | 2)
#define GT_PROTO_FIXED32(number) ((uint32_t)(number) << 3 | 5)

/* What is left of a message. */
struct gt_proto {
    const unsigned char *p, *end;
    bool is_damaged; /* a field runs past the end, or is of no known wire type; no more fields follow */
};

struct gt_proto_field {
    uint32_t tag;
    uint64_t value;      /* the number; the length of bytes */
    struct gt_str bytes; /* of GT_PROTO_BYTES fields; borrowed from the message */
};

static inline struct gt_proto gt_proto_of(struct gt_str bytes) {
    const unsigned char *p = (const unsigned char *)(bytes.ptr ? bytes.ptr : "");
    return (struct gt_proto){p, p + bytes.len, false};
}

/* A number and the place after it; p NULL: it runs past the end or has more than ten bytes. Passed by value, so that a
   message's place can stay in a register. */
struct gt_proto_number {
    const unsigned char *p;
    uint64_t value;
};

/* Byte by byte: for numbers of nine and ten bytes. */
struct gt_proto_number gt_proto_read_long(const unsigned char *p, const unsigned char *end);

/* p NULL likewise, and of every other wire type. */
static inline struct gt_proto_number gt_proto_read_fixed(const unsigned char *p, const unsigned char *end,
                                                         unsigned wire_type) {
    size_t length = wire_type == 1 ? 8 : wire_type == 5 ? 4 : 0;
    uint64_t word;
    if (length == 0 || length > (size_t)(end - p))
        return (struct gt_proto_number){NULL, 0};
    memcpy(&word, p, sizeof word);
    word = le64toh(word);
    return (struct gt_proto_number){p + length, length == 8 ? word : word & UINT32_MAX};
}

static inline struct gt_proto_number gt_proto_read(const unsigned char *p, const unsigned char *end) {
    uint64_t word;
    if (p < end && *p < 0x80)
        return (struct gt_proto_number){p + 1, *p};
    memcpy(&word, p, sizeof word);
    word = le64toh(word);
    uint64_t stops = ~word & UINT64_C(0x8080808080808080);
    if (stops == 0)
        return gt_proto_read_long(p, end);
    unsigned length = (unsigned)__builtin_ctzll(stops) / 8 + 1;
    if (length > (size_t)(end - p))
        return (struct gt_proto_number){NULL, 0};
    /* What lies after the last byte goes, then eight groups of seven bits move together, pair by pair. */
    word &= (stops ^ (stops - 1)) & UINT64_C(0x7f7f7f7f7f7f7f7f);
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    word = (word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
    return (struct gt_proto_number){p + length, word};
}

/* Most tags have one byte or two. */
static inline struct gt_proto_number gt_proto_read_tag(const unsigned char *p, const unsigned char *end) {
    if (end - p >= 2 && p[0] >= 0x80 && p[1] < 0x80)
        return (struct gt_proto_number){p + 2, (uint64_t)(p[0] & 0x7f) | (uint64_t)p[1] << 7};
    return gt_proto_read(p, end);
}

/* A number that is alone. */
static inline bool gt_proto_varint(struct gt_proto *message, uint64_t *value) {
    struct gt_proto_number number = gt_proto_read(message->p, message->end);
    if (!number.p)
        return false;
    message->p = number.p;
    *value = number.value;
    return true;
}

/* The next field. false at the end, and at damage. Inlined in every loop: most of what is read are small fields. */
static inline __attribute__((always_inline)) bool gt_proto_next(struct gt_proto *message,
                                                                struct gt_proto_field *field) {
    const unsigned char *end = message->end;
    if (message->p >= end)
        return false;
    struct gt_proto_number tag = gt_proto_read_tag(message->p, end), number;
    if (!tag.p || tag.value > UINT32_MAX || tag.value < GT_PROTO_VARINT(1))
        goto damaged;
    field->tag = (uint32_t)tag.value;
    field->bytes = (struct gt_str){NULL, 0};
    switch (field->tag & 7) {
    case 0:
        number = gt_proto_read(tag.p, end);
        break;
    case 2:
        number = gt_proto_read(tag.p, end);
        if (!number.p || number.value > (size_t)(end - number.p))
            goto damaged;
        field->bytes = (struct gt_str){(const char *)number.p, (size_t)number.value};
        number.p += number.value;
        break;
    default:
        number = gt_proto_read_fixed(tag.p, end, field->tag & 7);
    }
    if (!number.p)
        goto damaged;
    field->value = number.value;
    message->p = number.p;
    return true;
damaged:
    message->is_damaged = true;
    message->p = end;
    return false;
}

/* Small messages of which single fields are wanted: the last of that tag, as protobuf says. false: there is none. */
bool gt_proto_find(struct gt_str message, uint32_t tag, struct gt_proto_field *field);
uint64_t gt_proto_find_value(struct gt_str message, uint32_t tag, uint64_t otherwise);
struct gt_str gt_proto_find_bytes(struct gt_str message, uint32_t tag); /* ptr NULL: there is none */

/* How many fields of that tag a message has, up to its end or damage. */
size_t gt_proto_count(struct gt_str message, uint32_t tag);

#endif
