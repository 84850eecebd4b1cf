/* An SQLite database, opened strictly for reading: its tables and columns by name, and scans of a table's rows by the
   page reader where that can do it, else through libsqlite3. Neither the file nor its folder is written. */
#ifndef GT_DECODE_SQLITE_SQLITE_DB_H
#define GT_DECODE_SQLITE_SQLITE_DB_H

#include "base/arena.h"
#include "decode/sqlite/sqlite_pages.h"
#include "decode/sqlite/sqlite_table.h"

struct sqlite3;

struct gt_sqlite_db {
    struct gt_sqlite_file file;
    struct gt_arena arena;
    const char *path;               /* of the file itself, without links */
    struct sqlite3 *connection;     /* NULL where nothing needs it; safe to use from several threads at once */
    uint64_t size_bytes;            /* of the file and its log: no database of this size has more rows */
    uint64_t checks_left;           /* of queries that take long; none: hostile links lead them astray, and they end */
    bool reads_pages;               /* the file alone is the database: no log or journal holds parts of it */
    bool is_schema_damaged;         /* some tables may be missing from the list */
    struct gt_sqlite_table *tables; /* in the order of the schema */
    size_t table_count;
};

/* source: a plain seekable file that begins like an SQLite database; it must outlive the database. */
enum gt_status gt_sqlite_db_open(struct gt_sqlite_db *db, struct gt_source *source, struct gt_error *err);
/* The same for a copy without a name of an input that errors call subject: nothing lies next to it. */
enum gt_status gt_sqlite_db_open_copy(struct gt_sqlite_db *db, struct gt_source *source, const char *subject,
                                      struct gt_error *err);
void gt_sqlite_db_close(struct gt_sqlite_db *db);

/* A connection for queries of one's own, if there is none yet. What libsqlite3 finds in a damaged file may differ from
   run to run. */
enum gt_status gt_sqlite_db_connect(struct gt_sqlite_db *db, struct gt_error *err);
/* Why the last query failed, in words. */
const char *gt_sqlite_db_problem(const struct gt_sqlite_db *db);

/* Whether that problem is the file's, not the machine's. */
bool gt_sqlite_db_is_to_blame(const struct gt_sqlite_db *db);

/* Whether the page reader knows what a column is in records from before it was added. Text comes as the file encodes
   it. */
static inline bool gt_sqlite_db_knows_default(const struct gt_sqlite_column *column, enum gt_sqlite_encoding encoding) {
    return column->default_kind != GT_SQLITE_DEFAULT_OTHER &&
           (column->default_kind != GT_SQLITE_DEFAULT_TEXT || encoding == GT_SQLITE_UTF8);
}

/* How many rows a table has: counted where they are few, else the number of the last, which in a table that nothing was
   removed from is the same. UINT64_MAX: not known, for the table is damaged or rows were removed. */
enum gt_status gt_sqlite_db_table_rows(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table,
                                       uint64_t *rows, struct gt_error *err);

/* The rows of a table, in parts that threads can read at the same time. */
struct gt_sqlite_scan {
    const struct gt_sqlite_db *db;
    const struct gt_sqlite_table *table;
    uint16_t wanted[GT_SQLITE_COLUMNS_MAX];
    struct gt_sqlite_columns columns; /* the same, by their places in records */
    struct gt_sqlite_tree tree;
    bool reads_pages;
    size_t part_count;
};

/* columns: indexes of wanted columns as gt_sqlite_table_column gives them, count <= GT_SQLITE_COLUMNS_MAX. */
enum gt_status gt_sqlite_db_scan_init(struct gt_sqlite_scan *scan, const struct gt_sqlite_db *db,
                                      const struct gt_sqlite_table *table, const uint16_t *columns, size_t count,
                                      struct gt_error *err);
void gt_sqlite_db_scan_release(struct gt_sqlite_scan *scan);

/* Rows of one part, in order; all parts in order give the rows as libsqlite3 does. Loss is counted in the reader. */
enum gt_status gt_sqlite_db_scan_part(const struct gt_sqlite_scan *scan, size_t part, struct gt_sqlite_reader *reader,
                                      gt_sqlite_pages_row_fn *take, void *context, struct gt_error *err);

/* All rows of a table, by this thread, with the losses of the table itself. */
enum gt_status gt_sqlite_db_read_table(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table,
                                       const uint16_t *columns, size_t count, struct gt_sqlite_reader *reader,
                                       gt_sqlite_pages_row_fn *take, void *context, struct gt_error *err);

#endif
