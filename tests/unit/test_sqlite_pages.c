/* The SQLite page reader against libsqlite3, row for row, on tables of every shape. */
#include "sqlite_rows.h"

static void test_random_values(void **state) {
    (void)state;
    static const int page_bytes[] = {512, 1024, 4096, 32768, 65536};
    for (size_t i = 0; i < sizeof page_bytes / sizeof *page_bytes; i++) {
        char pragma[64];
        unlink(world_path);
        sqlite3 *connection = world_open(world_path);
        snprintf(pragma, sizeof pragma, "PRAGMA page_size = %d", page_bytes[i]);
        world_sql(connection, pragma);
        world_sql(connection, MIXED);
        insert_random(connection, INSERT_MIXED, 3000, i + 1, 6000);
        world_sql(connection, "DELETE FROM t WHERE rowid % 7 = 3; UPDATE t SET d = 'short' WHERE rowid % 5 = 1");
        sqlite3_close(connection);
        assert_int_equal(compare_all(world_path), 1);
    }
}

static void test_reserved_bytes(void **state) {
    (void)state;
    int reserved = 32;
    unlink(world_path);
    sqlite3 *connection = world_open(world_path);
    assert_int_equal(sqlite3_file_control(connection, NULL, SQLITE_FCNTL_RESERVE_BYTES, &reserved), SQLITE_OK);
    world_sql(connection, "VACUUM;" MIXED);
    insert_random(connection, INSERT_MIXED, 2000, 5, 6000);
    sqlite3_close(connection);
    unsigned char *bytes;
    size_t size = world_read(world_path, &bytes);
    assert_true(size > 100);
    assert_int_equal(bytes[20], 32);
    free(bytes);
    assert_int_equal(compare_all(world_path), 1);
}

static void test_rowids(void **state) {
    (void)state;
    world_make(
        world_path,
        "CREATE TABLE alias (a TEXT, id INTEGER PRIMARY KEY, b);"
        "INSERT INTO alias VALUES ('x', -5, 1), ('y', 9223372036854775807, 2), (NULL, 3, 3),"
        " ('w', -9223372036854775808, NULL);"
        "CREATE TABLE down (a, id INTEGER PRIMARY KEY DESC);"
        "INSERT INTO down VALUES (1, 5), (2, 3), (3, 9);"
        "CREATE TABLE number (id INT PRIMARY KEY, a); INSERT INTO number VALUES (7, 1), (NULL, 2), (5, 3);"
        "CREATE TABLE pair (a INTEGER, b INTEGER, PRIMARY KEY (a, b)); INSERT INTO pair VALUES (4, 3), (NULL, 1)");
    assert_int_equal(compare_all(world_path), 4);
}

static void test_added_columns(void **state) {
    (void)state;
    world_make(world_path, "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2), (3, NULL);"
                           "ALTER TABLE t ADD COLUMN c; ALTER TABLE t ADD COLUMN d TEXT;"
                           "INSERT INTO t VALUES (4, 5, 6, 'x');"
                           "CREATE TABLE old (a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5);"
                           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
                           " INSERT INTO old SELECT i, 2, 3, 4, 5, 6, 7, 8, 9, 10, i * i % 99, 12, printf('%.*c', i % "
                           "90, 'x'), 14, 15, i % 10 FROM n;"
                           "ALTER TABLE old ADD COLUMN last; UPDATE old SET last = a0 * 1000 WHERE a0 % 3 = 0;"
                           "CREATE TABLE filled (a); INSERT INTO filled VALUES (1);"
                           "ALTER TABLE filled ADD COLUMN b INTEGER NOT NULL DEFAULT 42;"
                           "INSERT INTO filled VALUES (2, 3)");
    assert_int_equal(compare_all(world_path), 3);
}

