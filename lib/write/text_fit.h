/* How a table fits the width of a terminal: which columns, how wide, with how many lines of header. */
#ifndef GT_WRITE_TEXT_FIT_H
#define GT_WRITE_TEXT_FIT_H

#include "gputime.h"
#include "report/report.h"
#include "write/cell_format.h"
#include "write/screen.h"

#define GT_TEXT_GAP 2 /* between columns */

struct gt_text_column {
    size_t index; /* in the table */
    const struct gt_report_column *about;
    struct gt_column_style style;
    char header[128];
    struct gt_str header_line[2];       /* if it is broken in two */
    size_t header_width, stacked_width; /* whole, broken */
    size_t cells_width, natural, width;
    bool is_name, has_bar;
    struct gt_cut *cuts; /* of names while rows are drawn; NULL: each is cut regardless of the others */
    double bar_full;     /* the value of a whole bar */
};

struct gt_text_fit {
    const struct gt_screen *screen;
    const struct gt_table *table;
    struct gt_shown shown;
    struct gt_text_column columns[GT_TABLE_COLUMNS_MAX];
    size_t count, dropped;
    size_t rank_width; /* of the numbers before the rows; 0: none */
    size_t bar_width;  /* 0: no bars */
    bool is_stacked;   /* a header of two lines */
};

static inline const struct gt_cell *gt_text_fit_cell(const struct gt_table *table, size_t row, size_t column) {
    return &table->cells[row * table->column_count + column];
}

size_t gt_text_fit_cell_width(const struct gt_screen *screen, const struct gt_text_column *column,
                              const struct gt_cell *cell);

/* Measures the rows that are shown and fits the columns; those that find no room are dropped from the end. */
void gt_text_fit_init(struct gt_text_fit *fitted, const struct gt_screen *screen, const struct gt_table *table,
                      enum gputime_unit unit);

/* Of a table that folds: the columns that were dropped take the places after the first. false: no columns left. */
bool gt_text_fit_unfold(struct gt_text_fit *fitted);

#endif
