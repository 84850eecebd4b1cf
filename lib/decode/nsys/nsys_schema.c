/* Finds the tables and columns of an Nsight Systems export by their names: a database comes in, what is where goes
   out. A name that several generations spell differently has alternatives, the best first. */
#include "decode/nsys/nsys_schema.h"

#include "decode/nsys/nsys.h"

#include <stdio.h>
#include <strings.h>

#include "events/store.h"

enum { REQUIRED_MAX = 2, PARTS_MAX = 3 };

/* Columns, from the first to the last, that are read for these facts alone. */
struct part {
    uint32_t facts; /* enum gt_fact; 0: there is no such part */
    uint8_t first, last;
};

struct role {
    uint32_t facts;                             /* enum gt_fact: the table is read for any of these; 0: always */
    const char *names[GT_NSYS_NAMES_MAX];       /* of tables, best first */
    const char *contains[GT_NSYS_NAMES_MAX];    /* else the first table whose name has one of these words */
    const char *required[REQUIRED_MAX];         /* columns that it must have */
    const char *columns[GT_SQLITE_COLUMNS_MAX]; /* "this|else this" */
    struct part parts[PARTS_MAX];
};

#define ACTIVITY_COLUMNS                                                                                               \
    [GT_NSYS_ACTIVITY_START] = "start", [GT_NSYS_ACTIVITY_END] = "end", [GT_NSYS_ACTIVITY_DEVICE] = "deviceId",        \
    [GT_NSYS_ACTIVITY_STREAM] = "streamId", [GT_NSYS_ACTIVITY_CORRELATION] = "correlationId",                          \
    [GT_NSYS_ACTIVITY_GLOBAL_PID] = "globalPid|globalTid", [GT_NSYS_ACTIVITY_PID] = "pid|processId"
#define ACTIVITY_CORRELATION                                                                                           \
    { GT_FACT_CORRELATION, GT_NSYS_ACTIVITY_CORRELATION, GT_NSYS_ACTIVITY_CORRELATION }
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

#define CALL_CORRELATION                                                                                               \
    { GT_FACT_CORRELATION, GT_NSYS_CALL_CORRELATION, GT_NSYS_CALL_CORRELATION }
#define EVENT_COLUMNS                                                                                                  \
    [GT_NSYS_SYNC_DEVICE] = "deviceId", [GT_NSYS_SYNC_STREAM] = "streamId",                                            \
    [GT_NSYS_SYNC_CORRELATION] = "correlationId", [GT_NSYS_SYNC_GLOBAL_PID] = "globalPid",                             \
    [GT_NSYS_SYNC_EVENT] = "eventId", [GT_NSYS_SYNC_RECORD] = "eventSyncId"
#define MEMORY_COLUMNS                                                                                                 \
    [GT_NSYS_MEMORY_START] = "start", [GT_NSYS_MEMORY_GLOBAL_PID] = "globalPid", [GT_NSYS_MEMORY_DEVICE] = "deviceId", \
    [GT_NSYS_MEMORY_ADDRESS] = "address", [GT_NSYS_MEMORY_CORRELATION] = "correlationId",                              \
    [GT_NSYS_MEMORY_POOL_KEPT] = "localMemoryPoolReleaseThreshold",                                                    \
    [GT_NSYS_MEMORY_POOL_BYTES] = "localMemoryPoolSize", [GT_NSYS_MEMORY_POOL_USED] = "localMemoryPoolUtilizedSize"

#define NETWORK_COLUMNS                                                                                                \
    {                                                                                                                  \
        [GT_NSYS_NETWORK_START] = "start", [GT_NSYS_NETWORK_DEVICE] = "globalId", [GT_NSYS_NETWORK_PORT] = "portId",   \
        [GT_NSYS_NETWORK_LIST] = "metricsListId", [GT_NSYS_NETWORK_INDEX] = "metricsIdx",                              \
        [GT_NSYS_NETWORK_VALUE] = "value"                                                                              \
    }

