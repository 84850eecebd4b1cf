/* Protobuf wire format: what is too rare or too slow to stand in the header. */
#include "decode/proto.h"

bool gt_proto_varint_slow(struct gt_proto *message, uint64_t *value) {
    const unsigned char *p = message->p;
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (p >= message->end)
            return false;
        /* Of the tenth byte only one bit has room; what is above is lost, as in every reader. */
        number |= (uint64_t)(*p & 0x7f) << shift;
        if (*p++ < 0x80) {
            message->p = p;
            *value = number;
            return true;
        }
    }
    return false;
}

bool gt_proto_fixed(struct gt_proto *message, struct gt_proto_field *field) {
    size_t length = (field->tag & 7) == 1 ? 8 : (field->tag & 7) == 5 ? 4 : 0;
    if (length == 0 || length > (size_t)(message->end - message->p))
        return false;
    uint64_t word = 0;
    memcpy(&word, message->p, length);
    field->value = le64toh(word);
    message->p += length;
    return true;
}

bool gt_proto_find(struct gt_str message, uint32_t tag, struct gt_proto_field *field) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field next;
    bool is_found = false;
    while (gt_proto_next(&fields, &next)) {
        if (next.tag != tag)
            continue;
        *field = next;
        is_found = true;
    }
    return is_found;
}

uint64_t gt_proto_find_value(struct gt_str message, uint32_t tag, uint64_t otherwise) {
    struct gt_proto_field field;
    return gt_proto_find(message, tag, &field) ? field.value : otherwise;
}

struct gt_str gt_proto_find_bytes(struct gt_str message, uint32_t tag) {
    struct gt_proto_field field;
    return gt_proto_find(message, tag, &field) ? field.bytes : (struct gt_str){NULL, 0};
}

size_t gt_proto_count(struct gt_str message, uint32_t tag) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    size_t count = 0;
    while (gt_proto_next(&fields, &field))
        count += field.tag == tag;
    return count;
}
