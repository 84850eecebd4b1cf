/* How each row of a table is written: texts that are the same in all of them, made once, and the values between. */
#ifndef GT_WRITE_ROW_PLAN_H
#define GT_WRITE_ROW_PLAN_H

#include "base/out.h"
#include "write/bound.h"

enum gt_row_plan_kind {
    GT_ROW_PLAN_CELL,  /* JSON as docs/json.md has it */
    GT_ROW_PLAN_VALUE, /* JSON as older tools write it: a real that is whole has a decimal */
    GT_ROW_PLAN_FLAG,  /* true where it is neither null nor 0 */
    GT_ROW_PLAN_FIELD, /* CSV: numbers as in CELL, nothing for null */
    GT_ROW_PLAN_CSV,   /* CSV as older tools write it: numbers as in VALUE */
};

struct gt_row_plan_value;

struct gt_row_plan {
    struct gt_out *texts; /* what is written here follows the last value that was added; in the end it ends the row */
    struct gt_row_plan_value *values;
    size_t count, capacity;
    size_t skipped; /* bytes that the first row of all does not begin with: the comma after the row before it */
};

enum gt_status gt_row_plan_init(struct gt_row_plan *plan, struct gt_error *err);
void gt_row_plan_release(struct gt_row_plan *plan);

/* A value that is the same in all rows: a text. */
void gt_row_plan_same(struct gt_row_plan *plan, enum gt_row_plan_kind kind, const struct gt_cell *cell);

/* Short memory makes texts fail, which gt_row_plan_write tells the output. */
void gt_row_plan_add(struct gt_row_plan *plan, enum gt_row_plan_kind kind, const struct gt_bound *bound);

/* All rows, on several threads where there are many: row(context, i) is number i of count. */
void gt_row_plan_write(const struct gt_row_plan *plan, struct gt_out *out, size_t threads, size_t count,
                       const struct gt_cell *(*row)(const void *context, size_t index), const void *context);

#endif
