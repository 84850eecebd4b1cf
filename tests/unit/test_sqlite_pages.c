/* The SQLite page reader against libsqlite3, row for row, on tables of every shape; and on damaged, cut and hostile
   files, where it must go on or stop, but never fall. */
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

static void add_value(sqlite3_str *text, int type, union gt_sqlite_cell cell, size_t len) {
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

static void take_row(void *context, const struct gt_sqlite_row *row) {
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
static char *scan_text(struct gt_sqlite_db *db, struct gt_sqlite_table *table, const uint16_t *columns, size_t count,
                       bool uses_library, struct outcome *outcome) {
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

static struct gt_source *open_db(const char *path, struct gt_sqlite_db *db) {
    struct gt_error err = {0};
    struct gt_source *source;
    assert_int_equal(gt_source_open(path, &source, &err), GT_OK);
    if (gt_sqlite_db_open(db, source, &err) != GT_OK)
        fail_msg("%s", err.message);
    return source;
}

static void close_db(struct gt_source *source, struct gt_sqlite_db *db) {
    gt_sqlite_db_close(db);
    gt_source_close(source);
}

static uint64_t count_rows(const struct gt_sqlite_db *db, size_t table) {
    struct gt_error err = {0};
    uint64_t rows = 0;
    assert_int_equal(gt_sqlite_db_table_rows(db, &db->tables[table], &rows, &err), GT_OK);
    return rows;
}

/* Every table of a database, in groups of columns, backwards too. Returns how many tables were read by pages. */
static size_t compare_all(const char *path) {
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

static void bind_random(sqlite3_stmt *insert, int column, uint64_t *seed, size_t text_max) {
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

static void insert_random(sqlite3 *connection, const char *sql, size_t rows, uint64_t seed, size_t text_max) {
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

/* The page reader knows whole numbers of integer columns; libsqlite3 knows the rest. */
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
        {"REAL DEFAULT 3", 0},
        {"DEFAULT 3", 0},
        {"TEXT DEFAULT 'x'", 0},
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

#define MANY_ROWS                                                                                                      \
    "CREATE TABLE t (a INTEGER, b TEXT);"                                                                              \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"                                  \
    " INSERT INTO t SELECT i, printf('row %d', i) FROM n"

static size_t read_damaged(struct outcome *outcome) {
    struct gt_sqlite_db db;
    struct gt_source *source = open_db(world_path, &db);
    const uint16_t columns[] = {0, 1};
    assert_int_equal(db.table_count, 1);
    sqlite3_free(scan_text(&db, &db.tables[0], columns, 2, false, outcome));
    assert_true(outcome->reads_pages);
    size_t root = db.tables[0].root;
    close_db(source, &db);
    return root;
}

static void test_damaged_leaf(void **state) {
    (void)state;
    unsigned char *bytes;
    struct outcome outcome;
    world_make(world_path, MANY_ROWS);
    read_damaged(&outcome);
    assert_int_equal(outcome.count, 20000);
    assert_int_equal(outcome.damaged, 0);
    size_t size = world_read(world_path, &bytes), per_page = 0;
    size_t leaf = 40 * 4096;
    assert_int_equal(bytes[leaf], 0x0D);
    per_page = (size_t)bytes[leaf + 3] << 8 | bytes[leaf + 4];
    memset(bytes + leaf, 0, 4096);
    world_write(world_path, bytes, size);
    read_damaged(&outcome);
    assert_int_equal(outcome.damaged, 1);
    assert_int_equal(outcome.count, 20000 - per_page);
    free(bytes);
}

/* Links back to the root, to themselves, to the header and past the end. */
static void test_bad_links(void **state) {
    (void)state;
    unsigned char *bytes;
    struct outcome outcome;
    world_make(world_path, MANY_ROWS);
    size_t root = read_damaged(&outcome);
    size_t size = world_read(world_path, &bytes);
    unsigned char *page = bytes + (root - 1) * 4096;
    assert_int_equal(page[0], 0x05);
    static const uint32_t links[] = {0, 1, 2, UINT32_MAX, 0x7FFFFFFF};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        unsigned char *cell = page + (page[12] << 8 | page[13]), saved[4];
        memcpy(saved, cell, 4);
        for (int k = 0; k < 4; k++)
            cell[k] = (unsigned char)(links[i] >> (24 - 8 * k));
        world_write(world_path, bytes, size);
        read_damaged(&outcome);
        assert_int_equal(outcome.damaged, 1);
        assert_in_range(outcome.count, 19000, 19999);
        memcpy(cell, saved, 4);
    }
    /* All links lead to one page: it is read once. */
    for (int i = 0; i < (page[3] << 8 | page[4]); i++)
        memcpy(page + (page[12 + 2 * i] << 8 | page[13 + 2 * i]), page + (page[12] << 8 | page[13]), 4);
    world_write(world_path, bytes, size);
    read_damaged(&outcome);
    assert_in_range(outcome.count, 1, 1000);
    assert_true(outcome.damaged > 10);
    free(bytes);
}

static void put32(unsigned char *at, uint32_t number) {
    for (int k = 0; k < 4; k++)
        at[k] = (unsigned char)(number >> (24 - 8 * k));
}

/* A page of a table's tree whose 300 links all lead to one page below. header: bytes before it on the page. */
static void make_fan(unsigned char *page, uint32_t below, size_t header) {
    enum { LINKS = 300, LINK_BYTES = 6 };
    unsigned char *top = page + header;
    memset(top, 0, 4096 - header);
    top[0] = 0x05;
    for (size_t i = 0; i < LINKS; i++) {
        size_t at = 4096 - (i + 1) * LINK_BYTES;
        put32(page + at, below);
        page[at + 4] = (unsigned char)(0x80 | (i + 1) >> 7);
        page[at + 5] = (unsigned char)((i + 1) & 0x7F);
        top[12 + 2 * i] = (unsigned char)(at >> 8);
        top[13 + 2 * i] = (unsigned char)at;
        top[3] = (unsigned char)((i + 1) >> 8);
        top[4] = (unsigned char)(i + 1);
    }
    put32(top + 8, below);
}

/* Ten levels of such pages above the leaf that the page was: more rows than can be counted. */
static void make_endless(uint32_t root) {
    enum { LEVELS = 10 };
    unsigned char *bytes;
    size_t size = world_read(world_path, &bytes), header = root == 1 ? 100 : 0;
    uint32_t last = (uint32_t)(size / 4096) + LEVELS;
    unsigned char *all = calloc(1, (size_t)last * 4096), *leaf = all + (size_t)(last - 1) * 4096;
    assert_non_null(all);
    memcpy(all, bytes, size);
    memcpy(leaf, all + (size_t)(root - 1) * 4096, 4096);
    memmove(leaf, leaf + header, 8 + 2 * (size_t)leaf[header + 4]);
    for (uint32_t page = last - LEVELS + 1; page < last; page++)
        make_fan(all + (size_t)(page - 1) * 4096, page + 1, 0);
    make_fan(all + (size_t)(root - 1) * 4096, last - LEVELS + 1, header);
    put32(all + 28, last);
    world_write(world_path, all, (size_t)last * 4096);
    free(all);
    free(bytes);
}

/* Queries of libsqlite3 on such a tree would go on for years. */
static void test_endless_trees(void **state) {
    (void)state;
    struct gt_sqlite_db db;
    struct gt_source *source;
    struct outcome outcome;
    world_make(world_path, "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)");
    make_endless(2);
    source = open_db(world_path, &db);
    assert_int_equal(db.table_count, 1);
    assert_true(count_rows(&db, 0) == UINT64_MAX);
    sqlite3_free(scan_text(&db, &db.tables[0], (const uint16_t[]){0}, 1, false, &outcome));
    assert_int_equal(outcome.count, 2);
    assert_int_equal(outcome.damaged, 10 * 300);
    sqlite3_free(scan_text(&db, &db.tables[0], (const uint16_t[]){0}, 1, true, &outcome));
    assert_in_range(outcome.count, 1, db.size_bytes);
    assert_int_equal(outcome.damaged, 1);
    close_db(source, &db);
    world_make(world_path, "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)");
    make_endless(1);
    source = open_db(world_path, &db);
    assert_true(db.is_schema_damaged);
    assert_int_equal(db.table_count, 1);
    close_db(source, &db);
}

static void test_cut_file(void **state) {
    (void)state;
    unsigned char *bytes;
    struct outcome outcome;
    world_make(world_path, MANY_ROWS);
    size_t size = world_read(world_path, &bytes);
    size_t before = 0;
    for (size_t part = 10; part <= 20; part++) {
        world_write(world_path, bytes, size * part / 20);
        read_damaged(&outcome);
        assert_int_equal(outcome.damaged, 0);
        assert_int_equal(outcome.missing > 0, part < 20);
        assert_true(outcome.count > before);
        before = outcome.count;
    }
    assert_int_equal(before, 20000);
    free(bytes);
}

/* A chain of overflow pages that leads round in a circle, and a record that says it is huge. */
static void test_bad_overflow(void **state) {
    (void)state;
    unsigned char *bytes;
    struct outcome outcome;
    world_make(world_path, "CREATE TABLE t (a TEXT, b TEXT); INSERT INTO t VALUES (printf('%.*c', 50000, 'x'), 'end');"
                           "INSERT INTO t VALUES ('next', 'row')");
    size_t root = read_damaged(&outcome);
    assert_int_equal(outcome.count, 2);
    size_t size = world_read(world_path, &bytes);
    for (size_t page = root; page < size / 4096; page++)
        memcpy(bytes + page * 4096, "\0\0\0\3", 4);
    world_write(world_path, bytes, size);
    read_damaged(&outcome); /* ends: what it gives does not matter */
    unsigned char *leaf = bytes + (root - 1) * 4096, *cell = leaf + (leaf[8] << 8 | leaf[9]);
    memcpy(cell, "\x87\xff\xff\xff\x7f", 5);
    world_write(world_path, bytes, size);
    read_damaged(&outcome);
    assert_true(outcome.damaged >= 1);
    free(bytes);
}

static void count_row(void *context, const struct gt_sqlite_row *row) {
    (void)row;
    ++*(size_t *)context;
}

/* A reader that has followed many pages reads the next part like a fresh one: threads take parts in any order. */
static void test_runs_do_not_share_limits(void **state) {
    (void)state;
    world_make(world_path, "CREATE TABLE t (a TEXT, b TEXT); INSERT INTO t VALUES (printf('%.*c', 50000, 'x'), 'end')");
    struct gt_sqlite_db db;
    struct gt_source *source = open_db(world_path, &db);
    struct gt_error err = {0};
    struct gt_sqlite_scan scan;
    struct gt_sqlite_reader reader;
    size_t count = 0;
    assert_int_equal(gt_sqlite_db_scan_init(&scan, &db, &db.tables[0], (const uint16_t[]){1}, 1, &err), GT_OK);
    assert_true(gt_sqlite_pages_reader_init(&reader, &db.file));
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(gt_sqlite_db_scan_part(&scan, 0, &reader, count_row, &count, &err), GT_OK);
    assert_int_equal(count, 5);
    assert_int_equal(reader.damaged, 0);
    gt_sqlite_pages_reader_release(&reader);
    gt_sqlite_db_scan_release(&scan);
    close_db(source, &db);
}

/* Whatever happens, it must be no crash; the sanitizers watch. */
static void scan_everything(void) {
    struct gt_error err = {0};
    struct gt_source *source;
    struct gt_sqlite_db db;
    assert_int_equal(gt_source_open(world_path, &source, &err), GT_OK);
    if (gt_sqlite_db_open(&db, source, &err) == GT_OK) {
        for (size_t t = 0; t < db.table_count; t++) {
            uint16_t columns[4] = {0, 1, 2, 3};
            struct outcome outcome;
            size_t count = db.tables[t].column_count < 4 ? db.tables[t].column_count : 4;
            if (count)
                sqlite3_free(scan_text(&db, &db.tables[t], columns, count, false, &outcome));
        }
        gt_sqlite_db_close(&db);
    }
    gt_source_close(source);
}

static void test_flipped_bytes(void **state) {
    (void)state;
    unsigned char *bytes;
    uint64_t seed = 4;
    unlink(world_path);
    sqlite3 *connection = world_open(world_path);
    world_sql(connection, "PRAGMA page_size = 512;" MIXED);
    insert_random(connection, INSERT_MIXED, 40, 3, 3000);
    sqlite3_close(connection);
    size_t size = world_read(world_path, &bytes);
    for (int i = 0; i < 1500; i++) {
        unsigned char *copy = malloc(size);
        memcpy(copy, bytes, size);
        size_t flips = 1 + random_below(&seed, 20);
        for (size_t k = 0; k < flips; k++)
            copy[i % 3 ? random_below(&seed, size) : random_below(&seed, 1024)] = (unsigned char)random_u64(&seed);
        memcpy(copy, bytes, 16);
        world_write(world_path, copy, i % 7 ? size : random_below(&seed, size) + 1);
        scan_everything();
        free(copy);
    }
    free(bytes);
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
        cmocka_unit_test(test_random_values),  cmocka_unit_test(test_reserved_bytes),
        cmocka_unit_test(test_rowids),         cmocka_unit_test(test_added_columns),
        cmocka_unit_test(test_defaults),       cmocka_unit_test(test_wide_table),
        cmocka_unit_test(test_overflow),       cmocka_unit_test(test_unusual_tables),
        cmocka_unit_test(test_damaged_leaf),   cmocka_unit_test(test_bad_links),
        cmocka_unit_test(test_endless_trees),  cmocka_unit_test(test_cut_file),
        cmocka_unit_test(test_bad_overflow),   cmocka_unit_test(test_runs_do_not_share_limits),
        cmocka_unit_test(test_flipped_bytes),  cmocka_unit_test(test_log),
        cmocka_unit_test(test_journal),        cmocka_unit_test(test_odd_paths),
        cmocka_unit_test(test_covering_index), cmocka_unit_test(test_not_seekable),
        cmocka_unit_test(test_samples),
    };
    return cmocka_run_group_tests(tests, world_begin, world_end);
}
