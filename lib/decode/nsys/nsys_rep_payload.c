/* NVTX payloads: the schemas of a report and the payload of an event come in, texts and what is known about a
   collective go out. */
#include "decode/nsys/nsys_rep_payload.h"

#include "base/mem.h"
#include "decode/proto/proto.h"

enum {
    TYPE_REGISTERED_STRING = 80,
    ENTRIES_MAX = 16, /* of a schema that are kept, so that a short payload cannot make rows without end */
    VALUES_MAX = 64,  /* of an enumeration */
};

/* What NCCL calls its entries. */
static const struct {
    struct gt_str name;
    enum gt_nsys_rep_meaning meaning;
} meanings[] = {
    {GT_STR("Message size [bytes]"), GT_NSYS_REP_BYTES},
    {GT_STR("NCCL communicator ID"), GT_NSYS_REP_COMMUNICATOR},
    {GT_STR("No. of ranks"), GT_NSYS_REP_RANKS},
    {GT_STR("Rank"), GT_NSYS_REP_RANK},
    {GT_STR("Root"), GT_NSYS_REP_ROOT},
    {GT_STR("Peer rank"), GT_NSYS_REP_PEER},
    {GT_STR("Reduction operation"), GT_NSYS_REP_REDUCTION},
};

/* Bytes of the types of entries (numbers of the public NVTX header) that are whole numbers; negative ones are signed,
   0 for others. */
static const int8_t widths[] = {0, -1, 1, -2, 2, -4, 4, -8, 8, -8, 8, -1, 1, -2, 2, -4, 4, -8, 8, 0, 0, 0, 8};

static uint64_t scope(uint32_t process, uint64_t domain) {
    return (uint64_t)process << 32 | domain;
}

/* ---- enumerations ---- */

static bool take_value(struct gt_nsys_rep_schemas *schemas, struct gt_str message) {
    struct gt_nsys_rep_value *grown =
        gt_mem_room(schemas->values, schemas->value_count, &schemas->value_capacity, sizeof *grown);
    if (!grown)
        return false;
    schemas->values = grown;
    struct gt_str name = gt_proto_find_bytes(message, GT_PROTO_BYTES(1));
    schemas->values[schemas->value_count++] = (struct gt_nsys_rep_value){
        .number = (int64_t)gt_proto_find_value(message, GT_PROTO_VARINT(2), 0),
        .name = gt_arena_copy(&schemas->arena, name.ptr ? name : GT_STR("")),
    };
    return !gt_arena_failed(&schemas->arena);
}

static bool take_enumeration(struct gt_nsys_rep_schemas *schemas, uint32_t process, struct gt_str message) {
    uint64_t domain = gt_proto_find_value(message, GT_PROTO_VARINT(1), 0);
    uint64_t width = gt_proto_find_value(message, GT_PROTO_VARINT(5), 0);
    if (domain > UINT32_MAX || (width != 1 && width != 2 && width != 4 && width != 8))
        return true;
    struct gt_nsys_rep_enumeration *grown =
        gt_mem_room(schemas->enumerations, schemas->enumeration_count, &schemas->enumeration_capacity, sizeof *grown);
    if (!grown)
        return false;
    schemas->enumerations = grown;
    struct gt_nsys_rep_enumeration *enumeration = &grown[schemas->enumeration_count];
    *enumeration = (struct gt_nsys_rep_enumeration){.first_value = schemas->value_count, .width = (unsigned)width};
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    while (schemas->value_count - enumeration->first_value < VALUES_MAX && gt_proto_next(&fields, &field))
        if (field.tag == GT_PROTO_BYTES(4) && !take_value(schemas, field.bytes))
            return false;
    enumeration->value_count = schemas->value_count - enumeration->first_value;
    gt_map_put(&schemas->enumeration_of, scope(process, domain), gt_proto_find_value(message, GT_PROTO_VARINT(2), 0),
               (uint32_t)schemas->enumeration_count++);
    return !schemas->enumeration_of.failed;
}

static struct gt_str name_of_value(const struct gt_nsys_rep_schemas *schemas, uint32_t index, int64_t number) {
    const struct gt_nsys_rep_enumeration *enumeration = &schemas->enumerations[index];
    for (size_t i = 0; i < enumeration->value_count; i++)
        if (schemas->values[enumeration->first_value + i].number == number)
            return schemas->values[enumeration->first_value + i].name;
    return (struct gt_str){"", 0};
}

/* ---- schemas ---- */

/* false: the name means nothing here. */
static bool find_meaning(struct gt_str name, uint8_t *meaning) {
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (gt_str_eq(name, meanings[i].name)) {
            *meaning = (uint8_t)meanings[i].meaning;
            return true;
        }
    return false;
}

