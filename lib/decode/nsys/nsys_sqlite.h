/* The decoder of Nsight Systems' SQLite exports, and its parts: the capture's facts and the rows of its event tables.
 */
#ifndef GT_DECODE_NSYS_NSYS_SQLITE_H
#define GT_DECODE_NSYS_NSYS_SQLITE_H

#include "decode/decoder.h"
#include "decode/nsys/nsys.h"
#include "decode/nsys/nsys_comm.h"
#include "decode/nsys/nsys_python.h"
#include "decode/nsys/nsys_schema.h"
#include "decode/nsys/nsys_sqlite_metrics.h"
#include "decode/nsys/nsys_sqlite_network.h"
#include "events/builder.h"

#define GT_NSYS_SQLITE_KEY "nsys-sqlite"

int gt_nsys_sqlite_sniff(struct gt_str head, const char *path);
enum gt_status gt_nsys_sqlite_decode(struct gt_source *const *sources, size_t count,
                                     const struct gt_decode_options *options, struct gt_store **out,
                                     struct gt_error *err);

/* String ids are small and dense, except for exports of a part of a capture: ids from dense_count on are looked up. */
struct gt_nsys_facts {
    struct gt_nsys_capture capture;
    size_t dense_count;
    struct gt_map sparse;  /* (0, id) -> index in capture.strings */
    bool has_string_table; /* where there is none, ids are all that is known of names */
    struct gt_nsys_sqlite_metrics metrics;
    struct gt_nsys_sqlite_network network;
    struct gt_nsys_comm_schemas payloads;                              /* by domain */
    struct gt_nsys_python_schemas python;                              /* likewise */
    uint64_t damaged[GT_NSYS_ROLE_COUNT], missing[GT_NSYS_ROLE_COUNT]; /* pages and rows lost, by role */
};

/* Reads everything but the events. */
enum gt_status gt_nsys_sqlite_facts_read(struct gt_nsys_facts *facts, const struct gt_sqlite_db *db,
                                         const struct gt_nsys_schema *schema, struct gt_sqlite_reader *reader,
                                         struct gt_error *err);
void gt_nsys_sqlite_facts_release(struct gt_nsys_facts *facts);

/* The index in capture.strings for a string id in a row; one past all of them for an id that is unknown,
   GT_NSYS_NO_ID where there is no id. */
static inline uint64_t gt_nsys_sqlite_string_index(const struct gt_nsys_facts *facts, const struct gt_sqlite_row *row,
                                                   size_t slot) {
    if (!gt_sqlite_record_is_int(row, slot))
        return GT_NSYS_NO_ID;
    uint64_t id = (uint64_t)row->cells[slot].integer;
    if (id < facts->dense_count)
        return id;
    uint32_t index = gt_map_get(&facts->sparse, 0, id);
    return index == GT_MAP_NONE ? facts->capture.string_count : index;
}

/* Adds what tables and columns the export has to the current segment. */
enum gt_status gt_nsys_sqlite_describe(struct gt_builder *builder, const struct gt_sqlite_db *db,
                                       const struct gt_nsys_schema *schema, struct gt_error *err);

/* Where the rows of an event table go. */
struct gt_nsys_rows {
    struct gt_nsys_sink *sink;
    const struct gt_nsys_facts *facts;
    const struct gt_nsys_table *table; /* the current one */
    struct gt_nsys_activity activity;  /* room for the current row: clearing it for each would cost more than filling */
    char id_text[24];                  /* its name where only an id is known */
    uint32_t *metric_tracks;           /* by metric: its track in the builder; GT_NO_TRACK: none yet */
    struct gt_nsys_sqlite_network_tracks *network_tracks;
    size_t metric;                      /* that of the next row, if they follow each other as in other samples */
    struct gt_nsys_host_call last_call; /* of MPI, in this table; zeroed: none */
};

/* The function that takes the rows of an event table for these facts (enum gt_fact); context: struct gt_nsys_rows. */
gt_sqlite_pages_row_fn *gt_nsys_sqlite_rows_function(enum gt_nsys_role role, uint32_t facts);
/* The same for those that are read only when they are asked for; NULL for others. */
gt_sqlite_pages_row_fn *gt_nsys_sqlite_asked_function(enum gt_nsys_role role);

/* The same for many plain rows at once; NULL: they come one by one. */
const struct gt_sqlite_plain *gt_nsys_sqlite_plain(enum gt_nsys_role role, uint32_t facts,
                                                   gt_sqlite_pages_batch_fn **take);

/* Whether an event with this payload was a sample of a Python stack. */
bool gt_nsys_sqlite_take_python(const struct gt_nsys_rows *rows, const struct gt_nsys_nvtx *event,
                                struct gt_str payload);
/* What the payload of the range that was added last says about a collective. */
void gt_nsys_sqlite_take_payload(const struct gt_nsys_rows *rows, uint64_t global_tid, struct gt_str payload);

/* Numbers and times of rows, which may lack them. */
static inline int64_t gt_nsys_sqlite_time(const struct gt_sqlite_row *row, size_t slot) {
    return gt_sqlite_record_int(row, slot, GT_NO_TIME);
}
static inline uint64_t gt_nsys_sqlite_id(const struct gt_sqlite_row *row, size_t slot) {
    return (uint64_t)gt_sqlite_record_int(row, slot, (int64_t)GT_NSYS_NO_ID);
}
/* Bytes, whether the column is declared as text or not; ptr NULL if there are none. */
static inline struct gt_str gt_nsys_sqlite_bytes(const struct gt_sqlite_row *row, size_t slot) {
    bool has_bytes = row->types[slot] == GT_SQLITE_BLOB || row->types[slot] == GT_SQLITE_TEXT;
    return has_bytes ? (struct gt_str){row->cells[slot].bytes, row->lens[slot]} : (struct gt_str){NULL, 0};
}

#endif
