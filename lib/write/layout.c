/* Runs a layout, the text file of an older tool as data, over each section of a report. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/threads.h"
#include "report/layouts.h"
#include "write/cell_format.h"
#include "write/folder_files.h"
#include "write/glyph.h"
#include "write/picked.h"
#include "write/place.h"
#include "write/screen.h"
#include "write/writer.h"

/* ---- values ---- */

struct run {
    const struct gt_layout *layout;
    const struct gputime_write_options *options;
    const struct gt_section *section;
    const struct gt_table *table; /* NULL: the section has none */
    struct gt_out *out;
    size_t rows;               /* that the part writes */
    size_t number;             /* of the row, from 1; 0 in a head */
    const struct gt_cell *row; /* NULL in a head */
    size_t left_width;         /* of the table's column that is aligned left; 0: not measured yet */
};

static struct gt_cell find_order(const struct run *run) {
    if (!run->table || !run->table->sort)
        return gt_cell_null();
    for (size_t i = 0; i < GT_LAYOUT_ORDERS && run->layout->orders[i].column; i++) {
        if (strcmp(run->layout->orders[i].column, run->table->sort) == 0)
            return gt_cell_text(gt_str_of(run->layout->orders[i].words));
    }
    return gt_cell_text(gt_str_of(run->table->sort));
}

static struct gt_cell find_value(const void *context, struct gt_str key) {
    const struct run *run = context;
    if (gt_str_eq(key, GT_STR("#")))
        return gt_cell_int((int64_t)run->number);
    if (gt_str_eq(key, GT_STR("@rows")))
        return gt_cell_int((int64_t)run->rows);
    if (gt_str_eq(key, GT_STR("@order")))
        return find_order(run);
    if (gt_str_eq(key, GT_STR("@input")))
        return gt_cell_text(run->section->input.label);
    if (!run->row)
        return gt_section_fact(run->section, key);
    for (size_t c = 0; c < run->table->column_count; c++) {
        if (gt_str_eq(gt_str_of(run->table->columns[c].key), key))
            return run->row[c];
    }
    return gt_cell_null();
}

/* ---- writing ---- */

static size_t format_number(char *buf, const struct gt_place *place, const struct gt_cell *value) {
    bool is_int = value->type == GPUTIME_CELL_INT;
    if (is_int && place->operation == '/' && place->operand == 1000 && place->decimals >= 0)
        return gt_num_format_scaled(buf, value->integer, 3, place->decimals); /* exact: ns as us */
    if (is_int && !place->operation && place->decimals < 0)
        return gt_num_format_int(buf, value->integer);
    double real = gt_place_calculate(place->operation, place->operand, gt_cell_format_number(value));
    if (place->decimals == 0)
        real = floor(real + 0.5);
    if (place->decimals < 0 || fabs(real) >= 1e18)
        return gt_num_format_real(buf, real);
    return gt_num_format_fixed(buf, real, place->decimals);
}

/* The widest text of a table's column, but no narrower than the place says. */
static size_t column_width(const struct run *run, const struct gt_place *place) {
    size_t width = place->width, column = SIZE_MAX;
    for (size_t c = 0; run->table && c < run->table->column_count; c++)
        if (gt_str_eq(gt_str_of(run->table->columns[c].key), place->keys))
            column = c;
    for (size_t row = 0; column != SIZE_MAX && row < run->table->row_count; row++) {
        const struct gt_cell *cell = &run->table->cells[row * run->table->column_count + column];
        size_t taken = gt_cell_is_text(cell) ? gt_glyph_text_width(gt_cell_str(cell), true) : 0;
        width = taken > width ? taken : width;
    }
    return width;
}

