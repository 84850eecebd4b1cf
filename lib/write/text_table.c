/* A table on a terminal: columns measured and fitted to the width, names cut in the middle, bars drawn. */
#include "write/text_table.h"

#include <stdio.h>
#include <string.h>

#include "write/cell.h"

#define COLUMN_GAP    2
#define NAME_MIN      20 /* columns give way before names get shorter than this */
#define NAME_GOOD     24 /* bars give way before names get shorter than this */
#define NAME_AMPLE    40 /* names that have less are worth a second line of header */
#define TEXT_MAX      32 /* of text columns that are not names */
#define BAR_MIN       10
#define BAR_MAX       24
#define NATURAL_MAX   4096
#define NARROWEST     4
#define DETAIL_INDENT 4

struct column {
    size_t index; /* in the table */
    const struct gt_report_column *about;
    struct gt_column_style style;
    char header[128];
    struct gt_str header_line[2];       /* if it is broken in two */
    size_t header_width, stacked_width; /* whole, broken */
    size_t cells_width, natural, width;
    bool is_name, has_bar;
    double bar_full; /* the value of a whole bar */
};

struct fitted {
    const struct gt_screen *screen;
    const struct gt_table *table;
    struct gt_shown shown;
    struct column columns[GT_TABLE_COLUMNS_MAX];
    size_t count, dropped;
    size_t rank_width; /* of the numbers before the rows; 0: none */
    size_t bar_width;  /* 0: no bars */
    bool is_stacked;   /* a header of two lines */
};

static const struct gt_cell *cell_at(const struct gt_table *table, size_t row, size_t column) {
    return &table->cells[row * table->column_count + column];
}

/* ---- measuring ---- */

/* "Total (ms)", and where it is broken in two if width is short: at the blank, or behind the underscore of a label,
   that leaves the narrowest lines. */
