/* A CSV file of an older tool: the rows of a table in its columns, names and units. */
#include "write/cell.h"
#include "write/escape.h"
#include "write/folder.h"
#include "write/picked.h"

static void write_value(struct gt_out *out, const struct gt_cell *cell) {
    char buf[GT_PICKED_NUMBER_MAX];
    if (gt_cell_is_text(cell))
        gt_csv_text(out, gt_cell_str(cell));
    else
        gt_out_write(out, buf, gt_picked_number(buf, cell));
}

enum gt_status gt_write_csv_layout(const struct gt_section *section, const struct gt_csv_layout *layout,
                                   struct gt_out *out, struct gt_error *err) {
    struct gt_scope outside = {.section = section};
    struct gt_picked picked;
    enum gt_status status = gt_picked_init(&picked, &layout->rows, &outside, err);
    for (size_t c = 0; c < GT_CSV_LAYOUT_COLUMNS && layout->columns[c].title && picked.count; c++) {
        gt_out_text(out, c ? "," : "");
        gt_out_text(out, layout->columns[c].title);
    }
    gt_out_text(out, picked.count ? "\r\n" : "");
    for (size_t i = 0; i < picked.count; i++) {
        struct gt_scope inside = {section, picked.table, picked.rows[i], NULL};
        for (size_t c = 0; c < GT_CSV_LAYOUT_COLUMNS && layout->columns[c].title; c++) {
            struct gt_cell cell = gt_scope_value(&inside, layout->columns[c].value);
            gt_out_text(out, c ? "," : "");
            write_value(out, &cell);
        }
        gt_out_text(out, "\r\n");
    }
    gt_picked_release(&picked);
    return status;
}
