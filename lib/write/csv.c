/* One table as comma-separated values: raw numbers, column keys as header, nulls empty, an `input` column first. */
#include <math.h>

#include "base/num.h"
#include "write/cell_format.h"
#include "write/escape.h"
#include "write/picked_table.h"
#include "write/writer.h"

static void write_cell(struct gt_out *out, const struct gt_cell *cell) {
    char buf[GT_NUM_MAX];
    switch ((enum gputime_cell_type)cell->type) {
    case GPUTIME_CELL_TEXT:
        gt_escape_csv(out, gt_cell_str(cell));
        break;
    case GPUTIME_CELL_INT:
        gt_out_write(out, buf, gt_num_format_int(buf, cell->integer));
        break;
    case GPUTIME_CELL_REAL:
        if (isfinite(cell->real))
            gt_out_write(out, buf, gt_num_format_real(buf, cell->real));
        break;
    case GPUTIME_CELL_NULL:
        break;
    }
}

enum gt_status gt_write_csv(const struct gt_report *report, const struct gputime_write_options *options,
                            struct gt_out *out, struct gt_error *err) {
    struct gt_picked_table picked;
    enum gt_status status = gt_picked_table_init(&picked, report, options, err);
    for (size_t i = 0; status == GT_OK && i < picked.count; i++) {
        gt_out_text(out, i ? "," : "");
        gt_escape_csv(out, gt_str_of(picked.joined.columns[picked.columns[i]]->key));
    }
    gt_out_char(out, '\n');
    for (const struct gt_cell *row; status == GT_OK && (row = gt_joined_next(&picked.joined));) {
        for (size_t i = 0; i < picked.count; i++) {
            if (i)
                gt_out_char(out, ',');
            write_cell(out, &row[picked.columns[i]]);
        }
        gt_out_char(out, '\n');
    }
    gt_picked_table_release(&picked);
    return status;
}
