/* One table as a Parquet file: typed columns with their titles and units, nulls, an `input` column first. */
#include "base/threads.h"
#include "columns/parquet.h"
#include "report/table_columns.h"
#include "write/picked_table.h"
#include "write/writer.h"

/* The chosen columns of the next row; false: there is none. */
static bool next_row(struct gt_picked_table *picked, struct gt_cell *cells) {
    const struct gt_cell *row = gt_joined_next(&picked->joined);
    for (size_t i = 0; row && i < picked->count; i++)
        cells[i] = row[picked->columns[i]];
    return row;
}

static enum gt_status fill_columns(struct gt_table_columns *table, struct gt_picked_table *picked,
                                   struct gt_error *err) {
    const struct gt_report_column *columns[GT_TABLE_COLUMNS_MAX];
    struct gt_cell cells[GT_TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < picked->count; i++)
        columns[i] = picked->joined.columns[picked->columns[i]];
    enum gt_status status = gt_table_columns_init(table, columns, picked->count, err);
    while (status == GT_OK && next_row(picked, cells))
        gt_table_columns_look(table, cells);
    if (status == GT_OK)
        status = gt_table_columns_begin(table, err);
    gt_joined_rewind(&picked->joined);
    while (status == GT_OK && next_row(picked, cells))
        gt_table_columns_fill(table, cells);
    return status == GT_OK ? gt_table_columns_end(table, err) : status;
}

enum gt_status gt_write_parquet(const struct gt_report *report, const struct gputime_write_options *options,
                                struct gt_out *out, struct gt_error *err) {
    struct gt_picked_table picked;
    struct gt_table_columns table = {0};
    struct gt_parquet parquet = {0};
    enum gt_status status = gt_picked_table_init(&picked, report, options, err);
    if (status == GT_OK)
        status = fill_columns(&table, &picked, err);
    if (status == GT_OK)
        status = gt_parquet_init(&parquet, out, gt_threads_count(options->threads), picked.joined.key,
                                 picked.joined.title, table.columns, table.column_count, err);
    if (status == GT_OK)
        status = gt_parquet_append(&parquet, &table.batch, err);
    if (status == GT_OK)
        status = gt_parquet_finish(&parquet, err);
    gt_parquet_release(&parquet);
    gt_table_columns_release(&table);
    gt_picked_table_release(&picked);
    return status;
}