/* The page reader knows numbers of columns of numbers, and text; libsqlite3 knows the rest. */
static void test_defaults(void **state) {
    (void)state;
    static const struct {
        const char *column;
        int is_known;
    } defaults[] = {
        {"INTEGER DEFAULT 0", 1},
        {"INT NOT NULL DEFAULT -5", 1},
        {"BIGINT DEFAULT +7", 1},
        {"INTEGER DEFAULT 007", 1},
        {"INTEGER DEFAULT NULL", 1},
        {"INTEGER DEFAULT 9223372036854775807", 1},
        {"INTEGER DEFAULT 0x10", 0},
        {"INTEGER DEFAULT '12'", 0},
        {"INTEGER DEFAULT 9223372036854775808", 0},
        {"INTEGER DEFAULT TRUE", 0},
        {"INTEGER DEFAULT 1.0", 0},
        {"TEXT DEFAULT 3", 0},
        {"REAL DEFAULT 3", 1},
        {"REAL DEFAULT 0.0", 1},
        {"REAL DEFAULT -2.5e3", 1},
        {"REAL DEFAULT 'x'", 1},
        {"DEFAULT 3", 0},
        {"TEXT DEFAULT 'x'", 1},
        {"TEXT DEFAULT ''", 1},
        {"TEXT DEFAULT 'it''s'", 1},
        {"TEXT DEFAULT \"{}\" NOT NULL", 1},
        {"JSONB DEFAULT \"{}\" NOT NULL", 1},
        {"INTEGER DEFAULT 'x'", 1},
        {"TEXT DEFAULT ' 1'", 1},
        {"VARCHAR(9) DEFAULT \"12\"", 1},
        {"JSONB DEFAULT '12'", 0},
        {"DEFAULT ' 1'", 0},
        {"BLOB DEFAULT x'00'", 0},
        {"TEXT DEFAULT NULL", 1},
        {"FLOATING POINT DEFAULT 4", 1},
        {"INTEGER DEFAULT -9223372036854775808", 1},
    };
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        char *sql = sqlite3_mprintf("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2), (3, NULL);"
                                    "ALTER TABLE t ADD COLUMN c %s; ALTER TABLE t ADD COLUMN d INTEGER DEFAULT 9;"
                                    "INSERT INTO t (a, c) VALUES (4, 5);",
                                    defaults[i].column);
        world_make(world_path, sql);
        sqlite3_free(sql);
        assert_int_equal(compare_all(world_path), defaults[i].is_known);
    }
}

static void test_wide_table(void **state) {
    (void)state;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "CREATE TABLE wide (c0");
    for (int i = 1; i < 300; i++)
        sqlite3_str_appendf(sql, ", c%d", i);
    sqlite3_str_appendall(sql, ")");
    char *create = sqlite3_str_finish(sql);
    world_make(world_path, create);
    sqlite3_free(create);
    sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "INSERT INTO wide VALUES (?");
    for (int i = 1; i < 300; i++)
        sqlite3_str_appendall(sql, ", ?");
    sqlite3_str_appendall(sql, ")");
    char *insert = sqlite3_str_finish(sql);
    sqlite3 *connection = world_open(world_path);
    insert_random(connection, insert, 100, 8, 300);
    sqlite3_free(insert);
    sqlite3_close(connection);
    assert_int_equal(compare_all(world_path), 1);
}

/* One long value before, between and after the wanted ones. */
static void test_overflow(void **state) {
    (void)state;
    world_make(
        world_path,
        "CREATE TABLE t (a INTEGER, b TEXT, c INTEGER, d TEXT, e INTEGER);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)"
        " INSERT INTO t SELECT i, printf('%.*c', i * i * 97, 'x'), i * 1000003, printf('%.*c', i * 71, 'y'), i FROM n");
    assert_int_equal(compare_all(world_path), 1);
}

