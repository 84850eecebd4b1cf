/* Rows of a table as a folder's file lists them: picked, sorted, limited; and values of places in them. */
#ifndef GT_WRITE_PICKED_H
#define GT_WRITE_PICKED_H

#include "base/fail.h"
#include "base/out.h"
#include "report/folders.h"
#include "report/report.h"

/* A row and the rows around it. */
struct gt_scope {
    const struct gt_section *section;
    const struct gt_table *table; /* NULL: no row yet, only the section */
    const struct gt_cell *row;
    const struct gt_scope *around; /* NULL: none */
};

/* What a place represents, calculated: a cell of the row or of one around it, else a fact of the section. */
struct gt_cell gt_picked_scope_value(const struct gt_scope *scope, const char *place);

/* What a key represents; what the operation of a place makes of it. */
struct gt_cell gt_picked_scope_cell(const struct gt_scope *scope, struct gt_str key);
struct gt_cell gt_picked_calculate(const struct gt_section *section, char operation, int64_t operand,
                                   const struct gt_cell *cell);

struct gt_picked {
    const struct gt_table *table; /* NULL: the section has none, so there are no rows */
    const struct gt_cell **rows;
    size_t count;
};

/* On so many threads, where the table is long. */
enum gt_status gt_picked_init(struct gt_picked *picked, const struct gt_pick *pick, const struct gt_scope *scope,
                              size_t threads, struct gt_error *err);
void gt_picked_release(struct gt_picked *picked);

/* Numbers as older tools write them: a real that is whole has a decimal. */
#define GT_PICKED_NUMBER_MAX 72
size_t gt_picked_number(char buf[GT_PICKED_NUMBER_MAX], const struct gt_cell *cell); /* 0: null or text */

#endif
