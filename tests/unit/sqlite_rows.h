/* Rows of SQLite tables as text, by the page reader and by libsqlite3; and tables of random values. */
#ifndef TESTS_UNIT_SQLITE_ROWS_H
#define TESTS_UNIT_SQLITE_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "decode/sqlite/sqlite_db.h"

#include "random.h"
#include "sqlite_world.h"

/* Rows as text, one after the other, to compare. */
struct rows {
    sqlite3_str *text;
    size_t column_count, count;
};

static inline void add_value(sqlite3_str *text, int type, union gt_sqlite_cell cell, size_t len) {
    uint64_t hash = 1469598103934665603u;
    switch (type) {
    case GT_SQLITE_NULL:
        sqlite3_str_appendall(text, "N|");
        break;
    case GT_SQLITE_INT:
        sqlite3_str_appendf(text, "%lld|", (long long)cell.integer);
        break;
    case GT_SQLITE_REAL:
        sqlite3_str_appendf(text, "R%!.17g|", cell.real);
        break;
    default:
        for (size_t i = 0; i < len; i++)
            hash = (hash ^ (unsigned char)cell.bytes[i]) * 1099511628211u;
        sqlite3_str_appendf(text, "%c%d:%llx|", type == GT_SQLITE_TEXT ? 'T' : 'B', (int)len, (long long)hash);
    }
}

static inline void take_row(void *context, const struct gt_sqlite_row *row) {
    struct rows *rows = context;
    for (size_t i = 0; i < rows->column_count; i++)
        add_value(rows->text, row->types[i], row->cells[i], row->lens[i]);
    sqlite3_str_appendchar(rows->text, 1, '\n');
    rows->count++;
}

/* What is known of a scan in addition to its rows. */
struct outcome {
    bool reads_pages;
    size_t count;
    uint64_t damaged, missing;
};

/* Some columns of a table in the order asked for, as text. */
static inline char *scan_text(struct gt_sqlite_db *db, struct gt_sqlite_table *table, const uint16_t *columns,
                              size_t count, bool uses_library, struct outcome *outcome) {
    struct gt_error err = {0};
    struct gt_sqlite_scan scan;
    struct gt_sqlite_reader reader;
    struct rows rows = {sqlite3_str_new(NULL), count, 0};
    bool reads_pages = db->reads_pages;
    if (uses_library)
        assert_int_equal(gt_sqlite_db_connect(db, &err), GT_OK);
    db->reads_pages = reads_pages && !uses_library;
    assert_int_equal(gt_sqlite_db_scan_init(&scan, db, table, columns, count, &err), GT_OK);
    assert_true(gt_sqlite_pages_reader_init(&reader, &db->file));
    for (size_t part = 0; part < scan.part_count; part++)
        assert_int_equal(gt_sqlite_db_scan_part(&scan, part, &reader, take_row, &rows, &err), GT_OK);
    *outcome = (struct outcome){scan.reads_pages, rows.count, reader.damaged + scan.tree.damaged,
                                reader.missing + scan.tree.missing};
    gt_sqlite_pages_reader_release(&reader);
    gt_sqlite_db_scan_release(&scan);
    db->reads_pages = reads_pages;
    sqlite3_str_appendchar(rows.text, 1, '.');
    return sqlite3_str_finish(rows.text);
}

static inline struct gt_source *open_db(const char *path, struct gt_sqlite_db *db) {
    struct gt_error err = {0};
    struct gt_source *source;
    assert_int_equal(gt_source_open(path, &source, &err), GT_OK);
    if (gt_sqlite_db_open(db, source, &err) != GT_OK)
        fail_msg("%s", err.message);
    return source;
}

static inline void close_db(struct gt_source *source, struct gt_sqlite_db *db) {
    gt_sqlite_db_close(db);
    gt_source_close(source);
}

