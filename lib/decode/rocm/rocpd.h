/* rocpd, the SQLite databases of rocprofv3 (schema 3 and later) and of its predecessor rocmProfileData (schema 2), and
   the parts of their decoder. Tables of schema 3 carry the id of their process as a suffix; tables with the same suffix
   are a set. */
#ifndef GT_DECODE_ROCM_ROCPD_H
#define GT_DECODE_ROCM_ROCPD_H

#include <stdatomic.h>

#include "decode/decoder.h"
#include "decode/rocm/rocm.h"
#include "decode/sqlite/sqlite_db.h"

#define GT_ROCPD_KEY "rocpd"

int gt_rocpd_sniff(struct gt_str head, const char *path);
enum gt_status gt_rocpd_decode(struct gt_source *const *sources, size_t count, const struct gt_decode_options *options,
                               struct gt_store **out, struct gt_error *err);

/* What tables are for. Those up to the last of the facts are small and read first, then those that rows refer to by the
   million, then the rows. */
enum gt_rocpd_role {
    GT_ROCPD_STRINGS,
    GT_ROCPD_CATEGORIES,
    GT_ROCPD_NODES,
    GT_ROCPD_PROCESSES,
    GT_ROCPD_THREADS,
    GT_ROCPD_AGENTS,
    GT_ROCPD_SYMBOLS,
    GT_ROCPD_TRACKS,
    GT_ROCPD_COUNTERS, /* the last of the facts */
    GT_ROCPD_EVENTS,
    GT_ROCPD_TIMESTAMPS,
    GT_ROCPD_LINKS,     /* schema 2: which call launched an op */
    GT_ROCPD_TRANSFERS, /* schema 2: what a call copied */
    GT_ROCPD_ARGS,      /* arguments by event; the last of those that rows refer to */
    GT_ROCPD_DISPATCHES,
    GT_ROCPD_COPIES,
    GT_ROCPD_OPS, /* schema 2 */
    GT_ROCPD_REGIONS,
    GT_ROCPD_CALLS, /* schema 2 */
    GT_ROCPD_SAMPLES,
    GT_ROCPD_ALLOCATIONS,
    GT_ROCPD_VALUES,
    GT_ROCPD_ROLE_COUNT
};

struct gt_rocpd_table {
    const struct gt_sqlite_table *table; /* NULL: the set has none */
    uint16_t columns[GT_SQLITE_COLUMNS_MAX];
    size_t column_count;
};

