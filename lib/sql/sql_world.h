/* What SQL is asked about: traces whose frames and reports are made when a query uses them. */
#ifndef GT_SQL_SQL_WORLD_H
#define GT_SQL_SQL_WORLD_H

#include "frame/frame.h"
#include "report/table.h"

struct gt_sql_world {
    void *context;
    size_t input_count;
    const struct gt_str *names; /* of the inputs, as reports have them */

    /* The frames of an input with these facts; the same ones again unless that needs more to be read. They live as long
       as the world. */
    enum gt_status (*frames)(void *context, size_t input, uint32_t facts, struct gt_frames **out, struct gt_error *err);
    /* Says before a query runs that it will ask for these, so that all its tables are of one reading, in which the
       numbers of rows are the same; NULL: nobody needs to know. */
    void (*expect)(void *context, uint32_t facts);
    bool is_read; /* traces are read already: what they have may be asked for while a query is planned */

    /* A table of a report on an input, by its key; *out is NULL where that has none. Lives as long as the world. */
    enum gt_status (*report)(void *context, size_t input, const char *key, const struct gt_table **out,
                             struct gt_error *err);
};

#endif
