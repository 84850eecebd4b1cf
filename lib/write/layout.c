/* Runs a layout, the text file of an older tool as data, over each section of a report. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "report/layouts.h"
#include "write/cell.h"
#include "write/csv.h"
#include "write/glyph.h"
#include "write/screen.h"
#include "write/writer.h"

/* ---- the grammar of a place ---- */

struct place {
    struct gt_str text; /* instead of a value; NULL: none */
    struct gt_str keys; /* "full_name|name" */
    char operation;     /* '/', '*' or 0 */
    int64_t operand;
    size_t width;
    bool is_left; /* aligned in the width of a table's column */
    int decimals; /* -1: as the value has them */
};

static int64_t take_digits(const char **at) {
    int64_t value = 0;
    while (**at >= '0' && **at <= '9')
        value = value * 10 + (*(*at)++ - '0');
    return value;
}

/* text stands behind the opening brace; gives what follows the closing one. Layouts are ours: a bad one is a bug. */
static const char *parse_place(const char *text, struct place *place) {
    *place = (struct place){.decimals = -1};
    if (*text == '\'') {
        place->text = (struct gt_str){text + 1, strcspn(text + 1, "'")};
        text += place->text.len + 2;
    }
    place->keys = (struct gt_str){text, strcspn(text, "/*:}")};
    text += place->keys.len;
    if (*text == '/' || *text == '*') {
        place->operation = *text++;
        place->operand = take_digits(&text);
    }
    if (*text == ':') {
        text++;
        place->is_left = *text == '-';
        text += place->is_left;
        place->width = (size_t)take_digits(&text);
    }
    if (*text == '.') {
        text++;
        place->decimals = (int)take_digits(&text);
    }
    assert(*text == '}');
    return text + 1;
}

/* ---- values ---- */

struct run {
    const struct gt_layout *layout;
    const struct gputime_options *options;
    const struct gt_section *section;
    const struct gt_table *table; /* NULL: the section has none */
    struct gt_out *out;
    size_t rows;               /* that the part writes */
    size_t number;             /* of the row, from 1; 0 in a head */
    const struct gt_cell *row; /* NULL in a head */
    size_t left_width;         /* of the table's column that is aligned left; 0: not measured yet */
};

static struct gt_cell find_fact(const struct gt_section *section, struct gt_str key) {
    for (size_t b = 0; b < section->block_count; b++) {
        const struct gt_block *block = &section->blocks[b];
        for (size_t f = 0; block->kind == GT_BLOCK_FACTS && f < block->fact_count; f++) {
            if (gt_str_eq(gt_str_of(block->facts[f].key), key))
                return block->facts[f].value;
        }
    }
    return gt_cell_null();
}

static struct gt_cell find_order(const struct run *run) {
    if (!run->table || !run->table->sort)
        return gt_cell_null();
    for (size_t i = 0; i < GT_LAYOUT_ORDERS && run->layout->orders[i].column; i++) {
        if (strcmp(run->layout->orders[i].column, run->table->sort) == 0)
            return gt_cell_text(gt_str_of(run->layout->orders[i].words));
    }
    return gt_cell_text(gt_str_of(run->table->sort));
}

static struct gt_cell find_value(const struct run *run, struct gt_str key) {
    if (gt_str_eq(key, GT_STR("#")))
        return gt_cell_int((int64_t)run->number);
    if (gt_str_eq(key, GT_STR("@rows")))
        return gt_cell_int((int64_t)run->rows);
    if (gt_str_eq(key, GT_STR("@order")))
        return find_order(run);
    if (gt_str_eq(key, GT_STR("@input")))
        return gt_cell_text(run->section->input.label);
    if (!run->row)
        return find_fact(run->section, key);
    for (size_t c = 0; c < run->table->column_count; c++) {
        if (gt_str_eq(gt_str_of(run->table->columns[c].key), key))
            return run->row[c];
    }
    return gt_cell_null();
}

