/* The tables of a report as JSON: rows as objects for programs, packed for the page. */
#include "write/json_tables.h"

#include <inttypes.h>
#include <string.h>

#include "base/strtab.h"
#include "write/cell_format.h"
#include "write/escape.h"
#include "write/joined.h"
#include "write/json_value.h"
#include "write/row_plan.h"

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

/* ---- rows as objects ---- */

static void plan_column(struct gt_row_plan *plan, const struct gt_joined *joined, size_t place, size_t column) {
    gt_out_text(plan->texts, place ? ", " : "{");
    gt_json_value_key(plan->texts, joined->columns[place]->key);
    if (column == SIZE_MAX) {
        struct gt_cell same = gt_joined_table_same(joined, place);
        gt_row_plan_same(plan, GT_ROW_PLAN_CELL, &same);
    } else {
        struct gt_bound bound;
        gt_bound_init_column(&bound, column);
        gt_row_plan_add(plan, GT_ROW_PLAN_CELL, &bound);
    }
}

static const struct gt_cell *row_of(const void *context, size_t index) {
    return gt_joined_table_row(context, index);
}

/* Of the table that the rows come from now. */
static enum gt_status write_objects(struct gt_out *out, const struct gt_joined *joined, size_t threads, bool is_first,
                                    struct gt_error *err) {
    struct gt_row_plan plan;
    if (gt_row_plan_init(&plan, err) != GT_OK)
        return GT_ERR;
    plan.skipped = is_first ? 1 : 0;
    gt_out_text(plan.texts, ",\n        ");
    for (size_t place = 0; place < joined->column_count; place++)
        plan_column(&plan, joined, place, gt_joined_table_column(joined, place));
    gt_out_text(plan.texts, joined->column_count ? "}" : "{}");
    gt_row_plan_write(&plan, out, threads, gt_joined_table_rows(joined), row_of, joined);
    gt_row_plan_release(&plan);
    return GT_OK;
}

static enum gt_status write_all_objects(struct gt_out *out, struct gt_joined *joined, size_t threads,
                                        struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (bool is_first = true; status == GT_OK && gt_joined_next_table(joined);) {
        status = write_objects(out, joined, threads, is_first, err);
        is_first = is_first && gt_joined_table_rows(joined) == 0;
    }
    return status;
}

/* ---- packed rows ---- */

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

static void write_packed_rows(struct gt_out *out, struct gt_joined *joined, struct gt_strtab *texts) {
    const char *separator = "\n        ";
    for (const struct gt_cell *row; (row = gt_joined_next(joined)); separator = ",\n        ") {
        gt_out_text(out, separator);
        write_packed_row(out, joined, row, texts);
    }
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

/* ---- tables ---- */

/* texts: NULL for data, whose rows are objects. */
static enum gt_status write_table(struct gt_out *out, struct gt_joined *joined, const struct gt_json_how *how,
                                  struct gt_strtab *texts, struct gt_error *err) {
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
    enum gt_status status = GT_OK;
    if (texts)
        write_packed_rows(out, joined, texts);
    else
        status = write_all_objects(out, joined, how->threads, err);
    gt_out_text(out, joined->row_count ? "\n      ]\n    }" : "]\n    }");
    return status;
}

static enum gt_status write_tables(struct gt_out *out, const struct gt_report *report, const struct gt_json_how *how,
                                   struct gt_strtab *texts, struct gt_error *err) {
    const char *key;
    gt_out_text(out, "  \"tables\": {");
    for (size_t i = 0; (key = gt_joined_key(report, how->audience, i)); i++) {
        struct gt_joined joined;
        if (gt_joined_init(&joined, report, key, err) != GT_OK)
            return GT_ERR;
        if (how->row_limit)
            gt_joined_limit(&joined, texts && joined.page_limit > how->row_limit ? joined.page_limit : how->row_limit);
        gt_out_text(out, i ? ",\n" : "\n");
        enum gt_status status = write_table(out, &joined, how, texts, err);
        gt_joined_release(&joined);
        if (status != GT_OK)
            return status;
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
