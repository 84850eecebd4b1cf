/* Tables of reports as virtual tables of SQLite: report_kernels and so on. */
#ifndef GT_SQL_SQL_REPORTS_H
#define GT_SQL_SQL_REPORTS_H

#include "sql/sql_host.h"
#include "sql/sql_world.h"

#define GT_SQL_REPORTS_PREFIX "report_"

/* As gt_sql_frames_connect, for the table with this key, which must outlive the connection. It is made here, since its
   columns are known then. */
int gt_sql_reports_connect(sqlite3 *db, const struct gt_sql_world *world, const char *key, sqlite3_vtab **out,
                           char **message);

extern const sqlite3_module gt_sql_reports_methods;

#endif