static struct gt_cell first_value(const struct run *run, struct gt_str keys) {
    while (keys.len) {
        const char *bar = memchr(keys.ptr, '|', keys.len);
        size_t length = bar ? (size_t)(bar - keys.ptr) : keys.len;
        struct gt_cell value = find_value(run, (struct gt_str){keys.ptr, length});
        if (value.type != GPUTIME_CELL_NULL)
            return value;
        length += bar ? 1 : 0;
        keys = (struct gt_str){keys.ptr + length, keys.len - length};
    }
    return gt_cell_null();
}

/* ---- writing ---- */

static double calculate(const struct place *place, double value) {
    if (place->operation == '/')
        return value / (double)place->operand;
    return place->operation == '*' ? value * (double)place->operand : value;
}

static size_t format_number(char *buf, const struct place *place, const struct gt_cell *value) {
    bool is_int = value->type == GPUTIME_CELL_INT;
    if (is_int && place->operation == '/' && place->operand == 1000 && place->decimals >= 0)
        return gt_num_format_scaled(buf, value->integer, 3, place->decimals); /* exact: ns as us */
    if (is_int && !place->operation && place->decimals < 0)
        return gt_num_format_int(buf, value->integer);
    double real = calculate(place, gt_cell_number(value));
    if (place->decimals == 0)
        real = floor(real + 0.5);
    if (place->decimals < 0 || fabs(real) >= 1e18)
        return gt_num_format_real(buf, real);
    return gt_num_format_fixed(buf, real, place->decimals);
}

/* The widest text of a table's column, but no narrower than the place says. */
static size_t column_width(const struct run *run, const struct place *place) {
    size_t width = place->width, column = SIZE_MAX;
    for (size_t c = 0; run->table && c < run->table->column_count; c++)
        if (gt_str_eq(gt_str_of(run->table->columns[c].key), place->keys))
            column = c;
    for (size_t row = 0; column != SIZE_MAX && row < run->table->row_count; row++) {
        const struct gt_cell *cell = &run->table->cells[row * run->table->column_count + column];
        size_t taken = gt_cell_is_text(cell) ? gt_text_width(gt_cell_str(cell), true) : 0;
        width = taken > width ? taken : width;
    }
    return width;
}

static void write_text(struct run *run, const struct place *place, struct gt_str text) {
    gt_text_put(run->out, text, true);
    if (!place->is_left)
        return;
    if (!run->left_width)
        run->left_width = column_width(run, place);
    size_t taken = gt_text_width(text, true);
    gt_out_repeat(run->out, " ", run->left_width > taken ? run->left_width - taken : 0);
}

static void write_note(const struct gt_screen *screen, struct gt_str text) {
    static const struct gt_str mark = {"Note: ", sizeof "Note: " - 1};
    gt_screen_text(screen, GT_INK_PLAIN, mark);
    gt_screen_wrap(screen, GT_INK_PLAIN, text, mark.len, mark.len);
}

static bool is_note(const struct gt_block *block) {
    return block->kind == GT_BLOCK_NOTE && block->audience & GT_FOR_SCREEN && block->note.len;
}

static void write_notes(const struct run *run) {
    const struct gt_section *section = run->section;
    struct gt_screen screen;
    size_t count = section->issue_count;
    for (size_t b = 0; b < section->block_count; b++)
        count += is_note(&section->blocks[b]);
    if (count == 0)
        return;
    gt_screen_init(&screen, run->options, run->out);
    gt_screen_newline(&screen);
    for (size_t b = 0; b < section->block_count; b++)
        if (is_note(&section->blocks[b]))
            write_note(&screen, section->blocks[b].note);
    for (size_t i = 0; i < section->issue_count; i++) {
        const struct gt_report_issue *issue = &section->issues[i];
        char text[512];
        snprintf(text, sizeof text, "%s (%" PRIu64 "): %s", issue->id, issue->count, issue->help);
        write_note(&screen, gt_str_of(text));
    }
}