static void write_text(struct run *run, const struct gt_place *place, struct gt_str text) {
    if (place->is_cut) {
        struct gt_cut cut = gt_glyph_name_cut(text, place->width, true);
        gt_glyph_cut_put(run->out, &cut, true);
        return;
    }
    gt_glyph_text_put(run->out, text, true);
    if (!place->is_left)
        return;
    if (!run->left_width)
        run->left_width = column_width(run, place);
    size_t taken = gt_glyph_text_width(text, true);
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

static void write_place(struct run *run, const struct gt_place *place) {
    if (gt_str_eq(place->keys, GT_STR("@notes"))) {
        write_notes(run);
        return;
    }
    struct gt_cell value = place->text.ptr ? gt_cell_text(place->text) : gt_place_value(place, find_value, run);
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
            struct gt_place place;
            text = gt_place_parse(text + 1, &place);
            write_place(run, &place);
        }
    }
}

/* As many rows as text would show, or as the part asks for. */
static size_t most_rows(const struct run *run, const struct gt_layout_part *part) {
    return run->layout->is_screen && run->table ? run->table->screen_limit : part->limit;
}

static bool has_issue(const struct gt_section *section, const char *id) {
    for (size_t i = 0; i < section->issue_count; i++)
        if (strcmp(section->issues[i].id, id) == 0)
            return true;
    return false;
}

static enum gt_status write_part(struct run *run, const struct gt_layout_part *part, struct gt_error *err) {
    struct gt_pick pick = {.table = part->table ? part->table : "", .with = part->where, .sort = part->sort};
    struct gt_picked picked;
    if (part->fact && gt_section_fact(run->section, gt_str_of(part->fact)).type == GPUTIME_CELL_NULL)
        return GT_OK;
    if (part->issue && !has_issue(run->section, part->issue))
        return GT_OK;
    enum gt_status status = gt_picked_init(&picked, &pick, &(struct gt_scope){.section = run->section}, 1, err);
    run->table = picked.table;
    run->rows = picked.count;
    run->row = NULL;
    run->number = run->left_width = 0;
    write_template(run, part->head);
    size_t most = most_rows(run, part);
    for (size_t i = 0; i < picked.count && (!most || i < most); i++) {
        run->row = picked.rows[i];
        run->number++;
        write_template(run, part->row);
    }
    if (run->layout->is_screen && run->number < picked.count) {
        struct gt_screen screen;
        gt_screen_init(&screen, run->options, run->out);
        gt_screen_remainder(&screen, picked.count - run->number, run->table);
    }
    gt_picked_release(&picked);
    return status;
}

/* The table each layout is about, its last: without it in any section there is nothing to write. */
static const char *missing_table(const struct gt_report *report, const struct gt_layout *layout) {
    const char *key = layout->csv ? layout->csv->rows.table : NULL;
    for (size_t p = 0; p < GT_LAYOUT_PARTS && layout->parts[p].head; p++)
        key = layout->parts[p].table ? layout->parts[p].table : key;
    for (size_t s = 0; key && s < report->section_count; s++) {
        if (gt_section_find(&report->sections[s], key))
            return NULL;
    }
    return key;
}

enum gt_status gt_write_layout(const struct gt_report *report, const struct gputime_write_options *options,
                               struct gt_out *out, struct gt_error *err) {
    const struct gt_layout *layout = options->format ? gt_layout_find(options->format) : NULL;
    if (!layout)
        return gt_fail_usage(err, "unknown layout '%.80s'", options->format ? options->format : "");
    const char *missing = missing_table(report, layout);
    if (missing)
        return gt_fail_usage(err, "format '%s' needs table '%s', which this report does not have", layout->key,
                             missing);
    if (layout->csv)
        return gt_folder_files_csv(report, layout->csv, gt_threads_count(options->threads), out, err);
    for (size_t s = 0; s < report->section_count; s++) {
        struct run run = {.layout = layout, .options = options, .section = &report->sections[s], .out = out};
        if (layout->is_screen) {
            gt_out_text(out, s ? "\n\n" : "");
        } else if (report->section_count > 1) {
            gt_out_text(out, s ? "\nInput: " : "Input: ");
            gt_glyph_text_put(out, run.section->input.label, true);
            gt_out_text(out, "\n\n");
        }
        for (size_t p = 0; p < GT_LAYOUT_PARTS && layout->parts[p].head; p++)
            if (write_part(&run, &layout->parts[p], err) != GT_OK)
                return GT_ERR;
    }
    return GT_OK;
}
