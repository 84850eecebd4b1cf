/* Fits the columns of a table to the width of the screen: cells and titles come in, widths go out. */
#include "write/text_fit.h"

#include <stdio.h>
#include <string.h>

#define NAME_MIN    20 /* columns give way before names get shorter than this */
#define NAME_GOOD   24 /* bars give way before names get shorter than this */
#define NAME_AMPLE  40 /* names that have less are worth a second line of header */
#define TEXT_MAX    32 /* of text columns that are not names */
#define BAR_MIN     10
#define BAR_MAX     24
#define NATURAL_MAX 4096
#define NARROWEST   4

/* ---- measuring ---- */

/* "Total (ms)", and where it is broken in two if width is short: at the blank, or after the underscore of a label,
   that leaves the narrowest lines. */
static void make_header(const struct gt_screen *screen, struct gt_text_column *column) {
    struct gt_str title = gt_str_of(column->about->title);
    size_t length = title.len < sizeof column->header - 16 ? title.len : sizeof column->header - 16;
    memcpy(column->header, title.ptr, length);
    if (column->style.scale)
        length += (size_t)snprintf(column->header + length, 16, " (%s)", column->style.scale);
    column->header_line[0] = (struct gt_str){column->header, 0};
    column->header_line[1] = (struct gt_str){column->header, length};
    column->header_width = gt_screen_measure(screen, column->header_line[1]);
    column->stacked_width = column->header_width;
    for (size_t i = 1; i + 1 < length; i++) {
        size_t blank = column->header[i] == ' ';
        if (!blank && column->header[i - 1] != '_')
            continue;
        struct gt_str upper = {column->header, i}, lower = {column->header + i + blank, length - i - blank};
        size_t upper_width = gt_screen_measure(screen, upper), lower_width = gt_screen_measure(screen, lower);
        size_t width = upper_width > lower_width ? upper_width : lower_width;
        if (width < column->stacked_width) {
            column->stacked_width = width;
            column->header_line[0] = upper;
            column->header_line[1] = lower;
        }
    }
}

size_t gt_text_fit_cell_width(const struct gt_screen *screen, const struct gt_text_column *column,
                              const struct gt_cell *cell) {
    char buf[GT_CELL_MAX];
    return gt_cell_is_text(cell) ? gt_screen_measure(screen, gt_cell_str(cell))
                                 : gt_cell_format(buf, &column->style, cell);
}

static void measure_cells(const struct gt_text_fit *fitted, struct gt_text_column *column) {
    for (size_t row = 0; row < fitted->shown.rows; row++) {
        const struct gt_cell *cell = gt_text_fit_cell(fitted->table, row, column->index);
        size_t width = gt_text_fit_cell_width(fitted->screen, column, cell);
        size_t most = column->is_name ? NATURAL_MAX : gt_cell_is_text(cell) ? TEXT_MAX : SIZE_MAX;
        width = width < most ? width : most;
        column->cells_width = width > column->cells_width ? width : column->cells_width;
        double value = gt_cell_format_number(cell);
        column->bar_full = value > column->bar_full ? value : column->bar_full;
    }
}

static void measure(struct gt_text_fit *fitted, enum gputime_unit unit) {
    char buf[GT_NUM_MAX];
    fitted->rank_width = fitted->table->is_ranked ? gt_num_format_int(buf, (int64_t)fitted->shown.rows) : 0;
    for (size_t i = 0; i < fitted->shown.column_count; i++) {
        struct gt_text_column *column = &fitted->columns[fitted->count++];
        size_t index = fitted->shown.columns[i];
        *column = (struct gt_text_column){.index = index, .about = &fitted->table->columns[index]};
        column->style = gt_cell_format_style(fitted->table, index, fitted->shown.rows, unit);
        column->is_name = column->about->flags & GT_COLUMN_NAME;
        column->has_bar = column->about->flags & GT_COLUMN_BAR;
        column->bar_full = column->about->flags & GT_COLUMN_WHOLE ? 1 : 0;
        make_header(fitted->screen, column);
        measure_cells(fitted, column);
    }
}

/* ---- fitting ---- */

/* The width of the table if no name gets more than `most`. */
static size_t width_with_names(const struct gt_text_fit *fitted, size_t most) {
    size_t width = GT_TEXT_GAP * (fitted->count - 1) + (fitted->rank_width ? fitted->rank_width + GT_TEXT_GAP : 0);
    for (size_t i = 0; i < fitted->count; i++) {
        const struct gt_text_column *column = &fitted->columns[i];
        width += column->is_name && column->natural > most ? most : column->natural;
        width += column->has_bar && fitted->bar_width ? GT_TEXT_GAP + fitted->bar_width : 0;
    }
    return width;
}

