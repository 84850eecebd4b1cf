/* MODEL 1: the event store. Decoders fill builders, gt_store_seal() turns them into one const store that everything
   after decoding reads. Columns are plain arrays; rows keep the order of the file. */
#ifndef GT_EVENTS_STORE_H
#define GT_EVENTS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/map.h"
#include "base/strtab.h"
#include "gputime.h"

#define GT_NO_TRACK       UINT32_MAX
#define GT_NO_ROW         UINT32_MAX
#define GT_NO_CORRELATION UINT64_MAX
#define GT_NO_TIME        INT64_MIN
#define GT_LOST_NAME      GT_STR("?") /* of what has a name that the trace does not hold */

enum gt_op_kind { GT_OP_KERNEL, GT_OP_MEMCPY, GT_OP_MEMSET, GT_OP_GRAPH };
enum { GT_OP_IN_GRAPH = 1 }; /* flag: a node of a graph, launched by its graph launch */

enum gt_range_kind { GT_RANGE_NESTED, GT_RANGE_START_END, GT_RANGE_MARK, GT_RANGE_GPU };

enum gt_memory_kind {
    GT_MEMORY_UNKNOWN,
    GT_MEMORY_PAGEABLE,
    GT_MEMORY_PINNED,
    GT_MEMORY_DEVICE,
    GT_MEMORY_ARRAY,
    GT_MEMORY_MANAGED,
    GT_MEMORY_STATIC, /* variables of the program; copies from and to them are of device or managed memory */
};

enum gt_counter_kind { GT_COUNTER_SAMPLED, GT_COUNTER_STATE };
enum gt_sync_kind {
    GT_SYNC_UNKNOWN,
    GT_SYNC_EVENT,
    GT_SYNC_STREAM_WAIT,
    GT_SYNC_STREAM,
    GT_SYNC_CONTEXT,
    GT_SYNC_QUERY, /* whether an event has happened, without waiting for it */
};
enum gt_flow_phase { GT_FLOW_START, GT_FLOW_END };
enum gt_memory_operation { GT_MEMORY_ALLOCATE, GT_MEMORY_FREE, GT_POOL_CREATE, GT_POOL_DESTROY, GT_POOL_TRIM };
enum gt_memory_source { GT_MEMORY_OF_DRIVER, GT_MEMORY_OF_FRAMEWORK };
enum gt_group_source { GT_GROUP_OF_RECORD, GT_GROUP_OF_CONFIG };

/* Where a rank was found, best first. */
enum gt_rank_source {
    GT_RANK_UNKNOWN,
    GT_RANK_OF_TRACE,       /* the trace says it (distributedInfo) */
    GT_RANK_OF_MPI,         /* recorded MPI ranks */
    GT_RANK_OF_ENVIRONMENT, /* RANK; below: other variables of the environment */
    GT_RANK_OF_SLURM,       /* SLURM_PROCID */
    GT_RANK_OF_OPEN_MPI,    /* OMPI_COMM_WORLD_RANK */
    GT_RANK_OF_PMI,         /* PMI_RANK */
    GT_RANK_OF_NCCL,        /* the initialization of a communicator */
    GT_RANK_OF_FILE_NAME,
};
static inline bool gt_store_is_environment(enum gt_rank_source source) {
    return source >= GT_RANK_OF_ENVIRONMENT && source <= GT_RANK_OF_PMI;
}

/* What a store can know. Analyses declare what they need and what they use; a request is the union of these, and
   decoders leave out the rest. facts.def has the list. */
enum gt_fact {
#define GT_FACT(name, bit, key, title, implies) GT_FACT_##name = 1 << (bit),
#include "events/facts.def"
#undef GT_FACT
    GT_FACT_COUNT = 0
#define GT_FACT(name, bit, key, title, implies) +1
#include "events/facts.def"
#undef GT_FACT
};
#define GT_FACTS_ALL   ((UINT32_C(1) << GT_FACT_COUNT) - 1)
#define GT_FACTS_USUAL ((uint32_t)GT_FACT_MEMORY - 1) /* read unless a caller asks for others */

