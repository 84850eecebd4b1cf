/* NVTX payloads: the schemas of a report and the payload of an event come in, texts and what is known about a
   collective go out. */
#include "decode/nsys/nsys_rep_payload.h"

#include "base/mem.h"
#include "decode/proto/proto.h"

enum {
    TYPE_REGISTERED_STRING = 80,
    TEXTS_MAX = 16,     /* of a schema that are kept, so that a short payload cannot make rows without end */
    TAKEN_MAX = 1 << 16 /* processes, schemas and values of enumerations in all; reports have a few hundred */
};

static uint64_t scope_of(uint32_t process, uint64_t domain) {
    return (uint64_t)process << 32 | domain;
}

/* false: enough were taken. */
static bool take_one(struct gt_nsys_rep_schemas *schemas) {
    if (schemas->left_count == 0)
        return false;
    schemas->left_count--;
    return true;
}

/* ---- enumerations ---- */

static void take_enumeration(struct gt_nsys_rep_schemas *schemas, uint32_t process, struct gt_str message) {
    uint64_t domain = gt_proto_find_value(message, GT_PROTO_VARINT(1), 0), scope = scope_of(process, domain);
    uint64_t number = gt_proto_find_value(message, GT_PROTO_VARINT(2), 0);
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    if (domain > UINT32_MAX || !take_one(schemas))
        return;
    gt_nsys_comm_add_enum(&schemas->comms, scope, number, gt_proto_find_value(message, GT_PROTO_VARINT(5), 0));
    while (gt_proto_next(&fields, &field)) {
        struct gt_str name = gt_proto_find_bytes(field.bytes, GT_PROTO_BYTES(1));
        if (field.tag == GT_PROTO_BYTES(4) && name.ptr && take_one(schemas))
            gt_nsys_comm_add_value(&schemas->comms, scope, number,
                                   (int64_t)gt_proto_find_value(field.bytes, GT_PROTO_VARINT(2), 0), name);
    }
}

/* ---- schemas ---- */

/* Only Nsight's own domain for MPI describes communicators so, whatever programs call theirs. */
static bool is_of_mpi_team(struct gt_str message) {
    return gt_str_eq(gt_proto_find_bytes(message, GT_PROTO_BYTES(5)), GT_STR("NsysMpiTeam"));
}

static struct gt_nsys_comm_entry read_entry(struct gt_str message) {
    struct gt_str name = gt_proto_find_bytes(message, GT_PROTO_BYTES(7));
    return (struct gt_nsys_comm_entry){
        .name = name.ptr ? name : GT_STR(""),
        .type = gt_proto_find_value(message, GT_PROTO_VARINT(1), 0),
        .offset = gt_proto_find_value(message, GT_PROTO_VARINT(3), 0),
        .flags = gt_proto_find_value(message, GT_PROTO_VARINT(2), 0),
    };
}

/* Arrays and unions move what follows them: nothing of such a schema is kept, nor of a damaged one. */
static bool has_fixed_places(struct gt_str message) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field))
        if (field.tag == GT_PROTO_BYTES(4) && gt_proto_find_value(field.bytes, GT_PROTO_VARINT(2), 0) != 0)
            return false;
    return !fields.is_damaged;
}

static bool keep_text(struct gt_nsys_rep_schemas *schemas, const struct gt_nsys_comm_entry *entry) {
    struct gt_nsys_rep_text *grown =
        gt_mem_room(schemas->texts, schemas->text_count, &schemas->text_capacity, sizeof *grown);
    if (!grown)
        return false;
    schemas->texts = grown;
    schemas->texts[schemas->text_count++] =
        (struct gt_nsys_rep_text){entry->offset, gt_arena_copy(&schemas->arena, entry->name)};
    return !gt_arena_failed(&schemas->arena);
}

static bool take_entries(struct gt_nsys_rep_schemas *schemas, uint64_t scope, uint64_t number, struct gt_str message) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    size_t first = schemas->text_count;
    while (gt_proto_next(&fields, &field)) {
        if (field.tag != GT_PROTO_BYTES(4))
            continue;
        struct gt_nsys_comm_entry entry = read_entry(field.bytes);
        /* A string at the very beginning of a payload is another one than was attached (seen with 2025.3). */
        bool is_text = entry.type == TYPE_REGISTERED_STRING && entry.name.len && entry.offset != 0;
        if (is_text && schemas->text_count - first < TEXTS_MAX && !keep_text(schemas, &entry))
            return false;
        if (entry.type != TYPE_REGISTERED_STRING)
            gt_nsys_comm_add_entry(&schemas->comms, scope, number, &entry);
    }
    return true;
}

