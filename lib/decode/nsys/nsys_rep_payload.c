/* NVTX payloads: the schemas of a report and the payload of an event come in, sizes of messages and texts go out. */
#include "decode/nsys/nsys_rep_payload.h"

#include "base/mem.h"
#include "decode/proto/proto.h"

/* What NCCL calls the size of a collective's message. */
#define MESSAGE_SIZE GT_STR("Message size [bytes]")

enum {
    TYPE_REGISTERED_STRING = 80,
    ENTRIES_MAX = 16, /* of a schema that are kept, so that a short payload cannot make rows without end */
};

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

/* Whether the entry is one to keep. */
static bool take_entry(struct gt_str message, struct gt_nsys_rep_entry *entry) {
    uint64_t type = gt_proto_find_value(message, GT_PROTO_VARINT(1), 0);
    struct gt_str name = gt_proto_find_bytes(message, GT_PROTO_BYTES(7));
    uint64_t offset = gt_proto_find_value(message, GT_PROTO_VARINT(3), 0);
    /* A string at the very beginning of a payload is another one than was attached (seen with 2025.3). */
    bool is_text = type == TYPE_REGISTERED_STRING && name.len && offset != 0;
    *entry = (struct gt_nsys_rep_entry){
        .offset = offset,
        .width = is_text ? 8 : width_of(type),
        .is_text = is_text,
        .name = name,
    };
    return is_text || (entry->width && gt_str_eq(name, MESSAGE_SIZE));
}

static bool keep_entry(struct gt_nsys_rep_schemas *schemas, const struct gt_nsys_rep_entry *entry) {
    struct gt_nsys_rep_entry *grown =
        gt_mem_room(schemas->entries, schemas->entry_count, &schemas->entry_capacity, sizeof *grown);
    if (!grown)
        return false;
    schemas->entries = grown;
    schemas->entries[schemas->entry_count] = *entry;
    schemas->entries[schemas->entry_count++].name = gt_arena_copy(&schemas->arena, entry->name);
    return !gt_arena_failed(&schemas->arena);
}

/* The entries of a schema that are kept; none of one that has arrays or unions, which move what follows them. false:
   memory is short. */
static bool take_entries(struct gt_nsys_rep_schemas *schemas, struct gt_str message) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    size_t first = schemas->entry_count;
    while (gt_proto_next(&fields, &field)) {
        struct gt_nsys_rep_entry entry;
        if (field.tag != GT_PROTO_BYTES(4))
            continue;
        if (gt_proto_find_value(field.bytes, GT_PROTO_VARINT(2), 0) != 0) {
            schemas->entry_count = first;
            return true;
        }
        bool has_room = schemas->entry_count - first < ENTRIES_MAX;
        if (take_entry(field.bytes, &entry) && has_room && !keep_entry(schemas, &entry))
            return false;
    }
    if (fields.is_damaged)
        schemas->entry_count = first;
    return true;
}

static uint64_t scope(uint32_t process, uint64_t domain) {
    return (uint64_t)process << 32 | domain;
}

static bool take_schema(struct gt_nsys_rep_schemas *schemas, uint32_t process, struct gt_str message) {
    struct gt_nsys_rep_schema schema = {.first_entry = schemas->entry_count};
    uint64_t domain = gt_proto_find_value(message, GT_PROTO_VARINT(9), 0);
    if (domain > UINT32_MAX)
        return true;
    if (!take_entries(schemas, message))
        return false;
    schema.entry_count = schemas->entry_count - schema.first_entry;
    if (schema.entry_count == 0)
        return true;
    struct gt_nsys_rep_schema *grown = gt_mem_room(schemas->list, schemas->count, &schemas->capacity, sizeof *grown);
    if (!grown)
        return false;
    schemas->list = grown;
    schemas->list[schemas->count] = schema;
    gt_map_put(&schemas->index_of, scope(process, domain), gt_proto_find_value(message, GT_PROTO_VARINT(1), 0),
               (uint32_t)schemas->count++);
    return !schemas->index_of.failed;
}

bool gt_nsys_rep_payload_schemas_take(struct gt_nsys_rep_schemas *schemas, struct gt_str message) {
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

void gt_nsys_rep_payload_schemas_release(struct gt_nsys_rep_schemas *schemas) {
    gt_arena_release(&schemas->arena);
    gt_map_release(&schemas->process_of);
    gt_map_release(&schemas->index_of);
    gt_mem_free(schemas->list);
    gt_mem_free(schemas->entries);
    *schemas = (struct gt_nsys_rep_schemas){0};
}

const struct gt_nsys_rep_schema *gt_nsys_rep_payload_schemas_find(const struct gt_nsys_rep_schemas *schemas,
                                                                  uint64_t global_pid, uint64_t domain,
                                                                  struct gt_str payload, struct gt_str *bytes) {
    if (schemas->count == 0 || domain > UINT32_MAX)
        return NULL;
    struct gt_str extended = gt_proto_find_bytes(payload, GT_PROTO_BYTES(9));
    *bytes = gt_proto_find_bytes(extended, GT_PROTO_BYTES(2));
    uint32_t process = gt_map_get(&schemas->process_of, 0, global_pid);
    if (process == GT_MAP_NONE)
        return NULL;
    uint32_t index =
        gt_map_get(&schemas->index_of, scope(process, domain), gt_proto_find_value(extended, GT_PROTO_VARINT(1), 0));
    return index == GT_MAP_NONE ? NULL : &schemas->list[index];
}

bool gt_nsys_rep_payload_entry_read(const struct gt_nsys_rep_entry *entry, struct gt_str bytes, uint64_t *value) {
    if (entry->offset > bytes.len || entry->width > bytes.len - entry->offset)
        return false;
    uint64_t word = 0;
    memcpy(&word, bytes.ptr + entry->offset, entry->width);
    *value = le64toh(word);
    return true;
}
