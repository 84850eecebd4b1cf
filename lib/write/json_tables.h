/* The part of a report's JSON that holds its tables. */
#ifndef GT_WRITE_JSON_TABLES_H
#define GT_WRITE_JSON_TABLES_H

#include "write/json.h"

/* The key `tables`, and for the page `texts`, which its cells refer to. With the comma after. */
enum gt_status gt_json_tables(struct gt_out *out, const struct gt_report *report, const struct gt_json_how *how,
                              struct gt_error *err);

#endif