/* The second names are those of older profilers and of files that people made by hand. */
static const struct role roles[GT_NSYS_ROLE_COUNT] = {
    [GT_NSYS_STRINGS] = {.names = {"StringIds", "Strings", "StringIdsV2", "StringTable"},
                         .contains = {""},
                         .required = {"id|_id_", "value"},
                         .columns = {"id|_id_", "value"}},
    [GT_NSYS_META] = {.names = {"META_DATA_EXPORT"}, .required = {"name", "value"}, .columns = {"name", "value"}},
    [GT_NSYS_SESSION] = {.names = {"TARGET_INFO_SESSION_START_TIME"},
                         .required = {"utcEpochNs"},
                         .columns = {"utcEpochNs"}},
    [GT_NSYS_DETAILS] = {.names = {"ANALYSIS_DETAILS"}, .required = {"duration"}, .columns = {"duration"}},
    [GT_NSYS_GPUS] = {.names = {"TARGET_INFO_GPU"},
                      .required = {"id|deviceId"},
                      .columns = {[GT_NSYS_GPU_ID] = "id|deviceId",
                                  [GT_NSYS_GPU_NAME] = "name",
                                  [GT_NSYS_GPU_UUID] = "uuid",
                                  [GT_NSYS_GPU_MEMORY] = "totalMemory",
                                  [GT_NSYS_GPU_BANDWIDTH] = "memoryBandwidth",
                                  [GT_NSYS_GPU_CLOCK] = "clockRate",
                                  [GT_NSYS_GPU_L2] = "l2CacheSize",
                                  [GT_NSYS_GPU_MULTIPROCESSORS] = "smCount",
                                  [GT_NSYS_GPU_MAJOR] = "computeMajor",
                                  [GT_NSYS_GPU_MINOR] = "computeMinor",
                                  [GT_NSYS_GPU_WARPS] = "maxWarpsPerSm",
                                  [GT_NSYS_GPU_BLOCKS] = "maxBlocksPerSm",
                                  [GT_NSYS_GPU_REGISTERS] = "maxRegistersPerSm",
                                  [GT_NSYS_GPU_SHARED] = "maxShmemPerSm"}},
    [GT_NSYS_CUDA_DEVICES] = {.names = {"TARGET_INFO_CUDA_DEVICE"},
                              .required = {"gpuId", "cudaId"},
                              .columns = {"gpuId", "cudaId", "pid"}},
    [GT_NSYS_PROCESSES] = {.names = {"PROCESSES"}, .required = {"globalPid"}, .columns = {"globalPid", "name|nameId"}},
    [GT_NSYS_THREADS] = {.names = {"ThreadNames"}, .required = {"globalTid"}, .columns = {"globalTid", "nameId|name"}},
    [GT_NSYS_SYSTEM] = {.names = {"TARGET_INFO_SYSTEM_ENV"},
                        .required = {"name", "value"},
                        .columns = {"name", "value", "nameEnum"}},
    [GT_NSYS_MPI_RANKS] = {.names = {"MPI_RANKS"}, .required = {"globalTid", "rank"}, .columns = {"globalTid", "rank"}},
    [GT_NSYS_OPTIONS] = {.facts = GT_FACT_METRICS,
                         .names = {"META_DATA_CAPTURE"},
                         .required = {"name", "value"},
                         .columns = {"name", "value"}},
    [GT_NSYS_METRIC_NAMES] = {.facts = GT_FACT_METRICS,
                              .names = {"TARGET_INFO_GPU_METRICS"},
                              .required = {"metricId", "metricName"},
                              .columns = {"typeId", "metricId", "metricName"}},
    [GT_NSYS_METRIC_FIELDS] = {.facts = GT_FACT_METRICS,
                               .names = {"GENERIC_EVENT_TYPE_FIELDS"},
                               .required = {"typeId", "fieldIdx"},
                               .columns = {"typeId", "fieldIdx", "size", "type"}},
    [GT_NSYS_NETWORK_NAMES] = {.facts = GT_FACT_METRICS,
                               .names = {"TARGET_INFO_NETWORK_METRICS"},
                               .required = {"metricsIdx", "name"},
                               .columns = {"metricsListId", "metricsIdx", "name", "unit"}},
    [GT_NSYS_CARDS] = {.facts = GT_FACT_METRICS,
                       .names = {"TARGET_INFO_NIC_INFO"},
                       .required = {"nicId", "name"},
                       .columns = {"nicId", "name"}},
    [GT_NSYS_CARD_IDS] = {.facts = GT_FACT_METRICS,
                          .names = {"NIC_ID_MAP"},
                          .required = {"nicId", "globalId"},
                          .columns = {"nicId", "globalId"}},
    [GT_NSYS_PAYLOAD_ENTRIES] = {.facts = GT_FACT_COMMS | GT_FACT_STACKS,
                                 .names = {"NVTX_PAYLOAD_SCHEMA_ENTRIES"},
                                 .required = {"schemaId", "name"},
                                 .columns = {"domainId", "schemaId", "name", "type", "offset", "flags"}},
    [GT_NSYS_PAYLOAD_ENUMS] = {.facts = GT_FACT_COMMS,
                               .names = {"NVTX_PAYLOAD_ENUMS"},
                               .required = {"schemaId", "size"},
                               .columns = {"domainId", "schemaId", "size"}},
    [GT_NSYS_PAYLOAD_VALUES] = {.facts = GT_FACT_COMMS,
                                .names = {"NVTX_PAYLOAD_ENUM_ENTRIES"},
                                .required = {"schemaId", "name"},
                                .columns = {"domainId", "schemaId", "name", "value"}},
    [GT_NSYS_KERNELS] =
        {.facts = GT_FACT_OPS,
         .names = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "CUDA_GPU_KERNEL",
                   "GPU_KERNEL"},
         .contains = {"KERNEL"},
         .required = {"start", "end"},
         .columns = {ACTIVITY_COLUMNS, [GT_NSYS_ACTIVITY_GRAPH_NODE] = "graphNodeId",
                     [GT_NSYS_KERNEL_NAME] = "demangledName|name", [GT_NSYS_KERNEL_SHORT_NAME] = "shortName",
                     [GT_NSYS_KERNEL_MANGLED_NAME] = "mangledName", [GT_NSYS_KERNEL_GRID] = "gridX",
                     "gridY", "gridZ", [GT_NSYS_KERNEL_BLOCK] = "blockX", "blockY",
                     "blockZ", [GT_NSYS_KERNEL_CLUSTER] = "clusterX", "clusterY",
                     "clusterZ", [GT_NSYS_KERNEL_REGISTERS] = "registersPerThread",
                     [GT_NSYS_KERNEL_STATIC_SHARED] = "staticSharedMemory",
                     [GT_NSYS_KERNEL_DYNAMIC_SHARED] = "dynamicSharedMemory",
                     [GT_NSYS_KERNEL_SHARED] = "sharedMemoryExecuted", [GT_NSYS_KERNEL_LOCAL] = "localMemoryPerThread"},
         .parts = {ACTIVITY_CORRELATION, {GT_FACT_CONFIGS, GT_NSYS_KERNEL_GRID, GT_NSYS_KERNEL_LOCAL}}},
    [GT_NSYS_COPIES] =
        {.facts = GT_FACT_OPS | GT_FACT_BYTES,
         .names = {"CUPTI_ACTIVITY_KIND_MEMCPY", "CUDA_GPU_MEMCPY", "GPU_MEMCPY"},
         .required = {"start", "end"},
         .columns =
             {ACTIVITY_COLUMNS, [GT_NSYS_ACTIVITY_GRAPH_NODE] = "graphNodeId", [GT_NSYS_COPY_KIND] = "copyKind",
              [GT_NSYS_COPY_BYTES] = "bytes", [GT_NSYS_COPY_DST_KIND] = "dstKind", [GT_NSYS_COPY_SRC_KIND] = "srcKind"},
         .parts = {ACTIVITY_CORRELATION, {GT_FACT_BYTES, GT_NSYS_COPY_BYTES, GT_NSYS_COPY_SRC_KIND}}},
    [GT_NSYS_SETS] = {.facts = GT_FACT_OPS | GT_FACT_BYTES,
                      .names = {"CUPTI_ACTIVITY_KIND_MEMSET", "CUDA_GPU_MEMSET", "GPU_MEMSET"},
                      .required = {"start", "end"},
                      .columns = {ACTIVITY_COLUMNS, [GT_NSYS_ACTIVITY_GRAPH_NODE] = "graphNodeId",
                                  [GT_NSYS_COPY_BYTES] = "bytes", [GT_NSYS_COPY_DST_KIND] = "memKind|memoryKind"},
                      .parts = {ACTIVITY_CORRELATION, {GT_FACT_BYTES, GT_NSYS_COPY_BYTES, GT_NSYS_COPY_DST_KIND}}},
    [GT_NSYS_GRAPHS] = {.facts = GT_FACT_OPS,
                        .names = {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE"},
                        .required = {"start", "end"},
                        .columns = {ACTIVITY_COLUMNS, [GT_NSYS_ACTIVITY_GRAPH_NODE] = "graphId"},
                        .parts = {ACTIVITY_CORRELATION}},
    [GT_NSYS_RUNTIME] = {.facts = GT_FACT_CALLS,
                         .names = {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUDA_API_RUNTIME", "CUDA_RUNTIME"},
                         .contains = {"RUNTIME", "DRIVER", "CUDA_API"},
                         .required = {"start", "end"},
                         .columns = CALL_COLUMNS,
                         .parts = {CALL_CORRELATION}},
    [GT_NSYS_DRIVER] = {.facts = GT_FACT_CALLS,
                        .names = {"CUPTI_ACTIVITY_KIND_DRIVER"},
                        .required = {"start", "end"},
                        .columns = CALL_COLUMNS,
                        .parts = {CALL_CORRELATION}},
    [GT_NSYS_RANGES] = {.facts = GT_FACT_RANGES,
                        .names = {"NVTX_EVENTS", "NVTX_EVENTS_V2", "NVTX"},
                        .contains = {"NVTX"},
                        .required = {"start"},
                        .columns = {[GT_NSYS_RANGE_START] = "start",
                                    [GT_NSYS_RANGE_END] = "end",
                                    [GT_NSYS_RANGE_TYPE] = "eventType",
                                    [GT_NSYS_RANGE_TEXT] = "text",
                                    [GT_NSYS_RANGE_TEXT_ID] = "textId",
                                    [GT_NSYS_RANGE_GLOBAL_TID] = "globalTid",
                                    [GT_NSYS_RANGE_END_GLOBAL_TID] = "endGlobalTid",
                                    [GT_NSYS_RANGE_DOMAIN] = "domainId",
                                    [GT_NSYS_RANGE_CATEGORY] = "category",
                                    [GT_NSYS_RANGE_PAYLOAD] = "binaryData"},
                        .parts = {{GT_FACT_RANGE_TEXTS, GT_NSYS_RANGE_CATEGORY, GT_NSYS_RANGE_CATEGORY},
                                  {GT_FACT_COMMS | GT_FACT_STACKS, GT_NSYS_RANGE_PAYLOAD, GT_NSYS_RANGE_PAYLOAD}}},
    [GT_NSYS_OS_CALLS] = {.facts = GT_FACT_HOST_CALLS,
                          .names = {"OSRT_API"},
                          .required = {"start", "nameId|name"},
                          .columns = OVERHEAD_COLUMNS},
    [GT_NSYS_MPI_CALLS] = {.facts = GT_FACT_HOST_CALLS,
                           .names = {"MPI_COLLECTIVES_EVENTS", "MPI_P2P_EVENTS", "MPI_START_WAIT_EVENTS",
                                     "MPI_OTHER_EVENTS"},
                           .required = {"start", "textId|nameId|name"},
                           .columns = {[GT_NSYS_OVERHEAD_START] = "start",
                                       [GT_NSYS_OVERHEAD_END] = "end",
                                       [GT_NSYS_OVERHEAD_GLOBAL_TID] = "globalTid",
                                       [GT_NSYS_OVERHEAD_NAME] = "textId|nameId|name"}},
    [GT_NSYS_OVERHEADS] = {.facts = GT_FACT_OVERHEADS,
                           .names = {"PROFILER_OVERHEAD"},
                           .required = {"start", "end"},
                           .columns = OVERHEAD_COLUMNS},
    [GT_NSYS_DRIVER_OVERHEADS] = {.facts = GT_FACT_OVERHEADS,
                                  .names = {"CUPTI_ACTIVITY_KIND_OVERHEAD"},
                                  .required = {"start", "end"},
                                  .columns = OVERHEAD_COLUMNS},
    [GT_NSYS_GRAPH_CLONES] = {.facts = GT_FACT_GRAPHS,
                              .names = {"CUDA_GRAPH_NODE_EVENTS", "CUDA_GRAPH_EVENTS"},
                              .required = {"globalTid"},
                              .columns = {[GT_NSYS_CLONE_GLOBAL_TID] = "globalTid",
                                          [GT_NSYS_CLONE_NODE] = "graphNodeId",
                                          [GT_NSYS_CLONE_ORIGINAL_NODE] = "originalGraphNodeId",
                                          [GT_NSYS_CLONE_GRAPH] = "graphId",
                                          [GT_NSYS_CLONE_ORIGINAL_GRAPH] = "originalGraphId"}},
    [GT_NSYS_DIAGNOSTICS] =
        {.names = {"DIAGNOSTIC_EVENT"},
         .required = {"text"},
         .columns = {[GT_NSYS_DIAGNOSTIC_TEXT] = "text", [GT_NSYS_DIAGNOSTIC_GLOBAL_PID] = "globalPid"}},
    [GT_NSYS_SYNCS] = {.facts = GT_FACT_SYNCS,
                       .names = {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"},
                       .required = {"start", "syncType"},
                       .columns = {EVENT_COLUMNS, [GT_NSYS_SYNC_START] = "start", [GT_NSYS_SYNC_END] = "end",
                                   [GT_NSYS_SYNC_TYPE] = "syncType", [GT_NSYS_SYNC_OLD_TYPE] = "deprecatedSyncType"}},
    [GT_NSYS_EVENT_RECORDS] = {.facts = GT_FACT_SYNCS,
                               .names = {"CUPTI_ACTIVITY_KIND_CUDA_EVENT"},
                               .required = {"eventId", "correlationId"},
                               .columns = {EVENT_COLUMNS}},
    [GT_NSYS_MEMORY] =
        {.facts = GT_NSYS_FACTS_OF_MEMORY,
         .names = {"CUDA_GPU_MEMORY_USAGE_EVENTS"},
         .required = {"start", "bytes"},
         .columns =
             {MEMORY_COLUMNS, [GT_NSYS_MEMORY_BYTES] = "bytes", [GT_NSYS_MEMORY_OPERATION] = "memoryOperationType",
              [GT_NSYS_MEMORY_POOL] = "localMemoryPoolAddress", [GT_NSYS_MEMORY_KIND] = "memKind",
              [GT_NSYS_MEMORY_NAME] = "name", [GT_NSYS_MEMORY_STREAM] = "streamId"}},
    [GT_NSYS_POOLS] =
        {.facts = GT_NSYS_FACTS_OF_MEMORY,
         .names = {"CUDA_GPU_MEMORY_POOL_EVENTS"},
         .required = {"start", "operationType"},
         .columns =
             {MEMORY_COLUMNS, [GT_NSYS_MEMORY_BYTES] = "minBytesToKeep", [GT_NSYS_MEMORY_OPERATION] = "operationType"}},
    [GT_NSYS_METRICS] = {.facts = GT_FACT_METRICS,
                         .names = {"GPU_METRICS"},
                         .required = {"metricId", "value"},
                         .columns = {[GT_NSYS_METRIC_TIME] = "timestamp|rawTimestamp",
                                     [GT_NSYS_METRIC_TYPE] = "typeId",
                                     [GT_NSYS_METRIC_ID] = "metricId",
                                     [GT_NSYS_METRIC_VALUE] = "value"}},
    [GT_NSYS_CARD_METRICS] = {.facts = GT_FACT_METRICS,
                              .names = {"NET_NIC_METRIC"},
                              .required = {"start", "value"},
                              .columns = NETWORK_COLUMNS},
    [GT_NSYS_SWITCH_METRICS] = {.facts = GT_FACT_METRICS,
                                .names = {"NET_IB_SWITCH_METRIC"},
                                .required = {"start", "value"},
                                .columns = NETWORK_COLUMNS},
    [GT_NSYS_SAMPLES] = {.facts = GT_FACT_STACKS, .names = {"COMPOSITE_EVENTS"}, .columns = {"start"}},
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

uint32_t gt_nsys_schema_facts(enum gt_nsys_role role) {
    return roles[role].facts;
}

/* Whether something of the role is to be read. */
static bool is_asked(const struct role *role, uint32_t facts) {
    return role->facts == 0 || (role->facts & facts) != 0;
}

/* The first table of that name that fits the role, or without a name, with a word of the role in its name; NULL: none.
   Whether tables that do not fit have rows matters only where the role is to be read. */
static enum gt_status find_table(struct gt_nsys_schema *schema, const struct gt_sqlite_db *db, enum gt_nsys_role id,
                                 uint32_t facts, const char *name, const struct gt_sqlite_table **found,
                                 struct gt_error *err) {
    const struct role *role = &roles[id];
    *found = NULL;
    for (size_t t = 0; t < db->table_count && !*found; t++) {
        const struct gt_sqlite_table *table = &db->tables[t];
        uint64_t rows = 0;
        if (!(name ? strcasecmp(table->name.ptr, name) == 0 : has_word(table->name, role)) || is_taken(schema, table))
            continue;
        bool fits = fits_role(table, role), is_readable = table->column_count > 0;
        if (fits)
            *found = table;
        else if (!is_asked(role, facts))
            continue;
        else if (name && is_readable && gt_sqlite_db_table_rows(db, table, &rows, err) != GT_OK)
            return GT_ERR;
        schema->unreadable[id] += name && !is_readable;
        schema->incomplete[id] += rows > 0;
    }
    return GT_OK;
}

static bool is_column_asked(const struct role *role, size_t column, uint32_t facts) {
    for (size_t i = 0; i < PARTS_MAX && role->parts[i].facts; i++)
        if (column >= role->parts[i].first && column <= role->parts[i].last)
            return (role->parts[i].facts & facts) != 0;
    return true;
}

static void add_table(struct gt_nsys_schema *schema, const struct gt_sqlite_table *table, enum gt_nsys_role id,
                      uint32_t facts) {
    const struct role *role = &roles[id];
    struct gt_nsys_table *into = &schema->tables[schema->count++];
    *into = (struct gt_nsys_table){.role = id, .table = table, .is_read = is_asked(role, facts)};
    for (size_t i = 0; i < GT_SQLITE_COLUMNS_MAX; i++) {
        bool is_read = role->columns[i] && is_column_asked(role, i, facts);
        into->columns[i] = is_read ? find_column(table, role->columns[i]) : GT_SQLITE_NO_COLUMN;
        if (is_read)
            into->column_count = i + 1;
    }
}

/* All tables with a name of the role; of several, an empty one adds nothing. Else the first with a word of the role in
 * its name. */
static enum gt_status find_role(struct gt_nsys_schema *schema, const struct gt_sqlite_db *db, enum gt_nsys_role id,
                                uint32_t facts, struct gt_error *err) {
    const struct role *role = &roles[id];
    const struct gt_sqlite_table *named[GT_NSYS_NAMES_MAX], *table;
    size_t count = 0;
    for (size_t n = 0; n < GT_NSYS_NAMES_MAX && role->names[n]; n++) {
        if (find_table(schema, db, id, facts, role->names[n], &table, err) != GT_OK)
            return GT_ERR;
        if (table)
            named[count++] = table;
    }
    size_t before = schema->count;
    for (size_t i = 0; i < count; i++) {
        uint64_t rows = 1;
        if (count > 1 && is_asked(role, facts) && gt_sqlite_db_table_rows(db, named[i], &rows, err) != GT_OK)
            return GT_ERR;
        if (rows > 0)
            add_table(schema, named[i], id, facts);
    }
    if (count && schema->count == before)
        add_table(schema, named[0], id, facts);
    if (count)
        return GT_OK;
    if (find_table(schema, db, id, facts, NULL, &table, err) != GT_OK)
        return GT_ERR;
    if (table)
        add_table(schema, table, id, facts);
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
    return gt_fail(err, "'%s': SQLite database, but neither an Nsight Systems export nor of a ROCm profiler: %s", path,
                   list);
}

enum gt_status gt_nsys_schema_find(struct gt_nsys_schema *schema, const struct gt_sqlite_db *db, uint32_t facts,
                                   const char *path, struct gt_error *err) {
    memset(schema, 0, sizeof *schema);
    for (size_t i = 0; i < GT_NSYS_ROLE_COUNT; i++)
        if (find_role(schema, db, (enum gt_nsys_role)i, facts, err) != GT_OK)
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
