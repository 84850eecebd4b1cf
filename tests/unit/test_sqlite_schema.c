/* The list of tables in an SQLite database: CREATE TABLE statements against libsqlite3, column for column; hostile
   text; and pages of the list that are cut, damaged or linked in circles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#include <cmocka.h>

#include "decode/sqlite_db.h"

#include "random.h"
#include "sqlite_world.h"

/* ---- statements ---- */

static sqlite3_stmt *query(sqlite3 *connection, const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(connection, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(connection));
    return statement;
}

static bool gives_row(sqlite3 *connection, const char *sql) {
    sqlite3_stmt *statement = query(connection, sql);
    bool is_row = sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return is_row;
}

static bool is_same_default(const struct gt_sqlite_column *column, const char *text) {
    if (!text || strcasecmp(text, "NULL") == 0)
        return column->default_kind == GT_SQLITE_DEFAULT_NULL;
    return column->default_kind == GT_SQLITE_DEFAULT_OTHER ||
           (column->default_kind == GT_SQLITE_DEFAULT_INTEGER && column->default_value == atoll(text));
}

/* The table t of a connection as libsqlite3 knows it. Returns its number of columns. */
static size_t compare_columns(sqlite3 *connection, const struct gt_sqlite_table *table, const char *sql) {
    sqlite3_stmt *row = query(connection, "SELECT name, type, pk, hidden, dflt_value FROM pragma_table_xinfo('t')");
    size_t count = 0, place = 0, keys = 0;
    uint16_t alias = GT_SQLITE_NO_COLUMN;
    for (; sqlite3_step(row) == SQLITE_ROW; place += sqlite3_column_int(row, 3) != 2) {
        if (sqlite3_column_int(row, 3) != 0)
            continue;
        if (count == table->column_count)
            fail_msg("%s: %zu columns are too few", sql, count);
        const struct gt_sqlite_column *column = &table->columns[count];
        /* libsqlite3 writes the types that it knows in capitals. */
        if (strcmp(column->name.ptr, (const char *)sqlite3_column_text(row, 0)) != 0 ||
            strcasecmp(column->type.ptr, (const char *)sqlite3_column_text(row, 1)) != 0 || column->place != place ||
            !is_same_default(column, (const char *)sqlite3_column_text(row, 4)))
            fail_msg("%s: column %zu is '%s' '%s' at %d, not '%s' '%s' at %zu", sql, count, column->name.ptr,
                     column->type.ptr, column->place, sqlite3_column_text(row, 0), sqlite3_column_text(row, 1), place);
        if (sqlite3_column_int(row, 2) > 0) {
            keys++;
            alias = strcasecmp(column->type.ptr, "INTEGER") == 0 ? (uint16_t)count : GT_SQLITE_NO_COLUMN;
        }
        count++;
    }
    sqlite3_finalize(row);
    if (keys != 1 || gives_row(connection, "SELECT 1 FROM pragma_index_list('t') WHERE origin = 'pk'"))
        alias = GT_SQLITE_NO_COLUMN;
    if (table->has_rowids && table->rowid_alias != alias)
        fail_msg("%s: the rowid is column %d, not %d", sql, table->rowid_alias, alias);
    return count;
}

