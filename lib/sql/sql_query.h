/* Runs one query over traces, reading only and within limits, and puts its rows into a table of a report. */
#ifndef GT_SQL_SQL_QUERY_H
#define GT_SQL_SQL_QUERY_H

#include "report/report.h"
#include "sql/sql_world.h"

/* What a query may take; 0: no limit. */
struct gt_sql_limits {
    uint64_t rows;  /* of the result: the rest is left out, with a note */
    uint64_t bytes; /* of the result, likewise */
    int64_t timeout_ns;
    int (*is_abandoned)(void *context); /* asked now and then: other than 0 ends it; NULL: nobody asks */
    void *abandoned_context;
};

/* The text is one statement of at most GT_SQL_QUERY_BYTES. report_keys: tables of reports that it may name. What is
   wrong with the statement is an error with its place. */
enum { GT_SQL_QUERY_BYTES = 1000000 };
struct gt_sql_query {
    struct gt_str text;
    const char *const *report_keys;
    size_t report_count;
    struct gt_sql_limits limits;
};
enum gt_status gt_sql_query_run(const struct gt_sql_world *world, const struct gt_sql_query *query,
                                struct gt_section *section, struct gt_error *err);

#endif
