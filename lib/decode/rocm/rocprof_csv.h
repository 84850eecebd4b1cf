/* CSVs of ROCm's profilers: the traces that rocprofv3 writes as one file for each kind of record, `rocpd convert`
   likewise, and the results.csv of rocprof and rocprofv2. */
#ifndef GT_DECODE_ROCM_ROCPROF_CSV_H
#define GT_DECODE_ROCM_ROCPROF_CSV_H

#include "decode/csv/csv_scan.h"
#include "decode/decoder.h"
#include "decode/rocm/rocm.h"

#define GT_ROCPROF_CSV_KEY "rocprof-csv"

int gt_rocprof_csv_sniff(struct gt_str head, const char *path);
enum gt_status gt_rocprof_csv_decode(struct gt_source *const *sources, size_t count,
                                     const struct gt_decode_options *options, struct gt_store **out,
                                     struct gt_error *err);
/* The same with other buffers, for tests. */
enum gt_status gt_rocprof_csv_decode_sized(struct gt_source *const *sources, size_t count,
                                           const struct gt_decode_options *options, const struct gt_csv_sizes *sizes,
                                           struct gt_store **out, struct gt_error *err);
/* "PREFIX_kernel_trace.csv" and so on are of one capture: the length of what names it; 0: the path is none of these. */
size_t gt_rocprof_csv_capture_prefix(const char *path);

/* In the order in which they are read: processes are known from regions, GPUs from agents. */
enum gt_rocprof_csv_table {
    GT_ROCPROF_CSV_AGENTS,
    GT_ROCPROF_CSV_REGIONS,
    GT_ROCPROF_CSV_KERNELS,
    GT_ROCPROF_CSV_COPIES,
    GT_ROCPROF_CSV_ALLOCATIONS,
    GT_ROCPROF_CSV_COUNTERS,
    GT_ROCPROF_CSV_SUMS,  /* kernels or copies, summed by name */
    GT_ROCPROF_CSV_OTHER, /* a table of the profiler, but none that is needed */
};

enum gt_rocprof_csv_column {
    GT_ROCPROF_CSV_START,
    GT_ROCPROF_CSV_END,
    GT_ROCPROF_CSV_NAME, /* of a kernel */
    GT_ROCPROF_CSV_FUNCTION,
    GT_ROCPROF_CSV_DOMAIN,
    GT_ROCPROF_CSV_DIRECTION,
    GT_ROCPROF_CSV_OPERATION,
    GT_ROCPROF_CSV_AGENT,
    GT_ROCPROF_CSV_GPU, /* rocprof: the number of the GPU */
    GT_ROCPROF_CSV_SOURCE,
    GT_ROCPROF_CSV_TARGET,
    GT_ROCPROF_CSV_QUEUE,
    GT_ROCPROF_CSV_STREAM,
    GT_ROCPROF_CSV_THREAD,
    GT_ROCPROF_CSV_PROCESS,
    GT_ROCPROF_CSV_GUID,
    GT_ROCPROF_CSV_CORRELATION,
    GT_ROCPROF_CSV_DISPATCH,
    GT_ROCPROF_CSV_BYTES,
    GT_ROCPROF_CSV_ADDRESS,
    GT_ROCPROF_CSV_GRAPH,
    GT_ROCPROF_CSV_LDS,
    GT_ROCPROF_CSV_SCRATCH,
    GT_ROCPROF_CSV_VGPRS,
    GT_ROCPROF_CSV_GRID_X,
    GT_ROCPROF_CSV_GRID_Y,
    GT_ROCPROF_CSV_GRID_Z,
    GT_ROCPROF_CSV_GROUP_X,
    GT_ROCPROF_CSV_GROUP_Y,
    GT_ROCPROF_CSV_GROUP_Z,
    GT_ROCPROF_CSV_GRID, /* the product of all three */
    GT_ROCPROF_CSV_GROUP,
    GT_ROCPROF_CSV_COUNTER,
    GT_ROCPROF_CSV_VALUE,
    GT_ROCPROF_CSV_NODE,
    GT_ROCPROF_CSV_LOGICAL,
    GT_ROCPROF_CSV_TYPE,
    GT_ROCPROF_CSV_AGENT_NAME,
    GT_ROCPROF_CSV_PRODUCT,
    GT_ROCPROF_CSV_MODEL,
    GT_ROCPROF_CSV_UNITS,
    GT_ROCPROF_CSV_LDS_SIZE,
    GT_ROCPROF_CSV_CLOCK,
    GT_ROCPROF_CSV_CALLS,
    GT_ROCPROF_CSV_TOTAL,
    GT_ROCPROF_CSV_MIN,
    GT_ROCPROF_CSV_MAX,
    GT_ROCPROF_CSV_STDDEV,
    GT_ROCPROF_CSV_COLUMN_COUNT
};

struct gt_rocprof_csv_header {
    enum gt_rocprof_csv_table table;
    size_t column_count;
    uint8_t place[GT_ROCPROF_CSV_COLUMN_COUNT]; /* in the row + 1; 0: nowhere */
    bool is_old;                                /* of rocprof, before rocprofv3 */
};

/* false: the row is no header. */
bool gt_rocprof_csv_header_read(struct gt_rocprof_csv_header *header, const struct gt_csv_row *row);

/* ---- rocprof_csv_rows.c ---- */

struct gt_rocprof_csv_agent {
    uint64_t node, logical, type_index;
    bool is_gpu;
};

/* Where rows go. */
struct gt_rocprof_csv_rows {
    struct gt_rocm_sink *sink;
    struct gt_rocm_capture *capture;
    struct gt_rocprof_csv_agent *agents;
    size_t agent_count, agent_capacity;
    struct gt_map process_of_thread, process_of_guid, seen; /* seen: dispatches of the file of counters */
    char *text;                                             /* room for a cell without its quotes */
    size_t text_bytes;
    uint64_t part;          /* the file */
    uint64_t kernels;       /* ops so far */
    enum gt_op_kind summed; /* what the file sums */
};
void gt_rocprof_csv_rows_release(struct gt_rocprof_csv_rows *rows);
/* Adds what a row says. false: it is none of its table. */
bool gt_rocprof_csv_rows_take(struct gt_rocprof_csv_rows *rows, const struct gt_rocprof_csv_header *header,
                              const struct gt_csv_row *row);
/* GPUs get their numbers, when all agents are known. */
void gt_rocprof_csv_rows_number_agents(struct gt_rocprof_csv_rows *rows);
uint32_t gt_rocprof_csv_rows_facts(enum gt_rocprof_csv_table table); /* whom a lost row concerns; 0: all */

#endif
