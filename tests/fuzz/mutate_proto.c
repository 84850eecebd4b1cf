/* Mutations of protobuf messages: one field, at any depth, is left out, doubled, given another value or another place;
   the lengths of all messages around it are right again afterwards. */
#include <string.h>

#include "decode/proto/proto.h"
#include "mutate.h"

enum { MESSAGE_MAX = 1 << 17, DEPTH_MAX = 8, FIELDS_MAX = 4096 };

struct out {
    uint8_t *data;
    size_t size, capacity;
    bool has_failed;
};

static void put(struct out *out, const void *bytes, size_t count) {
    out->has_failed |= count > out->capacity - out->size;
    if (out->has_failed || !count)
        return;
    memcpy(out->data + out->size, bytes, count);
    out->size += count;
}

static void put_varint(struct out *out, uint64_t value) {
    uint8_t text[10];
    size_t count = 0;
    for (; value >= 0x80; value >>= 7)
        text[count++] = (uint8_t)(value | 0x80);
    text[count++] = (uint8_t)value;
    put(out, text, count);
}

/* Where each field of a message begins; fields[count] is the end. 0: it is no message. */
static size_t find_fields(const uint8_t *data, size_t size, size_t fields[FIELDS_MAX + 1]) {
    struct gt_proto message = {data, data + size, false};
    struct gt_proto_field field;
    size_t count = 0;
    fields[0] = 0;
    while (count < FIELDS_MAX && message.p < message.end && gt_proto_next(&message, &field))
        fields[++count] = (size_t)(message.p - data);
    return message.p == message.end && !message.is_damaged ? count : 0;
}

static uint64_t hard_number(uint64_t *chance) {
    static const uint64_t numbers[] = {0,          1,
                                       2,          127,
                                       128,        255,
                                       256,        65535,
                                       65536,      INT32_MAX,
                                       UINT32_MAX, INT64_MAX,
                                       UINT64_MAX, UINT64_C(1) << 63,
                                       1000,       UINT64_C(1700000000000000000)};
    return numbers[fuzz_chance(chance) % (sizeof numbers / sizeof *numbers)];
}

static bool change_message(const uint8_t *data, size_t size, struct out *out, uint64_t *chance, int depth);

/* Bytes of a field: as a message of its own where they are one, else by the fuzzer. */
static void put_changed_bytes(struct out *out, uint32_t tag, const uint8_t *bytes, size_t size, uint64_t *chance,
                              int depth) {
    static uint8_t rooms[DEPTH_MAX][MESSAGE_MAX];
    struct out inside = {.data = rooms[depth], .capacity = MESSAGE_MAX};
    bool is_message = depth + 1 < DEPTH_MAX && size > 1 && fuzz_chance(chance) % 4 &&
                      change_message(bytes, size, &inside, chance, depth + 1);
    if (!is_message) {
        size_t kept = size < MESSAGE_MAX / 2 ? size : MESSAGE_MAX / 2;
        if (kept)
            memcpy(rooms[depth], bytes, kept);
        inside.size = LLVMFuzzerMutate(rooms[depth], kept, kept + 64);
    }
    put_varint(out, tag);
    put_varint(out, inside.size);
    put(out, rooms[depth], inside.size);
}

static void put_changed_field(struct out *out, const uint8_t *data, size_t size, uint64_t *chance, int depth) {
    struct gt_proto message = {data, data + size, false};
    struct gt_proto_field field;
    if (!gt_proto_next(&message, &field))
        return;
    uint32_t wire = field.tag & 7;
    if (wire == 2) {
        put_changed_bytes(out, field.tag, (const uint8_t *)field.bytes.ptr, field.bytes.len, chance, depth);
    } else if (wire == 0) {
        bool is_near = fuzz_chance(chance) % 2;
        put_varint(out, field.tag);
        put_varint(out, is_near ? field.value + fuzz_chance(chance) % 16 - 8 : hard_number(chance));
    } else {
        size_t begin = out->size;
        put(out, data, size);
        for (size_t i = out->size; i > begin + size / 2; i--)
            out->data[i - 1] = (uint8_t)hard_number(chance);
    }
}

static bool change_message(const uint8_t *data, size_t size, struct out *out, uint64_t *chance, int depth) {
    size_t fields[FIELDS_MAX + 1], count = find_fields(data, size, fields);
    if (count == 0)
        return false;
    size_t chosen = fuzz_chance(chance) % count, other = fuzz_chance(chance) % count;
    uint32_t what = fuzz_chance(chance) % 10;
    size_t begin = fields[chosen], bytes = fields[chosen + 1] - begin;
    put(out, data, begin);
    if (what == 1) { /* twice */
        put(out, data + begin, bytes);
        put(out, data + begin, bytes);
    } else if (what == 2) { /* another one in its place */
        put(out, data + fields[other], fields[other + 1] - fields[other]);
    } else if (what == 3) { /* under another number */
        put_varint(out, (uint64_t)(1 + fuzz_chance(chance) % 20) << 3 | (data[begin] & 7));
        put(out, data + begin + 1, bytes - 1);
    } else if (what > 3) {
        put_changed_field(out, data + begin, bytes, chance, depth);
    } /* else it is left out */
    put(out, data + fields[chosen + 1], size - fields[chosen + 1]);
    return !out->has_failed;
}

size_t fuzz_mutate_proto(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    static uint8_t padded[MESSAGE_MAX + GT_PROTO_PADDING], made[2 * MESSAGE_MAX];
    struct out out = {.data = made, .capacity = max_size < sizeof made ? max_size : sizeof made};
    uint64_t chance = seed;
    if (size == 0 || size > MESSAGE_MAX)
        return 0;
    memcpy(padded, data, size);
    if (!change_message(padded, size, &out, &chance, 0))
        return 0;
    memcpy(data, made, out.size);
    return out.size;
}
