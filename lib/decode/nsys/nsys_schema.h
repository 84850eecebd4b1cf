/* Where an Nsight Systems export keeps what: tables and columns by name, over all generations of the exporter. What an
   export lacks is simply not there. */
#ifndef GT_DECODE_NSYS_NSYS_SCHEMA_H
#define GT_DECODE_NSYS_NSYS_SCHEMA_H

#include "decode/sqlite/sqlite_db.h"

enum gt_nsys_role {
    GT_NSYS_STRINGS,
    GT_NSYS_META,
    GT_NSYS_SESSION,
    GT_NSYS_DETAILS,
    GT_NSYS_GPUS,
    GT_NSYS_CUDA_DEVICES,
    GT_NSYS_PROCESSES,
    GT_NSYS_THREADS,
    GT_NSYS_SYSTEM,
    GT_NSYS_MPI_RANKS,
    GT_NSYS_OPTIONS,
    GT_NSYS_METRIC_NAMES,
    GT_NSYS_METRIC_FIELDS,
    GT_NSYS_NETWORK_NAMES,
    GT_NSYS_CARDS,
    GT_NSYS_CARD_IDS,
    GT_NSYS_PAYLOAD_ENTRIES,
    GT_NSYS_PAYLOAD_ENUMS,
    GT_NSYS_PAYLOAD_VALUES,
    GT_NSYS_KERNELS, /* from here on: tables of events */
    GT_NSYS_COPIES,
    GT_NSYS_SETS,
    GT_NSYS_GRAPHS,
    GT_NSYS_RUNTIME,
    GT_NSYS_DRIVER,
    GT_NSYS_RANGES,
    GT_NSYS_OVERHEADS,
    GT_NSYS_DRIVER_OVERHEADS,
    GT_NSYS_GRAPH_CLONES,
    GT_NSYS_DIAGNOSTICS,
    GT_NSYS_SYNCS,
    GT_NSYS_EVENT_RECORDS,
    GT_NSYS_MEMORY,
    GT_NSYS_POOLS,
    GT_NSYS_METRICS,
    GT_NSYS_CARD_METRICS,
    GT_NSYS_SWITCH_METRICS,
    GT_NSYS_SAMPLES,
    GT_NSYS_OS_CALLS,
    GT_NSYS_MPI_CALLS,
    GT_NSYS_ROLE_COUNT
};

/* Columns of each role, in the order in which rows give them. */
enum gt_nsys_activity_column { /* kernels, copies, sets, graphs */
                               GT_NSYS_ACTIVITY_START,
                               GT_NSYS_ACTIVITY_END,
                               GT_NSYS_ACTIVITY_DEVICE,
                               GT_NSYS_ACTIVITY_STREAM,
                               GT_NSYS_ACTIVITY_CORRELATION,
                               GT_NSYS_ACTIVITY_GLOBAL_PID,
                               GT_NSYS_ACTIVITY_PID,
                               GT_NSYS_ACTIVITY_GRAPH_NODE, /* graphs: graphId */
                               GT_NSYS_KERNEL_NAME,
                               GT_NSYS_KERNEL_SHORT_NAME,
                               GT_NSYS_KERNEL_MANGLED_NAME,
                               GT_NSYS_KERNEL_GRID, /* x, y, z */
                               GT_NSYS_KERNEL_BLOCK = GT_NSYS_KERNEL_GRID + 3,
                               GT_NSYS_KERNEL_CLUSTER = GT_NSYS_KERNEL_BLOCK + 3,
                               GT_NSYS_KERNEL_REGISTERS = GT_NSYS_KERNEL_CLUSTER + 3,
                               GT_NSYS_KERNEL_STATIC_SHARED,
                               GT_NSYS_KERNEL_DYNAMIC_SHARED,
                               GT_NSYS_KERNEL_SHARED,
                               GT_NSYS_KERNEL_LOCAL,
                               GT_NSYS_COPY_KIND = GT_NSYS_KERNEL_NAME,
                               GT_NSYS_COPY_BYTES,
                               GT_NSYS_COPY_DST_KIND,
                               GT_NSYS_COPY_SRC_KIND,
};
enum gt_nsys_call_column {
    GT_NSYS_CALL_START,
    GT_NSYS_CALL_END,
    GT_NSYS_CALL_CORRELATION,
    GT_NSYS_CALL_GLOBAL_TID,
    GT_NSYS_CALL_NAME_ID,
    GT_NSYS_CALL_NAME,
    GT_NSYS_CALL_PID,
    GT_NSYS_CALL_TID,
};
enum gt_nsys_range_column {
    GT_NSYS_RANGE_START,
    GT_NSYS_RANGE_END,
    GT_NSYS_RANGE_TYPE,
    GT_NSYS_RANGE_TEXT,
    GT_NSYS_RANGE_TEXT_ID,
    GT_NSYS_RANGE_GLOBAL_TID,
    GT_NSYS_RANGE_END_GLOBAL_TID,
    GT_NSYS_RANGE_DOMAIN,
    GT_NSYS_RANGE_CATEGORY,
    GT_NSYS_RANGE_PAYLOAD,
};
enum gt_nsys_overhead_column {
    GT_NSYS_OVERHEAD_START,
    GT_NSYS_OVERHEAD_END,
    GT_NSYS_OVERHEAD_GLOBAL_TID,
    GT_NSYS_OVERHEAD_NAME,
};

