/* A table of an SQLite database, as the CREATE TABLE statement in the list of tables describes it. Any text is safe. */
#ifndef GT_DECODE_SQLITE_SQLITE_TABLE_H
#define GT_DECODE_SQLITE_SQLITE_TABLE_H

#include <stdint.h>

#include "base/arena.h"

#define GT_SQLITE_TABLE_COLUMNS_MAX 32767 /* that any SQLite can be built to allow */

/* What a column is in records from before it was added. */
enum gt_sqlite_default {
    GT_SQLITE_DEFAULT_NULL,
    GT_SQLITE_DEFAULT_INTEGER,
    GT_SQLITE_DEFAULT_REAL,
    GT_SQLITE_DEFAULT_TEXT,
    GT_SQLITE_DEFAULT_OTHER, /* something that libsqlite3 knows */
};

struct gt_sqlite_column {
    struct gt_str name, type; /* type: as declared */
    uint16_t place;           /* in records, where generated columns may be between others */
    bool is_real;
    enum gt_sqlite_default default_kind;
    int64_t default_value;      /* GT_SQLITE_DEFAULT_INTEGER */
    double default_real;        /* GT_SQLITE_DEFAULT_REAL */
    struct gt_str default_text; /* GT_SQLITE_DEFAULT_TEXT, UTF-8 */
};

struct gt_sqlite_table {
    struct gt_str name;
    uint32_t root;
    bool has_rowids;                  /* if not, it is an index, which the page reader does not read */
    uint16_t rowid_alias;             /* the column that is the rowid; or GT_SQLITE_NO_COLUMN */
    struct gt_sqlite_column *columns; /* without generated ones; none: the table is damaged */
    size_t column_count;
};

/* Fills what a statement says: all but name and root. Columns and their names are the arena's, and whether memory was
   short is known to it. The statement must be as SQLite keeps it: no IF NOT EXISTS, no AS SELECT. */
void gt_sqlite_table_parse(struct gt_sqlite_table *table, struct gt_str sql, struct gt_arena *arena);

/* The index of a column by name, ASCII case ignored; GT_SQLITE_NO_COLUMN if there is none. */
uint16_t gt_sqlite_table_column(const struct gt_sqlite_table *table, struct gt_str name);

#endif