static inline uint64_t count_rows(const struct gt_sqlite_db *db, size_t table) {
    struct gt_error err = {0};
    uint64_t rows = 0;
    assert_int_equal(gt_sqlite_db_table_rows(db, &db->tables[table], &rows, &err), GT_OK);
    return rows;
}

/* Every table of a database, in groups of columns, backwards too. Returns how many tables were read by pages. */
static inline size_t compare_all(const char *path) {
    struct gt_sqlite_db db;
    struct gt_source *source = open_db(path, &db);
    size_t by_pages = 0;
    for (size_t t = 0; t < db.table_count; t++) {
        struct gt_sqlite_table *table = &db.tables[t];
        struct outcome ours = {0}, theirs;
        assert_true(table->column_count > 0);
        for (size_t first = 0; first < table->column_count; first += 5) {
            uint16_t columns[GT_SQLITE_COLUMNS_MAX];
            size_t count = 0;
            for (size_t i = first; i < table->column_count && count < GT_SQLITE_COLUMNS_MAX; i += 1 + first % 3)
                columns[count++] = (uint16_t)(first % 2 ? table->column_count - 1 - i : i);
            if (count < GT_SQLITE_COLUMNS_MAX)
                columns[count++] = GT_SQLITE_NO_COLUMN;
            if (first == 5) { /* two columns far apart */
                columns[0] = 0;
                columns[1] = (uint16_t)(table->column_count - 1);
                count = 2;
            }
            char *a = scan_text(&db, table, columns, count, false, &ours);
            char *b = scan_text(&db, table, columns, count, true, &theirs);
            if (strcmp(a, b) != 0)
                fail_msg("%s: table %s from column %zu: %zu rows, %zu expected", path, table->name.ptr, first,
                         ours.count, theirs.count);
            assert_int_equal(ours.damaged + ours.missing, 0);
            assert_false(theirs.reads_pages);
            sqlite3_free(a);
            sqlite3_free(b);
        }
        by_pages += ours.reads_pages;
    }
    close_db(source, &db);
    return by_pages;
}

static inline void bind_random(sqlite3_stmt *insert, int column, uint64_t *seed, size_t text_max) {
    char text[6000];
    switch (random_below(seed, 8)) {
    case 0:
        sqlite3_bind_null(insert, column);
        break;
    case 1:
        sqlite3_bind_int64(insert, column, (sqlite3_int64)random_below(seed, 3));
        break;
    case 2:
    case 3:
        sqlite3_bind_int64(insert, column, (sqlite3_int64)random_u64(seed) >> random_below(seed, 64));
        break;
    case 4:
        sqlite3_bind_double(insert, column, (double)random_between(seed, -1000000, 1000000) / 64);
        break;
    default: {
        size_t len = random_below(seed, random_below(seed, 20) ? 70 : text_max);
        for (size_t i = 0; i < len; i++)
            text[i] = (char)random_u64(seed);
        if (random_below(seed, 2))
            sqlite3_bind_blob(insert, column, text, (int)len, SQLITE_TRANSIENT);
        else
            sqlite3_bind_text(insert, column, text, (int)len, SQLITE_TRANSIENT);
    }
    }
}

static inline void insert_random(sqlite3 *connection, const char *sql, size_t rows, uint64_t seed, size_t text_max) {
    sqlite3_stmt *insert;
    assert_int_equal(sqlite3_prepare_v2(connection, sql, -1, &insert, NULL), SQLITE_OK);
    world_sql(connection, "BEGIN");
    for (size_t i = 0; i < rows; i++) {
        for (int k = 1; k <= sqlite3_bind_parameter_count(insert); k++)
            bind_random(insert, k, &seed, text_max);
        assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
        sqlite3_reset(insert);
    }
    world_sql(connection, "COMMIT");
    sqlite3_finalize(insert);
}

#define MIXED        "CREATE TABLE t (a INTEGER, b INT, c REAL, d TEXT, e, f DOUBLE PRECISION, g NUMERIC, h BLOB)"
#define INSERT_MIXED "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)"

#endif
