/* Payloads of NCCL's ranges: entries are recognised by their names, for numbers of schemas and places of entries change
   with NCCL. Whatever schemas and payloads hold, nothing is read outside of the payload. */
#include "decode/nsys/nsys_comm.h"

#include <endian.h>

#include "base/mem.h"

/* NCCL's own words, in the order of the fields. */
static const struct gt_str field_names[GT_NSYS_COMM_FIELDS] = {
    [GT_NSYS_COMM_COMMUNICATOR] = GT_STR("NCCL communicator ID"),
    [GT_NSYS_COMM_BYTES] = GT_STR("Message size [bytes]"),
    [GT_NSYS_COMM_RANKS] = GT_STR("No. of ranks"),
    [GT_NSYS_COMM_RANK] = GT_STR("Rank"),
    [GT_NSYS_COMM_ROOT] = GT_STR("Root"),
    [GT_NSYS_COMM_PEER] = GT_STR("Peer rank"),
    [GT_NSYS_COMM_REDUCTION] = GT_STR("Reduction operation"),
};

void gt_nsys_comm_release(struct gt_nsys_comm_schemas *schemas) {
    gt_arena_release(&schemas->arena);
    gt_map_release(&schemas->layout_of);
    gt_map_release(&schemas->enum_of);
    gt_map_release(&schemas->name_of);
    gt_mem_free(schemas->layouts);
    gt_mem_free(schemas->enums);
    gt_mem_free(schemas->names);
    *schemas = (struct gt_nsys_comm_schemas){0};
}

/* ---- schemas ---- */

static size_t field_of(struct gt_str name) {
    size_t field = 0;
    while (field < GT_NSYS_COMM_FIELDS && !gt_str_eq(name, field_names[field]))
        field++;
    return field;
}

/* Made on first use; NULL: memory is short. */
static struct gt_nsys_comm_layout *layout_for(struct gt_nsys_comm_schemas *schemas, uint64_t scope, uint64_t schema) {
    uint32_t index = gt_map_get(&schemas->layout_of, scope, schema);
    if (index != GT_MAP_NONE)
        return &schemas->layouts[index];
    struct gt_nsys_comm_layout *grown =
        gt_mem_room(schemas->layouts, schemas->layout_count, &schemas->layout_capacity, sizeof *grown);
    if (!grown || schemas->layout_count >= GT_MAP_NONE - 1) {
        schemas->has_failed = true;
        return NULL;
    }
    schemas->layouts = grown;
    grown[schemas->layout_count] = (struct gt_nsys_comm_layout){0};
    gt_map_put(&schemas->layout_of, scope, schema, (uint32_t)schemas->layout_count);
    schemas->has_failed |= schemas->layout_of.failed;
    return &grown[schemas->layout_count++];
}

void gt_nsys_comm_add_entry(struct gt_nsys_comm_schemas *schemas, uint64_t scope, uint64_t schema,
                            const struct gt_nsys_comm_entry *entry) {
    size_t field = field_of(entry->name);
    bool is_field = field < GT_NSYS_COMM_FIELDS && entry->type != 0;
    if (!is_field && entry->flags == 0)
        return;
    struct gt_nsys_comm_layout *layout = layout_for(schemas, scope, schema);
    if (!layout)
        return;
    /* Arrays and unions move what follows them. */
    layout->is_unknown |= entry->flags != 0;
    if (!is_field)
        return;
    bool is_known = layout->types[field] != 0;
    layout->is_unknown |= is_known && (layout->types[field] != entry->type || layout->offsets[field] != entry->offset);
    layout->types[field] = entry->type;
    layout->offsets[field] = entry->offset;
}

/* The number of an enumeration, made on first use; GT_MAP_NONE: memory is short. */
static uint32_t enum_for(struct gt_nsys_comm_schemas *schemas, uint64_t scope, uint64_t type) {
    uint32_t index = gt_map_get(&schemas->enum_of, scope, type);
    if (index != GT_MAP_NONE)
        return index;
    struct gt_nsys_comm_enum *grown =
        gt_mem_room(schemas->enums, schemas->enum_count, &schemas->enum_capacity, sizeof *grown);
    if (!grown || schemas->enum_count >= GT_MAP_NONE - 1) {
        schemas->has_failed = true;
        return GT_MAP_NONE;
    }
    schemas->enums = grown;
    grown[schemas->enum_count] = (struct gt_nsys_comm_enum){0};
    gt_map_put(&schemas->enum_of, scope, type, (uint32_t)schemas->enum_count);
    schemas->has_failed |= schemas->enum_of.failed;
    return (uint32_t)schemas->enum_count++;
}

void gt_nsys_comm_add_enum(struct gt_nsys_comm_schemas *schemas, uint64_t scope, uint64_t type, uint64_t width) {
    uint32_t index = enum_for(schemas, scope, type);
    if (index != GT_MAP_NONE)
        schemas->enums[index].width = width;
}

void gt_nsys_comm_add_value(struct gt_nsys_comm_schemas *schemas, uint64_t scope, uint64_t type, int64_t value,
                            struct gt_str name) {
    uint32_t index = enum_for(schemas, scope, type);
    if (index == GT_MAP_NONE || gt_map_get(&schemas->name_of, index, (uint64_t)value) != GT_MAP_NONE)
        return;
    struct gt_str *grown =
        gt_mem_room(schemas->names, schemas->name_count, &schemas->name_capacity, sizeof *schemas->names);
    if (!grown || schemas->name_count >= GT_MAP_NONE - 1) {
        schemas->has_failed = true;
        return;
    }
    schemas->names = grown;
    grown[schemas->name_count] = gt_arena_copy(&schemas->arena, name);
    gt_map_put(&schemas->name_of, index, (uint64_t)value, (uint32_t)schemas->name_count++);
    schemas->has_failed |= schemas->name_of.failed || gt_arena_failed(&schemas->arena);
}