/* Which column is in which slot. */
enum { GT_ROCPD_STRING_ID, GT_ROCPD_STRING_TEXT };
enum { GT_ROCPD_NODE_ID, GT_ROCPD_NODE_HOST, GT_ROCPD_NODE_MACHINE };
enum {
    GT_ROCPD_PROCESS_ID,
    GT_ROCPD_PROCESS_NODE,
    GT_ROCPD_PROCESS_PID,
    GT_ROCPD_PROCESS_COMMAND,
    GT_ROCPD_PROCESS_ENVIRONMENT
};
enum { GT_ROCPD_THREAD_ID, GT_ROCPD_THREAD_PROCESS, GT_ROCPD_THREAD_TID, GT_ROCPD_THREAD_NAME };
enum {
    GT_ROCPD_AGENT_ID,
    GT_ROCPD_AGENT_NODE,
    GT_ROCPD_AGENT_PROCESS,
    GT_ROCPD_AGENT_TYPE,
    GT_ROCPD_AGENT_TYPE_INDEX,
    GT_ROCPD_AGENT_LOGICAL_INDEX,
    GT_ROCPD_AGENT_ABSOLUTE_INDEX,
    GT_ROCPD_AGENT_PRODUCT,
    GT_ROCPD_AGENT_MODEL,
    GT_ROCPD_AGENT_NAME,
    GT_ROCPD_AGENT_DATA
};
enum {
    GT_ROCPD_SYMBOL_ID,
    GT_ROCPD_SYMBOL_DISPLAY,
    GT_ROCPD_SYMBOL_NAME,
    GT_ROCPD_SYMBOL_LDS,
    GT_ROCPD_SYMBOL_VGPRS,
    GT_ROCPD_SYMBOL_SCRATCH
};
enum {
    GT_ROCPD_TRACK_ID,
    GT_ROCPD_TRACK_PROCESS,
    GT_ROCPD_TRACK_THREAD,
    GT_ROCPD_TRACK_AGENT,
    GT_ROCPD_TRACK_QUEUE,
    GT_ROCPD_TRACK_STREAM,
    GT_ROCPD_TRACK_NAME
};
enum { GT_ROCPD_COUNTER_ID, GT_ROCPD_COUNTER_NAME };
enum {
    GT_ROCPD_EVENT_ID,
    GT_ROCPD_EVENT_STACK,
    GT_ROCPD_EVENT_PARENT,
    GT_ROCPD_EVENT_CORRELATION,
    GT_ROCPD_EVENT_CATEGORY,
    GT_ROCPD_EVENT_DATA
};
enum { GT_ROCPD_TIMESTAMP_ID, GT_ROCPD_TIMESTAMP_VALUE };
enum { GT_ROCPD_LINK_OP, GT_ROCPD_LINK_CALL };
enum { GT_ROCPD_TRANSFER_CALL, GT_ROCPD_TRANSFER_BYTES };
enum { GT_ROCPD_ARG_EVENT, GT_ROCPD_ARG_POSITION, GT_ROCPD_ARG_TYPE, GT_ROCPD_ARG_NAME, GT_ROCPD_ARG_VALUE };
/* Rows of all tables of ops, regions and allocations begin with these. */
enum {
    GT_ROCPD_ROW_START,
    GT_ROCPD_ROW_END,
    GT_ROCPD_ROW_START_ID,
    GT_ROCPD_ROW_END_ID,
    GT_ROCPD_ROW_TRACK,
    GT_ROCPD_ROW_PROCESS,
    GT_ROCPD_ROW_THREAD,
    GT_ROCPD_ROW_EVENT,
    GT_ROCPD_ROW_STREAM,
    GT_ROCPD_ROW_QUEUE,
    GT_ROCPD_ROW_OWN
};
enum {
    GT_ROCPD_DISPATCH_AGENT = GT_ROCPD_ROW_OWN,
    GT_ROCPD_DISPATCH_KERNEL,
    GT_ROCPD_DISPATCH_GRAPH,
    GT_ROCPD_DISPATCH_LDS,
    GT_ROCPD_DISPATCH_SCRATCH,
    GT_ROCPD_DISPATCH_GRID,
    GT_ROCPD_DISPATCH_GROUP = GT_ROCPD_DISPATCH_GRID + 3,
    GT_ROCPD_DISPATCH_LAST = GT_ROCPD_DISPATCH_GROUP + 2
};
enum {
    GT_ROCPD_COPY_NAME = GT_ROCPD_ROW_OWN,
    GT_ROCPD_COPY_TO,
    GT_ROCPD_COPY_FROM,
    GT_ROCPD_COPY_GRAPH,
    GT_ROCPD_COPY_BYTES
};
enum { GT_ROCPD_REGION_NAME = GT_ROCPD_ROW_OWN };
enum {
    GT_ROCPD_ALLOCATION_AGENT = GT_ROCPD_ROW_OWN,
    GT_ROCPD_ALLOCATION_TYPE,
    GT_ROCPD_ALLOCATION_LEVEL,
    GT_ROCPD_ALLOCATION_ADDRESS,
    GT_ROCPD_ALLOCATION_BYTES
};
enum { GT_ROCPD_VALUE_EVENT, GT_ROCPD_VALUE_COUNTER, GT_ROCPD_VALUE_VALUE };
enum {
    GT_ROCPD_OP_ID,
    GT_ROCPD_OP_START,
    GT_ROCPD_OP_END,
    GT_ROCPD_OP_DEVICE,
    GT_ROCPD_OP_QUEUE,
    GT_ROCPD_OP_NAME,
    GT_ROCPD_OP_TYPE
};
enum {
    GT_ROCPD_CALL_ID,
    GT_ROCPD_CALL_START,
    GT_ROCPD_CALL_END,
    GT_ROCPD_CALL_PID,
    GT_ROCPD_CALL_TID,
    GT_ROCPD_CALL_NAME,
    GT_ROCPD_CALL_ARGS
};

