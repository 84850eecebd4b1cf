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

/* What a store can know. Analyses declare what they need; what is missing is told from this list, once. */
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
static inline bool gt_column_refers(const struct gt_column_info *info) {
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

/* ---- building ---- */

/* Rows between two marks: a chunk of the file. Chunks are merged in `order`; a dropped one gives no rows and no issues.
 */
struct gt_segment {
    uint64_t order;
    bool dropped;   /* its rows and issues do not count */
    bool forgotten; /* nor do its strings and tracks */
    size_t begin[GT_TABLE_COUNT], end[GT_TABLE_COUNT];
    size_t string_begin, string_end;
    uint64_t skipped_events;
    struct gt_issue issues[GT_ISSUE_COUNT];
};

/* One builder belongs to one thread. Failure sticks and is reported by gt_store_seal. */
struct gt_builder {
    struct gt_store store; /* under construction */
    struct gt_map process_ids, thread_ids, device_ids, lane_ids;
    struct gt_segment *segments;
    size_t segment_count, segment_capacity;
    bool has_twins; /* processes that were told apart turned out to be one: sealing joins them */
    bool failed;
};

enum gt_status gt_builder_init(struct gt_builder *builder, const char *format, struct gt_error *err);
void gt_builder_release(struct gt_builder *builder);

/* Starts a chunk; what was added before it belongs to the chunk before. Must be called before the first row.
   Returns the segment's number, for gt_builder_drop. */
size_t gt_builder_begin(struct gt_builder *builder, uint64_t order);
void gt_builder_end(struct gt_builder *builder); /* ends the current chunk; sealing does it too */
void gt_builder_drop(struct gt_builder *builder, size_t segment);

/* Drops a segment and all behind it, with the strings and tracks that they brought: as if they had never been read. */
void gt_builder_forget(struct gt_builder *builder, size_t first_segment);

static inline gt_strid gt_builder_string(struct gt_builder *builder, struct gt_str text) {
    return gt_strtab_intern(&builder->store.strings, text);
}

/* Track ids, made on first use. Text alone (label) names a process or thread when the number is -1; a label beside a
   number keeps processes of several machines apart. */
uint32_t gt_builder_process(struct gt_builder *builder, int64_t pid, struct gt_str label);
uint32_t gt_builder_thread(struct gt_builder *builder, uint32_t process, int64_t tid, struct gt_str label);
uint32_t gt_builder_device(struct gt_builder *builder, int64_t id);
uint32_t gt_builder_lane(struct gt_builder *builder, uint32_t process, int64_t device, int64_t stream);

/* Names of tracks; the first one given stays. */
void gt_builder_name_process(struct gt_builder *builder, uint32_t process, struct gt_str name);
void gt_builder_name_thread(struct gt_builder *builder, uint32_t thread, struct gt_str name);
void gt_builder_name_device(struct gt_builder *builder, uint32_t device, struct gt_str name);

/* Rows. Ops with end < start are counted and left out (false); CPU-side rows with end < start are counted and get
   zero length. */
bool gt_builder_op(struct gt_builder *builder, const struct gt_ops_row *row);
void gt_builder_call(struct gt_builder *builder, const struct gt_calls_row *row);
void gt_builder_range(struct gt_builder *builder, const struct gt_ranges_row *row);
void gt_builder_cpu_op(struct gt_builder *builder, const struct gt_cpu_ops_row *row);
void gt_builder_overhead(struct gt_builder *builder, const struct gt_overheads_row *row);
void gt_builder_driver_work(struct gt_builder *builder, const struct gt_driver_work_row *row);

/* What is known beyond the row of the op or range that was added last: row->op and row->range are set by these. */
void gt_builder_copy(struct gt_builder *builder, const struct gt_copies_row *row);
void gt_builder_graph_op(struct gt_builder *builder, const struct gt_graph_ops_row *row);
void gt_builder_range_category(struct gt_builder *builder, const struct gt_range_categories_row *row);
void gt_builder_range_text(struct gt_builder *builder, const struct gt_range_texts_row *row);
void gt_builder_payload(struct gt_builder *builder, const struct gt_payloads_row *row);

void gt_builder_source_column(struct gt_builder *builder, const struct gt_source_columns_row *row);
void gt_builder_group(struct gt_builder *builder, const struct gt_groups_row *row);
void gt_builder_projection(struct gt_builder *builder, const struct gt_projections_row *row);
void gt_builder_projection_group(struct gt_builder *builder, const struct gt_projection_groups_row *row);

void gt_builder_issue(struct gt_builder *builder, enum gt_issue_id issue, uint64_t count, uint64_t offset);
static inline void gt_builder_skip(struct gt_builder *builder) {
    if (builder->segment_count) /* none only after memory ran out */
        builder->segments[builder->segment_count - 1].skipped_events++;
}

/* Merges the builders in the order of their segments into one const store and releases them, also on failure.
   The result does not depend on how chunks were spread over builders. Free with gt_store_free. */
enum gt_status gt_store_seal(struct gt_builder *builders, size_t count, struct gt_store **out, struct gt_error *err);
void gt_store_free(struct gt_store *store);

static inline struct gt_str gt_store_string(const struct gt_store *store, gt_strid id) {
    return gt_strtab_get(&store->strings, id);
}

#endif
