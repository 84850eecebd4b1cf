/* Functions of SQLite that may take minutes for two long texts, without a look at the clock: the same ones, bounded. */
#ifndef GT_SQL_SQL_BOUNDED_H
#define GT_SQL_SQL_BOUNDED_H

#include <stdbool.h>

#include "sql/sql_host.h"

/* Who watches the query: whether it has to stop. Lives as long as the connection. */
struct gt_sql_bounded {
    int (*must_stop)(void *context);
    void *context;
};

/* Puts like(), glob(), instr(), replace(), trim(), ltrim() and rtrim() in the place of SQLite's; a code of SQLite. */
int gt_sql_bounded_add(sqlite3 *db, const struct gt_sql_bounded *bounded);

/* Whether a function of SQLite has no bound, and no use here that would be worth one. */
bool gt_sql_bounded_refuses(const char *function);

#endif