/* Creates a table named t and compares what is known of it. */
static void compare(const char *sql) {
    struct gt_arena arena = {0};
    struct gt_sqlite_table table = {0};
    sqlite3 *connection = world_open(":memory:");
    world_sql(connection, sql);
    sqlite3_stmt *row = query(connection, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 't'");
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    struct gt_str text = {(const char *)sqlite3_column_text(row, 0), (size_t)sqlite3_column_bytes(row, 0)};
    gt_sqlite_table_parse(&table, text, &arena);
    sqlite3_finalize(row);
    assert_int_equal(compare_columns(connection, &table, sql), table.column_count);
    sqlite3_stmt *by_rowid = NULL;
    bool has_rowids = sqlite3_prepare_v2(connection, "SELECT rowid FROM t", -1, &by_rowid, NULL) == SQLITE_OK;
    sqlite3_finalize(by_rowid);
    if (table.has_rowids != has_rowids)
        fail_msg("%s: whether it has rowids", sql);
    sqlite3_close(connection);
    gt_arena_release(&arena);
}

static void test_statements(void **state) {
    (void)state;
    static const char *const statements[] = {
        "CREATE TABLE t(a)",
        "create table if not exists main.t (a, b)",
        "CREATE TABLE t AS SELECT 1 AS a, 'x' AS \"b c\", 2.5",
        "CREATE TABLE \"t\" (a, [b] TEXT, `c` INT, 'd' REAL, \"e\")",
        "CREATE TABLE [t] ([a \"b` 'c], \"d \"\"e\", `f``g`, 'h''i', \"(\", \")\", \",\")",
        "CREATE TABLE t (\"primary\" INT, [check], `unique`, 'constraint', key, desc, end, generated, stored)",
        "CREATE TABLE t (gr\xC3\xBCn INTEGER, \xE2\x88\x9E, a$b, _)",
        "CREATE TABLE t (a VARCHAR(20), b DECIMAL ( 10 , +2 ), c DOUBLE PRECISION, d UNSIGNED BIG INT, e \"my type\")",
        "CREATE TABLE t (a integer, b Int, c text, d any, e /* odd */ blob -- kept\n, f)",
        "-- first\nCREATE /* ) */ TABLE t -- (\n( /* a, */ a /* , */ INT -- , b\n, c) -- WITHOUT ROWID",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a)",
        "CREATE TABLE t (a, id integer not null primary key asc autoincrement)",
        "CREATE TABLE t (a, id INTEGER PRIMARY KEY DESC)",
        "CREATE TABLE t (id INT PRIMARY KEY)",
        "CREATE TABLE t (id \"INTEGER\" PRIMARY KEY)",
        "CREATE TABLE t (id INTEGER CONSTRAINT \"primary\" PRIMARY KEY ON CONFLICT REPLACE)",
        "CREATE TABLE t (id BIG INTEGER PRIMARY KEY)",
        "CREATE TABLE t (id INTEGER(4) PRIMARY KEY)",
        "CREATE TABLE t (a, id INTEGER, PRIMARY KEY (id))",
        "CREATE TABLE t (a, id INTEGER, CONSTRAINT k PRIMARY KEY (ID DESC) ON CONFLICT ABORT)",
        "CREATE TABLE t (a, id INTEGER, PRIMARY KEY (\"id\" COLLATE nocase ASC), UNIQUE (a), CHECK (a OR 1 > (0)))",
        "CREATE TABLE t (a, id INTEGER, PRIMARY KEY ((id)))",
        "CREATE TABLE t (a, id INTEGER, PRIMARY KEY (id AUTOINCREMENT))",
        "CREATE TABLE t (a INTEGER, b INTEGER, PRIMARY KEY (a, b))",
        "CREATE TABLE t (a INTEGER, b INTEGER, CONSTRAINT c UNIQUE (b), FOREIGN KEY (a) REFERENCES u (x) ON DELETE "
        "SET DEFAULT ON UPDATE SET NULL DEFERRABLE INITIALLY DEFERRED)",
        "CREATE TABLE t (a INTEGER REFERENCES u (x) ON DELETE SET DEFAULT, b INT REFERENCES u ON UPDATE SET NULL)",
        "CREATE TABLE t (a INT DEFAULT 5, b INT DEFAULT -5, c INT DEFAULT +5, d INT DEFAULT (5), e INT DEFAULT ( -5 ))",
        "CREATE TABLE t (a INT DEFAULT - 5, b INT DEFAULT ((5)), c INT DEFAULT (1 + (2)), d DEFAULT 'x, y', e)",
        "CREATE TABLE t (a DEFAULT NULL, b DEFAULT (NULL), c DEFAULT 'NULL', d INT DEFAULT NULL NOT NULL)",
        "CREATE TABLE t (a INT DEFAULT 1e+5, b INT DEFAULT 0x1F, c INT DEFAULT 1.5, d INT DEFAULT .5, e DEFAULT x'00')",
        "CREATE TABLE t (a INT DEFAULT true, b DEFAULT CURRENT_TIME, c DEFAULT \"word\", d INT DEFAULT 9 CHECK (d > "
        "1))",
        "CREATE TABLE t (a, b AS (a * 2), c, d INT GENERATED ALWAYS AS (a + (1)) STORED, e AS (c) VIRTUAL, f)",
        "CREATE TABLE t (a, b generated always as (a) stored, c ALWAYS, d TEXT ALWAYS, e)",
        "CREATE TABLE t (a CONSTRAINT x NOT NULL CONSTRAINT y AS (1) STORED, b)",
        "CREATE TABLE t (a COLLATE nocase NOT NULL ON CONFLICT FAIL UNIQUE, b CHECK (b IN ('(', ')')))",
        "CREATE TABLE t (a TEXT PRIMARY KEY, b) WITHOUT ROWID",
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b INT) strict, without rowid",
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b INT) STRICT",
        "CREATE TABLE t (\"without rowid\" INTEGER) /* WITHOUT ROWID",
        "CREATE TABLE u (a); ALTER TABLE u RENAME TO t; ALTER TABLE t ADD COLUMN b INT DEFAULT 7; ALTER TABLE t RENAME "
        "COLUMN a TO \"x y\"",
    };
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        compare(statements[i]);
}

