/* Cells, keys and texts of a report as JSON. */
#include "write/json_value.h"

#include <math.h>

#include "base/num.h"
#include "write/cell_format.h"
#include "write/escape.h"

#define EXACT_MAX ((int64_t)1 << 53) /* a script's number holds every integer up to here */

void gt_json_value_cell(struct gt_out *out, const struct gt_cell *cell) {
    char buf[GT_NUM_MAX];
    switch ((enum gputime_cell_type)cell->type) {
    case GPUTIME_CELL_TEXT:
        gt_escape_json(out, gt_cell_str(cell));
        return;
    case GPUTIME_CELL_INT:
        gt_out_write(out, buf, gt_num_format_int(buf, cell->integer));
        return;
    case GPUTIME_CELL_REAL:
        if (!isfinite(cell->real))
            break;
        gt_out_write(out, buf, gt_num_format_real(buf, cell->real));
        return;
    case GPUTIME_CELL_NULL:
        break;
    }
    gt_out_text(out, "null");
}

void gt_json_value_exact_cell(struct gt_out *out, const struct gt_cell *cell) {
    bool is_large = cell->type == GPUTIME_CELL_INT && (cell->integer > EXACT_MAX || cell->integer < -EXACT_MAX);
    if (is_large)
        gt_out_char(out, '"');
    gt_json_value_cell(out, cell);
    if (is_large)
        gt_out_char(out, '"');
}

void gt_json_value_key(struct gt_out *out, const char *key) {
    gt_escape_json(out, gt_str_of(key));
    gt_out_text(out, ": ");
}

void gt_json_value_text(struct gt_out *out, const char *key, struct gt_str text) {
    gt_json_value_key(out, key);
    if (text.len)
        gt_escape_json(out, text);
    else
        gt_out_text(out, "null");
}
