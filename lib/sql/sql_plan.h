/* How a query reads a frame: which columns, which rows, in which order. SQLite's planner proposes constraints and
   orders, a plan says which of them the table takes over; between the two calls it travels as text. */
#ifndef GT_SQL_SQL_PLAN_H
#define GT_SQL_SQL_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_SQL_PLAN_MOST = 16, GT_SQL_PLAN_ORDERS = 8 };

/* "column op value": op is one of SQLITE_INDEX_CONSTRAINT_*. */
struct gt_sql_constraint {
    size_t column;
    int op;
};

struct gt_sql_plan {
    uint64_t used;                                          /* columns by bits, as SQLite has them */
    struct gt_sql_constraint constraints[GT_SQL_PLAN_MOST]; /* in the order of their values */
    size_t constraint_count;
    size_t order[GT_SQL_PLAN_ORDERS]; /* rows come in the order of these columns */
    size_t order_count;
    bool is_descending; /* all of them */
    bool is_grouping;   /* all rows will be read */
};

/* As text, to be freed with sqlite3_free; NULL: memory was short. */
char *gt_sql_plan_write(const struct gt_sql_plan *plan);
/* Text that gt_sql_plan_write has made. */
void gt_sql_plan_read(struct gt_sql_plan *plan, const char *text);

/* Whether the column is read. */
static inline bool gt_sql_plan_uses(const struct gt_sql_plan *plan, size_t column) {
    return plan->used >> (column < 63 ? column : 63) & 1;
}

#endif
