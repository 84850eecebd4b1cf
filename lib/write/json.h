/* The report as JSON, for programs and for the page that carries it inside. */
#ifndef GT_WRITE_JSON_H
#define GT_WRITE_JSON_H

#include "base/fail.h"
#include "base/out.h"
#include "report/report.h"

struct gt_json_how {
    /* GT_FOR_DATA: as docs/json.md describes it. GT_FOR_PAGE: rows are arrays in the order of the columns, in which [n]
       is entry n of `texts` and integers that a script's numbers cannot hold are strings; columns have `flags`, inputs
       the titles of their facts in `shown`, the report its `main_table`. */
    enum gt_audience audience;
    size_t row_limit;         /* of each table; 0: all */
    size_t threads;           /* that may write rows */
    bool is_open;             /* without the last brace and the line break before it, so that more keys can follow */
    bool has_recommendations; /* findings have their advice as `recommendation` too, as an older tool calls it */
};

enum gt_status gt_json_report(const struct gt_report *report, const struct gt_json_how *how, struct gt_out *out,
                              struct gt_error *err);

#endif