/* Columns of random parts, each of which SQLite accepts anywhere. */
static void test_random_statements(void **state) {
    (void)state;
    static const char *const quotes[] = {"%d", "\"c \"\"%d\"", "[c, (%d]", "`c``%d`", "'c''%d'", "c%d"};
    static const char *const types[] = {"",
                                        " INTEGER",
                                        " int",
                                        " REAL",
                                        " TEXT(5)",
                                        " FLOATING INT",
                                        " /*,*/ BLOB",
                                        " \"odd ) type\"",
                                        " NUMERIC ",
                                        " DECIMAL(1, 2)",
                                        " LONG VARCHAR(8)"};
    static const char *const constraints[] = {"",
                                              " NOT NULL",
                                              " UNIQUE",
                                              " DEFAULT 17",
                                              " DEFAULT (1, 2)",
                                              " DEFAULT 'a,)'",
                                              " COLLATE nocase",
                                              " CHECK (1 > ',)' OR (2 = 3))",
                                              " REFERENCES u (v) ON DELETE SET DEFAULT",
                                              " -- it's, a)\n",
                                              " CONSTRAINT [a,b] NULL",
                                              " AS (1)",
                                              " GENERATED ALWAYS AS (1 + (2)) STORED"};
    uint64_t seed = 11;
    for (int i = 0; i < 400; i++) {
        sqlite3_str *sql = sqlite3_str_new(NULL);
        size_t count = 1 + random_below(&seed, 12), key = random_below(&seed, 14);
        sqlite3_str_appendall(sql, "CREATE TABLE t(first");
        for (size_t c = 0; c < count; c++) {
            char name[32];
            snprintf(name, sizeof name, quotes[1 + random_below(&seed, 5)], (int)c);
            size_t constraint = random_below(&seed, 13);
            if (c == key) {
                sqlite3_str_appendf(sql, ", %s%s PRIMARY KEY%s", name, types[random_below(&seed, 3)],
                                    random_below(&seed, 3) ? "" : " DESC");
                continue;
            }
            sqlite3_str_appendf(sql, ", %s%s%s%s", name, types[random_below(&seed, 11)],
                                constraint == 4 ? "" : constraints[constraint],
                                random_below(&seed, 4) ? "" : " CHECK (1)");
        }
        sqlite3_str_appendf(sql, "%s)", random_below(&seed, 2) ? ", UNIQUE (first), CHECK ((1) + 1)" : "");
        char *text = sqlite3_str_finish(sql);
        compare(text);
        sqlite3_free(text);
    }
}

static size_t columns_of(struct gt_str sql, struct gt_arena *arena) {
    struct gt_sqlite_table table = {.column_count = 9};
    gt_sqlite_table_parse(&table, sql, arena);
    assert_false(gt_arena_failed(arena));
    return table.column_count;
}