static void take_python(struct gt_nsys_rep_schemas *schemas, uint64_t scope, uint64_t number, struct gt_str message) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field)) {
        struct gt_nsys_comm_entry entry = read_entry(field.bytes);
        if (field.tag == GT_PROTO_BYTES(4))
            gt_nsys_python_add_entry(&schemas->python, scope, number, &entry);
    }
}

static bool take_schema(struct gt_nsys_rep_schemas *schemas, uint32_t process, struct gt_str message) {
    struct gt_nsys_rep_schema schema = {.first_text = schemas->text_count};
    uint64_t domain = gt_proto_find_value(message, GT_PROTO_VARINT(9), 0), scope = scope_of(process, domain);
    uint64_t number = gt_proto_find_value(message, GT_PROTO_VARINT(1), 0);
    if (domain > UINT32_MAX || !take_one(schemas))
        return true;
    if (is_of_mpi_team(message))
        gt_map_put(&schemas->mpi_domains, 0, scope, 1);
    take_python(schemas, scope, number, message);
    if (!has_fixed_places(message))
        return true;
    if (!take_entries(schemas, scope, number, message))
        return false;
    schema.text_count = schemas->text_count - schema.first_text;
    if (schema.text_count == 0)
        return true;
    struct gt_nsys_rep_schema *grown = gt_mem_room(schemas->list, schemas->count, &schemas->capacity, sizeof *grown);
    if (!grown)
        return false;
    schemas->list = grown;
    schemas->list[schemas->count] = schema;
    gt_map_put(&schemas->index_of, scope, number, (uint32_t)schemas->count++);
    return !schemas->index_of.failed;
}

/* ---- ranks that MPI gave ---- */

/* Where the schema of MPI's teams has its two numbers. */
struct team_layout {
    uint64_t domain, schema, rank_offset, size_offset;
    bool has_rank, has_size;
};

static void take_team_layout(struct team_layout *layout, struct gt_str message) {
    enum { TYPE_INT = 5, TYPE_INT32 = 15, TYPE_UINT32 = 16 };
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    if (!is_of_mpi_team(message) || !has_fixed_places(message))
        return;
    *layout = (struct team_layout){.domain = gt_proto_find_value(message, GT_PROTO_VARINT(9), 0),
                                   .schema = gt_proto_find_value(message, GT_PROTO_VARINT(1), 0)};
    while (gt_proto_next(&fields, &field)) {
        if (field.tag != GT_PROTO_BYTES(4))
            continue;
        struct gt_nsys_comm_entry entry = read_entry(field.bytes);
        if (entry.type != TYPE_INT && entry.type != TYPE_INT32 && entry.type != TYPE_UINT32)
            continue;
        if (gt_str_eq(entry.name, GT_STR("LocalRank"))) {
            layout->rank_offset = entry.offset;
            layout->has_rank = true;
        } else if (gt_str_eq(entry.name, GT_STR("Size"))) {
            layout->size_offset = entry.offset;
            layout->has_size = true;
        }
    }
}

static bool take_team(struct gt_nsys_rep_schemas *schemas, const struct team_layout *layout, uint64_t global_pid,
                      struct gt_str message) {
    struct gt_str bytes = gt_proto_find_bytes(message, GT_PROTO_BYTES(4));
    int64_t rank, size;
    bool is_team = layout->has_rank && layout->has_size &&
                   gt_proto_find_value(message, GT_PROTO_VARINT(2), 0) == layout->domain &&
                   gt_proto_find_value(message, GT_PROTO_VARINT(3), 0) == layout->schema;
    if (!is_team || !gt_nsys_comm_number(bytes, layout->rank_offset, 4, false, &rank) ||
        !gt_nsys_comm_number(bytes, layout->size_offset, 4, false, &size) || size > INT32_MAX || rank >= size ||
        !take_one(schemas))
        return true;
    struct gt_nsys_rank *grown =
        gt_mem_room(schemas->ranks, schemas->rank_count, &schemas->rank_capacity, sizeof *grown);
    if (!grown)
        return false;
    schemas->ranks = grown;
    schemas->ranks[schemas->rank_count++] = (struct gt_nsys_rank){global_pid, rank, size, GT_RANK_OF_MPI};
    return true;
}

