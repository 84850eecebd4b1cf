/* What NCCL attaches to its ranges: schemas of payloads, by the names of their entries, and payloads come in, what is
   known about a collective goes out. Both readers use it, each with the schemas as its file has them. */
#ifndef GT_DECODE_NSYS_NSYS_COMM_H
#define GT_DECODE_NSYS_NSYS_COMM_H

#include "base/arena.h"
#include "base/map.h"
#include "decode/nsys/nsys.h"

enum gt_nsys_comm_field {
    GT_NSYS_COMM_COMMUNICATOR,
    GT_NSYS_COMM_BYTES,
    GT_NSYS_COMM_RANKS,
    GT_NSYS_COMM_RANK,
    GT_NSYS_COMM_ROOT,
    GT_NSYS_COMM_PEER,
    GT_NSYS_COMM_REDUCTION,
    GT_NSYS_COMM_FIELDS
};

/* Where in the payloads of a schema its fields are. */
struct gt_nsys_comm_layout {
    uint64_t types[GT_NSYS_COMM_FIELDS]; /* 0: it has no such field */
    uint64_t offsets[GT_NSYS_COMM_FIELDS];
    bool is_unknown; /* it has parts of varying size, or several schemas have its number */
};

/* An enumeration: how many bytes its values take. */
struct gt_nsys_comm_enum {
    uint64_t width;
};

/* The schemas that have such fields, and all enumerations. Zeroed is empty. A scope is whatever keeps equal numbers of
   schemas apart in a file: its domain, and its process where that is known. */
struct gt_nsys_comm_schemas {
    struct gt_arena arena;
    struct gt_map layout_of; /* (scope, schema) -> layout */
    struct gt_map enum_of;   /* (scope, number of the type) -> enumeration */
    struct gt_map name_of;   /* (enumeration, value) -> name */
    struct gt_nsys_comm_layout *layouts;
    struct gt_nsys_comm_enum *enums;
    struct gt_str *names;
    size_t layout_count, layout_capacity, enum_count, enum_capacity, name_count, name_capacity;
    bool has_failed; /* memory was short */
};

/* An entry of a schema. Numbers of types are those of the public NVTX header, larger ones enumerations. */
struct gt_nsys_comm_entry {
    struct gt_str name;
    uint64_t type, offset, flags;
};

void gt_nsys_comm_release(struct gt_nsys_comm_schemas *schemas);

/* In any order; the same entry may come several times. */
void gt_nsys_comm_add_entry(struct gt_nsys_comm_schemas *schemas, uint64_t scope, uint64_t schema,
                            const struct gt_nsys_comm_entry *entry);
void gt_nsys_comm_add_enum(struct gt_nsys_comm_schemas *schemas, uint64_t scope, uint64_t type, uint64_t width);
void gt_nsys_comm_add_value(struct gt_nsys_comm_schemas *schemas, uint64_t scope, uint64_t type, int64_t value,
                            struct gt_str name);

enum gt_nsys_comm_outcome {
    GT_NSYS_COMM_NONE,  /* the schema is none of NCCL's */
    GT_NSYS_COMM_READ,  /* all fields */
    GT_NSYS_COMM_SHORT, /* the payload ends before some of its fields, which are unknown; perhaps all of them */
};
enum gt_nsys_comm_outcome gt_nsys_comm_read(const struct gt_nsys_comm_schemas *schemas, uint64_t scope, uint64_t schema,
                                            struct gt_str payload, struct gt_nsys_comm *comm);

/* Whether a record says anything that is worth a row. */
bool gt_nsys_comm_is_known(const struct gt_nsys_comm *comm);

/* A little-endian number of 1, 2, 4 or 8 bytes. false: the payload ends before it. */
bool gt_nsys_comm_number(struct gt_str payload, uint64_t offset, unsigned width, bool is_signed, int64_t *value);

#endif