#define GT_TABLE(table, columns)                                                                                       \
    struct gt_##table {                                                                                                \
        size_t count, capacity;                                                                                        \
        columns                                                                                                        \
    };
#define GT_COLUMN(table, type, name, refers) type *name;
#include "events/columns.def"
#undef GT_TABLE
#undef GT_COLUMN

/* One row of each table, to add with: struct gt_ops_row ... */
#define GT_TABLE(table, columns)                                                                                       \
    struct gt_##table##_row {                                                                                          \
        columns                                                                                                        \
    };
#define GT_COLUMN(table, type, name, refers) type name;
#include "events/columns.def"
#undef GT_TABLE
#undef GT_COLUMN

enum gt_table_id {
#define GT_TABLE(table, columns) GT_TABLE_##table,
#define GT_COLUMN(table, type, name, refers)
#include "events/columns.def"
#undef GT_TABLE
#undef GT_COLUMN
    GT_TABLE_COUNT
};

enum gt_issue_id {
#define GT_ISSUE(name, id, class, help, ...) GT_ISSUE_##name,
#include "events/issues.def"
#undef GT_ISSUE
    GT_ISSUE_COUNT
};

enum gt_issue_class { GT_ISSUE_CLASS_NOTE, GT_ISSUE_CLASS_ODD, GT_ISSUE_CLASS_LOSS };

struct gt_issue_info {
    const char *id, *help;
    enum gt_issue_class issue_class;
    uint32_t facts; /* enum gt_fact: it says something to a report that reads any of these; 0: to every one */
};
extern const struct gt_issue_info gt_issue_infos[GT_ISSUE_COUNT];

#define GT_NO_OFFSET UINT64_MAX
struct gt_issue {
    uint64_t count;
    uint64_t first_offset; /* byte in the (inflated) input where it was first seen; GT_NO_OFFSET if that says nothing */
};

/* Counts may come from a file's own words: they stay below 2^63, so that sums of two cannot wrap. */
static inline void gt_store_issue_add(struct gt_issue *issue, uint64_t count) {
    const uint64_t most = INT64_MAX;
    issue->count = count > most - issue->count ? most : issue->count + count;
}

static inline void gt_store_issue_join(struct gt_issue *issue, const struct gt_issue *other) {
    gt_store_issue_add(issue, other->count);
    if (other->first_offset < issue->first_offset)
        issue->first_offset = other->first_offset;
}

/* What the trace says about itself. */
struct gt_meta {
    const char *format;       /* key of the decoder, constant */
    int64_t base_ns;          /* what to add to times for UTC epoch ns; 0 = unknown */
    int64_t rank, world_size; /* -1 = unknown */
    int64_t duration_ns;      /* length of the capture as the profiler gives it; -1 = unknown */
    gt_strid origin;      /* key of the decoder of the trace that this one was exported of; empty: it is no export */
    gt_strid producer;    /* "Nsight Systems 2025.3.1", "PyTorch profiler"; may be empty */
    gt_strid host;        /* name of the machine; may be empty */
    gt_strid hidden_host; /* of a redacted trace, instead: what tells machines apart, and is shown nowhere */
    /* What decoding looked at, 0 where it does not count: rows or records, also those that gave nothing, and bytes of
       the file that hold them. */
    uint64_t read_rows, read_bytes;
    uint32_t announced; /* enum gt_fact: what the file says it has, whether it was read or not */
};

struct gt_store {
#define GT_TABLE(table, columns) struct gt_##table table;
#define GT_COLUMN(table, type, name, refers)
#include "events/columns.def"
#undef GT_TABLE
#undef GT_COLUMN
    struct gt_strtab strings;
    struct gt_meta meta;
    /* Of the file as a whole; gt_store_issue() adds those of facts. */
    struct gt_issue issues[GT_ISSUE_COUNT];
    uint32_t facts;          /* enum gt_fact: what it has */
    uint32_t asked;          /* what was to be read; facts that are in neither may be in the file all the same */
    uint32_t possible;       /* what a file of this format can have; 0: not known */
    int64_t origin_ns;       /* start of the first op: the zero of every printed time; 0 without ops */
    uint64_t skipped_events; /* read, understood and not needed (flows, python functions, counters ...) */
    void *mapping;           /* columns of a store from the cache live in this file mapping; NULL otherwise */
    size_t mapping_bytes;
};

