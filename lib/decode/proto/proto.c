/* Protobuf wire format: what is too rare or too slow to be in the header. */
#include "decode/proto/proto.h"

struct gt_proto_number gt_proto_read_long(const unsigned char *p, const unsigned char *end) {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 70 && p < end; shift += 7) {
        /* Of the tenth byte only one bit has room; what is above is lost, as in every reader. */
        number |= (uint64_t)(*p & 0x7f) << shift;
        if (*p++ < 0x80)
            return (struct gt_proto_number){p, number};
    }
    return (struct gt_proto_number){NULL, 0};
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
