/* Writes rows by a plan: rows of cells come in, each goes out as the plan's texts with values between them. */
#include "write/row_plan.h"

#include <math.h>

#include "base/mem.h"
#include "base/out_slices.h"
#include "write/cell_format.h"
#include "write/escape.h"
#include "write/pen.h"

struct gt_row_plan_value {
    size_t text_end; /* where the text before it ends; it begins where that of the value before ends */
    enum gt_row_plan_kind kind;
    size_t column; /* SIZE_MAX: bound says */
    struct gt_bound bound;
};

enum gt_status gt_row_plan_init(struct gt_row_plan *plan, struct gt_error *err) {
    *plan = (struct gt_row_plan){0};
    return gt_out_open_memory(&plan->texts, err);
}

void gt_row_plan_release(struct gt_row_plan *plan) {
    gt_out_close(plan->texts);
    gt_mem_free(plan->values);
    *plan = (struct gt_row_plan){0};
}

void gt_row_plan_add(struct gt_row_plan *plan, enum gt_row_plan_kind kind, const struct gt_bound *bound) {
    struct gt_row_plan_value *grown = gt_mem_room(plan->values, plan->count, &plan->capacity, sizeof *grown);
    bool is_column = bound->key_count == 1 && !bound->operation;
    if (!grown) {
        gt_out_fail_memory(plan->texts);
        return;
    }
    plan->values = grown;
    plan->values[plan->count++] = (struct gt_row_plan_value){.text_end = gt_out_bytes(plan->texts).len,
                                                             .kind = kind,
                                                             .column = is_column ? bound->keys[0].column : SIZE_MAX,
                                                             .bound = *bound};
}

/* ---- values ---- */

static const struct gt_str none = {"null", 4};

static void put_cell(struct gt_pen *pen, const struct gt_cell *cell) {
    switch ((enum gputime_cell_type)cell->type) {
    case GPUTIME_CELL_TEXT:
        gt_pen_json(pen, gt_cell_str(cell));
        return;
    case GPUTIME_CELL_INT:
        gt_pen_int(pen, cell->integer);
        return;
    case GPUTIME_CELL_REAL: /* "null" where it is not finite */
        gt_pen_real(pen, cell->real);
        return;
    case GPUTIME_CELL_NULL:
        break;
    }
    gt_pen_text(pen, none);
}

static void put_number(struct gt_pen *pen, const struct gt_cell *cell, struct gt_str otherwise) {
    gt_pen_need(pen, GT_PICKED_NUMBER_MAX);
    size_t length = gt_picked_number(pen->at, cell);
    pen->at += length;
    if (!length)
        gt_pen_text(pen, otherwise);
}

static void put_field(struct gt_pen *pen, const struct gt_cell *cell) {
    switch ((enum gputime_cell_type)cell->type) {
    case GPUTIME_CELL_TEXT:
        gt_pen_csv(pen, gt_cell_str(cell));
        break;
    case GPUTIME_CELL_INT:
        gt_pen_int(pen, cell->integer);
        break;
    case GPUTIME_CELL_REAL:
        if (isfinite(cell->real))
            gt_pen_real(pen, cell->real);
        break;
    case GPUTIME_CELL_NULL:
        break;
    }
}

static void put_value(struct gt_pen *pen, enum gt_row_plan_kind kind, const struct gt_cell *cell) {
    bool is_text = gt_cell_is_text(cell);
    switch (kind) {
    case GT_ROW_PLAN_CELL:
        put_cell(pen, cell);
        break;
    case GT_ROW_PLAN_VALUE:
        if (is_text)
            gt_pen_json(pen, gt_cell_str(cell));
        else
            put_number(pen, cell, none);
        break;
    case GT_ROW_PLAN_FLAG:
        gt_pen_text(pen, is_text || gt_cell_format_number(cell) != 0 ? GT_STR("true") : GT_STR("false"));
        break;
    case GT_ROW_PLAN_FIELD:
        put_field(pen, cell);
        break;
    case GT_ROW_PLAN_CSV:
        if (is_text)
            gt_pen_csv(pen, gt_cell_str(cell));
        else
            put_number(pen, cell, GT_STR(""));
        break;
    }
}

void gt_row_plan_same(struct gt_row_plan *plan, enum gt_row_plan_kind kind, const struct gt_cell *cell) {
    struct gt_pen pen;
    gt_pen_init(&pen, plan->texts);
    put_value(&pen, kind, cell);
    gt_pen_lift(&pen);
}

/* ---- rows ---- */

struct rows {
    const struct gt_row_plan *plan;
    const struct gt_cell *(*row)(const void *context, size_t index);
    const void *context;
};

static void put_row(struct gt_pen *pen, const struct gt_row_plan *plan, const struct gt_cell *row, size_t skipped) {
    struct gt_str texts = gt_out_bytes(plan->texts);
    size_t begin = skipped;
    for (size_t i = 0; i < plan->count; i++) {
        const struct gt_row_plan_value *value = &plan->values[i];
        gt_pen_text(pen, (struct gt_str){texts.ptr + begin, value->text_end - begin});
        begin = value->text_end;
        if (value->column != SIZE_MAX) {
            put_value(pen, value->kind, &row[value->column]);
            continue;
        }
        struct gt_cell cell = gt_bound_value(&value->bound, row);
        put_value(pen, value->kind, &cell);
    }
    gt_pen_text(pen, (struct gt_str){texts.ptr + begin, texts.len - begin});
}

static void put_rows(const void *context, struct gt_out *to, size_t begin, size_t end) {
    const struct rows *rows = context;
    struct gt_pen pen;
    gt_pen_init(&pen, to);
    for (size_t i = begin; i < end; i++)
        put_row(&pen, rows->plan, rows->row(rows->context, i), i ? 0 : rows->plan->skipped);
    gt_pen_lift(&pen);
}

void gt_row_plan_write(const struct gt_row_plan *plan, struct gt_out *out, size_t threads, size_t count,
                       const struct gt_cell *(*row)(const void *context, size_t index), const void *context) {
    struct rows rows = {plan, row, context};
    if (gt_out_failed(plan->texts))
        gt_out_fail_memory(out);
    else
        gt_out_slices_write(out, threads, count, put_rows, &rows);
}
