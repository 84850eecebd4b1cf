/* Headers of the tables that `nsys stats` writes: a row comes in, out goes which table begins there, where its columns
   are and in which units, whichever version wrote it. */
#ifndef GT_DECODE_CSV_NSYS_CSV_HEADER_H
#define GT_DECODE_CSV_NSYS_CSV_HEADER_H

#include "decode/csv/csv_scan.h"

enum gt_nsys_csv_table {
    GT_NSYS_CSV_TRACE,           /* cuda_gpu_trace: every op */
    GT_NSYS_CSV_KERNELS,         /* cuda_gpu_kern_sum */
    GT_NSYS_CSV_KERNELS_BY_GRID, /* cuda_gpu_kern_gb_sum: the same with a row for each launch shape */
    GT_NSYS_CSV_MEMORY,          /* cuda_gpu_mem_time_sum */
    GT_NSYS_CSV_GPU,             /* cuda_gpu_sum: kernels and memory operations */
    GT_NSYS_CSV_RANGES,          /* nvtx_gpu_proj_trace */
    GT_NSYS_CSV_RANGE_SUM,       /* nvtx_gpu_proj_sum */
    GT_NSYS_CSV_OTHER,           /* a table of nsys stats, but none that is needed */
};

enum gt_nsys_csv_column {
    GT_NSYS_CSV_NAME, /* Name, Operation or Range */
    GT_NSYS_CSV_START,
    GT_NSYS_CSV_DURATION,
    GT_NSYS_CSV_CORRELATION,
    GT_NSYS_CSV_BYTES,
    GT_NSYS_CSV_THROUGHPUT,
    GT_NSYS_CSV_SOURCE_KIND,
    GT_NSYS_CSV_TARGET_KIND,
    GT_NSYS_CSV_GRID_X, /* y and z follow */
    GT_NSYS_CSV_GRID_Y,
    GT_NSYS_CSV_GRID_Z,
    GT_NSYS_CSV_BLOCK_X,
    GT_NSYS_CSV_BLOCK_Y,
    GT_NSYS_CSV_BLOCK_Z,
    GT_NSYS_CSV_REGISTERS,
    GT_NSYS_CSV_STATIC_SHARED,
    GT_NSYS_CSV_DYNAMIC_SHARED,
    GT_NSYS_CSV_DEVICE,
    GT_NSYS_CSV_STREAM,
    GT_NSYS_CSV_INSTANCES,
    GT_NSYS_CSV_TOTAL,
    GT_NSYS_CSV_MEDIAN,
    GT_NSYS_CSV_MIN,
    GT_NSYS_CSV_MAX,
    GT_NSYS_CSV_STDDEV,
    GT_NSYS_CSV_GRID,
    GT_NSYS_CSV_CATEGORY,
    GT_NSYS_CSV_RANGE_START, /* of the range itself, on its thread */
    GT_NSYS_CSV_RANGE_DURATION,
    GT_NSYS_CSV_RANGE_TOTAL,
    GT_NSYS_CSV_STYLE,
    GT_NSYS_CSV_PID,
    GT_NSYS_CSV_TID,
    GT_NSYS_CSV_OPS,
    GT_NSYS_CSV_LEVEL,
    GT_NSYS_CSV_COLUMN_COUNT
};

/* A value in the column times 10^decimal * 2^binary is in ns, bytes or bytes per second. */
struct gt_nsys_csv_unit {
    int decimal, binary;
};

#define GT_NSYS_CSV_NOWHERE SIZE_MAX

struct gt_nsys_csv_header {
    enum gt_nsys_csv_table table;
    size_t column_count;
    size_t place[GT_NSYS_CSV_COLUMN_COUNT]; /* in the row, or GT_NSYS_CSV_NOWHERE */
    struct gt_nsys_csv_unit unit[GT_NSYS_CSV_COLUMN_COUNT];
};

/* false: the row is no header. */
bool gt_nsys_csv_header_read(struct gt_nsys_csv_header *header, const struct gt_csv_row *row);

#endif
