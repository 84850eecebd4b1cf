/* Constraints of a query on the rows of a frame, in a form that is quick to hold against a row. They let through every
   row that fulfils them, and may let through others: SQLite looks at these again. */
#ifndef GT_SQL_SQL_FILTER_H
#define GT_SQL_SQL_FILTER_H

#include "frame/frame.h"
#include "sql/sql_host.h"

struct gt_sql_filter {
    struct gt_frame_values values;
    uint8_t *allowed;    /* by text; NULL: the values are numbers */
    int64_t least, most; /* of numbers, both included */
};

/* *takes: 0 where the constraint is none that can be held against single values quickly (then there is nothing to
   release). false: memory was short. */
bool gt_sql_filter_init(struct gt_sql_filter *filter, const struct gt_frame_values *values, int op,
                        sqlite3_value *value, bool *takes);
void gt_sql_filter_release(struct gt_sql_filter *filter);

/* What a constraint lets through of whole numbers: all between these. false: it says nothing. */
bool gt_sql_filter_bounds(int op, sqlite3_value *value, int64_t *least, int64_t *most);

static inline bool gt_sql_filter_passes(const struct gt_sql_filter *filter, size_t row) {
    const struct gt_frame_values *values = &filter->values;
    if (filter->allowed) {
        size_t id = values->type == GPUTIME_FIELD_U8 ? ((const uint8_t *)values->data)[row]
                                                     : ((const uint32_t *)values->data)[row];
        return id < values->text_count && filter->allowed[id]; /* null is the largest number */
    }
    int64_t value = gt_frame_int(values, row);
    return value >= filter->least && value <= filter->most && !gt_frame_is_null(values, row);
}

#endif
