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
};

/* What a store can know. Analyses declare what they need; what is missing is reported from this list, once. */
enum gt_fact {
    GT_FACT_OPS = 1 << 0,         /* GPU ops with start and end */
    GT_FACT_CALLS = 1 << 1,       /* runtime and driver calls */
    GT_FACT_CORRELATION = 1 << 2, /* ops and calls carry correlation ids */
    GT_FACT_RANGES = 1 << 3,      /* NVTX ranges or user annotations on CPU threads */
    GT_FACT_CPU_OPS = 1 << 4,     /* framework operators */
    GT_FACT_GROUPS = 1 << 5,      /* pre-summed rows */
    GT_FACT_BYTES = 1 << 6,       /* sizes of copies */
    GT_FACT_PROJECTIONS = 1 << 7, /* ranges as the profiler projected them on the GPU, or their sums */
};
const char *gt_store_fact_title(enum gt_fact fact); /* "runtime calls" ... */

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
#define GT_ISSUE(name, id, class, help) GT_ISSUE_##name,
#include "events/issues.def"
#undef GT_ISSUE
    GT_ISSUE_COUNT
};

enum gt_issue_class { GT_ISSUE_CLASS_NOTE, GT_ISSUE_CLASS_ODD, GT_ISSUE_CLASS_LOSS };

struct gt_issue_info {
    const char *id, *help;
    enum gt_issue_class issue_class;
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

/* What the trace says about itself. */
struct gt_meta {
    const char *format;       /* key of the decoder, constant */
    int64_t base_ns;          /* what to add to times for UTC epoch ns; 0 = unknown */
    int64_t rank, world_size; /* -1 = unknown */
    int64_t duration_ns;      /* length of the capture as the profiler gives it; -1 = unknown */
    gt_strid producer;        /* "Nsight Systems 2025.3.1", "PyTorch profiler"; may be empty */
};

struct gt_store {
#define GT_TABLE(table, columns) struct gt_##table table;
#define GT_COLUMN(table, type, name, refers)
#include "events/columns.def"
#undef GT_TABLE
#undef GT_COLUMN
    struct gt_strtab strings;
    struct gt_meta meta;
    struct gt_issue issues[GT_ISSUE_COUNT];
    uint32_t facts;          /* enum gt_fact */
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
    GT_REFERS_OP_KIND,
    GT_REFERS_OP_FLAGS,
    GT_REFERS_RANGE_KIND,
    GT_REFERS_MEMORY_KIND, /* the last of those that refer to no row */
    GT_REFERS_STRING,
    GT_REFERS_PROCESS,
    GT_REFERS_THREAD,
    GT_REFERS_DEVICE,
    GT_REFERS_LANE,
    GT_REFERS_OP,
    GT_REFERS_RANGE
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
    return info->refers > GT_REFERS_MEMORY_KIND;
}

/* The first kind of loss that reading the file met; GT_ISSUE_COUNT: it was read whole. */
enum gt_issue_id gt_store_loss(const struct gt_store *store);

size_t *gt_store_row_count(struct gt_store *store, enum gt_table_id table);
bool gt_store_table_reserve(struct gt_store *store, enum gt_table_id table, size_t rows);       /* false: no memory */
void gt_store_column_free(struct gt_store *store, const struct gt_column_info *column);         /* its rows are lost */
void gt_store_table_move(struct gt_store *into, struct gt_store *from, enum gt_table_id table); /* into has none */
void gt_store_release(struct gt_store *store); /* what it owns, not the struct */
void **gt_store_column(struct gt_store *store, const struct gt_column_info *column);

struct gt_builder; /* builder.h */

/* Merges the builders in the order of their segments into one const store and releases them, also on failure.
   The result does not depend on how chunks were spread over builders. Free with gt_store_free. */
enum gt_status gt_store_seal(struct gt_builder *builders, size_t count, struct gt_store **out, struct gt_error *err);
void gt_store_free(struct gt_store *store);

/* Kernels and graphs traced as a whole: what the kernel tables count. */
static inline bool gt_store_kind_is_kernel(uint8_t kind) {
    return kind == GT_OP_KERNEL || kind == GT_OP_GRAPH;
}

static inline struct gt_str gt_store_string(const struct gt_store *store, gt_strid id) {
    return gt_strtab_get(&store->strings, id);
}

#endif
