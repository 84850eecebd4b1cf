/* Rows for tests that fill some cells by their place and leave the others null. */
#ifndef NULL_ROW_H
#define NULL_ROW_H

#include "report/row.h"

/* A new row of the table; good until the next one. */
static inline struct gt_cell *null_row(struct gt_table *table) {
    struct gt_row row = gt_row_begin(table);
    gt_row_null_rest(&row, table->columns[0].key);
    gt_row_end(&row);
    return row.cells;
}

#endif
