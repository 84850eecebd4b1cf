/* NVTX payloads: the schemas of a report and the payload of an event come in, the size of its message goes out. */
#include "decode/nsys_rep_payload.h"

#include "base/mem.h"
#include "decode/proto.h"

/* What NCCL calls the size of a collective's message. */
#define MESSAGE_SIZE GT_STR("Message size [bytes]")

/* Bytes of the types of entries (numbers of the public NVTX header) that can hold a size; 0 for others. */
static unsigned width_of(uint64_t type) {
    switch (type) {
    case 6:  /* unsigned int */
    case 16: /* uint32_t */
        return 4;
    case 8:  /* unsigned long */
    case 10: /* unsigned long long */
    case 18: /* uint64_t */
    case 22: /* size_t */
        return 8;
    default:
        return 0;
    }
}

/* The entry that is the size. false: the schema has none, or arrays and unions that move what follows them. */
static bool find_entry(struct gt_str schema, struct gt_nsys_rep_schema *found) {
    struct gt_proto fields = gt_proto_of(schema);
    struct gt_proto_field field;
    bool is_found = false;
    while (gt_proto_next(&fields, &field)) {
        if (field.tag != GT_PROTO_BYTES(4))
            continue;
        if (gt_proto_find_value(field.bytes, GT_PROTO_VARINT(2), 0) != 0)
            return false;
        unsigned width = width_of(gt_proto_find_value(field.bytes, GT_PROTO_VARINT(1), 0));
        if (width && gt_str_eq(gt_proto_find_bytes(field.bytes, GT_PROTO_BYTES(7)), MESSAGE_SIZE)) {
            *found = (struct gt_nsys_rep_schema){gt_proto_find_value(field.bytes, GT_PROTO_VARINT(3), 0), width};
            is_found = true;
        }
    }
    return is_found && !fields.is_damaged;
}

static uint64_t scope(uint32_t process, uint64_t domain) {
    return (uint64_t)process << 32 | domain;
}

static bool take_schema(struct gt_nsys_rep_schemas *schemas, uint32_t process, struct gt_str message) {
    struct gt_nsys_rep_schema schema;
    uint64_t domain = gt_proto_find_value(message, GT_PROTO_VARINT(9), 0);
    if (domain > UINT32_MAX || !find_entry(message, &schema))
        return true;
    if (schemas->count == schemas->capacity) {
        size_t capacity = schemas->capacity ? schemas->capacity * 2 : 16;
        struct gt_nsys_rep_schema *grown = gt_realloc(schemas->list, capacity * sizeof *grown);
        if (!grown)
            return false;
        schemas->list = grown;
        schemas->capacity = capacity;
    }
    schemas->list[schemas->count] = schema;
    gt_map_put(&schemas->index_of, scope(process, domain), gt_proto_find_value(message, GT_PROTO_VARINT(1), 0),
               (uint32_t)schemas->count++);
    return !schemas->index_of.failed;
}

bool gt_nsys_rep_schemas_take(struct gt_nsys_rep_schemas *schemas, struct gt_str message) {
    struct gt_proto processes = gt_proto_of(message);
    struct gt_proto_field process, field;
    uint32_t number = 0;
    while (gt_proto_next(&processes, &process)) {
        if (process.tag != GT_PROTO_BYTES(3))
            continue;
        gt_map_put(&schemas->process_of, 0, gt_proto_find_value(process.bytes, GT_PROTO_VARINT(1), 0), number);
        struct gt_proto fields = gt_proto_of(process.bytes);
        while (gt_proto_next(&fields, &field))
            if (field.tag == GT_PROTO_BYTES(2) && !take_schema(schemas, number, field.bytes))
                return false;
        number++;
    }
    return !schemas->process_of.failed;
}

void gt_nsys_rep_schemas_release(struct gt_nsys_rep_schemas *schemas) {
    gt_map_release(&schemas->process_of);
    gt_map_release(&schemas->index_of);
    gt_free(schemas->list);
    *schemas = (struct gt_nsys_rep_schemas){0};
}

bool gt_nsys_rep_schemas_find_bytes(const struct gt_nsys_rep_schemas *schemas, uint64_t global_pid, uint64_t domain,
                                    struct gt_str payload, uint64_t *bytes) {
    if (schemas->count == 0 || domain > UINT32_MAX)
        return false;
    struct gt_str extended = gt_proto_find_bytes(payload, GT_PROTO_BYTES(9));
    struct gt_str raw = gt_proto_find_bytes(extended, GT_PROTO_BYTES(2));
    uint32_t process = gt_map_get(&schemas->process_of, 0, global_pid);
    if (process == GT_MAP_NONE)
        return false;
    uint32_t index =
        gt_map_get(&schemas->index_of, scope(process, domain), gt_proto_find_value(extended, GT_PROTO_VARINT(1), 0));
    if (index == GT_MAP_NONE)
        return false;
    const struct gt_nsys_rep_schema *schema = &schemas->list[index];
    if (schema->offset > raw.len || schema->width > raw.len - schema->offset)
        return false;
    uint64_t word = 0;
    memcpy(&word, raw.ptr + schema->offset, schema->width);
    *bytes = le64toh(word);
    return true;
}
