/* Writes a Parquet file: one table, in row groups. The same rows give the same bytes for any number of threads. */
#ifndef GT_COLUMNS_PARQUET_H
#define GT_COLUMNS_PARQUET_H

#include "base/fail.h"
#include "base/out.h"
#include "columns/batch.h"

enum { GT_PARQUET_GROUP_ROWS = 1 << 20 };

/* A file being written. */
struct gt_parquet {
    struct gt_out *out;
    size_t threads;
    struct gt_str key, title;              /* of the table; borrowed */
    const struct gt_batch_column *columns; /* the schema; values do not count; borrowed */
    size_t column_count;
    struct gt_out *groups; /* what the file says about its row groups, in memory */
    size_t group_count;
    int64_t row_count, position; /* rows and bytes so far */
};

/* Begins a table with these columns. Release also after a failure. */
enum gt_status gt_parquet_init(struct gt_parquet *parquet, struct gt_out *out, size_t threads, const char *key,
                               const char *title, const struct gt_batch_column *columns, size_t column_count,
                               struct gt_error *err);
/* Appends rows, whose columns are of the same types as those of the schema: as many row groups as they need. */
enum gt_status gt_parquet_append(struct gt_parquet *parquet, const struct gt_batch *batch, struct gt_error *err);
/* Writes the end of the file. The output is still to be committed. */
enum gt_status gt_parquet_finish(struct gt_parquet *parquet, struct gt_error *err);
void gt_parquet_release(struct gt_parquet *parquet);

#endif
