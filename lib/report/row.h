/* Writes rows of a table, cell by cell in the order of its columns. Each cell names the column it is for, so that one
   that is moved, missing, extra or doubled is an error and never data in the wrong column:

       struct gt_row row = gt_row_begin(table);
       gt_row_int(&row, "device", device->id);
       gt_row_share(&row, "share", busy_ns, span_ns);
       gt_row_end(&row);

   The first such error stays in the report (gt_report_status); nothing is ever written beyond the row. Names are
   compared in the first rows of a table, and in all of them in builds for tests; the number of cells in every row. */
#ifndef GT_REPORT_ROW_H
#define GT_REPORT_ROW_H

#include "report/report.h"

struct gt_row {
    struct gt_table *table;
    struct gt_cell *cells;
    size_t count;     /* of cells put so far */
    size_t unchecked; /* so many need no look: none where names are compared, else the whole row */
};

/* Room for so many rows in all: for long tables whose length is known, so that they need not be moved as they grow. */
void gt_row_reserve(struct gt_table *table, size_t row_count);

/* One row of a table at a time. It belongs to the table once it is ended. */
struct gt_row gt_row_begin(struct gt_table *table);
void gt_row_end(struct gt_row *row);

/* So many rows more, made by several threads: fill(context, row, i) puts the cells of number i of them. */
void gt_row_fill(struct gt_table *table, size_t count, size_t threads,
                 void (*fill)(const void *context, struct gt_row *row, size_t index), const void *context);

/* Whether the next cell of the row is that of the column with this key. If not, the report has failed. */
bool gt_row_expects(struct gt_row *row, const char *key);

static inline void gt_row_cell(struct gt_row *row, const char *key, struct gt_cell cell) {
    if (row->count < row->unchecked || gt_row_expects(row, key))
        row->cells[row->count++] = cell;
}

/* For whatever column is next: of tables whose columns are made from those of another table. */
static inline void gt_row_next(struct gt_row *row, struct gt_cell cell) {
    const struct gt_table *table = row->table;
    gt_row_cell(row, row->count < table->column_count ? table->columns[row->count].key : "", cell);
}

static inline void gt_row_null(struct gt_row *row, const char *key) {
    gt_row_cell(row, key, gt_cell_null());
}

/* All that is left of the row, from the column with this key on. */
void gt_row_null_rest(struct gt_row *row, const char *key);

static inline void gt_row_int(struct gt_row *row, const char *key, int64_t value) {
    gt_row_cell(row, key, gt_cell_int(value));
}

static inline void gt_row_count(struct gt_row *row, const char *key, size_t count) {
    gt_row_cell(row, key, gt_cell_count(count));
}

static inline void gt_row_real(struct gt_row *row, const char *key, double value) {
    gt_row_cell(row, key, gt_cell_real(value));
}

static inline void gt_row_share(struct gt_row *row, const char *key, double part, double whole) {
    gt_row_cell(row, key, gt_cell_share(part, whole));
}

static inline void gt_row_text(struct gt_row *row, const char *key, struct gt_str text) {
    gt_row_cell(row, key, gt_cell_text(text));
}

#endif
