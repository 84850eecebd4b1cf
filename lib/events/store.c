/* The event store's storage: the tables of columns.def as growing columns, and their release. */
#include "events/store.h"

#include <string.h>

#include "base/huge.h"
#include "base/mem.h"
#include "base/threads.h"

const struct gt_issue_info gt_issue_infos[GT_ISSUE_COUNT] = {
#define GT_ISSUE(name, id, class, help, ...) [GT_ISSUE_##name] = {id, help, GT_ISSUE_CLASS_##class, __VA_ARGS__ + 0},
#include "events/issues.def"
#undef GT_ISSUE
};

#define ELEMENT(type)                                                                                                  \
    _Generic((type)0, uint8_t                                                                                          \
             : GT_ELEMENT_U8, uint16_t                                                                                 \
             : GT_ELEMENT_U16, uint32_t                                                                                \
             : GT_ELEMENT_U32, uint64_t                                                                                \
             : GT_ELEMENT_U64, int64_t                                                                                 \
             : GT_ELEMENT_I64, double                                                                                  \
             : GT_ELEMENT_F64)

const struct gt_column_info gt_column_infos[] = {
#define GT_TABLE(table, columns) columns
#define GT_COLUMN(table, type, name, refers)                                                                           \
    {#table,                                                                                                           \
     #name,                                                                                                            \
     GT_TABLE_##table,                                                                                                 \
     sizeof(type),                                                                                                     \
     ELEMENT(type),                                                                                                    \
     offsetof(struct gt_##table, name),                                                                                \
     GT_REFERS_##refers},
#include "events/columns.def"
#undef GT_TABLE
#undef GT_COLUMN
};
const size_t gt_column_count = sizeof gt_column_infos / sizeof *gt_column_infos;

/* Every table struct begins with its count and capacity. */
struct table_head {
    size_t count, capacity;
};

static const size_t table_offsets[GT_TABLE_COUNT] = {
#define GT_TABLE(table, columns) offsetof(struct gt_store, table),
#define GT_COLUMN(table, type, name, refers)
#include "events/columns.def"
#undef GT_TABLE
#undef GT_COLUMN
};

static struct table_head *head_of(struct gt_store *store, enum gt_table_id table) {
    return (struct table_head *)(void *)((char *)store + table_offsets[table]);
}

struct gt_issue gt_store_issue(const struct gt_store *store, enum gt_issue_id id, uint32_t wanted) {
    const struct gt_fact_issues *rows = &store->fact_issues;
    struct gt_issue issue = store->issues[id];
    for (size_t i = 0; i < rows->count; i++)
        if (rows->issue[i] == id && rows->facts[i] & wanted)
            gt_store_issue_join(&issue, &(struct gt_issue){rows->times[i], rows->first_offset[i]});
    return issue;
}

enum gt_issue_id gt_store_loss(const struct gt_store *store, uint32_t wanted) {
    int issue = 0;
    while (issue < GT_ISSUE_COUNT && !(gt_issue_infos[issue].issue_class == GT_ISSUE_CLASS_LOSS &&
                                       gt_store_issue(store, (enum gt_issue_id)issue, wanted).count))
        issue++;
    return (enum gt_issue_id)issue;
}

enum gputime_null gt_store_column_null(const struct gt_column_info *info) {
    switch (info->refers) {
    case GT_REFERS_OR_MIN:
        return GPUTIME_NULL_MIN;
    case GT_REFERS_OR_NEGATIVE:
        return GPUTIME_NULL_NEGATIVE;
    case GT_REFERS_OR_MAX:
    case GT_REFERS_PROCESS:
    case GT_REFERS_THREAD:
    case GT_REFERS_LANE:
    case GT_REFERS_COMM_GROUP:
        return GPUTIME_NULL_MAX;
    default:
        return gt_store_table_is_of_any(info->table) && info->refers >= GT_REFERS_OP ? GPUTIME_NULL_MAX
                                                                                     : GPUTIME_NULL_NEVER;
    }
}

size_t *gt_store_row_count(struct gt_store *store, enum gt_table_id table) {
    return &head_of(store, table)->count;
}

void **gt_store_column(struct gt_store *store, const struct gt_column_info *column) {
    return (void **)(void *)((char *)store + table_offsets[column->table] + column->offset);
}

/* ---- facts ---- */

static const struct {
    enum gt_fact fact;
    const char *key, *title;
    uint32_t implies;
} facts[] = {
#define GT_FACT(name, bit, key, title, implies) {GT_FACT_##name, key, title, implies},
#include "events/facts.def"
#undef GT_FACT
};

const char *gt_store_fact_title(enum gt_fact fact) {
    for (size_t i = 0; i < GT_FACT_COUNT; i++)
        if (facts[i].fact == fact)
            return facts[i].title;
    return "facts";
}

const char *gt_store_fact_key(enum gt_fact fact) {
    for (size_t i = 0; i < GT_FACT_COUNT; i++)
        if (facts[i].fact == fact)
            return facts[i].key;
    return "";
}

enum gt_fact gt_store_fact_find(struct gt_str key) {
    for (size_t i = 0; i < GT_FACT_COUNT; i++)
        if (gt_str_eq(key, gt_str_of(facts[i].key)))
            return facts[i].fact;
    return 0;
}

uint32_t gt_store_facts_closed(uint32_t wanted) {
    for (size_t i = GT_FACT_COUNT; i-- > 0;) /* what is implied comes before what implies it */
        if (wanted & facts[i].fact)
            wanted |= facts[i].implies;
    return wanted;
}

/* ---- what columns mean ---- */

const char *gt_store_choices(enum gt_refers refers) {
    static const char *const choices[] = {
        [GT_REFERS_OP_KIND] = "kernel|memcpy|memset|graph",
        [GT_REFERS_RANGE_KIND] = "nested|start_end|mark|gpu",
        [GT_REFERS_MEMORY_KIND] = "unknown|pageable|pinned|device|array|managed|static",
        [GT_REFERS_COUNTER_KIND] = "sampled|state",
        [GT_REFERS_SYNC_KIND] = "unknown|event|stream_wait|stream|context|query",
        [GT_REFERS_FLOW_PHASE] = "start|end",
        [GT_REFERS_MEMORY_OPERATION] = "allocate|free|pool_create|pool_destroy|pool_trim",
        [GT_REFERS_MEMORY_SOURCE] = "driver|framework",
        [GT_REFERS_RANK_SOURCE] = "unknown|trace|mpi|RANK|SLURM_PROCID|OMPI_COMM_WORLD_RANK|PMI_RANK|nccl|file_name",
        [GT_REFERS_GROUP_SOURCE] = "record|config",
    };
    return refers < sizeof choices / sizeof *choices ? choices[refers] : NULL;
}

bool gt_store_choices_next(const char **choices, struct gt_str *word) {
    *word = (struct gt_str){*choices, strcspn(*choices, "|")};
    *choices += word->len + ((*choices)[word->len] == '|');
    return word->len;
}

enum gt_table_id gt_store_table_referred(enum gt_refers refers) {
    switch (refers) {
    case GT_REFERS_PROCESS:
        return GT_TABLE_processes;
    case GT_REFERS_THREAD:
        return GT_TABLE_threads;
    case GT_REFERS_DEVICE:
        return GT_TABLE_devices;
    case GT_REFERS_LANE:
        return GT_TABLE_lanes;
    case GT_REFERS_COUNTER_TRACK:
        return GT_TABLE_counter_tracks;
    case GT_REFERS_COMM_GROUP:
        return GT_TABLE_comm_groups;
    case GT_REFERS_OP:
        return GT_TABLE_ops;
    case GT_REFERS_RANGE:
        return GT_TABLE_ranges;
    case GT_REFERS_CPU_OP:
        return GT_TABLE_cpu_ops;
    case GT_REFERS_CALL:
        return GT_TABLE_calls;
    case GT_REFERS_COUNTER:
        return GT_TABLE_counters;
    case GT_REFERS_SAMPLE_TIME:
        return GT_TABLE_sample_times;
    case GT_REFERS_SAMPLE:
        return GT_TABLE_sample_values;
    default:
        return GT_TABLE_COUNT;
    }
}

/* ---- memory of columns ---- */

/* Columns of few rows are of the heap: a mapping of their own would take longer to make and to give back than they are
   used, above all where many threads share the address space. */
void *gt_store_column_new(size_t rows, size_t elem_bytes) {
    return rows <= GT_STORE_FEW_ROWS ? gt_mem_array(rows, elem_bytes) : gt_mem_pages_alloc(rows * elem_bytes);
}

void gt_store_column_drop(void *column, size_t rows, size_t elem_bytes) {
    if (rows <= GT_STORE_FEW_ROWS)
        gt_mem_free(column);
    else
        gt_mem_pages_free(column, rows * elem_bytes);
}

/* New columns for the rows, which are copied. All of them are there before one of the old is given up. */
static bool reserve_anew(struct gt_store *store, enum gt_table_id table, size_t rows) {
    struct table_head *head = head_of(store, table);
    struct gt_store grown = {0};
    bool ok = true;
    for (size_t i = 0; i < gt_column_count && ok; i++) {
        const struct gt_column_info *info = &gt_column_infos[i];
        if (info->table == table)
            ok = (*gt_store_column(&grown, info) = gt_store_column_new(rows, info->elem_bytes)) != NULL;
    }
    for (size_t i = 0; i < gt_column_count; i++) {
        const struct gt_column_info *info = &gt_column_infos[i];
        void **old = gt_store_column(store, info), **new = gt_store_column(&grown, info);
        if (info->table != table)
            continue;
        if (!ok) {
            gt_store_column_drop(*new, rows, info->elem_bytes);
            continue;
        }
        if (*old && head->capacity)
            memcpy(*new, *old, head->capacity * info->elem_bytes);
        gt_store_column_drop(*old, head->capacity, info->elem_bytes);
        *old = *new;
        gt_huge_advise_long(*new, rows * info->elem_bytes);
    }
    head->capacity = ok ? rows : head->capacity;
    return ok;
}

/* Columns that are mappings, longer than before. */
static bool reserve_more(struct gt_store *store, enum gt_table_id table, size_t rows) {
    struct table_head *head = head_of(store, table);
    for (size_t i = 0; i < gt_column_count; i++) {
        const struct gt_column_info *info = &gt_column_infos[i];
        if (info->table != table)
            continue;
        void **column = gt_store_column(store, info);
        void *grown = gt_mem_pages_resize(*column, head->capacity * info->elem_bytes, rows * info->elem_bytes);
        if (!grown) {
            /* Columns before this one have grown already: shrink them back so that one capacity fits all. */
            for (size_t k = 0; k < i; k++) {
                if (gt_column_infos[k].table != table)
                    continue;
                void **back = gt_store_column(store, &gt_column_infos[k]);
                size_t elem_bytes = gt_column_infos[k].elem_bytes;
                void *shrunk = gt_mem_pages_resize(*back, rows * elem_bytes, head->capacity * elem_bytes);
                *back = shrunk ? shrunk : *back;
            }
            return false;
        }
        *column = grown;
        if (head->capacity * info->elem_bytes >= GT_HUGE_LEAST_BYTES) /* it is likely to be filled */
            gt_huge_advise_long(grown, rows * info->elem_bytes);
    }
    head->capacity = rows;
    return true;
}

bool gt_store_table_reserve(struct gt_store *store, enum gt_table_id table, size_t rows) {
    size_t capacity = head_of(store, table)->capacity;
    if (rows <= capacity)
        return true;
    if (rows >= GT_NO_ROW)
        return false; /* rows are numbered in 32 bits */
    return capacity <= GT_STORE_FEW_ROWS ? reserve_anew(store, table, rows) : reserve_more(store, table, rows);
}

void gt_store_table_fill(struct gt_store *store, enum gt_table_id table) {
    const struct table_head *head = head_of(store, table);
    for (size_t i = 0; i < gt_column_count && head->count >= head->capacity / 2; i++)
        if (gt_column_infos[i].table == table)
            gt_huge_advise_long(*gt_store_column(store, &gt_column_infos[i]),
                                head->capacity * gt_column_infos[i].elem_bytes);
}

void gt_store_table_move(struct gt_store *into, struct gt_store *from, enum gt_table_id table) {
    *head_of(into, table) = *head_of(from, table);
    *head_of(from, table) = (struct table_head){0};
    for (size_t i = 0; i < gt_column_count; i++) {
        const struct gt_column_info *info = &gt_column_infos[i];
        if (info->table != table)
            continue;
        *gt_store_column(into, info) = *gt_store_column(from, info);
        *gt_store_column(from, info) = NULL;
    }
}

void gt_store_column_free(struct gt_store *store, const struct gt_column_info *info) {
    void **column = gt_store_column(store, info);
    if (*column)
        gt_store_column_drop(*column, head_of(store, info->table)->capacity, info->elem_bytes);
    *column = NULL;
}

void gt_store_column_discard(struct gt_store *store, const struct gt_column_info *info) {
    size_t rows = head_of(store, info->table)->capacity;
    if (*gt_store_column(store, info) && rows > GT_STORE_FEW_ROWS)
        gt_mem_pages_discard(*gt_store_column(store, info), 0, rows * info->elem_bytes);
}

static void discard_column(void *context, size_t column) {
    gt_store_column_discard(context, &gt_column_infos[column]);
}

void gt_store_release(struct gt_store *store) {
    gt_store_release_on(store, 1);
}

static size_t column_bytes(struct gt_store *store) {
    size_t bytes = 0;
    for (size_t i = 0; i < gt_column_count; i++) {
        const struct gt_column_info *info = &gt_column_infos[i];
        bytes += *gt_store_column(store, info) ? head_of(store, info->table)->capacity * info->elem_bytes : 0;
    }
    return bytes;
}

void gt_store_release_on(struct gt_store *store, size_t threads) {
    enum { MANY_BYTES = 32 << 20 }; /* which take longer to give back than threads to start */
    if (!store->mapping && threads > 1 && column_bytes(store) >= MANY_BYTES)
        gt_threads_deal(threads, gt_column_count, discard_column, store); /* only one thread at a time can unmap */
    for (size_t i = 0; i < gt_column_count && !store->mapping; i++)
        gt_store_column_free(store, &gt_column_infos[i]);
    gt_strtab_release(&store->strings);
    if (store->mapping)
        gt_mem_pages_free(store->mapping, store->mapping_bytes);
    memset(store, 0, sizeof *store);
}

void gt_store_free(struct gt_store *store) {
    gt_store_free_on(store, 1);
}

void gt_store_free_on(struct gt_store *store, size_t threads) {
    if (!store)
        return;
    gt_store_release_on(store, threads);
    gt_mem_free(store);
}

/* By blocks of a fixed size, for which compilers use vectors. */
uint64_t gt_store_count_kind(const uint8_t *kinds, size_t count, uint8_t kind) {
    enum { BLOCK = 128 };
    uint64_t found = 0;
    size_t i = 0;
    for (; count - i >= BLOCK; i += BLOCK) {
        uint8_t in_block = 0;
        for (size_t k = 0; k < BLOCK; k++)
            in_block = (uint8_t)(in_block + (kinds[i + k] == kind));
        found += in_block;
    }
    for (; i < count; i++)
        found += kinds[i] == kind;
    return found;
}
