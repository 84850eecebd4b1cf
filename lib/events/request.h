/* What a report was asked for: checked, with a value for everything. Selections, views and analyses read it. */
#ifndef GT_EVENTS_REQUEST_H
#define GT_EVENTS_REQUEST_H

#include <stdbool.h>

#include "gputime.h"

struct gt_shape;

/* Zeroed: everything, automatic. Borrowed as long as a view lives. */
struct gt_request {
    int64_t threads; /* 0: one for each core */
    struct gputime_selection selection;
    const uint32_t *process; /* whose ops alone count, by row: numbers of processes may repeat; NULL: all */
    enum gputime_names names;
    const struct gputime_option *options; /* of analyses, by row of their table; NULL: all automatic */
    const struct gt_shape *shapes;        /* shape_count of them */
    size_t shape_count;
    uint32_t facts;    /* enum gt_fact: what the analyses and the selection read; a store may have more */
    bool any_order;    /* no analysis asks when ops ran next to each other, on which device or stream */
    bool for_screen;   /* long tables need not hold more rows than text and Markdown show */
    bool columns_only; /* what other columns say than those that the shape of a table lists may be unknown */
};

#endif
