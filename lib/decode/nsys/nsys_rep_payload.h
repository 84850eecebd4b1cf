/* NVTX payloads: what a program attached to its ranges, of which texts and what NCCL says about its collectives are
   kept. Entries are found by their names; their places change with NCCL. */
#ifndef GT_DECODE_NSYS_NSYS_REP_PAYLOAD_H
#define GT_DECODE_NSYS_NSYS_REP_PAYLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "decode/nsys/nsys.h"

/* What an entry means. */
enum gt_nsys_rep_meaning {
    GT_NSYS_REP_TEXT, /* the number of a string, of any name */
    GT_NSYS_REP_BYTES,
    GT_NSYS_REP_COMMUNICATOR,
    GT_NSYS_REP_RANKS,
    GT_NSYS_REP_RANK,
    GT_NSYS_REP_ROOT,
    GT_NSYS_REP_PEER,
    GT_NSYS_REP_REDUCTION,
};

/* Where in the payloads of a schema something is that is kept. */
struct gt_nsys_rep_entry {
    uint64_t offset;
    uint8_t width; /* 1, 2, 4 or 8 bytes */
    bool is_signed;
    uint8_t meaning;
    uint32_t enumeration; /* that has names for its values; GT_MAP_NONE: none has */
    struct gt_str name;   /* of a text; in the schemas' arena */
};

struct gt_nsys_rep_schema {
    size_t first_entry, entry_count;
    bool is_of_collective; /* its payloads describe a collective, or a communicator */
};

/* Names for the values of an entry. */
struct gt_nsys_rep_enumeration {
    size_t first_value, value_count;
    unsigned width;
};
struct gt_nsys_rep_value {
    int64_t number;
    struct gt_str name;
};

/* The schemas that have such entries. Zeroed is empty. */
struct gt_nsys_rep_schemas {
    struct gt_arena arena;
    struct gt_map process_of;     /* globalPid -> number */
    struct gt_map index_of;       /* (number << 32 | domain, schema) -> index in list */
    struct gt_map enumeration_of; /* the same for enumerations */
    struct gt_nsys_rep_schema *list;
    struct gt_nsys_rep_entry *entries;
    struct gt_nsys_rep_enumeration *enumerations;
    struct gt_nsys_rep_value *values;
    struct gt_nsys_rank *ranks; /* of processes, as MPI gave them */
    size_t count, capacity, entry_count, entry_capacity, enumeration_count, enumeration_capacity, value_count,
        value_capacity, rank_count, rank_capacity;
};

/* Takes the message of the schema chunk. false: memory is short. */
bool gt_nsys_rep_payload_schemas_take(struct gt_nsys_rep_schemas *schemas, struct gt_str message);
void gt_nsys_rep_payload_schemas_release(struct gt_nsys_rep_schemas *schemas);

/* The schema of a payload (field 8 of an NVTX event) and its bytes. NULL: there is none that is kept. */
const struct gt_nsys_rep_schema *gt_nsys_rep_payload_schemas_find(const struct gt_nsys_rep_schemas *schemas,
                                                                  uint64_t global_pid, uint64_t domain,
                                                                  struct gt_str payload, struct gt_str *bytes);
/* The value, with its sign where it has one. false: the payload ends before it. */
bool gt_nsys_rep_payload_entry_read(const struct gt_nsys_rep_entry *entry, struct gt_str bytes, uint64_t *value);

/* What a payload says about a collective. Returns how many entries lie past the end of the payload. */
size_t gt_nsys_rep_payload_comm_read(const struct gt_nsys_rep_schemas *schemas, const struct gt_nsys_rep_schema *schema,
                                     struct gt_str bytes, struct gt_nsys_comm *comm);

#endif
