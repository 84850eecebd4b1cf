/* NVTX payloads: what a program attached to its ranges, of which the sizes of messages and texts are kept. NCCL
   attaches a size to every collective, XLA the text of what it compiled. */
#ifndef GT_DECODE_NSYS_NSYS_REP_PAYLOAD_H
#define GT_DECODE_NSYS_NSYS_REP_PAYLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"

/* Where in the payloads of a schema something is that is kept. */
struct gt_nsys_rep_entry {
    uint64_t offset;
    unsigned width;     /* 4 or 8 bytes */
    bool is_text;       /* the number of a string, else the size of a message */
    struct gt_str name; /* in the schemas' arena */
};

struct gt_nsys_rep_schema {
    size_t first_entry, entry_count;
};

/* The schemas that have such entries. Zeroed is empty. */
struct gt_nsys_rep_schemas {
    struct gt_arena arena;
    struct gt_map process_of; /* globalPid -> number */
    struct gt_map index_of;   /* (number << 32 | domain, schema) -> index in list */
    struct gt_nsys_rep_schema *list;
    struct gt_nsys_rep_entry *entries;
    size_t count, capacity, entry_count, entry_capacity;
};

/* Takes the message of the schema chunk. false: memory is short. */
bool gt_nsys_rep_payload_schemas_take(struct gt_nsys_rep_schemas *schemas, struct gt_str message);
void gt_nsys_rep_payload_schemas_release(struct gt_nsys_rep_schemas *schemas);

/* The schema of a payload (field 8 of an NVTX event) and its bytes. NULL: there is none that is kept. */
const struct gt_nsys_rep_schema *gt_nsys_rep_payload_schemas_find(const struct gt_nsys_rep_schemas *schemas,
                                                                  uint64_t global_pid, uint64_t domain,
                                                                  struct gt_str payload, struct gt_str *bytes);
/* false: the payload ends before it. */
bool gt_nsys_rep_payload_entry_read(const struct gt_nsys_rep_entry *entry, struct gt_str bytes, uint64_t *value);

#endif