static void test_hostile_statements(void **state) {
    (void)state;
    static const char *const refused[] = {
        "",
        "CREATE",
        "CREATE TABLE",
        "CREATE TABLE t",
        "CREATE TABLE t (",
        "CREATE TABLE t ()",
        "CREATE TABLE t (,)",
        "CREATE TABLE t (a,)",
        "CREATE TABLE t (a, (b))",
        "CREATE TABLE t (5)",
        "CREATE TABLE t (a",
        "CREATE TABLE t (a INT, b INT DEFAULT (1)",
        "CREATE TABLE t (a \"INT, b)",
        "CREATE TABLE t (a 'INT, b)",
        "CREATE TABLE t (a [INT, b)",
        "CREATE TABLE t (a `INT, b)",
        "CREATE TABLE t (a INT /*, b)",
        "CREATE TABLE t (a INT -- , b)",
        "CREATE TABLE \"t (a)",
        "CREATE VIEW t (a)",
        "CREATE VIRTUAL TABLE t USING fts5(a)",
        "SELECT (a)",
    };
    struct gt_arena arena = {0};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (columns_of(gt_str_of(refused[i]), &arena) != 0)
            fail_msg("%s", refused[i]);
    assert_int_equal(columns_of((struct gt_str){NULL, 0}, &arena), 0);
    assert_int_equal(columns_of((struct gt_str){"CREATE TABLE t (a)\0, b)", 23}, &arena), 1);
    assert_int_equal(columns_of((struct gt_str){"CREATE TABLE t (a\0, b)", 22}, &arena), 0);
    /* What no SQLite accepts ends, whatever comes of it. */
    static const char *const odd[] = {
        "CREATE TABLE t (a PRIMARY, b)",
        "CREATE TABLE t (a CONSTRAINT)",
        "CREATE TABLE t (a, PRIMARY)",
        "CREATE TABLE t (a, CONSTRAINT)",
        "CREATE TABLE t (a, PRIMARY KEY ())",
        "CREATE TABLE t (a DEFAULT)",
        "CREATE TABLE t (a DEFAULT -)",
        "CREATE TABLE t (a AS)",
        "CREATE TABLE t (a REFERENCES)",
        "CREATE TABLE t (a, PRIMARY KEY (((",
        "CREATE TABLE t (a INT) WITHOUT ROWID '",
        "CREATE TABLE t (a SET) WITHOUT",
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_in_range(columns_of(gt_str_of(odd[i]), &arena), 0, 2);
    gt_arena_release(&arena);
}

/* A megabyte of one piece behind the beginning of a statement. */
static size_t columns_of_many(const char *piece, const char *end) {
    enum { SIZE = 1 << 20 };
    struct gt_arena arena = {0};
    char *text = malloc(SIZE + 64);
    size_t len = (size_t)sprintf(text, "CREATE TABLE t (a");
    for (; len < SIZE; len += strlen(piece))
        memcpy(text + len, piece, strlen(piece));
    memcpy(text + len, end, strlen(end));
    size_t count = columns_of((struct gt_str){text, len + strlen(end)}, &arena);
    free(text);
    gt_arena_release(&arena);
    return count;
}

static void test_long_statements(void **state) {
    (void)state;
    assert_int_equal(columns_of_many("(", ")"), 0);
    assert_int_equal(columns_of_many(")", ")"), 1);
    assert_int_equal(columns_of_many("()", ")"), 1);
    assert_int_equal(columns_of_many(",", ")"), 0);
    assert_int_equal(columns_of_many(", b", ")"), 0); /* more than there can be */
    assert_int_equal(columns_of_many("\"\"", ")"), 1);
    assert_int_equal(columns_of_many("/*", "*/)"), 1);
    assert_int_equal(columns_of_many("--\n", ")"), 1);
    assert_int_equal(columns_of_many(" INT", ")"), 1);
    assert_int_equal(columns_of_many(" x INTEGER DEFAULT (1) CHECK (PRIMARY KEY (a))", ")"), 1);
}

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
                                          "CREATE TABLE t (a); ALTER TABLE t ADD COLUMN b TEXT DEFAULT 'x'"};
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

/* Every cut ends in fewer tables or an error that names the file and tells what to do. */
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

/* The pages behind a long statement are lost: the table keeps its name, and the others keep everything. */
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

/* A record that says it reaches behind its page, with other pages of the file behind it or nothing. */
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

/* Whatever is damaged, two runs tell the same, though the memory between them was another's. */
static void test_runs_tell_the_same(void **state) {
    (void)state;
    unsigned char *bytes;
    uint64_t seed = 21;
    make_many(20);
    size_t size = world_read(world_path, &bytes);
    for (int i = 0; i < 500; i++) {
        unsigned char *copy = malloc(size);
        uint64_t told[2] = {0, 0};
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
                    assert_int_equal(gt_sqlite_table_rows(&db, &db.tables[t], &rows, &err), GT_OK);
                    told[run] = told[run] * 31 + rows + db.tables[t].column_count;
                    for (size_t k = 0; k < db.tables[t].name.len; k++)
                        told[run] = told[run] * 31 + (unsigned char)db.tables[t].name.ptr[k];
                }
                gt_sqlite_db_close(&db);
            }
            gt_source_close(source);
        }
        assert_true(told[0] == told[1]);
        free(copy);
    }
    free(bytes);
}

/* ---- UTF-16 ---- */

static void take_text(void *context, const struct gt_sqlite_row *row) {
    struct gt_str text = gt_sqlite_text(row, 0);
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
        assert_int_equal(gt_sqlite_scan_init(&scan, &db, &db.tables[0], (const uint16_t[]){0}, 1, &err), GT_OK);
        assert_true(scan.reads_pages);
        assert_true(gt_sqlite_reader_init(&reader, &db.file));
        sqlite3_str *text = sqlite3_str_new(NULL);
        assert_int_equal(gt_sqlite_scan_part(&scan, 0, &reader, take_text, text, &err), GT_OK);
        char *all = sqlite3_str_finish(text);
        assert_string_equal(all, "|plain|grün ∞ \xF0\x9F\x98\x80|?|A\xEF\xBF\xBD\xEF\xBF\xBD"
                                 "B\xEF\xBF\xBD|");
        sqlite3_free(all);
        gt_sqlite_reader_release(&reader);
        gt_sqlite_scan_release(&scan);
        close_db(source, &db);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_random_statements),
        cmocka_unit_test(test_hostile_statements),
        cmocka_unit_test(test_long_statements),
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
