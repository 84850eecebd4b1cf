/* NVTX payloads: what a program attached to its ranges, of which the sizes of messages are kept. NCCL attaches one to
   every collective. */
#ifndef GT_DECODE_NSYS_REP_PAYLOAD_H
#define GT_DECODE_NSYS_REP_PAYLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"

/* Where in the payloads of a schema the size of the message stands. */
struct gt_nsys_rep_schema {
    uint64_t offset;
    unsigned width; /* 4 or 8 bytes */
};

/* The schemas that have such a size. Zeroed is empty. */
struct gt_nsys_rep_schemas {
    struct gt_map process_of; /* globalPid -> number */
    struct gt_map index_of;   /* (number << 32 | domain, schema) -> index in list */
    struct gt_nsys_rep_schema *list;
    size_t count, capacity;
};

/* Takes the message of the schema chunk. false: memory is short. */
bool gt_nsys_rep_schemas_take(struct gt_nsys_rep_schemas *schemas, struct gt_str message);
void gt_nsys_rep_schemas_release(struct gt_nsys_rep_schemas *schemas);

/* The size in the payload (field 8 of an NVTX event). false: there is none. */
bool gt_nsys_rep_schemas_find_bytes(const struct gt_nsys_rep_schemas *schemas, uint64_t global_pid, uint64_t domain,
                                    struct gt_str payload, uint64_t *bytes);

#endif
