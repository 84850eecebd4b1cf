/* What can be queried, as a table of a report. */
#ifndef GT_SQL_SQL_SCHEMA_H
#define GT_SQL_SQL_SCHEMA_H

#include "report/report.h"

/* A table of reports that queries know as report_KEY. */
struct gt_sql_schema_report {
    struct gt_str key;
    const char *title; /* of the analysis */
};

/* Adds the table "schema", a row for each column of each frame, and "report_tables" with these. */
void gt_sql_schema_add(struct gt_section *section, const struct gt_sql_schema_report *reports, size_t report_count);

/* Adds the table "schema" of these frames alone, by their keys. A key that is none of a frame is an error. */
enum gt_status gt_sql_schema_add_some(struct gt_section *section, const char *const *keys, size_t count,
                                      struct gt_error *err);

#endif