/* Whether the entry is one to keep. A type that is none of the header's is the number of an enumeration. */
static bool take_entry(const struct gt_nsys_rep_schemas *schemas, uint64_t scope_key, struct gt_str message,
                       struct gt_nsys_rep_entry *entry) {
    uint64_t type = gt_proto_find_value(message, GT_PROTO_VARINT(1), 0);
    struct gt_str name = gt_proto_find_bytes(message, GT_PROTO_BYTES(7));
    *entry = (struct gt_nsys_rep_entry){
        .offset = gt_proto_find_value(message, GT_PROTO_VARINT(3), 0),
        .enumeration = GT_MAP_NONE,
        .name = {"", 0},
    };
    if (type == TYPE_REGISTERED_STRING) {
        entry->width = 8;
        entry->meaning = GT_NSYS_REP_TEXT;
        entry->name = name;
        /* A string at the very beginning of a payload is another one than was attached (seen with 2025.3). */
        return name.len && entry->offset != 0;
    }
    if (!find_meaning(name, &entry->meaning))
        return false;
    int width = type < sizeof widths ? widths[type] : 0;
    if (entry->meaning == GT_NSYS_REP_REDUCTION) {
        entry->enumeration = gt_map_get(&schemas->enumeration_of, scope_key, type);
        width = entry->enumeration == GT_MAP_NONE ? 0 : -(int)schemas->enumerations[entry->enumeration].width;
    }
    entry->is_signed = width < 0;
    entry->width = (uint8_t)(width < 0 ? -width : width);
    return width != 0;
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
static bool take_entries(struct gt_nsys_rep_schemas *schemas, uint64_t scope_key, struct gt_str message) {
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
        if (has_room && take_entry(schemas, scope_key, field.bytes, &entry) && !keep_entry(schemas, &entry))
            return false;
    }
    if (fields.is_damaged)
        schemas->entry_count = first;
    return true;
}

/* Names such as "Rank" say too little on their own. */
static bool is_of_collective(const struct gt_nsys_rep_schemas *schemas, const struct gt_nsys_rep_schema *schema) {
    for (size_t i = 0; i < schema->entry_count; i++) {
        uint8_t meaning = schemas->entries[schema->first_entry + i].meaning;
        if (meaning == GT_NSYS_REP_BYTES || meaning == GT_NSYS_REP_COMMUNICATOR || meaning == GT_NSYS_REP_RANKS)
            return true;
    }
    return false;
}

static bool take_schema(struct gt_nsys_rep_schemas *schemas, uint32_t process, struct gt_str message) {
    struct gt_nsys_rep_schema schema = {.first_entry = schemas->entry_count};
    uint64_t domain = gt_proto_find_value(message, GT_PROTO_VARINT(9), 0);
    if (domain > UINT32_MAX)
        return true;
    if (!take_entries(schemas, scope(process, domain), message))
        return false;
    schema.entry_count = schemas->entry_count - schema.first_entry;
    schema.is_of_collective = is_of_collective(schemas, &schema);
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

/* ---- ranks that MPI gave ---- */

/* Where the schema of MPI's teams has its two numbers. */
struct team_layout {
    uint64_t domain, schema;
    struct gt_nsys_rep_entry rank, size;
    bool is_known;
};

static void take_team_layout(struct team_layout *layout, struct gt_str message) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    if (!gt_str_eq(gt_proto_find_bytes(message, GT_PROTO_BYTES(5)), GT_STR("NsysMpiTeam")))
        return;
    *layout = (struct team_layout){.domain = gt_proto_find_value(message, GT_PROTO_VARINT(9), 0),
                                   .schema = gt_proto_find_value(message, GT_PROTO_VARINT(1), 0)};
    while (gt_proto_next(&fields, &field)) {
        if (field.tag != GT_PROTO_BYTES(4))
            continue;
        struct gt_str name = gt_proto_find_bytes(field.bytes, GT_PROTO_BYTES(7));
        uint64_t type = gt_proto_find_value(field.bytes, GT_PROTO_VARINT(1), 0);
        int width = type < sizeof widths ? widths[type] : 0;
        struct gt_nsys_rep_entry entry = {.offset = gt_proto_find_value(field.bytes, GT_PROTO_VARINT(3), 0),
                                          .width = (uint8_t)(width < 0 ? -width : width),
                                          .is_signed = width < 0};
        if (gt_proto_find_value(field.bytes, GT_PROTO_VARINT(2), 0) != 0)
            return;
        if (gt_str_eq(name, GT_STR("LocalRank")))
            layout->rank = entry;
        else if (gt_str_eq(name, GT_STR("Size")))
            layout->size = entry;
    }
    layout->is_known = layout->rank.width && layout->size.width;
}

static bool take_team(struct gt_nsys_rep_schemas *schemas, const struct team_layout *layout, uint64_t global_pid,
                      struct gt_str message) {
    struct gt_str bytes = gt_proto_find_bytes(message, GT_PROTO_BYTES(4));
    uint64_t rank, size;
    bool is_team = layout->is_known && gt_proto_find_value(message, GT_PROTO_VARINT(2), 0) == layout->domain &&
                   gt_proto_find_value(message, GT_PROTO_VARINT(3), 0) == layout->schema;
    if (!is_team || !gt_nsys_rep_payload_entry_read(&layout->rank, bytes, &rank) ||
        !gt_nsys_rep_payload_entry_read(&layout->size, bytes, &size) || rank >= size || size > INT64_MAX)
        return true;
    struct gt_nsys_rank *grown =
        gt_mem_room(schemas->ranks, schemas->rank_count, &schemas->rank_capacity, sizeof *grown);
    if (!grown)
        return false;
    schemas->ranks = grown;
    schemas->ranks[schemas->rank_count++] =
        (struct gt_nsys_rank){global_pid, (int64_t)rank, (int64_t)size, GT_RANK_OF_MPI};
    return true;
}