/* Describes the columns to code that treats all of them alike (storage, merging, cache). */
enum gt_element { GT_ELEMENT_U8, GT_ELEMENT_U16, GT_ELEMENT_U32, GT_ELEMENT_U64, GT_ELEMENT_I64, GT_ELEMENT_F64 };
enum gt_refers {
    GT_REFERS_PLAIN,
    GT_REFERS_OR_MAX,
    GT_REFERS_OR_MIN,
    GT_REFERS_OR_NEGATIVE,
    GT_REFERS_OP_FLAGS,
    GT_REFERS_OP_KIND, /* from here on: codes with words for each, gt_store_choices() */
    GT_REFERS_RANGE_KIND,
    GT_REFERS_MEMORY_KIND,
    GT_REFERS_COUNTER_KIND,
    GT_REFERS_SYNC_KIND,
    GT_REFERS_FLOW_PHASE,
    GT_REFERS_MEMORY_OPERATION,
    GT_REFERS_MEMORY_SOURCE,
    GT_REFERS_RANK_SOURCE,
    GT_REFERS_GROUP_SOURCE, /* the last of those that refer to no row */
    GT_REFERS_STRING,
    GT_REFERS_PROCESS,
    GT_REFERS_THREAD,
    GT_REFERS_DEVICE,
    GT_REFERS_LANE,
    GT_REFERS_COUNTER_TRACK,
    GT_REFERS_COMM_GROUP, /* the last of those that builders number on their own; rows of tables follow */
    GT_REFERS_OP,
    GT_REFERS_RANGE,
    GT_REFERS_CPU_OP,
    GT_REFERS_CALL,
    GT_REFERS_COUNTER,
    GT_REFERS_SAMPLE_TIME,
    GT_REFERS_SAMPLE,
};
struct gt_column_info {
    const char *table_name, *name;
    enum gt_table_id table;
    size_t elem_bytes;
    enum gt_element element;
    size_t offset; /* of the column's pointer in its table's struct */
    enum gt_refers refers;
};
extern const struct gt_column_info gt_column_infos[];
extern const size_t gt_column_count;

/* Whether values are numbers of rows or strings. */
static inline bool gt_store_column_refers(const struct gt_column_info *info) {
    return info->refers > GT_REFERS_GROUP_SOURCE;
}

/* Whether a row of the table is about a row of one of several tables: its references to the others are GT_NO_ROW. */
static inline bool gt_store_table_is_of_any(enum gt_table_id table) {
    return table == GT_TABLE_comms || table == GT_TABLE_call_args;
}

/* Which of its values mean that the trace lacks the value. */
enum gputime_null gt_store_column_null(const struct gt_column_info *info);

/* The words for codes 0, 1, ...: "kernel|memcpy|memset|graph"; NULL: the column has no codes. */
const char *gt_store_choices(enum gt_refers refers);

/* Takes the word of the next code off them. false: none is left. */
bool gt_store_choices_next(const char **choices, struct gt_str *word);

/* The table of the rows that a column refers to; GT_TABLE_COUNT: strings, or nothing. */
enum gt_table_id gt_store_table_referred(enum gt_refers refers);

/* ---- facts ---- */

const char *gt_store_fact_title(enum gt_fact fact); /* "runtime calls" ... */
const char *gt_store_fact_key(enum gt_fact fact);   /* "calls" */
enum gt_fact gt_store_fact_find(struct gt_str key); /* 0: there is none */

/* These facts and what they cannot be read without. */
uint32_t gt_store_facts_closed(uint32_t facts);

