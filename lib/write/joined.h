/* One table over all inputs, as the data formats write it: the rows of every section one after the other, each with the
   input it comes from. Nothing is copied but one row. */
#ifndef GT_WRITE_JOINED_H
#define GT_WRITE_JOINED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "report/report.h"

struct gt_joined {
    const struct gt_report *report;
    const char *key, *title;
    /* `input`, `rank` where several inputs know theirs, unless the table stands alone; then every column any section
       has. */
    const struct gt_report_column **columns;
    size_t column_count;
    size_t row_count, total_rows;
    size_t page_limit;   /* the largest of the tables' own */
    size_t section_rows; /* the most that one section gives */

    size_t section, block, next_row; /* where gt_joined_next is */
    const struct gt_table *table;    /* the one its rows come from */
    size_t *places;                  /* by column of that table: where it goes */
    struct gt_cell *row;
};

/* Key number `index` among the different tables meant for that audience; NULL after the last. */
const char *gt_joined_key(const struct gt_report *report, enum gt_audience audience, size_t index);

/* A key that no section has gives no columns but the leading ones and no rows. */
enum gt_status gt_joined_init(struct gt_joined *joined, const struct gt_report *report, const char *key,
                              struct gt_error *err);
/* At most so many rows: each section gives its first ones, or some from everywhere (page_samples), and as many as any
   other if it has them. Before the first row is taken. */
void gt_joined_limit(struct gt_joined *joined, size_t rows);
void gt_joined_release(struct gt_joined *joined);

/* Before the first row again. */
void gt_joined_rewind(struct gt_joined *joined);

/* column_count cells, valid until the next call; NULL after the last row. */
const struct gt_cell *gt_joined_next(struct gt_joined *joined);

/* By tables instead: moves to the next one, `table`, whose columns go to `places`; false after the last. */
bool gt_joined_next_table(struct gt_joined *joined);
size_t gt_joined_table_rows(const struct gt_joined *joined); /* that it gives */
/* Cells of one of them, by column of the table. */
const struct gt_cell *gt_joined_table_row(const struct gt_joined *joined, size_t row);
/* The column of the table that goes to a place: the last one where two have the same key; SIZE_MAX: none does. */
size_t gt_joined_table_column(const struct gt_joined *joined, size_t place);
/* What a column that is none of the table's has in all rows of it: the input, its rank, or null. */
struct gt_cell gt_joined_table_same(const struct gt_joined *joined, size_t place);

#endif
