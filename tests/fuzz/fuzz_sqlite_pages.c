/* Fuzzes the reader of SQLite pages against libsqlite3: where both find a table whole, they find the same rows in it.
 */
#include <sqlite3.h>

#include "decode/sqlite/sqlite_db.h"
#include "run_report.h"

enum { ROWS_MAX = 4096, FNV_PRIME = 0x01000193 };

/* The rows of one scan as a hash of each, since the text of a row goes with the next. */
struct rows {
    uint32_t hashes[ROWS_MAX];
    size_t count, column_count;
    bool is_whole;
};

static uint32_t hash_bytes(uint32_t hash, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * FNV_PRIME;
    return hash;
}

static void take_row(void *context, const struct gt_sqlite_row *row) {
    struct rows *rows = context;
    uint32_t hash = 0;
    for (size_t i = 0; i < rows->column_count; i++) {
        const union gt_sqlite_cell *cell = &row->cells[i];
        hash = hash_bytes(hash, &row->types[i], sizeof row->types[i]);
        if (row->types[i] == GT_SQLITE_INT)
            hash = hash_bytes(hash, &cell->integer, sizeof cell->integer);
        else if (row->types[i] == GT_SQLITE_REAL)
            hash = hash_bytes(hash, &cell->real, sizeof cell->real);
        else if (row->types[i] != GT_SQLITE_NULL)
            hash = hash_bytes(hash, cell->bytes, row->lens[i]);
    }
    if (rows->count < ROWS_MAX)
        rows->hashes[rows->count] = hash;
    rows->count++;
}

static void scan(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table, struct rows *rows) {
    struct gt_sqlite_scan scan;
    struct gt_sqlite_reader reader;
    struct gt_error err = {0};
    uint16_t columns[GT_SQLITE_COLUMNS_MAX];
    rows->column_count = table->column_count < GT_SQLITE_COLUMNS_MAX ? table->column_count : GT_SQLITE_COLUMNS_MAX;
    rows->count = 0;
    for (size_t i = 0; i < rows->column_count; i++)
        columns[i] = (uint16_t)i;
    if (gt_sqlite_db_scan_init(&scan, db, table, columns, rows->column_count, &err) != GT_OK ||
        !gt_sqlite_pages_reader_init(&reader, &db->file))
        abort();
    /* Of absurd sizes libsqlite3 says that memory is short. */
    enum gt_status status = GT_OK;
    for (size_t part = 0; part < scan.part_count && status == GT_OK; part++)
        status = gt_sqlite_db_scan_part(&scan, part, &reader, take_row, rows, &err);
    rows->is_whole = status == GT_OK && !reader.damaged && !reader.missing && !scan.tree.damaged && !scan.tree.missing;
    gt_sqlite_pages_reader_release(&reader);
    gt_sqlite_db_scan_release(&scan);
}

static sqlite3_stmt *query(const struct gt_sqlite_db *db, const char *sql, const struct gt_sqlite_table *table) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db->connection, sql, -1, &statement, NULL) == SQLITE_OK)
        sqlite3_bind_text(statement, 1, table->name.ptr, -1, SQLITE_STATIC);
    return statement;
}

/* Whether libsqlite3 knows the table by the same page and columns. Of a table that is listed twice it knows one, and it
   is stricter with damaged statements. */
static bool is_known(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table) {
    static const char columns[] = "SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0";
    static const char roots[] = "SELECT count(*), max(rootpage) FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE";
    sqlite3_stmt *row = query(db, roots, table);
    bool is_same = sqlite3_step(row) == SQLITE_ROW && sqlite3_column_int(row, 0) == 1 &&
                   sqlite3_column_int64(row, 1) == table->root;
    sqlite3_finalize(row);
    row = query(db, columns, table);
    size_t count = 0;
    for (; is_same && sqlite3_step(row) == SQLITE_ROW; count++)
        is_same = count < table->column_count &&
                  strcmp((const char *)sqlite3_column_text(row, 0), table->columns[count].name.ptr) == 0;
    sqlite3_finalize(row);
    return is_same && count == table->column_count;
}

static void compare(struct gt_sqlite_db *db, const struct gt_sqlite_table *table) {
    static struct rows ours, theirs;
    if (table->column_count == 0 || !is_known(db, table))
        return;
    scan(db, table, &ours);
    db->reads_pages = false;
    scan(db, table, &theirs);
    db->reads_pages = true;
    if (!ours.is_whole || !theirs.is_whole)
        return;
    size_t kept = ours.count < ROWS_MAX ? ours.count : ROWS_MAX, same = 0;
    while (same < kept && ours.hashes[same] == theirs.hashes[same])
        same++;
    if (ours.count == theirs.count && same == kept)
        return;
    fprintf(stderr, "table '%s', page %u: %zu rows by pages, %zu by libsqlite3, of which the first %zu are the same\n",
            table->name.ptr, table->root, ours.count, theirs.count, same);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct gt_sqlite_db db;
    struct gt_source *source;
    if (gt_source_open(fuzz_named_file(data, size), &source, NULL) != GT_OK)
        return 0;
    if (gt_sqlite_db_open(&db, source, NULL) == GT_OK) {
        bool is_compared = db.reads_pages && db.file.encoding == GT_SQLITE_UTF8;
        is_compared = is_compared && gt_sqlite_db_connect(&db, NULL) == GT_OK;
        for (size_t i = 0; is_compared && i < db.table_count; i++)
            compare(&db, &db.tables[i]);
        gt_sqlite_db_close(&db);
    }
    gt_source_close(source);
    return 0;
}