static bool fits(const struct gt_text_fit *fitted, size_t name_width) {
    return width_with_names(fitted, name_width) <= fitted->screen->width;
}

/* One line of header where all fits, else two. */
static void choose_header(struct gt_text_fit *fitted) {
    fitted->bar_width = BAR_MIN;
    for (int stacked = 0; stacked < 2; stacked++) {
        fitted->is_stacked = stacked;
        for (size_t i = 0; i < fitted->count; i++) {
            struct gt_text_column *column = &fitted->columns[i];
            size_t header = stacked ? column->stacked_width : column->header_width;
            column->natural = column->cells_width > header ? column->cells_width : header;
            column->width = column->natural;
        }
        if (fits(fitted, NAME_AMPLE))
            break;
    }
    fitted->bar_width = 0;
}

/* The column that people asked to sort by lets the one before it be the last. */
static void spare_sorted(struct gt_text_fit *fitted) {
    struct gt_text_column *last = &fitted->columns[fitted->count - 1], *before = last - 1;
    if (!fitted->table->shows_sort || fitted->count < 3 || strcmp(last->about->key, fitted->table->sort) != 0)
        return;
    struct gt_text_column sorted = *last;
    *last = *before;
    *before = sorted;
    make_header(fitted->screen, last); /* it has moved with its column */
    make_header(fitted->screen, before);
}

static void drop_columns(struct gt_text_fit *fitted) {
    while (fitted->count > 1 && !fits(fitted, NAME_MIN)) {
        spare_sorted(fitted);
        fitted->count--;
        fitted->dropped++;
    }
    if (!fits(fitted, NAME_MIN))
        fitted->rank_width = 0;
}

/* A bar repeats a number, so it takes only what the others leave. */
static void fit_bars(struct gt_text_fit *fitted) {
    size_t bars = 0;
    for (size_t i = 0; i < fitted->count; i++)
        bars += fitted->columns[i].has_bar;
    fitted->bar_width = BAR_MIN;
    if (!bars || !fits(fitted, NAME_GOOD)) {
        fitted->bar_width = 0;
    } else if (fits(fitted, SIZE_MAX)) {
        size_t wider = BAR_MIN + (fitted->screen->width - width_with_names(fitted, SIZE_MAX)) / bars;
        fitted->bar_width = wider < BAR_MAX ? wider : BAR_MAX;
    }
}

/* Each name its natural width where that is under the fair share; the others share what is left. */
static void share_names(struct gt_text_fit *fitted) {
    size_t others = width_with_names(fitted, 0), left = 0;
    size_t room = others < fitted->screen->width ? fitted->screen->width - others : 0;
    for (size_t i = 0; i < fitted->count; i++) {
        left += fitted->columns[i].is_name;
        fitted->columns[i].width = fitted->columns[i].is_name ? 0 : fitted->columns[i].width;
    }
    for (bool settled = true; settled && left;) {
        settled = false;
        for (size_t i = 0; i < fitted->count && left; i++) {
            struct gt_text_column *column = &fitted->columns[i];
            if (column->is_name && column->width == 0 && column->natural <= room / left) {
                column->width = column->natural;
                room -= column->width;
                left--;
                settled = true;
            }
        }
    }
    for (size_t i = 0; i < fitted->count && left; i++) {
        struct gt_text_column *column = &fitted->columns[i];
        if (!column->is_name || column->width)
            continue;
        column->width = room / left > NARROWEST ? room / left : NARROWEST;
        room -= column->width < room ? column->width : room;
        left--;
    }
}

static void fit(struct gt_text_fit *fitted) {
    choose_header(fitted);
    drop_columns(fitted);
    fit_bars(fitted);
    share_names(fitted);
    if (fitted->count == 1 && fitted->columns[0].width > fitted->screen->width)
        fitted->columns[0].width = fitted->screen->width;
}

void gt_text_fit_init(struct gt_text_fit *fitted, const struct gt_screen *screen, const struct gt_table *table,
                      enum gputime_unit unit) {
    *fitted = (struct gt_text_fit){.screen = screen, .table = table};
    gt_cell_format_shown(&fitted->shown, table);
    if (table->row_count == 0)
        return;
    measure(fitted, unit);
    fit(fitted);
}

bool gt_text_fit_unfold(struct gt_text_fit *fitted) {
    if (!fitted->table->folds || !fitted->dropped || fitted->count < 2)
        return false;
    memmove(&fitted->columns[1], &fitted->columns[fitted->count], fitted->dropped * sizeof *fitted->columns);
    fitted->count = 1 + fitted->dropped;
    fitted->dropped = 0;
    for (size_t i = 0; i < fitted->count; i++)
        make_header(fitted->screen, &fitted->columns[i]); /* it has moved with its column */
    fit(fitted);
    return true;
}
