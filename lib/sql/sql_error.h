/* What is wrong with a query: where, why, and what may have been meant. */
#ifndef GT_SQL_SQL_ERROR_H
#define GT_SQL_SQL_ERROR_H

#include "base/fail.h"
#include "sql/sql_host.h"
#include "sql/sql_query.h"

/* The latest error of the connection, which ran this query. */
enum gt_status gt_sql_error_set(sqlite3 *db, const struct gt_sql_query *query, struct gt_error *err);

#endif
