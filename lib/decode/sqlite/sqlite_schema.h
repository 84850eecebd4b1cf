/* The list of a database's tables: what SQLite calls sqlite_schema, read like any other table. */
#ifndef GT_DECODE_SQLITE_SQLITE_SCHEMA_H
#define GT_DECODE_SQLITE_SQLITE_SCHEMA_H

#include "decode/sqlite/sqlite_db.h"

/* Fills tables, table_count and is_schema_damaged of db. */
enum gt_status gt_sqlite_schema_read(struct gt_sqlite_db *db, struct gt_error *err);

#endif