static void test_unusual_tables(void **state) {
    (void)state;
    world_make(
        world_path,
        "CREATE TABLE keyed (a TEXT PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO keyed VALUES ('z', 1), ('b', 2);"
        "CREATE TABLE made (a, b AS (a * 2) VIRTUAL, c); INSERT INTO made VALUES (3, 4), (5, NULL);"
        "CREATE TABLE stored (a, b AS (a * 2) STORED, c); INSERT INTO stored VALUES (3, 4);"
        "CREATE TABLE empty (a, b);"
        "CREATE TABLE \"odd \"\" name\" (\"odd \"\" column\", end); INSERT INTO \"odd \"\" name\" VALUES (1, 2)");
    assert_int_equal(compare_all(world_path), 4); /* all but the first */
    struct gt_sqlite_db db;
    struct gt_source *source = open_db(world_path, &db);
    for (size_t t = 1; t <= 2; t++) { /* what the file would have computed is not there */
        assert_int_equal(db.tables[t].column_count, 2);
        assert_int_equal(gt_sqlite_table_column(&db.tables[t], GT_STR("b")), GT_SQLITE_NO_COLUMN);
        assert_int_equal(gt_sqlite_table_column(&db.tables[t], GT_STR("C")), 1);
    }
    static const uint64_t rows[] = {2, 2, 1, 0, 1};
    for (size_t t = 0; t < db.table_count; t++)
        assert_int_equal(count_rows(&db, t), rows[t]);
    close_db(source, &db);
    world_make(world_path, "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (a, b); INSERT INTO t VALUES ('grün', 1)");
    assert_int_equal(compare_all(world_path), 1);
    world_make(world_path, "PRAGMA auto_vacuum = FULL; CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    assert_int_equal(compare_all(world_path), 1);
}

/* An index that has all wanted columns is shorter than the table; its order is another. */
static void test_covering_index(void **state) {
    (void)state;
    world_make(world_path, "CREATE TABLE t (a, b, c); CREATE INDEX cover ON t (b, a);"
                           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
                           " INSERT INTO t SELECT i, -i, printf('%.*c', 400, 'x') FROM n; ANALYZE");
    struct gt_sqlite_db db;
    struct gt_source *source = open_db(world_path, &db);
    struct outcome outcome;
    char *ours = scan_text(&db, &db.tables[0], (const uint16_t[]){0, 1}, 2, false, &outcome);
    char *theirs = scan_text(&db, &db.tables[0], (const uint16_t[]){0, 1}, 2, true, &outcome);
    assert_string_equal(ours, theirs);
    assert_int_equal(strncmp(theirs, "1|-1|\n2|-2|\n", 12), 0);
    sqlite3_free(ours);
    sqlite3_free(theirs);
    close_db(source, &db);
}

/* A log next to the database: read through the log's index where there is one, else refused. Nothing is written. */
static void test_log(void **state) {
    (void)state;
    world_files(1);
    sqlite3 *writer = world_open(world_path);
    world_sql(writer, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a, b)");
    insert_random(writer, "INSERT INTO t VALUES (?, ?)", 500, 3, 900);
    assert_int_equal(world_files(0), 3);
    assert_int_equal(compare_all(world_path), 0);
    struct outcome outcome;
    struct gt_sqlite_db db;
    struct gt_source *source = open_db(world_path, &db);
    struct gt_error err = {0};
    sqlite3_free(scan_text(&db, &db.tables[0], (const uint16_t[]){0}, 1, false, &outcome));
    assert_int_equal(outcome.count, 500);
    /* What bounds a scan counts the log, in which all of this still is. */
    assert_true(db.size_bytes > (uint64_t)db.file.page_count * db.file.page_bytes + 500);
    close_db(source, &db);
    assert_int_equal(world_files(0), 3);

    /* The same without the index: a copy of the two files. */
    unsigned char *bytes;
    char copy[160], copy_log[176], log[160];
    snprintf(copy, sizeof copy, "%s/b.sqlite", world_folder);
    snprintf(copy_log, sizeof copy_log, "%s-wal", copy);
    snprintf(log, sizeof log, "%s-wal", world_path);
    size_t size = world_read(world_path, &bytes);
    world_write(copy, bytes, size);
    free(bytes);
    size = world_read(log, &bytes);
    world_write(copy_log, bytes, size);
    free(bytes);
    assert_int_equal(gt_source_open(copy, &source, &err), GT_OK);
    assert_int_equal(gt_sqlite_db_open(&db, source, &err), GT_ERR);
    assert_non_null(strstr(err.message, "b.sqlite-wal"));
    assert_non_null(strstr(err.message, "wal_checkpoint"));
    gt_source_close(source);
    assert_int_equal(world_files(0), 5);
    /* An empty log says nothing. */
    world_write(copy_log, (const unsigned char *)"", 0);
    source = open_db(copy, &db);
    assert_true(db.reads_pages);
    close_db(source, &db);
    assert_int_equal(world_files(0), 5);
    /* After the last writer the log is gone, though the header still speaks of one. */
    sqlite3_close(writer);
    assert_int_equal(compare_all(world_path), 1);
    assert_int_equal(world_files(1), 3);
}

static void test_journal(void **state) {
    (void)state;
    char journal[160];
    struct gt_error err = {0};
    struct gt_source *source;
    struct gt_sqlite_db db;
    snprintf(journal, sizeof journal, "%s-journal", world_path);
    world_make(world_path, "CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    world_write(journal, (const unsigned char *)"\0\0\0\0\0\0\0\0", 8); /* cleared by its writer: done with */
    source = open_db(world_path, &db);
    close_db(source, &db);
    world_write(journal, (const unsigned char *)"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
    assert_int_equal(gt_source_open(world_path, &source, &err), GT_OK);
    assert_int_equal(gt_sqlite_db_open(&db, source, &err), GT_ERR);
    assert_non_null(strstr(err.message, "a.sqlite-journal"));
    gt_source_close(source);
    assert_int_equal(world_files(0), 2);
    unlink(journal);
}

static void test_odd_paths(void **state) {
    (void)state;
    static const char *const names[] = {"with space.sqlite", "100%25?mode=rwc#x&y=z.sqlite", "grün\"'.sqlite", "%00"};
    world_files(1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[256], doubled[260];
        snprintf(path, sizeof path, "%s/%s", world_folder, names[i]);
        snprintf(doubled, sizeof doubled, "/%s", path);
        world_make(path, "CREATE TABLE t (a); INSERT INTO t VALUES (1)");
        assert_int_equal(compare_all(path), 1);
        assert_int_equal(compare_all(doubled), 1);
        assert_int_equal(world_files(0), 1);
        unlink(path);
    }
}

static void test_not_seekable(void **state) {
    (void)state;
    struct gt_error err = {0};
    struct gt_source *source;
    struct gt_sqlite_db db;
    char command[400], packed[160];
    snprintf(packed, sizeof packed, "%s/a.sqlite.gz", world_folder);
    world_make(world_path, "CREATE TABLE t (a)");
    snprintf(command, sizeof command, "gzip -c '%s' > '%s'", world_path, packed);
    assert_int_equal(system(command), 0);
    assert_int_equal(gt_source_open(packed, &source, &err), GT_OK);
    assert_int_equal(gt_sqlite_db_open(&db, source, &err), GT_ERR);
    assert_non_null(strstr(err.message, "decompress"));
    gt_source_close(source);
    unlink(packed);
}

/* Every available capture. */
static void test_samples(void **state) {
    (void)state;
    struct world_samples samples;
    for (const char *path = world_first_sample(&samples); path; path = world_next_sample(&samples))
        assert_true(compare_all(path) > 10);
    assert_true(samples.count >= 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_values), cmocka_unit_test(test_reserved_bytes),
        cmocka_unit_test(test_rowids),        cmocka_unit_test(test_added_columns),
        cmocka_unit_test(test_defaults),      cmocka_unit_test(test_wide_table),
        cmocka_unit_test(test_overflow),      cmocka_unit_test(test_unusual_tables),
        cmocka_unit_test(test_log),           cmocka_unit_test(test_journal),
        cmocka_unit_test(test_odd_paths),     cmocka_unit_test(test_covering_index),
        cmocka_unit_test(test_not_seekable),  cmocka_unit_test(test_samples),
    };
    return cmocka_run_group_tests(tests, world_begin, world_end);
}
