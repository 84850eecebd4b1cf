/* The cells of a table turned into typed columns, for those who want a table column by column. Copies everything. */
#ifndef GT_REPORT_TABLE_COLUMNS_H
#define GT_REPORT_TABLE_COLUMNS_H

#include "base/arena.h"
#include "base/fail.h"
#include "base/strtab.h"
#include "columns/batch.h"
#include "report/table.h"

struct gt_table_column; /* what is known of the values of one */

struct gt_table_columns {
    struct gt_batch batch; /* valid once it is filled */
    struct gt_batch_column *columns;
    struct gt_table_column *values; /* by column */
    size_t column_count, row_count, filled;
};

/* Rows are shown twice, in the same order: first to find the types of the columns, then to fill them. Whole numbers
   alone are I64, other numbers and shares F64; a column with any text is text, and so is one of names without values.
   Release also after a failure. */
enum gt_status gt_table_columns_init(struct gt_table_columns *table, const struct gt_report_column *const *columns,
                                     size_t count, struct gt_error *err);
void gt_table_columns_look(struct gt_table_columns *table, const struct gt_cell *row);
enum gt_status gt_table_columns_begin(struct gt_table_columns *table, struct gt_error *err);
void gt_table_columns_fill(struct gt_table_columns *table, const struct gt_cell *row);
enum gt_status gt_table_columns_end(struct gt_table_columns *table, struct gt_error *err);
void gt_table_columns_release(struct gt_table_columns *table);

#endif