static void write_place(struct run *run, const struct place *place) {
    if (gt_str_eq(place->keys, GT_STR("@notes"))) {
        write_notes(run);
        return;
    }
    struct gt_cell value = place->text.ptr ? gt_cell_text(place->text) : first_value(run, place->keys);
    if (gt_cell_is_text(&value)) {
        write_text(run, place, gt_cell_str(&value));
        return;
    }
    char buf[GT_NUM_MAX];
    struct gt_str text = gt_str_of(run->layout->none ? run->layout->none : "-");
    bool is_number = value.type == GPUTIME_CELL_INT || (value.type == GPUTIME_CELL_REAL && isfinite(value.real));
    if (is_number)
        text = (struct gt_str){buf, format_number(buf, place, &value)};
    gt_out_repeat(run->out, " ", place->width > text.len ? place->width - text.len : 0);
    gt_out_write(run->out, text.ptr, text.len);
}

static void write_template(struct run *run, const char *text) {
    while (*text) {
        size_t plain = strcspn(text, "{");
        gt_out_write(run->out, text, plain);
        text += plain;
        if (text[0] == '{' && text[1] == '{') {
            gt_out_char(run->out, '{');
            text += 2;
        } else if (*text) {
            struct place place;
            text = parse_place(text + 1, &place);
            write_place(run, &place);
        }
    }
}

static bool is_wanted(const struct gt_table *table, const char *where, const struct gt_cell *row) {
    size_t column = where ? gt_table_column(table, where) : SIZE_MAX;
    return column == SIZE_MAX || gt_cell_number(&row[column]) != 0;
}

static size_t count_wanted(const struct gt_table *table, const char *where) {
    size_t count = 0;
    for (size_t row = 0; table && row < table->row_count; row++)
        count += is_wanted(table, where, &table->cells[row * table->column_count]);
    return count;
}

static size_t shown_rows(const struct run *run) {
    if (!run->table)
        return 0;
    size_t limit = run->layout->is_screen ? run->table->screen_limit : 0;
    return limit && limit < run->table->row_count ? limit : run->table->row_count;
}

static void write_part(struct run *run, const struct gt_layout_part *part) {
    if (part->fact && find_fact(run->section, gt_str_of(part->fact)).type == GPUTIME_CELL_NULL)
        return;
    run->table = part->table ? gt_section_find(run->section, part->table) : NULL;
    run->rows = count_wanted(run->table, part->where);
    run->row = NULL;
    run->number = run->left_width = 0;
    write_template(run, part->head);
    for (size_t row = 0; row < shown_rows(run); row++) {
        run->row = &run->table->cells[row * run->table->column_count];
        if (!is_wanted(run->table, part->where, run->row))
            continue;
        run->number++;
        write_template(run, part->row);
    }
}

/* The table each layout is about, its last: without it in any section there is nothing to write. */
static const char *missing_table(const struct gt_report *report, const struct gt_layout *layout) {
    const char *key = layout->table;
    for (size_t p = 0; p < GT_LAYOUT_PARTS && layout->parts[p].head; p++)
        key = layout->parts[p].table ? layout->parts[p].table : key;
    for (size_t s = 0; key && s < report->section_count; s++) {
        if (gt_section_find(&report->sections[s], key))
            return NULL;
    }
    return key;
}

enum gt_status gt_write_layout(const struct gt_report *report, const struct gputime_options *options,
                               struct gt_out *out, struct gt_error *err) {
    const struct gt_layout *layout = options->format ? gt_layout_find(options->format) : NULL;
    if (!layout)
        return gt_fail_usage(err, "there is no layout '%.80s'", options->format ? options->format : "");
    const char *missing = missing_table(report, layout);
    if (missing)
        return gt_fail_usage(err, "format '%s' needs the table '%s', which this report has not", layout->key, missing);
    if (layout->table)
        return gt_csv_layout(out, report, layout, err);
    for (size_t s = 0; s < report->section_count; s++) {
        struct run run = {.layout = layout, .options = options, .section = &report->sections[s], .out = out};
        if (layout->is_screen) {
            gt_out_text(out, s ? "\n\n" : "");
        } else if (report->section_count > 1) {
            gt_out_text(out, s ? "\nInput: " : "Input: ");
            gt_text_put(out, run.section->input.label, true);
            gt_out_text(out, "\n\n");
        }
        for (size_t p = 0; p < GT_LAYOUT_PARTS && layout->parts[p].head; p++)
            write_part(&run, &layout->parts[p]);
    }
    return GT_OK;
}
