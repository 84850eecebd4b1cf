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
                               GT_NSYS_COPY_BYTES = GT_NSYS_KERNEL_NAME,
                               GT_NSYS_COPY_DST_KIND,
                               GT_NSYS_COPY_SRC_KIND,
                               GT_NSYS_COPY_KIND,
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

/* A table of the export and the role that it has; several may have the same. */
struct gt_nsys_table {
    enum gt_nsys_role role;
    const struct gt_sqlite_table *table;
    uint16_t columns[GT_SQLITE_COLUMNS_MAX];
    size_t column_count;
};

#define GT_NSYS_NAMES_MAX  4 /* of tables for one role */
#define GT_NSYS_TABLES_MAX (GT_NSYS_ROLE_COUNT * GT_NSYS_NAMES_MAX)

struct gt_nsys_schema {
    struct gt_nsys_table tables[GT_NSYS_TABLES_MAX]; /* in the order of their roles */
    size_t count;
    size_t unreadable; /* tables with the name of a role whose columns are lost, because the schema pages are damaged */
    size_t incomplete; /* tables with rows and the name of a role that lack a column that it requires */
};

/* An error that lists the tables if this is no Nsight export. */
enum gt_status gt_nsys_schema_find(struct gt_nsys_schema *schema, const struct gt_sqlite_db *db, const char *path,
                                   struct gt_error *err);

/* The first table of a role; one whose table is NULL if the export has none. */
const struct gt_nsys_table *gt_nsys_schema_first(const struct gt_nsys_schema *schema, enum gt_nsys_role role);

#endif