/* What reading the file met of a data problem, as far as it concerns those who read these facts. A store that was read
   for more gives the same answer. */
struct gt_issue gt_store_issue(const struct gt_store *store, enum gt_issue_id id, uint32_t facts);

/* The first kind of loss among these; GT_ISSUE_COUNT: all that was asked for was read. */
enum gt_issue_id gt_store_loss(const struct gt_store *store, uint32_t facts);

/* Whether a file of this format can have it at all. */
static inline bool gt_store_can_have(const struct gt_store *store, uint32_t fact) {
    return store->possible == 0 || (store->possible & fact);
}

size_t *gt_store_row_count(struct gt_store *store, enum gt_table_id table);
bool gt_store_table_reserve(struct gt_store *store, enum gt_table_id table, size_t rows); /* false: no memory */
/* Says that the rows that a table counts will be written soon, all of them. */
void gt_store_table_fill(struct gt_store *store, enum gt_table_id table);
enum { GT_STORE_FEW_ROWS = 512 };
void *gt_store_column_new(size_t rows, size_t elem_bytes); /* zeroed; NULL: no memory */
void gt_store_column_drop(void *column, size_t rows, size_t elem_bytes);
void gt_store_column_discard(struct gt_store *store, const struct gt_column_info *column); /* its rows become zeros */
void gt_store_column_free(struct gt_store *store, const struct gt_column_info *column);    /* its rows are lost */
void gt_store_table_move(struct gt_store *into, struct gt_store *from, enum gt_table_id table); /* into has none */
void gt_store_release(struct gt_store *store); /* what it owns, not the struct */
void gt_store_release_on(struct gt_store *store, size_t threads);
void **gt_store_column(struct gt_store *store, const struct gt_column_info *column);

struct gt_builder; /* builder.h */

/* Merges the builders in the order of their segments into one const store and releases them, also on failure.
   The result does not depend on how chunks were spread over builders. Free with gt_store_free. */
enum gt_status gt_store_seal(struct gt_builder *builders, size_t count, struct gt_store **out, struct gt_error *err);
void gt_store_free(struct gt_store *store);
void gt_store_free_on(struct gt_store *store, size_t threads); /* giving back long columns takes its time */

/* Kernels and graphs traced as a whole: what the kernel tables count. */
static inline bool gt_store_kind_is_kernel(uint8_t kind) {
    return kind == GT_OP_KERNEL || kind == GT_OP_GRAPH;
}

/* How many of so many kinds of ops are this one. */
uint64_t gt_store_count_kind(const uint8_t *kinds, size_t count, uint8_t kind);

/* Whether a range is what one thread did: it began and ended there, around what is inside. */
static inline bool gt_store_range_is_of_thread(const struct gt_ranges *ranges, size_t range) {
    return ranges->kind[range] == GT_RANGE_NESTED && ranges->end_thread[range] == GT_NO_TRACK &&
           ranges->thread[range] != GT_NO_TRACK;
}

static inline struct gt_str gt_store_string(const struct gt_store *store, gt_strid id) {
    return gt_strtab_get(&store->strings, id);
}

/* Key of the decoder whose format the events are of: of an export that of what was exported. */
static inline struct gt_str gt_store_format(const struct gt_store *store) {
    return store->meta.origin != GT_STRID_EMPTY ? gt_store_string(store, store->meta.origin)
                                                : gt_str_of(store->meta.format);
}

/* What a trace was made from that has more in it. */
enum gt_made_from { GT_MADE_FROM_NOTHING, GT_MADE_FROM_REPORT, GT_MADE_FROM_TRACE };

static inline enum gt_made_from gt_store_made_from(const struct gt_store *store) {
    struct gt_str format = gt_str_of(store->meta.format);
    return gt_str_eq(format, GT_STR("nsys-sqlite")) ? GT_MADE_FROM_REPORT
           : gt_str_eq(format, GT_STR("perfetto"))  ? GT_MADE_FROM_TRACE
                                                    : GT_MADE_FROM_NOTHING;
}

#endif
