/* The tables of queries with their columns. */
#include "sql/sql_schema.h"

#include "base/mem.h"
#include "frame/frame.h"
#include "report/row.h"
#include "sql/sql_frames.h"
#include "sql/sql_reports.h"

static const struct gt_report_column columns[] = {
    {"table", "Table", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"column", "Column", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"type", "Type", GT_UNIT_NONE, NULL, 0},
    {"unit", "Unit", GT_UNIT_NONE, NULL, 0},
    {"refers_to", "Row of", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"about", "Meaning", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_SENTENCE},
};

static const struct gt_report_column report_columns[] = {
    {"table", "Table", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"about", "Report on", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_SENTENCE},
};

static void add_row(struct gt_table *table, struct gt_str name, const char *column, const char *type, const char *unit,
                    const char *refers_to, struct gt_str about) {
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "table", name);
    gt_row_cell(&row, "column", column ? gt_cell_text(gt_str_of(column)) : gt_cell_null());
    gt_row_cell(&row, "type", type ? gt_cell_text(gt_str_of(type)) : gt_cell_null());
    gt_row_cell(&row, "unit", unit && *unit ? gt_cell_text(gt_str_of(unit)) : gt_cell_null());
    gt_row_cell(&row, "refers_to", refers_to ? gt_cell_text(gt_str_of(refers_to)) : gt_cell_null());
    gt_row_text(&row, "about", about);
    gt_row_end(&row);
}

static const char *type_name(const struct gt_frame_column *about) {
    return about->is_text ? "text" : about->type == GPUTIME_FIELD_F64 ? "real" : "integer";
}

static void add_extras(struct gt_table *table, size_t frame, struct gt_str name) {
    struct gt_arena *arena = &table->report->arena;
    for (size_t i = 0; i < gt_sql_frames_extra_count; i++) {
        const struct gt_sql_frames_extra *extra = &gt_sql_frames_extras[i];
        if (gt_frame_find_column(frame, gt_str_of(extra->of)) != SIZE_MAX)
            add_row(table, name, extra->key, "integer", extra->is_number ? "" : "ns", NULL,
                    gt_arena_printf(arena, "%s %s; not in '*'", extra->is_number ? "number of the text in" : "same as",
                                    extra->of));
    }
}

static void add_frame(struct gt_table *table, size_t frame) {
    struct gt_str name = gt_str_of(gt_frame_key(frame));
    add_row(table, name, NULL, NULL, NULL, NULL, gt_str_of(gt_frame_help(frame)));
    for (size_t c = 0; c < gt_frame_column_count(frame); c++) {
        struct gt_frame_column about = gt_frame_column(frame, c);
        add_row(table, name, about.key, type_name(&about), about.unit, about.refers_to, gt_str_of(about.help));
    }
    add_row(table, name, "input", "text", NULL, NULL, GT_STR("name of the trace; of one trace not in '*'"));
    add_row(table, name, "rank", "integer", NULL, NULL, GT_STR("its rank, if known; of one trace not in '*'"));
    add_extras(table, frame, name);
}

static struct gt_table *begin(struct gt_section *section) {
    struct gt_table *table =
        gt_section_table(section, "sql_schema", "Tables and columns", columns, GT_ARRAY_COUNT(columns));
    table->stands_alone = true;
    table->all_rows = "--max-rows 0";
    table->all_columns = "--csv";
    return table;
}

enum gt_status gt_sql_schema_add_some(struct gt_section *section, const char *const *keys, size_t count,
                                      struct gt_error *err) {
    struct gt_table *table = begin(section);
    for (size_t i = 0; i < count; i++) {
        size_t frame = gt_frame_find(gt_str_of(keys[i]));
        if (frame == SIZE_MAX && gt_str_starts(gt_str_of(keys[i]), GT_STR(GT_SQL_REPORTS_PREFIX)))
            return gt_fail_usage(err,
                                 "the columns of '%.80s' depend on the trace: gputime sql TRACE 'select * from %.80s "
                                 "limit 0' --csv shows them",
                                 keys[i], keys[i]);
        if (frame == SIZE_MAX)
            return gt_fail_usage(err, "no table '%.80s'; 'gputime sql --schema' lists them", keys[i]);
        add_frame(table, frame);
    }
    return GT_OK;
}

void gt_sql_schema_add(struct gt_section *section, const struct gt_sql_schema_report *reports, size_t report_count) {
    struct gt_arena *arena = &section->report->arena;
    struct gt_table *table = begin(section);
    for (size_t f = 0; f < gt_frame_count(); f++)
        add_frame(table, f);
    struct gt_table *of_reports =
        gt_section_table(section, "report_tables", "Tables of reports", report_columns, GT_ARRAY_COUNT(report_columns));
    of_reports->stands_alone = true;
    for (size_t i = 0; i < report_count; i++) {
        struct gt_row row = gt_row_begin(of_reports);
        gt_row_text(&row, "table",
                    gt_arena_printf(arena, GT_SQL_REPORTS_PREFIX "%.*s", (int)reports[i].key.len, reports[i].key.ptr));
        gt_row_text(&row, "about", gt_str_of(reports[i].title));
        gt_row_end(&row);
    }
}
