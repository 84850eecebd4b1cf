/* A CSV file of an older tool: the rows of a table under its titles and in its units. */
#include "write/escape.h"
#include "write/folder_files.h"
#include "write/row_plan.h"

static void write_header(struct gt_out *out, const struct gt_csv_layout *layout, const char *line_end) {
    for (size_t c = 0; c < GT_CSV_LAYOUT_COLUMNS && layout->columns[c].title; c++) {
        gt_out_text(out, c ? "," : "");
        gt_escape_csv(out, gt_str_of(layout->columns[c].title));
    }
    gt_out_text(out, line_end);
}

static const struct gt_cell *row_of(const void *context, size_t index) {
    return ((const struct gt_picked *)context)->rows[index];
}

static enum gt_status write_rows(struct gt_out *out, const struct gt_csv_layout *layout, const char *line_end,
                                 const struct gt_picked *picked, const struct gt_scope *scope, size_t threads,
                                 struct gt_error *err) {
    struct gt_row_plan plan;
    if (gt_row_plan_init(&plan, err) != GT_OK)
        return GT_ERR;
    for (size_t c = 0; c < GT_CSV_LAYOUT_COLUMNS && layout->columns[c].title; c++) {
        struct gt_bound bound;
        gt_bound_init(&bound, layout->columns[c].value, picked->table, scope);
        gt_out_text(plan.texts, c ? "," : "");
        gt_row_plan_add(&plan, GT_ROW_PLAN_CSV, &bound);
    }
    gt_out_text(plan.texts, line_end);
    gt_row_plan_write(&plan, out, threads, picked->count, row_of, picked);
    gt_row_plan_release(&plan);
    return GT_OK;
}

enum gt_status gt_folder_files_csv(const struct gt_report *report, const struct gt_csv_layout *layout, size_t threads,
                                   struct gt_out *out, struct gt_error *err) {
    const char *line_end = layout->line_end ? layout->line_end : "\r\n";
    bool has_header = layout->has_header;
    enum gt_status status = GT_OK;
    if (has_header)
        write_header(out, layout, line_end);
    for (size_t s = 0; s < report->section_count && status == GT_OK; s++) {
        struct gt_scope scope = {.section = &report->sections[s]};
        struct gt_picked picked;
        status = gt_picked_init(&picked, &layout->rows, &scope, threads, err);
        if (status == GT_OK && picked.count) {
            if (!has_header)
                write_header(out, layout, line_end);
            has_header = true;
            status = write_rows(out, layout, line_end, &picked, &scope, threads, err);
        }
        gt_picked_release(&picked);
    }
    return status;
}