/* Enumerations first: entries of schemas refer to them. */
static bool take_process(struct gt_nsys_rep_schemas *schemas, uint32_t number, uint64_t global_pid,
                         struct gt_str message) {
    struct team_layout layout = {0};
    struct gt_proto_field field;
    for (struct gt_proto fields = gt_proto_of(message); gt_proto_next(&fields, &field);)
        if (field.tag == GT_PROTO_BYTES(4) && !take_enumeration(schemas, number, field.bytes))
            return false;
    for (struct gt_proto fields = gt_proto_of(message); gt_proto_next(&fields, &field);) {
        if (field.tag != GT_PROTO_BYTES(2))
            continue;
        take_team_layout(&layout, field.bytes);
        if (!take_schema(schemas, number, field.bytes))
            return false;
    }
    for (struct gt_proto fields = gt_proto_of(message); gt_proto_next(&fields, &field);)
        if (field.tag == GT_PROTO_BYTES(3) && !take_team(schemas, &layout, global_pid, field.bytes))
            return false;
    return true;
}

bool gt_nsys_rep_payload_schemas_take(struct gt_nsys_rep_schemas *schemas, struct gt_str message) {
    struct gt_proto processes = gt_proto_of(message);
    struct gt_proto_field process;
    uint32_t number = 0;
    while (gt_proto_next(&processes, &process)) {
        if (process.tag != GT_PROTO_BYTES(3))
            continue;
        uint64_t global_pid = gt_proto_find_value(process.bytes, GT_PROTO_VARINT(1), 0);
        gt_map_put(&schemas->process_of, 0, global_pid, number);
        if (!take_process(schemas, number, global_pid, process.bytes))
            return false;
        number++;
    }
    return !schemas->process_of.failed;
}

void gt_nsys_rep_payload_schemas_release(struct gt_nsys_rep_schemas *schemas) {
    gt_arena_release(&schemas->arena);
    gt_map_release(&schemas->process_of);
    gt_map_release(&schemas->index_of);
    gt_map_release(&schemas->enumeration_of);
    gt_mem_free(schemas->list);
    gt_mem_free(schemas->entries);
    gt_mem_free(schemas->enumerations);
    gt_mem_free(schemas->values);
    gt_mem_free(schemas->ranks);
    *schemas = (struct gt_nsys_rep_schemas){0};
}

/* ---- payloads ---- */

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
    word = le64toh(word);
    unsigned unused = 64 - 8u * entry->width;
    *value = entry->is_signed ? (uint64_t)((int64_t)(word << unused) >> unused) : word;
    return true;
}

/* Numbers of ranks; those above the largest signed number mean nothing. */
static int64_t rank_of(uint64_t value, bool is_signed) {
    return !is_signed && value > INT64_MAX ? INT64_MIN : (int64_t)value;
}

/* Sizes and counts; negative ones mean nothing. */
static uint64_t amount_of(uint64_t value, bool is_signed) {
    return is_signed && value > INT64_MAX ? GT_NSYS_NO_ID : value;
}

size_t gt_nsys_rep_payload_comm_read(const struct gt_nsys_rep_schemas *schemas, const struct gt_nsys_rep_schema *schema,
                                     struct gt_str bytes, struct gt_nsys_comm *comm) {
    size_t lost = 0;
    *comm = (struct gt_nsys_comm)GT_NSYS_COMM_UNKNOWN;
    for (size_t i = 0; i < schema->entry_count; i++) {
        const struct gt_nsys_rep_entry *entry = &schemas->entries[schema->first_entry + i];
        uint64_t value;
        if (entry->meaning == GT_NSYS_REP_TEXT)
            continue;
        if (!gt_nsys_rep_payload_entry_read(entry, bytes, &value)) {
            lost++;
            continue;
        }
        switch (entry->meaning) {
        case GT_NSYS_REP_BYTES:
            comm->bytes = amount_of(value, entry->is_signed);
            break;
        case GT_NSYS_REP_COMMUNICATOR:
            comm->communicator = value;
            break;
        case GT_NSYS_REP_RANKS:
            comm->ranks = amount_of(value, entry->is_signed);
            break;
        case GT_NSYS_REP_RANK:
            comm->rank = rank_of(value, entry->is_signed);
            break;
        case GT_NSYS_REP_ROOT:
            comm->root = rank_of(value, entry->is_signed);
            break;
        case GT_NSYS_REP_PEER:
            comm->peer = rank_of(value, entry->is_signed);
            break;
        default:
            comm->reduction = name_of_value(schemas, entry->enumeration, (int64_t)value);
        }
    }
    return lost;
}