/* ---- payloads ---- */

/* Bytes of the whole numbers among the types; 0: it is none of them. */
static unsigned width_of(uint64_t type, bool *is_signed) {
    static const struct {
        uint8_t width;
        bool is_signed;
    } types[] = {
        [1] = {1, true},   [2] = {1, false},  [3] = {2, true},   [4] = {2, false},  [5] = {4, true},
        [6] = {4, false},  [7] = {8, true},   [8] = {8, false},  [9] = {8, true},   [10] = {8, false},
        [11] = {1, true},  [12] = {1, false}, [13] = {2, true},  [14] = {2, false}, [15] = {4, true},
        [16] = {4, false}, [17] = {8, true},  [18] = {8, false}, [22] = {8, false},
    };
    if (type >= sizeof types / sizeof *types)
        return 0;
    *is_signed = types[type].is_signed;
    return types[type].width;
}

bool gt_nsys_comm_number(struct gt_str payload, uint64_t offset, unsigned width, bool is_signed, int64_t *value) {
    if (offset > payload.len || width > payload.len - offset)
        return false;
    uint64_t word = 0;
    memcpy(&word, payload.ptr + offset, width);
    word = le64toh(word);
    unsigned unused = 64 - 8 * width;
    *value = is_signed ? (int64_t)(word << unused) >> unused : (int64_t)word;
    return true;
}

/* The enumeration of a type, NULL: the type is none, or one whose values have no width that numbers can have. */
static const struct gt_nsys_comm_enum *enum_of(const struct gt_nsys_comm_schemas *schemas, uint64_t scope,
                                               uint64_t type) {
    uint32_t index = gt_map_get(&schemas->enum_of, scope, type);
    if (index == GT_MAP_NONE)
        return NULL;
    uint64_t width = schemas->enums[index].width;
    return width == 1 || width == 2 || width == 4 || width == 8 ? &schemas->enums[index] : NULL;
}

static void set_field(struct gt_nsys_comm *comm, size_t field, int64_t value) {
    switch ((enum gt_nsys_comm_field)field) {
    case GT_NSYS_COMM_COMMUNICATOR:
        comm->communicator = (uint64_t)value;
        break;
    case GT_NSYS_COMM_BYTES:
        comm->bytes = (uint64_t)value;
        break;
    case GT_NSYS_COMM_RANKS:
        comm->ranks = value < 0 ? GT_NSYS_NO_ID : (uint64_t)value;
        break;
    case GT_NSYS_COMM_RANK:
        comm->rank = value;
        break;
    case GT_NSYS_COMM_ROOT:
        comm->root = value;
        break;
    case GT_NSYS_COMM_PEER:
        comm->peer = value;
        break;
    case GT_NSYS_COMM_REDUCTION:
    case GT_NSYS_COMM_FIELDS:
        break;
    }
}

/* One field of a payload. false: the payload ends before it. */
static bool read_field(const struct gt_nsys_comm_schemas *schemas, uint64_t scope,
                       const struct gt_nsys_comm_layout *layout, size_t field, struct gt_str payload,
                       struct gt_nsys_comm *comm) {
    bool is_signed = false;
    unsigned width = width_of(layout->types[field], &is_signed);
    const struct gt_nsys_comm_enum *names = width ? NULL : enum_of(schemas, scope, layout->types[field]);
    int64_t value;
    if (names)
        width = (unsigned)names->width;
    if (width == 0)
        return true; /* of a type that holds no number: not known */
    if (!gt_nsys_comm_number(payload, layout->offsets[field], width, is_signed, &value))
        return false;
    set_field(comm, field, value);
    if (field == GT_NSYS_COMM_REDUCTION && names) {
        uint32_t name = gt_map_get(&schemas->name_of, (uint64_t)(names - schemas->enums), (uint64_t)value);
        comm->reduction = name == GT_MAP_NONE ? GT_STR("") : schemas->names[name];
    }
    return true;
}

/* "Rank" and "Root" alone are words of others, too. */
static bool is_of_nccl(const struct gt_nsys_comm_layout *layout) {
    return !layout->is_unknown && (layout->types[GT_NSYS_COMM_COMMUNICATOR] || layout->types[GT_NSYS_COMM_BYTES] ||
                                   layout->types[GT_NSYS_COMM_RANKS]);
}

enum gt_nsys_comm_outcome gt_nsys_comm_read(const struct gt_nsys_comm_schemas *schemas, uint64_t scope, uint64_t schema,
                                            struct gt_str payload, struct gt_nsys_comm *comm) {
    *comm = (struct gt_nsys_comm)GT_NSYS_COMM_UNKNOWN;
    uint32_t index = gt_map_get(&schemas->layout_of, scope, schema);
    if (index == GT_MAP_NONE || !is_of_nccl(&schemas->layouts[index]))
        return GT_NSYS_COMM_NONE;
    const struct gt_nsys_comm_layout *layout = &schemas->layouts[index];
    bool is_whole = true;
    for (size_t field = 0; field < GT_NSYS_COMM_FIELDS; field++)
        if (layout->types[field])
            is_whole &= read_field(schemas, scope, layout, field, payload, comm);
    return is_whole ? GT_NSYS_COMM_READ : GT_NSYS_COMM_SHORT;
}

bool gt_nsys_comm_is_known(const struct gt_nsys_comm *comm) {
    return comm->communicator != GT_NSYS_NO_ID || comm->bytes != GT_NSYS_NO_ID || comm->ranks != GT_NSYS_NO_ID;
}
