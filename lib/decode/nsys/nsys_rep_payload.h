/* NVTX payloads: what a program attached to its ranges, of which texts and what NCCL says about its collectives are
   kept, the ranks that MPI gave to processes, and which domains have the calls of MPI. */
#ifndef GT_DECODE_NSYS_NSYS_REP_PAYLOAD_H
#define GT_DECODE_NSYS_NSYS_REP_PAYLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "decode/nsys/nsys_comm.h"
#include "decode/nsys/nsys_python.h"

/* Where in the payloads of a schema the number of a string is. */
struct gt_nsys_rep_text {
    uint64_t offset;
    struct gt_str name; /* in the schemas' arena */
};

/* The texts of a schema. */
struct gt_nsys_rep_schema {
    size_t first_text, text_count;
};

/* The schemas that have something to keep. Zeroed is empty. */
struct gt_nsys_rep_schemas {
    struct gt_arena arena;
    struct gt_map process_of; /* globalPid -> number */
    struct gt_map index_of;   /* (scope, schema) -> index in list */
    struct gt_nsys_rep_schema *list;
    struct gt_nsys_rep_text *texts;
    size_t count, capacity, text_count, text_capacity;
    size_t left_count; /* processes, schemas and values of enumerations that are still taken */
    struct gt_nsys_comm_schemas comms;
    struct gt_nsys_python_schemas python;
    struct gt_map mpi_domains;  /* scopes whose ranges are calls of MPI */
    struct gt_nsys_rank *ranks; /* of processes, as MPI gave them */
    size_t rank_count, rank_capacity;
};

/* The payload of an event. */
struct gt_nsys_rep_payload {
    uint64_t scope, schema; /* as gt_nsys_comm_read has them */
    struct gt_str bytes;
};

/* Takes the message of the schema chunk. false: memory is short. */
bool gt_nsys_rep_payload_schemas_take(struct gt_nsys_rep_schemas *schemas, struct gt_str message);
void gt_nsys_rep_payload_schemas_release(struct gt_nsys_rep_schemas *schemas);

/* Whether the ranges of a domain are calls of MPI that Nsight traced. */
bool gt_nsys_rep_payload_is_mpi(const struct gt_nsys_rep_schemas *schemas, uint64_t global_pid, uint64_t domain);

/* The payload in field 8 of an NVTX event. false: there is none of a schema. */
bool gt_nsys_rep_payload_find(const struct gt_nsys_rep_schemas *schemas, uint64_t global_pid, uint64_t domain,
                              struct gt_str message, struct gt_nsys_rep_payload *payload);
/* The texts of its schema. */
struct gt_nsys_rep_schema gt_nsys_rep_payload_texts(const struct gt_nsys_rep_schemas *schemas,
                                                    const struct gt_nsys_rep_payload *payload);
/* The number of a string; false: the payload ends before it. */
bool gt_nsys_rep_payload_text_read(const struct gt_nsys_rep_text *text, struct gt_str bytes, uint64_t *number);

#endif
