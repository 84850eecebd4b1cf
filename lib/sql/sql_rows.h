/* Rows of a result, from SQLite's values to cells of a table. */
#ifndef GT_SQL_SQL_ROWS_H
#define GT_SQL_SQL_ROWS_H

#include "report/report.h"
#include "sql/sql_host.h"

/* Zero-initialise. */
struct gt_sql_rows {
    struct gt_section *section;
    struct gt_table *table;
    struct gt_report_column *columns; /* of the table */
    uint64_t bytes;                   /* of the cells so far */
};

/* A table with the columns of a statement. false: memory was short. */
bool gt_sql_rows_begin(struct gt_sql_rows *rows, struct gt_section *section, sqlite3_stmt *statement);
/* What the row that the statement is at adds to the bytes. */
uint64_t gt_sql_rows_size(const struct gt_sql_rows *rows, sqlite3_stmt *statement);
/* Adds it; its texts are copied. */
void gt_sql_rows_add(struct gt_sql_rows *rows, sqlite3_stmt *statement);

#endif
