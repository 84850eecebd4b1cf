/* A table on a terminal: columns fitted to the width are drawn, names cut in the middle, bars next to numbers. */
#include "write/text_table.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "write/name_cuts.h"
#include "write/text_fit.h"

#define DETAIL_INDENT 4

/* Blanks are held back until something follows them: no line ends in blanks. */
struct pen {
    const struct gt_screen *screen;
    size_t blanks;
};

static void flush_blanks(struct pen *pen) {
    gt_screen_blanks(pen->screen, pen->blanks);
    pen->blanks = 0;
}

static void draw_text(struct pen *pen, struct gt_str text, const struct gt_text_column *column, size_t row) {
    bool utf8 = pen->screen->utf8;
    struct gt_cut cut = column->cuts      ? column->cuts[row]
                        : column->is_name ? gt_glyph_name_cut(text, column->width, utf8)
                                          : gt_glyph_text_cut(text, column->width, utf8);
    if (text.len)
        flush_blanks(pen);
    size_t taken = gt_glyph_cut_put(pen->screen->out, &cut, utf8);
    pen->blanks += column->width > taken ? column->width - taken : 0;
}

static void draw_number(struct pen *pen, struct gt_str number, const struct gt_text_column *column) {
    size_t pad = column->width > number.len ? column->width - number.len : 0;
    pen->blanks += column->style.is_text ? 0 : pad;
    flush_blanks(pen);
    gt_out_str(pen->screen->out, number);
    pen->blanks += column->style.is_text ? pad : 0;
}

static void draw_rank(struct pen *pen, const struct gt_text_fit *fitted, struct gt_str rank) {
    if (!fitted->rank_width)
        return;
    pen->blanks += fitted->rank_width - rank.len;
    flush_blanks(pen);
    gt_out_str(pen->screen->out, rank);
    pen->blanks += GT_TEXT_GAP;
}

static bool is_wrapped(const struct gt_text_fit *fitted, size_t index) {
    return index + 1 == fitted->count && fitted->columns[index].about->flags & GT_COLUMN_SENTENCE;
}

/* The last cell of a row in as many lines as it takes, below each other. */
static void draw_wrapped(struct pen *pen, const struct gt_text_fit *fitted, size_t row) {
    const struct gt_text_column *column = &fitted->columns[fitted->count - 1];
    const struct gt_cell *cell = gt_text_fit_cell(fitted->table, row, column->index);
    size_t left = fitted->rank_width ? fitted->rank_width + GT_TEXT_GAP : 0;
    for (size_t i = 0; i + 1 < fitted->count; i++)
        left += fitted->columns[i].width + GT_TEXT_GAP +
                (fitted->columns[i].has_bar && fitted->bar_width ? GT_TEXT_GAP + fitted->bar_width : 0);
    flush_blanks(pen);
    gt_screen_wrap(pen->screen, GT_INK_PLAIN, gt_cell_is_text(cell) ? gt_cell_str(cell) : GT_STR(""), left, left);
}

static void draw_cell(struct pen *pen, const struct gt_text_fit *fitted, const struct gt_text_column *column,
                      size_t row) {
    const struct gt_cell *cell = gt_text_fit_cell(fitted->table, row, column->index);
    if (gt_cell_is_text(cell)) {
        draw_text(pen, gt_cell_str(cell), column, row);
    } else {
        char buf[GT_CELL_MAX];
        size_t length = gt_cell_format(buf, &column->style, cell);
        draw_number(pen, (struct gt_str){buf, length}, column);
    }
    if (column->has_bar && fitted->bar_width) {
        double share = column->bar_full > 0 ? gt_cell_format_number(cell) / column->bar_full : 0;
        pen->blanks += GT_TEXT_GAP;
        if (share > 0)
            flush_blanks(pen);
        pen->blanks += fitted->bar_width - gt_screen_bar(pen->screen, share, fitted->bar_width);
    }
    pen->blanks += GT_TEXT_GAP;
}

