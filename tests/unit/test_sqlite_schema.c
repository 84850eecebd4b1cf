/* The list of tables in an SQLite database: pages of it that are cut, damaged or linked in circles, and text in UTF-16.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#include <cmocka.h>

#include "decode/sqlite/sqlite_db.h"

#include "random.h"
#include "sqlite_world.h"

/* ---- pages ---- */

static enum gt_status try_open(const char *path, struct gt_sqlite_db *db, struct gt_source **source,
                               struct gt_error *err) {
    assert_int_equal(gt_source_open(path, source, err), GT_OK);
    return gt_sqlite_db_open(db, *source, err);
}

static struct gt_source *open_db(struct gt_sqlite_db *db) {
    struct gt_error err = {0};
    struct gt_source *source;
    if (try_open(world_path, db, &source, &err) != GT_OK)
        fail_msg("%s", err.message);
    return source;
}

static void close_db(struct gt_source *source, struct gt_sqlite_db *db) {
    gt_sqlite_db_close(db);
    gt_source_close(source);
}

/* Many tables on small pages; the statement of the last takes several. */
static void make_many(int count) {
    unlink(world_path);
    sqlite3 *connection = world_open(world_path);
    world_sql(connection, "PRAGMA page_size = 512; BEGIN");
    for (int i = 0; i < count; i++) {
        char *sql = sqlite3_mprintf("CREATE TABLE t%d (a INTEGER, b%d TEXT, id INTEGER PRIMARY KEY)", i, i);
        world_sql(connection, sql);
        sqlite3_free(sql);
    }
    world_sql(connection, "CREATE TABLE long (a /* %.*c */, b)");
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "CREATE TABLE longer (a /* ");
    sqlite3_str_appendchar(sql, 3000, 'x');
    sqlite3_str_appendf(sql, " */ INT, b); CREATE VIEW v AS SELECT a FROM t0; CREATE INDEX i ON t0 (a); COMMIT");
    char *text = sqlite3_str_finish(sql);
    world_sql(connection, text);
    sqlite3_free(text);
    sqlite3_close(connection);
}

static void test_list(void **state) {
    (void)state;
    struct gt_sqlite_db db;
    make_many(60);
    struct gt_source *source = open_db(&db);
    assert_null(db.connection);
    assert_false(db.is_schema_damaged);
    assert_int_equal(db.table_count, 62);
    for (size_t i = 0; i < 60; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%zu", i);
        assert_string_equal(db.tables[i].name.ptr, name);
        assert_int_equal(db.tables[i].column_count, 3);
        assert_int_equal(db.tables[i].rowid_alias, 2);
        assert_true(db.tables[i].root > 1);
    }
    assert_string_equal(db.tables[61].name.ptr, "longer");
    assert_int_equal(db.tables[61].column_count, 2);
    close_db(source, &db);
}

/* Unusual tables are for libsqlite3, unless the list is damaged. */
static void test_connection(void **state) {
    (void)state;
    struct gt_sqlite_db db;
    static const char *const unusual[] = {"CREATE TABLE t (a PRIMARY KEY) WITHOUT ROWID",
                                          "CREATE TABLE t (a); ALTER TABLE t ADD COLUMN b BLOB DEFAULT x'00'"};
    for (size_t i = 0; i < 2; i++) {
        world_make(world_path, unusual[i]);
        struct gt_source *source = open_db(&db);
        assert_non_null(db.connection);
        close_db(source, &db);
        sqlite3 *connection = world_open(world_path);
        world_sql(connection,
                  "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('tablf', 'u', 'u', 3, 'x')");
        sqlite3_close(connection);
        source = open_db(&db);
        assert_true(db.is_schema_damaged);
        assert_null(db.connection);
        close_db(source, &db);
    }
}

