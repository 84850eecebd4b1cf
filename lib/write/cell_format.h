/* Numbers as people read them: one unit and one number of decimals for all the cells of a column. */
#ifndef GT_WRITE_CELL_FORMAT_H
#define GT_WRITE_CELL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/num.h"
#include "base/str.h"
#include "gputime.h"
#include "report/report.h"

#define GT_CELL_MAX (2 * GT_NUM_MAX) /* room for any number formatted here, with its NUL */

struct gt_column_style {
    enum gt_unit unit;
    const char *scale; /* "ms": is in the header; NULL: no unit, or each cell names its own */
    int digits;        /* numbers are divided by ten to this power */
    int decimals;
    bool is_varied; /* the values are too far apart for one unit: each cell has its own */
    bool is_text;   /* left-aligned */
    bool is_signed; /* numbers above 0 have a '+' */
};

/* Looks at the first `rows` rows of the column. */
struct gt_column_style gt_cell_format_style(const struct gt_table *table, size_t column, size_t rows,
                                            enum gputime_unit unit);

/* A number, or "-" for null; gives its length. Text cells are not formatted here: length 0. */
size_t gt_cell_format(char buf[GT_CELL_MAX], const struct gt_column_style *style, const struct gt_cell *cell);

/* A single value with its unit. */
size_t gt_cell_format_fact(char buf[GT_CELL_MAX], const struct gt_report_fact *fact, enum gputime_unit unit);

/* The number as a double; 0 for null and text. */
double gt_cell_format_number(const struct gt_cell *cell);

/* ---- what people see of a table ---- */

/* Does the title line say what the shares of this column are of? Titles such as "% of launches" do so themselves. */
bool gt_cell_format_needs_base(const struct gt_report_column *column);

struct gt_shown {
    size_t columns[GT_TABLE_COLUMNS_MAX];
    size_t column_count;
    size_t rows;        /* the first ones */
    size_t rows_hidden; /* and how many there are after them */
};

void gt_cell_format_shown(struct gt_shown *shown, const struct gt_table *table);

#endif
