/* A CSV file of an older tool: the rows of a table under its titles and in its units. */
#include "write/cell_format.h"
#include "write/escape.h"
#include "write/folder_files.h"
#include "write/picked.h"

static void write_value(struct gt_out *out, const struct gt_cell *cell) {
    char buf[GT_PICKED_NUMBER_MAX];
    if (gt_cell_is_text(cell))
        gt_escape_csv(out, gt_cell_str(cell));
    else
        gt_out_write(out, buf, gt_picked_number(buf, cell));
}

static void write_header(struct gt_out *out, const struct gt_csv_layout *layout, const char *line_end) {
    for (size_t c = 0; c < GT_CSV_LAYOUT_COLUMNS && layout->columns[c].title; c++) {
        gt_out_text(out, c ? "," : "");
        gt_escape_csv(out, gt_str_of(layout->columns[c].title));
    }
    gt_out_text(out, line_end);
}

static void write_row(struct gt_out *out, const struct gt_csv_layout *layout, const struct gt_scope *inside,
                      const char *line_end) {
    for (size_t c = 0; c < GT_CSV_LAYOUT_COLUMNS && layout->columns[c].title; c++) {
        struct gt_cell cell = gt_picked_scope_value(inside, layout->columns[c].value);
        gt_out_text(out, c ? "," : "");
        write_value(out, &cell);
    }
    gt_out_text(out, line_end);
}

enum gt_status gt_folder_files_csv(const struct gt_report *report, const struct gt_csv_layout *layout,
                                   struct gt_out *out, struct gt_error *err) {
    const char *line_end = layout->line_end ? layout->line_end : "\r\n";
    bool has_header = layout->has_header;
    if (has_header)
        write_header(out, layout, line_end);
    for (size_t s = 0; s < report->section_count; s++) {
        struct gt_scope inside = {.section = &report->sections[s]};
        struct gt_picked picked;
        if (gt_picked_init(&picked, &layout->rows, &inside, err) != GT_OK)
            return GT_ERR;
        if (picked.count && !has_header)
            write_header(out, layout, line_end);
        has_header |= picked.count > 0;
        inside.table = picked.table;
        for (size_t i = 0; i < picked.count; i++) {
            inside.row = picked.rows[i];
            write_row(out, layout, &inside, line_end);
        }
        gt_picked_release(&picked);
    }
    return GT_OK;
}