/* Rows that no schema has, and tables that have no pages. */
static void test_strange_rows(void **state) {
    (void)state;
    static const struct {
        const char *values;
        size_t table_count;
        bool is_damaged;
    } rows[] = {
        {"'table', 'u', 'u', 0, 'CREATE VIRTUAL TABLE u USING x'", 1, false},
        {"'table', 'u', 'u', NULL, NULL", 1, false},
        {"'table', 'u', 'u', 2, NULL", 2, false},
        {"'table', 'u' || char(0) || 'v', 'u', 2, 'CREATE TABLE u(a)'", 2, false},
        {"'table', 'u', 'u', 4294967295, 'CREATE TABLE u(a)'", 2, false},
        {"'table', 'u', 'u', 4294967296, 'CREATE TABLE u(a)'", 1, true},
        {"'table', 'u', 'u', -1, 'CREATE TABLE u(a)'", 1, true},
        {"'table', NULL, 'u', 2, 'CREATE TABLE u(a)'", 1, true},
        {"'table', x'75', 'u', 2, 'CREATE TABLE u(a)'", 1, true},
        {"'Table', 'u', 'u', 2, 'CREATE TABLE u(a)'", 1, true},
        {"NULL, NULL, NULL, NULL, NULL", 1, true},
        {"'trigger', 'u', 'u', 0, ''", 1, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_sqlite_db db;
        world_make(world_path, "CREATE TABLE t (a)");
        sqlite3 *connection = world_open(world_path);
        char *sql =
            sqlite3_mprintf("PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES (%s)", rows[i].values);
        world_sql(connection, sql);
        sqlite3_free(sql);
        sqlite3_close(connection);
        struct gt_source *source = open_db(&db);
        if (db.table_count != rows[i].table_count || db.is_schema_damaged != rows[i].is_damaged)
            fail_msg("%s: %zu tables", rows[i].values, db.table_count);
        if (db.table_count == 2)
            assert_string_equal(db.tables[1].name.ptr, "u");
        close_db(source, &db);
    }
}

/* Every cut ends in fewer tables or an error that names the file and says what to do. */
static void test_cut_list(void **state) {
    (void)state;
    unsigned char *bytes;
    size_t fewer = 0, errors = 0;
    make_many(60);
    size_t size = world_read(world_path, &bytes);
    for (size_t cut = 100; cut < size; cut += 100) {
        struct gt_sqlite_db db;
        struct gt_source *source;
        struct gt_error err = {0};
        world_write(world_path, bytes, cut);
        if (try_open(world_path, &db, &source, &err) == GT_OK) {
            assert_true(db.file.is_cut);
            assert_true(db.table_count <= 62);
            fewer += db.table_count < 62;
            gt_sqlite_db_close(&db);
        } else {
            assert_non_null(strstr(err.message, world_path));
            assert_non_null(strstr(err.message, "export it again"));
            errors++;
        }
        gt_source_close(source);
    }
    assert_true(fewer > 10 && errors > 0);
    free(bytes);
}

/* The pages after a long statement are lost: the table keeps its name, and the others keep everything. */
static void test_lost_statement(void **state) {
    (void)state;
    unsigned char *bytes;
    struct gt_sqlite_db db;
    make_many(3);
    size_t size = world_read(world_path, &bytes);
    for (size_t page = 512; page < size; page += 512)
        if (bytes[page + 4] == 'x')
            memcpy(bytes + page, "\x7f\xff\xff\xff", 4);
    world_write(world_path, bytes, size);
    struct gt_source *source = open_db(&db);
    assert_true(db.is_schema_damaged);
    assert_int_equal(db.table_count, 5);
    assert_string_equal(db.tables[4].name.ptr, "longer");
    assert_int_equal(db.tables[4].column_count, 0);
    assert_int_equal(db.tables[3].column_count, 2);
    close_db(source, &db);
    free(bytes);
}

/* The first page of the list leads back to itself, and every link below to one page. */
static void test_circles(void **state) {
    (void)state;
    unsigned char *bytes;
    struct gt_sqlite_db db;
    make_many(60);
    size_t size = world_read(world_path, &bytes);
    unsigned char *header = bytes + 100;
    assert_int_equal(header[0], 0x05);
    static const char *const links[] = {"\0\0\0\1", "\0\0\0\0", "\xff\xff\xff\xff"};
    for (size_t i = 0; i < 3; i++) {
        memcpy(header + 8, links[i], 4);
        world_write(world_path, bytes, size);
        struct gt_source *source = open_db(&db);
        assert_true(db.is_schema_damaged);
        assert_in_range(db.table_count, 20, 61);
        close_db(source, &db);
    }
    for (int i = 0; i < (header[3] << 8 | header[4]); i++)
        memcpy(bytes + (header[12 + 2 * i] << 8 | header[13 + 2 * i]), bytes + (header[12] << 8 | header[13]), 4);
    world_write(world_path, bytes, size);
    struct gt_source *source = open_db(&db);
    assert_in_range(db.table_count, 1, 20);
    close_db(source, &db);
    free(bytes);
}

/* A record that says it extends past its page, with other pages of the file after it or nothing. */
static void test_overlong_records(void **state) {
    (void)state;
    unsigned char *bytes;
    world_make(world_path, "PRAGMA page_size = 512; CREATE TABLE t (a); CREATE TABLE u (a, b)");
    size_t size = world_read(world_path, &bytes);
    unsigned char *cell = bytes + (bytes[108] << 8 | bytes[109]);
    for (int len = 0; len < 256; len++) {
        struct gt_sqlite_db db;
        cell[0] = (unsigned char)len; /* from 128 on: the length goes on in the next byte */
        world_write(world_path, bytes, size);
        struct gt_source *source = open_db(&db);
        assert_in_range(db.table_count, 1, 2);
        assert_string_equal(db.tables[db.table_count - 1].name.ptr, "u");
        close_db(source, &db);
    }
    /* The cell begins with the last byte of the page. */
    bytes[108] = 1;
    bytes[109] = 0xff;
    world_write(world_path, bytes, size);
    struct gt_sqlite_db db;
    struct gt_source *source = open_db(&db);
    assert_int_equal(db.table_count, 1);
    assert_true(db.is_schema_damaged);
    close_db(source, &db);
    free(bytes);
}

/* Whatever is damaged, two runs give the same, though the memory was used for something else in between. */
static void test_runs_tell_the_same(void **state) {
    (void)state;
    unsigned char *bytes;
    uint64_t seed = 21;
    make_many(20);
    size_t size = world_read(world_path, &bytes);
    for (int i = 0; i < 500; i++) {
        unsigned char *copy = malloc(size);
        uint64_t hash[2] = {0, 0};
        memcpy(copy, bytes, size);
        for (size_t k = 0; k <= random_below(&seed, 8); k++)
            copy[100 + random_below(&seed, i % 2 ? 412 : size - 100)] = (unsigned char)random_u64(&seed);
        world_write(world_path, copy, size);
        for (size_t run = 0; run < 2; run++) {
            struct gt_sqlite_db db;
            struct gt_source *source;
            struct gt_error err = {0};
            void *litter = memset(malloc(100000), run ? 0x55 : 0xAA, 100000);
            free(litter);
            if (try_open(world_path, &db, &source, &err) == GT_OK) {
                for (size_t t = 0; t < db.table_count; t++) {
                    uint64_t rows = 0;
                    assert_int_equal(gt_sqlite_db_table_rows(&db, &db.tables[t], &rows, &err), GT_OK);
                    hash[run] = hash[run] * 31 + rows + db.tables[t].column_count;
                    for (size_t k = 0; k < db.tables[t].name.len; k++)
                        hash[run] = hash[run] * 31 + (unsigned char)db.tables[t].name.ptr[k];
                }
                gt_sqlite_db_close(&db);
            }
            gt_source_close(source);
        }
        assert_true(hash[0] == hash[1]);
        free(copy);
    }
    free(bytes);
}

/* ---- UTF-16 ---- */

static void take_text(void *context, const struct gt_sqlite_row *row) {
    struct gt_str text = gt_sqlite_record_text(row, 0);
    sqlite3_str_append(context, text.ptr ? text.ptr : "?", text.ptr ? (int)text.len : 1);
    sqlite3_str_appendall(context, "|");
}

static void test_utf16(void **state) {
    (void)state;
    static const char *const encodings[] = {"UTF-16le", "UTF-16be"};
    for (size_t i = 0; i < 2; i++) {
        struct gt_sqlite_db db;
        struct gt_error err = {0};
        struct gt_sqlite_scan scan;
        struct gt_sqlite_reader reader;
        char *sql =
            sqlite3_mprintf("PRAGMA encoding = '%s'; CREATE TABLE grün (\"a∞b\" TEXT, n INT DEFAULT 5);"
                            "INSERT INTO grün VALUES ('', 1), ('plain', 2), ('grün ∞ \xF0\x9F\x98\x80', 3), (NULL, 4),"
                            " (CAST(x'%s' AS TEXT), 5)",
                            encodings[i], i ? "0041D83DD83D0042DC00" : "41003DD83DD8420000DC");
        world_make(world_path, sql);
        sqlite3_free(sql);
        struct gt_source *source = open_db(&db);
        assert_null(db.connection);
        assert_string_equal(db.tables[0].name.ptr, "grün");
        assert_string_equal(db.tables[0].columns[0].name.ptr, "a∞b");
        assert_int_equal(gt_sqlite_db_scan_init(&scan, &db, &db.tables[0], (const uint16_t[]){0}, 1, &err), GT_OK);
        assert_true(scan.reads_pages);
        assert_true(gt_sqlite_pages_reader_init(&reader, &db.file));
        sqlite3_str *text = sqlite3_str_new(NULL);
        assert_int_equal(gt_sqlite_db_scan_part(&scan, 0, &reader, take_text, text, &err), GT_OK);
        char *all = sqlite3_str_finish(text);
        assert_string_equal(all, "|plain|grün ∞ \xF0\x9F\x98\x80|?|A\xEF\xBF\xBD\xEF\xBF\xBD"
                                 "B\xEF\xBF\xBD|");
        sqlite3_free(all);
        gt_sqlite_pages_reader_release(&reader);
        gt_sqlite_db_scan_release(&scan);
        close_db(source, &db);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_connection),
        cmocka_unit_test(test_strange_rows),
        cmocka_unit_test(test_cut_list),
        cmocka_unit_test(test_lost_statement),
        cmocka_unit_test(test_circles),
        cmocka_unit_test(test_overlong_records),
        cmocka_unit_test(test_runs_tell_the_same),
        cmocka_unit_test(test_utf16),
    };
    return cmocka_run_group_tests(tests, world_begin, world_end);
}