static bool is_same_text(const struct gt_table *table, size_t row, size_t a, size_t b) {
    const struct gt_cell *x = gt_text_fit_cell(table, row, a), *y = gt_text_fit_cell(table, row, b);
    return gt_cell_is_text(x) && gt_cell_is_text(y) && gt_str_eq(gt_cell_str(x), gt_cell_str(y));
}

/* Long names in full below their row: those that were cut and those of columns that are not shown. */
static void draw_full_names(const struct gt_text_fit *fitted, size_t row) {
    const struct gt_table *table = fitted->table;
    for (size_t c = 0; c < table->column_count; c++) {
        const struct gt_cell *cell = gt_text_fit_cell(table, row, c);
        if (!(table->columns[c].flags & GT_COLUMN_NAME) || !gt_cell_is_text(cell) || !cell->text_bytes)
            continue;
        bool is_seen = false;
        for (size_t i = 0; i < fitted->count; i++) {
            const struct gt_text_column *column = &fitted->columns[i];
            is_seen |= gt_cell_is_text(gt_text_fit_cell(table, row, column->index)) &&
                       gt_str_eq(gt_cell_str(gt_text_fit_cell(table, row, column->index)), gt_cell_str(cell)) &&
                       (gt_text_fit_cell_width(fitted->screen, column, cell) <= column->width || is_wrapped(fitted, i));
        }
        for (size_t earlier = 0; earlier < c; earlier++)
            is_seen |= (table->columns[earlier].flags & GT_COLUMN_NAME) && is_same_text(table, row, earlier, c);
        if (!is_seen) {
            gt_screen_blanks(fitted->screen, DETAIL_INDENT);
            gt_screen_wrap(fitted->screen, GT_INK_DIM, gt_cell_str(cell), DETAIL_INDENT, DETAIL_INDENT);
        }
    }
}

static void cut_names(struct gt_text_fit *fitted) {
    for (size_t i = 0; i < fitted->count; i++) {
        struct gt_text_column *column = &fitted->columns[i];
        if (!column->is_name || column->cells_width <= column->width)
            continue;
        column->cuts =
            gt_name_cuts_new(fitted->table, column->index, fitted->shown.rows, column->width, fitted->screen->utf8);
        if (!column->cuts)
            gt_out_fail_memory(fitted->screen->out);
    }
}

static void drop_cuts(struct gt_text_fit *fitted) {
    for (size_t i = 0; i < fitted->count; i++) {
        gt_mem_free(fitted->columns[i].cuts);
        fitted->columns[i].cuts = NULL;
    }
}

static void draw_rows(struct gt_text_fit *fitted, bool with_full_names) {
    cut_names(fitted);
    for (size_t row = 0; row < fitted->shown.rows; row++) {
        struct pen pen = {.screen = fitted->screen};
        char rank[GT_NUM_MAX];
        draw_rank(&pen, fitted, (struct gt_str){rank, gt_num_format_int(rank, (int64_t)row + 1)});
        size_t wrapped = is_wrapped(fitted, fitted->count - 1);
        for (size_t i = 0; i < fitted->count - wrapped; i++)
            draw_cell(&pen, fitted, &fitted->columns[i], row);
        if (wrapped)
            draw_wrapped(&pen, fitted, row);
        else
            gt_screen_newline(fitted->screen);
        if (with_full_names)
            draw_full_names(fitted, row);
    }
    drop_cuts(fitted);
}

/* One line of the header; gives the width of the table. */
static size_t draw_header_line(const struct gt_text_fit *fitted, bool is_upper) {
    const struct gt_screen *screen = fitted->screen;
    struct pen pen = {.screen = screen};
    size_t total = fitted->rank_width ? fitted->rank_width + GT_TEXT_GAP : 0;
    draw_rank(&pen, fitted, is_upper ? GT_STR(" ") : GT_STR("#"));
    for (size_t i = 0; i < fitted->count; i++) {
        const struct gt_text_column *column = &fitted->columns[i];
        struct gt_str text = column->header_line[is_upper ? 0 : 1];
        if (!fitted->is_stacked)
            text = gt_str_of(column->header);
        size_t natural = gt_screen_measure(screen, text);
        size_t pad = natural < column->width ? column->width - natural : 0;
        pen.blanks += column->style.is_text ? 0 : pad;
        if (text.len)
            flush_blanks(&pen);
        gt_screen_short(screen, GT_INK_PLAIN, text, column->width);
        pen.blanks += column->style.is_text ? pad : 0;
        size_t bar = column->has_bar && fitted->bar_width ? GT_TEXT_GAP + fitted->bar_width : 0;
        pen.blanks += bar + GT_TEXT_GAP;
        total += column->width + bar + (i ? GT_TEXT_GAP : 0);
    }
    gt_screen_newline(screen);
    return total;
}

