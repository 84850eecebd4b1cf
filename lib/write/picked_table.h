/* Which table and columns a format of one table writes. */
#ifndef GT_WRITE_PICKED_TABLE_H
#define GT_WRITE_PICKED_TABLE_H

#include "base/fail.h"
#include "gputime.h"
#include "write/joined.h"

/* Which columns to write, in order: all, or exactly those asked for (`input` is one to ask for). */
struct gt_picked_table {
    struct gt_joined joined;
    size_t columns[GT_TABLE_COLUMNS_MAX];
    size_t count;
};

/* The table of the options, else the main one, else the first. Release also after a failure. */
enum gt_status gt_picked_table_init(struct gt_picked_table *picked, const struct gt_report *report,
                                    const struct gputime_write_options *options, struct gt_error *err);
void gt_picked_table_release(struct gt_picked_table *picked);

#endif