static void make_header(const struct gt_screen *screen, struct column *column) {
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

static size_t cell_width(const struct gt_screen *screen, const struct column *column, const struct gt_cell *cell) {
    char buf[GT_CELL_MAX];
    return gt_cell_is_text(cell) ? gt_screen_measure(screen, gt_cell_str(cell))
                                 : gt_cell_format(buf, &column->style, cell);
}

static void measure_cells(const struct fitted *fitted, struct column *column) {
    for (size_t row = 0; row < fitted->shown.rows; row++) {
        const struct gt_cell *cell = cell_at(fitted->table, row, column->index);
        size_t width = cell_width(fitted->screen, column, cell);
        size_t most = column->is_name ? NATURAL_MAX : gt_cell_is_text(cell) ? TEXT_MAX : SIZE_MAX;
        width = width < most ? width : most;
        column->cells_width = width > column->cells_width ? width : column->cells_width;
        double value = gt_cell_number(cell);
        column->bar_full = value > column->bar_full ? value : column->bar_full;
    }
}

static void measure(struct fitted *fitted, enum gputime_choice_unit unit) {
    char buf[GT_NUM_MAX];
    fitted->rank_width = fitted->table->is_ranked ? gt_num_format_int(buf, (int64_t)fitted->shown.rows) : 0;
    for (size_t i = 0; i < fitted->shown.column_count; i++) {
        struct column *column = &fitted->columns[fitted->count++];
        size_t index = fitted->shown.columns[i];
        *column = (struct column){.index = index, .about = &fitted->table->columns[index]};
        column->style = gt_column_style_of(fitted->table, index, fitted->shown.rows, unit);
        column->is_name = column->about->flags & GT_COLUMN_NAME;
        column->has_bar = column->about->flags & GT_COLUMN_BAR;
        column->bar_full = column->about->flags & GT_COLUMN_WHOLE ? 1 : 0;
        make_header(fitted->screen, column);
        measure_cells(fitted, column);
    }
}

/* ---- fitting ---- */

/* The width of the table if no name gets more than `most`. */
static size_t width_with_names(const struct fitted *fitted, size_t most) {
    size_t width = COLUMN_GAP * (fitted->count - 1) + (fitted->rank_width ? fitted->rank_width + COLUMN_GAP : 0);
    for (size_t i = 0; i < fitted->count; i++) {
        const struct column *column = &fitted->columns[i];
        width += column->is_name && column->natural > most ? most : column->natural;
        width += column->has_bar && fitted->bar_width ? COLUMN_GAP + fitted->bar_width : 0;
    }
    return width;
}

static bool fits(const struct fitted *fitted, size_t name_width) {
    return width_with_names(fitted, name_width) <= fitted->screen->width;
}

/* One line of header where all fits, else two. */
static void choose_header(struct fitted *fitted) {
    fitted->bar_width = BAR_MIN;
    for (int stacked = 0; stacked < 2; stacked++) {
        fitted->is_stacked = stacked;
        for (size_t i = 0; i < fitted->count; i++) {
            struct column *column = &fitted->columns[i];
            size_t header = stacked ? column->stacked_width : column->header_width;
            column->natural = column->cells_width > header ? column->cells_width : header;
            column->width = column->natural;
        }
        if (fits(fitted, NAME_AMPLE))
            break;
    }
    fitted->bar_width = 0;
}

static void drop_columns(struct fitted *fitted) {
    while (fitted->count > 1 && !fits(fitted, NAME_MIN)) {
        fitted->count--;
        fitted->dropped++;
    }
    if (!fits(fitted, NAME_MIN))
        fitted->rank_width = 0;
}

/* A bar repeats a number, so it takes only what the others leave. */
static void fit_bars(struct fitted *fitted) {
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
static void share_names(struct fitted *fitted) {
    size_t others = width_with_names(fitted, 0), left = 0;
    size_t room = others < fitted->screen->width ? fitted->screen->width - others : 0;
    for (size_t i = 0; i < fitted->count; i++) {
        left += fitted->columns[i].is_name;
        fitted->columns[i].width = fitted->columns[i].is_name ? 0 : fitted->columns[i].width;
    }
    for (bool settled = true; settled && left;) {
        settled = false;
        for (size_t i = 0; i < fitted->count && left; i++) {
            struct column *column = &fitted->columns[i];
            if (column->is_name && column->width == 0 && column->natural <= room / left) {
                column->width = column->natural;
                room -= column->width;
                left--;
                settled = true;
            }
        }
    }
    for (size_t i = 0; i < fitted->count && left; i++) {
        struct column *column = &fitted->columns[i];
        if (!column->is_name || column->width)
            continue;
        column->width = room / left > NARROWEST ? room / left : NARROWEST;
        room -= column->width < room ? column->width : room;
        left--;
    }
}

static void fit(struct fitted *fitted) {
    choose_header(fitted);
    drop_columns(fitted);
    fit_bars(fitted);
    share_names(fitted);
    if (fitted->count == 1 && fitted->columns[0].width > fitted->screen->width)
        fitted->columns[0].width = fitted->screen->width;
}

/* ---- drawing ---- */

/* Blanks are held back until something follows them: no line ends in blanks. */
struct pen {
    const struct gt_screen *screen;
    size_t blanks;
};

static void flush_blanks(struct pen *pen) {
    gt_screen_blanks(pen->screen, pen->blanks);
    pen->blanks = 0;
}

static void draw_text(struct pen *pen, struct gt_str text, const struct column *column) {
    bool utf8 = pen->screen->utf8;
    struct gt_cut cut =
        column->is_name ? gt_name_cut(text, column->width, utf8) : gt_text_cut(text, column->width, utf8);
    if (text.len)
        flush_blanks(pen);
    size_t taken = gt_cut_put(pen->screen->out, &cut, utf8);
    pen->blanks += column->width > taken ? column->width - taken : 0;
}

static void draw_number(struct pen *pen, struct gt_str number, const struct column *column) {
    size_t pad = column->width > number.len ? column->width - number.len : 0;
    pen->blanks += column->style.is_text ? 0 : pad;
    flush_blanks(pen);
    gt_out_str(pen->screen->out, number);
    pen->blanks += column->style.is_text ? pad : 0;
}

static void draw_rank(struct pen *pen, const struct fitted *fitted, struct gt_str rank) {
    if (!fitted->rank_width)
        return;
    pen->blanks += fitted->rank_width - rank.len;
    flush_blanks(pen);
    gt_out_str(pen->screen->out, rank);
    pen->blanks += COLUMN_GAP;
}

static void draw_cell(struct pen *pen, const struct fitted *fitted, const struct column *column,
                      const struct gt_cell *cell) {
    if (gt_cell_is_text(cell)) {
        draw_text(pen, gt_cell_str(cell), column);
    } else {
        char buf[GT_CELL_MAX];
        size_t length = gt_cell_format(buf, &column->style, cell);
        draw_number(pen, (struct gt_str){buf, length}, column);
    }
    if (column->has_bar && fitted->bar_width) {
        double share = column->bar_full > 0 ? gt_cell_number(cell) / column->bar_full : 0;
        pen->blanks += COLUMN_GAP;
        if (share > 0)
            flush_blanks(pen);
        pen->blanks += fitted->bar_width - gt_screen_bar(pen->screen, share, fitted->bar_width);
    }
    pen->blanks += COLUMN_GAP;
}

static bool is_same_text(const struct gt_table *table, size_t row, size_t a, size_t b) {
    const struct gt_cell *x = cell_at(table, row, a), *y = cell_at(table, row, b);
    return gt_cell_is_text(x) && gt_cell_is_text(y) && gt_str_eq(gt_cell_str(x), gt_cell_str(y));
}

/* Long names in full below their row: those that were cut and those of columns that are not shown. */
static void draw_full_names(const struct fitted *fitted, size_t row) {
    const struct gt_table *table = fitted->table;
    for (size_t c = 0; c < table->column_count; c++) {
        const struct gt_cell *cell = cell_at(table, row, c);
        if (!(table->columns[c].flags & GT_COLUMN_NAME) || !gt_cell_is_text(cell) || !cell->text_bytes)
            continue;
        bool is_seen = false;
        for (size_t i = 0; i < fitted->count; i++) {
            const struct column *column = &fitted->columns[i];
            is_seen |= gt_cell_is_text(cell_at(table, row, column->index)) &&
                       gt_str_eq(gt_cell_str(cell_at(table, row, column->index)), gt_cell_str(cell)) &&
                       cell_width(fitted->screen, column, cell) <= column->width;
        }
        for (size_t earlier = 0; earlier < c; earlier++)
            is_seen |= (table->columns[earlier].flags & GT_COLUMN_NAME) && is_same_text(table, row, earlier, c);
        if (!is_seen) {
            gt_screen_blanks(fitted->screen, DETAIL_INDENT);
            gt_screen_wrap(fitted->screen, GT_INK_DIM, gt_cell_str(cell), DETAIL_INDENT, DETAIL_INDENT);
        }
    }
}

static void draw_rows(const struct fitted *fitted, bool with_full_names) {
    for (size_t row = 0; row < fitted->shown.rows; row++) {
        struct pen pen = {.screen = fitted->screen};
        char rank[GT_NUM_MAX];
        draw_rank(&pen, fitted, (struct gt_str){rank, gt_num_format_int(rank, (int64_t)row + 1)});
        for (size_t i = 0; i < fitted->count; i++)
            draw_cell(&pen, fitted, &fitted->columns[i], cell_at(fitted->table, row, fitted->columns[i].index));
        gt_screen_newline(fitted->screen);
        if (with_full_names)
            draw_full_names(fitted, row);
    }
}

/* One line of the header; gives the width of the table. */
static size_t draw_header_line(const struct fitted *fitted, bool is_upper) {
    const struct gt_screen *screen = fitted->screen;
    struct pen pen = {.screen = screen};
    size_t total = fitted->rank_width ? fitted->rank_width + COLUMN_GAP : 0;
    draw_rank(&pen, fitted, is_upper ? GT_STR(" ") : GT_STR("#"));
    for (size_t i = 0; i < fitted->count; i++) {
        const struct column *column = &fitted->columns[i];
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
        size_t bar = column->has_bar && fitted->bar_width ? COLUMN_GAP + fitted->bar_width : 0;
        pen.blanks += bar + COLUMN_GAP;
        total += column->width + bar + (i ? COLUMN_GAP : 0);
    }
    gt_screen_newline(screen);
    return total;
}

static void draw_header(const struct fitted *fitted) {
    bool has_upper = false;
    for (size_t i = 0; i < fitted->count; i++)
        has_upper |= fitted->is_stacked && fitted->columns[i].header_line[0].len;
    if (has_upper)
        draw_header_line(fitted, true);
    size_t total = draw_header_line(fitted, false);
    gt_screen_rule(fitted->screen, false, total < fitted->screen->width ? total : fitted->screen->width);
}

/* Percentages say of what, beside the title. */
static void draw_title(const struct fitted *fitted) {
    const struct gt_screen *screen = fitted->screen;
    struct gt_str title = gt_str_of(fitted->table->title);
    gt_screen_text(screen, GT_INK_BOLD, title);
    size_t column = gt_screen_measure(screen, title);
    const char *lead = "  (";
    for (size_t i = 0; i < fitted->count; i++) {
        const struct gt_report_column *about = fitted->columns[i].about;
        if (about->unit != GT_UNIT_SHARE || !about->of)
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

static void draw_remainder(const struct fitted *fitted) {
    const struct gt_screen *screen = fitted->screen;
    char number[GT_NUM_MAX], line[GT_NUM_MAX + 256];
    if (fitted->shown.rows_hidden) {
        gt_num_format_grouped(number, (int64_t)fitted->shown.rows_hidden);
        snprintf(line, sizeof line, "%s and %s more %s (--table %s --top 0 shows all)", screen->utf8 ? "…" : "...",
                 number, fitted->shown.rows_hidden == 1 ? "row" : "rows", fitted->table->key);
        gt_screen_wrap(screen, GT_INK_DIM, gt_str_of(line), 0, 0);
    }
    if (fitted->dropped) {
        size_t used = (size_t)snprintf(line, sizeof line, "(no room for");
        for (size_t i = fitted->count; i < fitted->count + fitted->dropped && used < sizeof line - 48; i++)
            used += (size_t)snprintf(line + used, sizeof line - used, "%s %.24s", i > fitted->count ? "," : "",
                                     fitted->columns[i].about->key);
        snprintf(line + used, sizeof line - used, "; see --columns)");
        gt_screen_wrap(screen, GT_INK_DIM, gt_str_of(line), 0, 0);
    }
}

/* The columns that found no room take the places behind the first. False: none is left, or they never will. */
static bool unfold(struct fitted *fitted) {
    if (!fitted->table->folds || !fitted->dropped || fitted->count < 2)
        return false;
    memmove(&fitted->columns[1], &fitted->columns[fitted->count], fitted->dropped * sizeof *fitted->columns);
    fitted->count = 1 + fitted->dropped;
    fitted->dropped = 0;
    for (size_t i = 0; i < fitted->count; i++)
        make_header(fitted->screen, &fitted->columns[i]); /* it has moved with its column */
    fit(fitted);
    gt_screen_newline(fitted->screen);
    return true;
}

void gt_text_table(const struct gt_screen *screen, const struct gt_table *table,
                   const struct gputime_options *options) {
    struct fitted fitted = {.screen = screen, .table = table};
    gt_shown_init(&fitted.shown, table);
    if (table->row_count == 0) {
        draw_title(&fitted);
        gt_screen_wrap(screen, GT_INK_PLAIN, gt_str_of(table->empty), 0, 0);
        return;
    }
    measure(&fitted, options->unit);
    fit(&fitted);
    draw_title(&fitted);
    do {
        draw_header(&fitted);
        draw_rows(&fitted, options->verbose);
    } while (unfold(&fitted));
    draw_remainder(&fitted);
}
