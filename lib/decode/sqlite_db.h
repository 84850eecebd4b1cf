/* An SQLite database, opened strictly for reading: its tables and columns by name, and scans of a table's rows by the
   page reader where that can do it, else through libsqlite3. Neither the file nor its folder is written. */
#ifndef GT_DECODE_SQLITE_DB_H
#define GT_DECODE_SQLITE_DB_H

#include "base/arena.h"
#include "decode/sqlite_pages.h"

struct sqlite3;

/* What a column is in records from before it was added. */
enum gt_sqlite_default {
    GT_SQLITE_DEFAULT_NULL,
    GT_SQLITE_DEFAULT_INTEGER,
    GT_SQLITE_DEFAULT_OTHER, /* something that libsqlite3 knows */
};

struct gt_sqlite_column {
    struct gt_str name, type; /* type: as declared */
    bool is_real;
    enum gt_sqlite_default default_kind;
    int64_t default_value; /* GT_SQLITE_DEFAULT_INTEGER */
};

struct gt_sqlite_table {
    struct gt_str name;
    uint32_t root;
    bool is_loaded;                   /* what follows is filled by gt_sqlite_table_load */
    bool is_plain;                    /* its records hold just its columns: the page reader can read them */
    uint16_t rowid_alias;             /* GT_SQLITE_NO_COLUMN if none */
    struct gt_sqlite_column *columns; /* without generated ones; none: the schema of this table is damaged */
    size_t column_count;
};

struct gt_sqlite_db {
    struct gt_sqlite_file file;
    struct sqlite3 *connection; /* safe to use from several threads at once */
    uint64_t size_bytes;        /* of the file and its log: no database of this size has more rows */
    uint64_t checks_left;       /* of queries that take long; none: hostile links lead them astray, and they end */
    bool reads_pages;           /* the file alone is the database: no log or journal holds parts of it */
    bool is_schema_damaged;     /* some tables may be missing from the list */
    struct gt_arena arena;
    struct gt_sqlite_table *tables; /* in the order of the schema */
    size_t table_count;
};

/* source: a plain seekable file that begins like an SQLite database; it must outlive the database. */
enum gt_status gt_sqlite_db_open(struct gt_sqlite_db *db, struct gt_source *source, struct gt_error *err);
void gt_sqlite_db_close(struct gt_sqlite_db *db);

/* Why the last query failed, in words. */
const char *gt_sqlite_db_problem(const struct gt_sqlite_db *db);

/* Fills the columns of a table of db. */
enum gt_status gt_sqlite_table_load(struct gt_sqlite_db *db, struct gt_sqlite_table *table, struct gt_error *err);

/* Whether a table has a row; a damaged one may have. */
bool gt_sqlite_table_has_rows(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table);

/* How many rows a table has: counted where they are few, else the number of the last, which in a table that nothing was
   removed from is the same. UINT64_MAX: not known. */
uint64_t gt_sqlite_table_rows(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table);

/* The index of a column by name, ASCII case ignored; GT_SQLITE_NO_COLUMN if there is none. */
uint16_t gt_sqlite_table_column(const struct gt_sqlite_table *table, struct gt_str name);

/* The rows of a table, in parts that threads can read at the same time. */
struct gt_sqlite_scan {
    const struct gt_sqlite_db *db;
    const struct gt_sqlite_table *table;
    struct gt_sqlite_columns columns;
    struct gt_sqlite_tree tree;
    bool reads_pages;
    size_t part_count;
};

/* columns: indexes of wanted columns as gt_sqlite_table_column gives them, count <= GT_SQLITE_COLUMNS_MAX. */
enum gt_status gt_sqlite_scan_init(struct gt_sqlite_scan *scan, const struct gt_sqlite_db *db,
                                   const struct gt_sqlite_table *table, const uint16_t *columns, size_t count,
                                   struct gt_error *err);
void gt_sqlite_scan_release(struct gt_sqlite_scan *scan);

/* Rows of one part, in order; all parts in order give the rows as libsqlite3 does. Loss is counted in the reader. */
enum gt_status gt_sqlite_scan_part(const struct gt_sqlite_scan *scan, size_t part, struct gt_sqlite_reader *reader,
                                   gt_sqlite_row_fn *take, void *context, struct gt_error *err);

#endif
