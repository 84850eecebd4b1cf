/* Functions of SQL that SQLite lacks and reports have: median(X), percentile(X, P), stddev(X). */
#ifndef GT_SQL_SQL_FUNCTIONS_H
#define GT_SQL_SQL_FUNCTIONS_H

#include "sql/sql_host.h"
#include "sql/sql_memory.h"

/* Adds them to a connection; a code of SQLite. The values of medians and percentiles count as its memory. */
int gt_sql_functions_add(sqlite3 *db, struct gt_sql_memory *memory);

#endif
