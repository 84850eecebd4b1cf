/* What an export of Nsight Systems is made of: the tables of a database come in, rows of source_columns go out. */
#include "decode/nsys/nsys_sqlite.h"
#include "decode/sqlite/sqlite_input.h"

static const char *const role_names[GT_NSYS_ROLE_COUNT] = {
    [GT_NSYS_STRINGS] = "strings",
    [GT_NSYS_META] = "meta",
    [GT_NSYS_SESSION] = "session",
    [GT_NSYS_DETAILS] = "details",
    [GT_NSYS_GPUS] = "gpus",
    [GT_NSYS_CUDA_DEVICES] = "cuda_devices",
    [GT_NSYS_PROCESSES] = "processes",
    [GT_NSYS_THREADS] = "threads",
    [GT_NSYS_SYSTEM] = "system",
    [GT_NSYS_MPI_RANKS] = "mpi_ranks",
    [GT_NSYS_OPTIONS] = "options",
    [GT_NSYS_METRIC_NAMES] = "metric_names",
    [GT_NSYS_METRIC_FIELDS] = "metric_fields",
    [GT_NSYS_NETWORK_NAMES] = "network_names",
    [GT_NSYS_CARDS] = "cards",
    [GT_NSYS_CARD_IDS] = "card_ids",
    [GT_NSYS_PAYLOAD_ENTRIES] = "payload_entries",
    [GT_NSYS_PAYLOAD_ENUMS] = "payload_enums",
    [GT_NSYS_PAYLOAD_VALUES] = "payload_values",
    [GT_NSYS_KERNELS] = "kernels",
    [GT_NSYS_COPIES] = "copies",
    [GT_NSYS_SETS] = "sets",
    [GT_NSYS_GRAPHS] = "graphs",
    [GT_NSYS_RUNTIME] = "runtime",
    [GT_NSYS_DRIVER] = "driver",
    [GT_NSYS_RANGES] = "ranges",
    [GT_NSYS_OVERHEADS] = "overheads",
    [GT_NSYS_DRIVER_OVERHEADS] = "driver_overheads",
    [GT_NSYS_OS_CALLS] = "os_calls",
    [GT_NSYS_MPI_CALLS] = "mpi_calls",
    [GT_NSYS_GRAPH_CLONES] = "graph_clones",
    [GT_NSYS_DIAGNOSTICS] = "diagnostics",
    [GT_NSYS_SYNCS] = "syncs",
    [GT_NSYS_EVENT_RECORDS] = "event_records",
    [GT_NSYS_MEMORY] = "memory",
    [GT_NSYS_POOLS] = "pools",
    [GT_NSYS_METRICS] = "metrics",
    [GT_NSYS_CARD_METRICS] = "card_metrics",
    [GT_NSYS_SWITCH_METRICS] = "switch_metrics",
    [GT_NSYS_SAMPLES] = "samples",
};

static const char *role_of(const void *context, const struct gt_sqlite_table *table) {
    const struct gt_nsys_schema *schema = context;
    for (size_t i = 0; i < schema->count; i++)
        if (schema->tables[i].table == table && schema->tables[i].is_read)
            return role_names[schema->tables[i].role];
    return "";
}

enum gt_status gt_nsys_sqlite_describe(struct gt_builder *builder, const struct gt_sqlite_db *db,
                                       const struct gt_nsys_schema *schema, struct gt_error *err) {
    return gt_sqlite_input_describe(builder, db, role_of, schema, err);
}
