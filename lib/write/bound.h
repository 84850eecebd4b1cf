/* Places whose columns have been looked up: the value of each row of a table without a search. */
#ifndef GT_WRITE_BOUND_H
#define GT_WRITE_BOUND_H

#include "write/picked.h"

#define GT_BOUND_KEYS 4

struct gt_bound {
    struct {
        size_t column; /* SIZE_MAX: the same in all rows */
        struct gt_cell same;
    } keys[GT_BOUND_KEYS]; /* the first that has a value counts */
    size_t key_count;
    const struct gt_section *section;
    char operation; /* of the place */
    int64_t operand;
};

/* For rows of a table of the scope's section, inside the scope. */
void gt_bound_init(struct gt_bound *bound, const char *place, const struct gt_table *table,
                   const struct gt_scope *around);
void gt_bound_init_column(struct gt_bound *bound, size_t column); /* its cells as they are */

/* As gt_picked_scope_value gives it. */
struct gt_cell gt_bound_value(const struct gt_bound *bound, const struct gt_cell *row);

#endif