static void draw_header(const struct gt_text_fit *fitted) {
    bool has_upper = false;
    for (size_t i = 0; i < fitted->count; i++)
        has_upper |= fitted->is_stacked && fitted->columns[i].header_line[0].len;
    if (has_upper)
        draw_header_line(fitted, true);
    size_t total = draw_header_line(fitted, false);
    gt_screen_rule(fitted->screen, false, total < fitted->screen->width ? total : fitted->screen->width);
}

/* Percentages say of what, next to the title. */
static void draw_title(const struct gt_text_fit *fitted) {
    const struct gt_screen *screen = fitted->screen;
    struct gt_str title = gt_str_of(fitted->table->title);
    gt_screen_text(screen, GT_INK_BOLD, title);
    size_t column = gt_screen_measure(screen, title);
    const char *lead = "  (";
    for (size_t i = 0; i < fitted->count; i++) {
        const struct gt_report_column *about = fitted->columns[i].about;
        if (!gt_cell_format_needs_base(about))
            continue;
        size_t width = strlen(lead) + strlen(about->title) + strlen(": % of ") + strlen(about->of) + 1;
        if (column + width > screen->width)
            break;
        column += width - 1;
        gt_screen_text(screen, GT_INK_DIM, gt_str_of(lead));
        gt_screen_text(screen, GT_INK_DIM, gt_str_of(about->title));
        gt_screen_text(screen, GT_INK_DIM, GT_STR(": % of "));
        gt_screen_text(screen, GT_INK_DIM, gt_str_of(about->of));
        lead = ", ";
    }
    if (lead[0] == ',')
        gt_screen_text(screen, GT_INK_DIM, GT_STR(")"));
    gt_screen_newline(screen);
}

static void draw_remainder(const struct gt_text_fit *fitted) {
    const struct gt_screen *screen = fitted->screen;
    char line[256];
    gt_screen_remainder(screen, fitted->shown.rows_hidden, fitted->table);
    if (fitted->dropped) {
        size_t used = (size_t)snprintf(line, sizeof line, "(not shown:");
        for (size_t i = fitted->count; i < fitted->count + fitted->dropped && used < sizeof line - 48; i++)
            used += (size_t)snprintf(line + used, sizeof line - used, "%s %.24s", i > fitted->count ? "," : "",
                                     fitted->columns[i].about->key);
        snprintf(line + used, sizeof line - used, "; see %s)",
                 fitted->table->all_columns ? fitted->table->all_columns : "--columns");
        gt_screen_wrap(screen, GT_INK_DIM, gt_str_of(line), 0, 0);
    }
}

static void draw_content(struct gt_text_fit *fitted, bool is_verbose) {
    draw_header(fitted);
    draw_rows(fitted, is_verbose);
    while (gt_text_fit_unfold(fitted)) {
        gt_screen_newline(fitted->screen);
        draw_header(fitted);
        draw_rows(fitted, is_verbose);
    }
    draw_remainder(fitted);
}

void gt_text_table(const struct gt_screen *screen, const struct gt_table *table,
                   const struct gputime_write_options *options) {
    struct gt_text_fit *fitted = gt_mem_alloc(sizeof *fitted); /* too large for a short stack */
    if (!fitted) {
        gt_out_fail_memory(screen->out);
        return;
    }
    gt_text_fit_init(fitted, screen, table, options->unit);
    draw_title(fitted);
    if (table->row_count == 0)
        gt_screen_wrap(screen, GT_INK_PLAIN, gt_str_of(table->empty), 0, 0);
    else
        draw_content(fitted, options->full_names);
    gt_mem_free(fitted);
}