/* Texts by id: small ids index a table, others are looked up. */
struct gt_rocpd_names {
    struct gt_str *texts;
    size_t count, capacity;
    uint64_t *ids;
    size_t id_capacity;
    uint32_t *dense; /* by id: place + 1; 0: none */
    size_t dense_count;
    struct gt_map sparse;
    size_t base; /* number of names of other sets before these */
};

/* What rows refer to by the million: an id, a number and what else is known, in pieces as they were read. */
struct gt_rocpd_entry {
    uint64_t value;
    uint32_t tag;     /* category + 1; 0: none */
    uint32_t message; /* place + 1 in the messages of the piece */
};
/* What an op says about its call. */
enum { GT_ROCPD_SAMPLED = 16 };
struct gt_rocpd_sample {
    uint64_t stack, parent, correlation;
};
struct gt_rocpd_piece {
    struct gt_rocpd_sample samples[GT_ROCPD_SAMPLED];
    size_t sample_count;
    uint64_t first_id, last_id;
    uint64_t *ids; /* NULL: ids count up from the first */
    struct gt_rocpd_entry *entries;
    struct gt_str *messages;
    size_t count, capacity, id_capacity, message_count, message_capacity;
    struct gt_arena arena;
    bool is_sorted, has_failed;
};
struct gt_rocpd_entries {
    struct gt_rocpd_piece *pieces; /* by ascending ids */
    size_t count;
};

/* Arguments of calls, in pieces as they were read, then all of them by event and position. */
struct gt_rocpd_arg {
    uint64_t event;
    int64_t position; /* INT64_MIN: not known */
    uint32_t piece, place;
    gt_strid name, type, value; /* in the texts of the piece */
};
struct gt_rocpd_args_piece {
    struct gt_rocpd_arg *list;
    size_t count, capacity;
    struct gt_strtab texts;
    bool has_texts, has_failed;
};
struct gt_rocpd_args {
    struct gt_rocpd_args_piece *pieces;
    size_t piece_count;
    struct gt_rocpd_arg *list; /* after sealing */
    size_t count;
    atomic_size_t wanted; /* by rows, each of which wants those of its event */
};

/* Tables of one process, or of all in schema 2. */
struct gt_rocpd_symbol {
    uint64_t lds_bytes, vgprs, scratch_bytes;
};
struct gt_rocpd_thread {
    uint32_t process;
    int64_t tid;
};
struct gt_rocpd_track {
    uint64_t process, thread, agent, queue, stream, name; /* ids */
};
/* In which column of events calls and what they launched have the same number. */
enum gt_rocpd_link {
    GT_ROCPD_BY_STACK,
    GT_ROCPD_BY_PARENT,
    GT_ROCPD_BY_CORRELATION,
    GT_ROCPD_BY_NOTHING_ELSE, /* as the first: the others were tried */
};
struct gt_rocpd_set {
    enum gt_rocpd_link link;
    struct gt_rocpd_table tables[GT_ROCPD_ROLE_COUNT];
    struct gt_rocpd_names strings, categories;
    struct gt_rocpd_names symbols;
    struct gt_rocpd_symbol *symbol_facts; /* in the order of symbols */
    size_t symbol_capacity;
    uint8_t *domains; /* of categories, or of strings where there are none: enum gt_rocm_domain */
    struct gt_map node_of, process_of, thread_of, agent_of, track_of, counter_of; /* id -> place */
    struct gt_rocpd_thread *threads;
    struct gt_rocpd_track *tracks;
    size_t thread_count, thread_capacity, track_count, track_capacity;
    uint32_t only_process; /* the process of rows that do not say; GT_ROCM_NO_PROCESS: there are several */
    struct gt_rocpd_entries entries[GT_ROCPD_ARGS]; /* by role */
    struct gt_rocpd_args args;
};