static bool take_process(struct gt_nsys_rep_schemas *schemas, uint32_t number, uint64_t global_pid,
                         struct gt_str message) {
    struct team_layout layout = {0};
    struct gt_proto_field field;
    for (struct gt_proto fields = gt_proto_of(message); gt_proto_next(&fields, &field);) {
        if (field.tag == GT_PROTO_BYTES(4)) {
            take_enumeration(schemas, number, field.bytes);
        } else if (field.tag == GT_PROTO_BYTES(2)) {
            take_team_layout(&layout, field.bytes);
            if (!take_schema(schemas, number, field.bytes))
                return false;
        }
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
    schemas->left_count = TAKEN_MAX;
    while (gt_proto_next(&processes, &process)) {
        if (process.tag != GT_PROTO_BYTES(3) || !take_one(schemas))
            continue;
        uint64_t global_pid = gt_proto_find_value(process.bytes, GT_PROTO_VARINT(1), 0);
        gt_map_put(&schemas->process_of, 0, global_pid, number);
        if (!take_process(schemas, number, global_pid, process.bytes))
            return false;
        number++;
    }
    return !schemas->process_of.failed && !schemas->mpi_domains.failed && !schemas->comms.has_failed &&
           !schemas->python.has_failed;
}

void gt_nsys_rep_payload_schemas_release(struct gt_nsys_rep_schemas *schemas) {
    gt_arena_release(&schemas->arena);
    gt_map_release(&schemas->process_of);
    gt_map_release(&schemas->index_of);
    gt_map_release(&schemas->mpi_domains);
    gt_nsys_comm_release(&schemas->comms);
    gt_nsys_python_release(&schemas->python);
    gt_mem_free(schemas->list);
    gt_mem_free(schemas->texts);
    gt_mem_free(schemas->ranks);
    *schemas = (struct gt_nsys_rep_schemas){0};
}

/* ---- payloads ---- */

bool gt_nsys_rep_payload_is_mpi(const struct gt_nsys_rep_schemas *schemas, uint64_t global_pid, uint64_t domain) {
    if (schemas->mpi_domains.count == 0 || domain > UINT32_MAX)
        return false;
    uint32_t process = gt_map_get(&schemas->process_of, 0, global_pid);
    return process != GT_MAP_NONE && gt_map_get(&schemas->mpi_domains, 0, scope_of(process, domain)) != GT_MAP_NONE;
}

bool gt_nsys_rep_payload_find(const struct gt_nsys_rep_schemas *schemas, uint64_t global_pid, uint64_t domain,
                              struct gt_str message, struct gt_nsys_rep_payload *payload) {
    uint32_t process = gt_map_get(&schemas->process_of, 0, global_pid);
    if (process == GT_MAP_NONE || domain > UINT32_MAX)
        return false;
    struct gt_str extended = gt_proto_find_bytes(message, GT_PROTO_BYTES(9));
    *payload = (struct gt_nsys_rep_payload){
        .scope = scope_of(process, domain),
        .schema = gt_proto_find_value(extended, GT_PROTO_VARINT(1), 0),
        .bytes = gt_proto_find_bytes(extended, GT_PROTO_BYTES(2)),
    };
    return payload->bytes.ptr != NULL;
}

struct gt_nsys_rep_schema gt_nsys_rep_payload_texts(const struct gt_nsys_rep_schemas *schemas,
                                                    const struct gt_nsys_rep_payload *payload) {
    uint32_t index = gt_map_get(&schemas->index_of, payload->scope, payload->schema);
    return index == GT_MAP_NONE ? (struct gt_nsys_rep_schema){0, 0} : schemas->list[index];
}

bool gt_nsys_rep_payload_text_read(const struct gt_nsys_rep_text *text, struct gt_str bytes, uint64_t *number) {
    int64_t value;
    if (!gt_nsys_comm_number(bytes, text->offset, sizeof value, false, &value))
        return false;
    *number = (uint64_t)value;
    return true;
}
