/* Finds the tables and columns of an Nsight Systems export by their names: a database comes in, what is where goes
   out. A name that several generations spell differently has alternatives, the best first. */
#include "decode/nsys/nsys_schema.h"

#include <stdio.h>
#include <strings.h>

enum { REQUIRED_MAX = 2 };

struct role {
    const char *names[GT_NSYS_NAMES_MAX];       /* of tables, best first */
    const char *contains[GT_NSYS_NAMES_MAX];    /* else the first table whose name has one of these words */
    const char *required[REQUIRED_MAX];         /* columns that it must have */
    const char *columns[GT_SQLITE_COLUMNS_MAX]; /* "this|else this" */
};

#define ACTIVITY_COLUMNS                                                                                               \
    [GT_NSYS_ACTIVITY_START] = "start", [GT_NSYS_ACTIVITY_END] = "end", [GT_NSYS_ACTIVITY_DEVICE] = "deviceId",        \
    [GT_NSYS_ACTIVITY_STREAM] = "streamId", [GT_NSYS_ACTIVITY_CORRELATION] = "correlationId",                          \
    [GT_NSYS_ACTIVITY_GLOBAL_PID] = "globalPid|globalTid", [GT_NSYS_ACTIVITY_PID] = "pid|processId"
#define CALL_COLUMNS                                                                                                   \
    {                                                                                                                  \
        [GT_NSYS_CALL_START] = "start", [GT_NSYS_CALL_END] = "end", [GT_NSYS_CALL_CORRELATION] = "correlationId",      \
        [GT_NSYS_CALL_GLOBAL_TID] = "globalTid", [GT_NSYS_CALL_NAME_ID] = "nameId", [GT_NSYS_CALL_NAME] = "name",      \
        [GT_NSYS_CALL_PID] = "pid|processId", [GT_NSYS_CALL_TID] = "tid|threadId"                                      \
    }

#define OVERHEAD_COLUMNS                                                                                               \
    {                                                                                                                  \
        [GT_NSYS_OVERHEAD_START] = "start", [GT_NSYS_OVERHEAD_END] = "end",                                            \
        [GT_NSYS_OVERHEAD_GLOBAL_TID] = "globalTid", [GT_NSYS_OVERHEAD_NAME] = "nameId|name"                           \
    }