/* All of a database. */
struct gt_rocpd_schema {
    struct gt_rocpd_set *sets;
    size_t count, capacity;
    struct gt_strtab suffixes;                                                 /* number + 1 is the place of the set */
    uint64_t unreadable[GT_ROCPD_ROLE_COUNT], incomplete[GT_ROCPD_ROLE_COUNT]; /* tables */
};

/* ---- rocpd_schema.c ---- */

/* An error if the database has no table of rocpd. */
enum gt_status gt_rocpd_schema_find(struct gt_rocpd_schema *schema, const struct gt_sqlite_db *db, uint32_t facts,
                                    const char *subject, struct gt_error *err);
void gt_rocpd_schema_release(struct gt_rocpd_schema *schema);
uint32_t gt_rocpd_schema_facts(enum gt_rocpd_role role); /* that its rows are read for; 0: all */
const char *gt_rocpd_schema_role_name(enum gt_rocpd_role role);
/* How many PC samples it has, in which table whatever. */
enum gt_status gt_rocpd_schema_pc_samples(const struct gt_sqlite_db *db, uint64_t *count, struct gt_error *err);
/* Whether it is the name of a table of rocpd. */
bool gt_rocpd_is_table(struct gt_str name);

/* ---- rocpd_names.c ---- */

bool gt_rocpd_names_add(struct gt_rocpd_names *names, uint64_t id, struct gt_str text, struct gt_arena *arena);
bool gt_rocpd_names_seal(struct gt_rocpd_names *names);   /* false: memory was short */
void gt_rocpd_names_unseal(struct gt_rocpd_names *names); /* more were added since */
void gt_rocpd_names_release(struct gt_rocpd_names *names);
/* The place of an id; GT_MAP_NONE: there is none. */
static inline uint32_t gt_rocpd_names_find(const struct gt_rocpd_names *names, uint64_t id) {
    if (id < names->dense_count)
        return names->dense[id] - 1;
    return gt_map_get(&names->sparse, 0, id);
}

/* ---- rocpd_entries.c ---- */

/* Adds to a piece that one thread reads; ids may come in any order. */
void gt_rocpd_entries_add(struct gt_rocpd_piece *piece, uint64_t id, const struct gt_rocpd_entry *entry);
uint32_t gt_rocpd_entries_message(struct gt_rocpd_piece *piece, struct gt_str text); /* for struct gt_rocpd_entry */
bool gt_rocpd_entries_seal(struct gt_rocpd_entries *entries);                        /* false: memory was short */
void gt_rocpd_entries_release(struct gt_rocpd_entries *entries);
/* The entry of an id; NULL: there is none. *hint: the piece where the last one was, 0 at first. */
const struct gt_rocpd_entry *gt_rocpd_entries_find(const struct gt_rocpd_entries *entries, uint64_t id, size_t *hint);

/* ---- rocpd_facts.c ---- */

struct gt_rocpd_losses {
    uint64_t damaged[GT_ROCPD_ROLE_COUNT], missing[GT_ROCPD_ROLE_COUNT];
};
/* Reads everything but what rows refer to by the million, and rows. */
enum gt_status gt_rocpd_facts_read(struct gt_rocpd_schema *schema, struct gt_rocm_capture *capture,
                                   const struct gt_sqlite_db *db, struct gt_sqlite_reader *reader,
                                   struct gt_rocpd_losses *losses, struct gt_error *err);
/* A member of the JSON object that a column holds: its text as it is written, without the quotes. false: there is none.
 */
struct gt_json_value_text;
bool gt_rocpd_member(struct gt_str object, struct gt_str key, struct gt_json_value_text *value);

