/* The tables of a report as JSON: rows as objects for programs, packed for the page. */
#include "write/json_tables.h"

#include <inttypes.h>
#include <string.h>

#include "base/strtab.h"
#include "write/cell_format.h"
#include "write/escape.h"
#include "write/joined.h"
#include "write/json_value.h"

/* How people see the column, as the text writer knows it. */
static void write_column_flags(struct gt_out *out, uint32_t flags) {
    static const struct {
        enum gt_column_flag flag;
        const char *name;
    } names[] = {{GT_COLUMN_NAME, "name"},     {GT_COLUMN_BAR, "bar"},       {GT_COLUMN_DETAIL, "detail"},
                 {GT_COLUMN_WHOLE, "whole"},   {GT_COLUMN_SINGLE, "single"}, {GT_COLUMN_MOMENT, "moment"},
                 {GT_COLUMN_EDGE, "edge"},     {GT_COLUMN_SIGNED, "signed"}, {GT_COLUMN_SIDE, "side"},
                 {GT_COLUMN_SPARSE, "sparse"}, {GT_COLUMN_VARIES, "varies"}};
    const char *separator = "";
    gt_out_text(out, ", \"flags\": [");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(flags & names[i].flag))
            continue;
        gt_out_printf(out, "%s\"%s\"", separator, names[i].name);
        separator = ", ";
    }
    gt_out_char(out, ']');
}

static void write_column(struct gt_out *out, const struct gt_report_column *column, bool for_page) {
    gt_out_char(out, '{');
    gt_json_value_key(out, "key");
    gt_escape_json(out, gt_str_of(column->key));
    gt_out_text(out, ", ");
    gt_json_value_key(out, "title");
    gt_escape_json(out, gt_str_of(column->title));
    gt_out_printf(out, ", \"unit\": \"%s\"", gt_cell_unit_name(column->unit));
    if (column->of) {
        gt_out_text(out, ", ");
        gt_json_value_text(out, "of", gt_str_of(column->of));
    }
    if (for_page && (column->flags & ~(uint32_t)GT_COLUMN_ROLES))
        write_column_flags(out, column->flags);
    gt_out_char(out, '}');
}

static void write_row(struct gt_out *out, const struct gt_joined *joined, const struct gt_cell *row) {
    gt_out_char(out, '{');
    for (size_t c = 0; c < joined->column_count; c++) {
        if (c)
            gt_out_write(out, ", ", 2);
        gt_json_value_key(out, joined->columns[c]->key);
        gt_json_value_cell(out, &row[c]);
    }
    gt_out_char(out, '}');
}

/* The keys of a row's columns are once for the table, and a text once for the page: its number is in brackets. */
static void write_packed_row(struct gt_out *out, const struct gt_joined *joined, const struct gt_cell *row,
                             struct gt_strtab *texts) {
    gt_out_char(out, '[');
    for (size_t c = 0; c < joined->column_count; c++) {
        if (c)
            gt_out_char(out, ',');
        if (gt_cell_is_text(&row[c]))
            gt_out_printf(out, "[%" PRIu32 "]", gt_strtab_intern_borrowed(texts, gt_cell_str(&row[c])));
        else
            gt_json_value_exact_cell(out, &row[c]);
    }
    gt_out_char(out, ']');
}

/* Thousands of endless names would make a page of them; the first ones, those of the first tables, are whole. */
enum { TEXT_BYTES_WHOLE = 1000000, TEXT_BYTES_CUT = 400 };

static void write_cut(struct gt_out *out, struct gt_str text) {
    static const char ellipsis[] = "\u2026";
    struct gt_str kept = gt_str_cut(text, TEXT_BYTES_CUT);
    char bytes[TEXT_BYTES_CUT + sizeof ellipsis];
    memcpy(bytes, kept.ptr, kept.len);
    memcpy(bytes + kept.len, ellipsis, sizeof ellipsis);
    gt_escape_json(out, (struct gt_str){bytes, kept.len + sizeof ellipsis - 1});
}

static void write_texts(struct gt_out *out, const struct gt_strtab *texts) {
    size_t used_bytes = 0;
    gt_out_text(out, "  \"texts\": [");
    for (size_t i = 0; i < texts->count; i++) {
        struct gt_str text = texts->strings[i];
        bool is_whole = text.len <= TEXT_BYTES_CUT || used_bytes + text.len <= TEXT_BYTES_WHOLE;
        gt_out_text(out, i ? ",\n    " : "\n    ");
        if (is_whole)
            gt_escape_json(out, text);
        else
            write_cut(out, text);
        used_bytes += is_whole ? text.len : TEXT_BYTES_CUT;
    }
    gt_out_text(out, "\n  ],\n");
}

/* texts: NULL for data, whose rows are objects. */
static void write_table(struct gt_out *out, struct gt_joined *joined, struct gt_strtab *texts) {
    gt_out_text(out, "    ");
    gt_json_value_key(out, joined->key);
    gt_out_text(out, "{\n      ");
    gt_json_value_key(out, "title");
    gt_escape_json(out, gt_str_of(joined->title));
    if (joined->total_rows > joined->row_count)
        gt_out_printf(out, ",\n      \"total_rows\": %zu", joined->total_rows);
    gt_out_text(out, ",\n      \"columns\": [");
    for (size_t c = 0; c < joined->column_count; c++) {
        gt_out_text(out, c ? ",\n        " : "\n        ");
        write_column(out, joined->columns[c], texts != NULL);
    }
    gt_out_text(out, "\n      ],\n      \"rows\": [");
    const char *separator = "\n        ";
    for (const struct gt_cell *row; (row = gt_joined_next(joined)); separator = ",\n        ") {
        gt_out_text(out, separator);
        if (texts)
            write_packed_row(out, joined, row, texts);
        else
            write_row(out, joined, row);
    }
    gt_out_text(out, joined->row_count ? "\n      ]\n    }" : "]\n    }");
}

static enum gt_status write_tables(struct gt_out *out, const struct gt_report *report, const struct gt_json_how *how,
                                   struct gt_strtab *texts, struct gt_error *err) {
    const char *key;
    gt_out_text(out, "  \"tables\": {");
    for (size_t i = 0; (key = gt_joined_key(report, how->audience, i)); i++) {
        struct gt_joined joined;
        enum gt_status status = gt_joined_init(&joined, report, key, err);
        if (status)
            return status;
        if (how->row_limit)
            gt_joined_limit(&joined, texts && joined.page_limit > how->row_limit ? joined.page_limit : how->row_limit);
        gt_out_text(out, i ? ",\n" : "\n");
        write_table(out, &joined, texts);
        gt_joined_release(&joined);
    }
    gt_out_text(out, gt_joined_key(report, how->audience, 0) ? "\n  },\n" : "},\n");
    return GT_OK;
}

enum gt_status gt_json_tables(struct gt_out *out, const struct gt_report *report, const struct gt_json_how *how,
                              struct gt_error *err) {
    struct gt_strtab texts = {0};
    if (how->audience != GT_FOR_PAGE)
        return write_tables(out, report, how, NULL, err);
    enum gt_status status = gt_strtab_init(&texts) ? GT_OK : gt_fail_memory(err);
    if (status == GT_OK)
        status = write_tables(out, report, how, &texts, err);
    if (status == GT_OK && texts.failed)
        status = gt_fail_memory(err);
    if (status == GT_OK)
        write_texts(out, &texts);
    gt_strtab_release(&texts);
    return status;
}