/* The second names are those of older profilers and of files that people made by hand. */
static const struct role roles[GT_NSYS_ROLE_COUNT] = {
    [GT_NSYS_STRINGS] = {{"StringIds", "Strings", "StringIdsV2", "StringTable"},
                         {""},
                         {"id|_id_", "value"},
                         {"id|_id_", "value"}},
    [GT_NSYS_META] = {{"META_DATA_EXPORT"}, {0}, {"name", "value"}, {"name", "value"}},
    [GT_NSYS_SESSION] = {{"TARGET_INFO_SESSION_START_TIME"}, {0}, {"utcEpochNs"}, {"utcEpochNs"}},
    [GT_NSYS_DETAILS] = {{"ANALYSIS_DETAILS"}, {0}, {"duration"}, {"duration"}},
    [GT_NSYS_GPUS] = {{"TARGET_INFO_GPU"}, {0}, {"id|deviceId"}, {"id|deviceId", "name", "totalMemory", "smCount"}},
    [GT_NSYS_CUDA_DEVICES] = {{"TARGET_INFO_CUDA_DEVICE"}, {0}, {"gpuId", "cudaId"}, {"gpuId", "cudaId", "pid"}},
    [GT_NSYS_PROCESSES] = {{"PROCESSES"}, {0}, {"globalPid"}, {"globalPid", "name|nameId"}},
    [GT_NSYS_THREADS] = {{"ThreadNames"}, {0}, {"globalTid"}, {"globalTid", "nameId|name"}},
    [GT_NSYS_KERNELS] =
        {{"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "CUDA_GPU_KERNEL", "GPU_KERNEL"},
         {"KERNEL"},
         {"start", "end"},
         {ACTIVITY_COLUMNS, [GT_NSYS_ACTIVITY_GRAPH_NODE] = "graphNodeId", [GT_NSYS_KERNEL_NAME] = "demangledName|name",
          [GT_NSYS_KERNEL_SHORT_NAME] = "shortName", [GT_NSYS_KERNEL_MANGLED_NAME] = "mangledName"}},
    [GT_NSYS_COPIES] =
        {{"CUPTI_ACTIVITY_KIND_MEMCPY", "CUDA_GPU_MEMCPY", "GPU_MEMCPY"},
         {0},
         {"start", "end"},
         {ACTIVITY_COLUMNS, [GT_NSYS_ACTIVITY_GRAPH_NODE] = "graphNodeId", [GT_NSYS_COPY_BYTES] = "bytes",
          [GT_NSYS_COPY_DST_KIND] = "dstKind", [GT_NSYS_COPY_SRC_KIND] = "srcKind", [GT_NSYS_COPY_KIND] = "copyKind"}},
    [GT_NSYS_SETS] = {{"CUPTI_ACTIVITY_KIND_MEMSET", "CUDA_GPU_MEMSET", "GPU_MEMSET"},
                      {0},
                      {"start", "end"},
                      {ACTIVITY_COLUMNS, [GT_NSYS_ACTIVITY_GRAPH_NODE] = "graphNodeId", [GT_NSYS_COPY_BYTES] = "bytes",
                       [GT_NSYS_COPY_DST_KIND] = "memKind|memoryKind"}},
    [GT_NSYS_GRAPHS] = {{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE"},
                        {0},
                        {"start", "end"},
                        {ACTIVITY_COLUMNS, [GT_NSYS_ACTIVITY_GRAPH_NODE] = "graphId"}},
    [GT_NSYS_RUNTIME] = {{"CUPTI_ACTIVITY_KIND_RUNTIME", "CUDA_API_RUNTIME", "CUDA_RUNTIME"},
                         {"RUNTIME", "DRIVER", "CUDA_API"},
                         {"start", "end"},
                         CALL_COLUMNS},
    [GT_NSYS_DRIVER] = {{"CUPTI_ACTIVITY_KIND_DRIVER"}, {0}, {"start", "end"}, CALL_COLUMNS},
    [GT_NSYS_RANGES] = {{"NVTX_EVENTS", "NVTX_EVENTS_V2", "NVTX"},
                        {"NVTX"},
                        {"start"},
                        {[GT_NSYS_RANGE_START] = "start",
                         [GT_NSYS_RANGE_END] = "end",
                         [GT_NSYS_RANGE_TYPE] = "eventType",
                         [GT_NSYS_RANGE_TEXT] = "text",
                         [GT_NSYS_RANGE_TEXT_ID] = "textId",
                         [GT_NSYS_RANGE_GLOBAL_TID] = "globalTid",
                         [GT_NSYS_RANGE_END_GLOBAL_TID] = "endGlobalTid",
                         [GT_NSYS_RANGE_DOMAIN] = "domainId",
                         [GT_NSYS_RANGE_CATEGORY] = "category"}},
    [GT_NSYS_OVERHEADS] = {{"PROFILER_OVERHEAD"}, {0}, {"start", "end"}, OVERHEAD_COLUMNS},
    [GT_NSYS_DRIVER_OVERHEADS] = {{"CUPTI_ACTIVITY_KIND_OVERHEAD"}, {0}, {"start", "end"}, OVERHEAD_COLUMNS},
    [GT_NSYS_GRAPH_CLONES] = {{"CUDA_GRAPH_NODE_EVENTS", "CUDA_GRAPH_EVENTS"},
                              {0},
                              {"globalTid"},
                              {[GT_NSYS_CLONE_GLOBAL_TID] = "globalTid",
                               [GT_NSYS_CLONE_NODE] = "graphNodeId",
                               [GT_NSYS_CLONE_ORIGINAL_NODE] = "originalGraphNodeId",
                               [GT_NSYS_CLONE_GRAPH] = "graphId",
                               [GT_NSYS_CLONE_ORIGINAL_GRAPH] = "originalGraphId"}},
    [GT_NSYS_DIAGNOSTICS] = {{"DIAGNOSTIC_EVENT"},
                             {0},
                             {"text"},
                             {[GT_NSYS_DIAGNOSTIC_TEXT] = "text", [GT_NSYS_DIAGNOSTIC_GLOBAL_PID] = "globalPid"}},
};

/* The column for "this|else this". */
static uint16_t find_column(const struct gt_sqlite_table *table, const char *alternatives) {
    uint16_t found = GT_SQLITE_NO_COLUMN;
    while (alternatives && found == GT_SQLITE_NO_COLUMN) {
        const char *bar = strchr(alternatives, '|');
        size_t len = bar ? (size_t)(bar - alternatives) : strlen(alternatives);
        found = gt_sqlite_table_column(table, (struct gt_str){alternatives, len});
        alternatives = bar ? bar + 1 : NULL;
    }
    return found;
}

/* Whether a table has what the role requires. */
static bool fits_role(const struct gt_sqlite_table *table, const struct role *role) {
    for (size_t i = 0; i < REQUIRED_MAX && role->required[i]; i++)
        if (find_column(table, role->required[i]) == GT_SQLITE_NO_COLUMN)
            return false;
    return true;
}

static bool has_word(struct gt_str name, const struct role *role) {
    for (size_t i = 0; i < GT_NSYS_NAMES_MAX && role->contains[i]; i++)
        if (gt_str_find_nocase(name, gt_str_of(role->contains[i])))
            return true;
    return false;
}

static bool is_taken(const struct gt_nsys_schema *schema, const struct gt_sqlite_table *table) {
    for (size_t i = 0; i < schema->count; i++)
        if (schema->tables[i].table == table)
            return true;
    return false;
}

/* The first table of that name that fits the role, or without a name, with a word of the role in its name; NULL: none.
 */
static enum gt_status find_table(struct gt_nsys_schema *schema, const struct gt_sqlite_db *db, const struct role *role,
                                 const char *name, const struct gt_sqlite_table **found, struct gt_error *err) {
    *found = NULL;
    for (size_t t = 0; t < db->table_count && !*found; t++) {
        const struct gt_sqlite_table *table = &db->tables[t];
        uint64_t rows = 0;
        if (!(name ? strcasecmp(table->name.ptr, name) == 0 : has_word(table->name, role)) || is_taken(schema, table))
            continue;
        bool fits = fits_role(table, role), is_readable = table->column_count > 0;
        if (fits)
            *found = table;
        else if (name && is_readable && gt_sqlite_db_table_rows(db, table, &rows, err) != GT_OK)
            return GT_ERR;
        schema->unreadable += name && !is_readable;
        schema->incomplete += rows > 0;
    }
    return GT_OK;
}

static void add_table(struct gt_nsys_schema *schema, const struct gt_sqlite_table *table, enum gt_nsys_role id) {
    const struct role *role = &roles[id];
    struct gt_nsys_table *into = &schema->tables[schema->count++];
    *into = (struct gt_nsys_table){.role = id, .table = table};
    for (size_t i = 0; i < GT_SQLITE_COLUMNS_MAX; i++) {
        into->columns[i] = role->columns[i] ? find_column(table, role->columns[i]) : GT_SQLITE_NO_COLUMN;
        if (role->columns[i])
            into->column_count = i + 1;
    }
}

/* All tables with a name of the role; of several, an empty one adds nothing. Else the first with a word of the role in
 * its name. */
static enum gt_status find_role(struct gt_nsys_schema *schema, const struct gt_sqlite_db *db, enum gt_nsys_role id,
                                struct gt_error *err) {
    const struct role *role = &roles[id];
    const struct gt_sqlite_table *named[GT_NSYS_NAMES_MAX], *table;
    size_t count = 0;
    for (size_t n = 0; n < GT_NSYS_NAMES_MAX && role->names[n]; n++) {
        if (find_table(schema, db, role, role->names[n], &table, err) != GT_OK)
            return GT_ERR;
        if (table)
            named[count++] = table;
    }
    size_t before = schema->count;
    for (size_t i = 0; i < count; i++) {
        uint64_t rows = 1;
        if (count > 1 && gt_sqlite_db_table_rows(db, named[i], &rows, err) != GT_OK)
            return GT_ERR;
        if (rows > 0)
            add_table(schema, named[i], id);
    }
    if (count && schema->count == before)
        add_table(schema, named[0], id);
    if (count)
        return GT_OK;
    if (find_table(schema, db, role, NULL, &table, err) != GT_OK)
        return GT_ERR;
    if (table)
        add_table(schema, table, id);
    return GT_OK;
}

/* Tables of strings alone do not make an export; tables that only Nsight or CUPTI write do. */
static bool is_export(const struct gt_nsys_schema *schema, const struct gt_sqlite_db *db) {
    static const struct gt_str marks[] = {GT_STR("CUPTI_ACTIVITY_KIND_"), GT_STR("ENUM_NSYS_"), GT_STR("TARGET_INFO_"),
                                          GT_STR("META_DATA_EXPORT"), GT_STR("ANALYSIS_DETAILS")};
    for (size_t i = 0; i < schema->count; i++)
        if (schema->tables[i].role == GT_NSYS_KERNELS || schema->tables[i].role == GT_NSYS_RANGES)
            return true;
    for (size_t t = 0; t < db->table_count; t++)
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
            if (gt_str_starts(db->tables[t].name, marks[i]))
                return true;
    return false;
}

static enum gt_status fail_foreign(const struct gt_sqlite_db *db, const char *path, struct gt_error *err) {
    char list[400] = "it has no tables";
    size_t at = 0, t = 0;
    for (; t < db->table_count && at < sizeof list - 100; t++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%.64s", t ? ", " : "its tables are ",
                               db->tables[t].name.ptr);
    if (t < db->table_count)
        snprintf(list + at, sizeof list - at, " and %zu more", db->table_count - t);
    return gt_fail(err, "'%s': SQLite database, but not an Nsight Systems export: %s", path, list);
}

enum gt_status gt_nsys_schema_find(struct gt_nsys_schema *schema, const struct gt_sqlite_db *db, const char *path,
                                   struct gt_error *err) {
    memset(schema, 0, sizeof *schema);
    for (size_t i = 0; i < GT_NSYS_ROLE_COUNT; i++)
        if (find_role(schema, db, (enum gt_nsys_role)i, err) != GT_OK)
            return GT_ERR;
    return is_export(schema, db) ? GT_OK : fail_foreign(db, path, err);
}

const struct gt_nsys_table *gt_nsys_schema_first(const struct gt_nsys_schema *schema, enum gt_nsys_role role) {
    static const struct gt_nsys_table none;
    for (size_t i = 0; i < schema->count; i++)
        if (schema->tables[i].role == role)
            return &schema->tables[i];
    return &none;
}