/* ---- rocpd_rows.c ---- */

/* Where the rows of a table go. */
struct gt_rocpd_rows {
    struct gt_rocm_sink *sink;
    const struct gt_rocpd_schema *schema;
    const struct gt_rocpd_set *set; /* the current one */
    struct gt_rocpd_args *args;     /* its own */
    uint64_t set_number;
    gt_strid *strings, *symbols; /* by place and base of the set: id in the builder + 1 */
    size_t hints[GT_ROCPD_ARGS];
    size_t args_hint; /* where the arguments of the next call may be */
    /* What was looked up last in this set; GT_ROCM_NONE: nothing. */
    uint64_t last_process_id;
    uint32_t last_process;
    uint64_t last_thread_id;
    struct gt_rocpd_thread last_thread;
};
/* Goes to a set. */
void gt_rocpd_rows_begin(struct gt_rocpd_rows *rows, size_t set);
/* The function that takes the rows of a table; context: struct gt_rocpd_rows. */
gt_sqlite_pages_row_fn *gt_rocpd_rows_function(enum gt_rocpd_role role);

/* ---- rocpd_refer.c: rows that others refer to; context: struct gt_rocpd_refer ---- */
struct gt_rocpd_refer {
    struct gt_rocpd_piece *piece;
    const struct gt_rocpd_set *set;
};
gt_sqlite_pages_row_fn *gt_rocpd_refer_function(enum gt_rocpd_role role);

/* ---- rocpd_args.c ---- */
bool gt_rocpd_args_begin(struct gt_rocpd_args *args, size_t pieces); /* false: memory was short */
/* Takes a row; context: struct gt_rocpd_args_piece. */
void gt_rocpd_args_take(void *context, const struct gt_sqlite_row *row);
bool gt_rocpd_args_seal(struct gt_rocpd_args *args); /* false: memory was short */
void gt_rocpd_args_release(struct gt_rocpd_args *args);
/* The arguments of an event to the row that was added last; is_call: of calls, else of ranges. */
void gt_rocpd_args_add(struct gt_rocpd_rows *rows, uint64_t event, bool is_call);
/* After all rows: takes the arguments from all of them where so many rows share events that their arguments would be a
   multiple of those in the database. How many arguments are lost by that. */
uint64_t gt_rocpd_args_check(struct gt_rocpd_set *sets, size_t set_count, struct gt_builder *builders, size_t count);

/* ---- rocpd_link.c ---- */
void gt_rocpd_link_note(struct gt_rocpd_piece *piece, uint64_t stack, uint64_t parent, uint64_t correlation);
/* Looks at the events of a set, before they are sealed. *is_other: set->link has changed, they are to be read again.
   false: memory was short. */
bool gt_rocpd_link_is_other(struct gt_rocpd_set *set, bool *is_other);

/* ---- rocpd_describe.c: what tables and columns the database has, for the current segment ---- */
enum gt_status gt_rocpd_describe(struct gt_builder *builder, const struct gt_sqlite_db *db,
                                 const struct gt_rocpd_schema *schema, struct gt_error *err);

/* ---- rocpd_old.c: rows of schema 2 ---- */
gt_sqlite_pages_row_fn *gt_rocpd_old_function(enum gt_rocpd_role role);

/* Numbers of rows, which may lack them. */
static inline uint64_t gt_rocpd_id(const struct gt_sqlite_row *row, size_t slot) {
    return (uint64_t)gt_sqlite_record_int(row, slot, (int64_t)GT_ROCM_NONE);
}
static inline int64_t gt_rocpd_time(const struct gt_sqlite_row *row, size_t slot) {
    return gt_sqlite_record_int(row, slot, GT_NO_TIME);
}
/* A string of the set in the builder; *is_known says whether there is one. */
gt_strid gt_rocpd_string(struct gt_rocpd_rows *rows, uint64_t id, bool *is_known);

#endif