enum gt_nsys_clone_column {
    GT_NSYS_CLONE_GLOBAL_TID,
    GT_NSYS_CLONE_NODE,
    GT_NSYS_CLONE_ORIGINAL_NODE,
    GT_NSYS_CLONE_GRAPH,
    GT_NSYS_CLONE_ORIGINAL_GRAPH,
};
enum { GT_NSYS_DIAGNOSTIC_TEXT, GT_NSYS_DIAGNOSTIC_GLOBAL_PID };

enum gt_nsys_sync_column { /* also of records of events, which have no times */
                           GT_NSYS_SYNC_DEVICE,
                           GT_NSYS_SYNC_STREAM,
                           GT_NSYS_SYNC_CORRELATION,
                           GT_NSYS_SYNC_GLOBAL_PID,
                           GT_NSYS_SYNC_EVENT,
                           GT_NSYS_SYNC_RECORD,
                           GT_NSYS_SYNC_START,
                           GT_NSYS_SYNC_END,
                           GT_NSYS_SYNC_TYPE,
                           GT_NSYS_SYNC_OLD_TYPE,
};
enum gt_nsys_memory_column { /* also of operations of pools */
                             GT_NSYS_MEMORY_START,
                             GT_NSYS_MEMORY_GLOBAL_PID,
                             GT_NSYS_MEMORY_DEVICE,
                             GT_NSYS_MEMORY_ADDRESS,
                             GT_NSYS_MEMORY_BYTES,
                             GT_NSYS_MEMORY_OPERATION,
                             GT_NSYS_MEMORY_CORRELATION,
                             GT_NSYS_MEMORY_POOL_KEPT,
                             GT_NSYS_MEMORY_POOL_BYTES,
                             GT_NSYS_MEMORY_POOL_USED,
                             GT_NSYS_MEMORY_POOL,
                             GT_NSYS_MEMORY_KIND,
                             GT_NSYS_MEMORY_NAME,
                             GT_NSYS_MEMORY_STREAM,
};
enum gt_nsys_metric_column {
    GT_NSYS_METRIC_TIME,
    GT_NSYS_METRIC_TYPE,
    GT_NSYS_METRIC_ID,
    GT_NSYS_METRIC_VALUE,
};
enum gt_nsys_network_column { /* of samples of cards and switches */
                              GT_NSYS_NETWORK_START,
                              GT_NSYS_NETWORK_DEVICE,
                              GT_NSYS_NETWORK_PORT,
                              GT_NSYS_NETWORK_LIST,
                              GT_NSYS_NETWORK_INDEX,
                              GT_NSYS_NETWORK_VALUE,
};
enum gt_nsys_gpu_column {
    GT_NSYS_GPU_ID,
    GT_NSYS_GPU_NAME,
    GT_NSYS_GPU_UUID,
    GT_NSYS_GPU_MEMORY,
    GT_NSYS_GPU_BANDWIDTH,
    GT_NSYS_GPU_CLOCK,
    GT_NSYS_GPU_L2,
    GT_NSYS_GPU_MULTIPROCESSORS,
    GT_NSYS_GPU_MAJOR,
    GT_NSYS_GPU_MINOR,
    GT_NSYS_GPU_WARPS,
    GT_NSYS_GPU_BLOCKS,
    GT_NSYS_GPU_REGISTERS,
    GT_NSYS_GPU_SHARED,
};

/* A table of the export and the role that it has; several may have the same. */
struct gt_nsys_table {
    enum gt_nsys_role role;
    const struct gt_sqlite_table *table;
    uint16_t columns[GT_SQLITE_COLUMNS_MAX];
    size_t column_count;
    bool is_read; /* something asks for what it has */
};

#define GT_NSYS_NAMES_MAX  4 /* of tables for one role */
#define GT_NSYS_TABLES_MAX (GT_NSYS_ROLE_COUNT * GT_NSYS_NAMES_MAX)

struct gt_nsys_schema {
    struct gt_nsys_table tables[GT_NSYS_TABLES_MAX]; /* in the order of their roles */
    size_t count;
    /* By role, tables with its name that cannot be read: whose columns are lost, because the schema pages are damaged,
       and those with rows that lack a column that it requires. */
    size_t unreadable[GT_NSYS_ROLE_COUNT], incomplete[GT_NSYS_ROLE_COUNT];
};

/* enum gt_fact: tables of the role are read for any of these; 0: always. */
uint32_t gt_nsys_schema_facts(enum gt_nsys_role role);

/* facts: enum gt_fact, what is to be read. No page is read of tables that have nothing of that, and columns that have
   nothing of it are left out. An error that lists the tables if this is no Nsight export. */
enum gt_status gt_nsys_schema_find(struct gt_nsys_schema *schema, const struct gt_sqlite_db *db, uint32_t facts,
                                   const char *path, struct gt_error *err);

/* The first table of a role, read or not; one whose table is NULL if the export has none. */
const struct gt_nsys_table *gt_nsys_schema_first(const struct gt_nsys_schema *schema, enum gt_nsys_role role);

#endif
