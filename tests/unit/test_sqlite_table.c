/* Columns of a table from its CREATE TABLE statement: against libsqlite3, column for column, and of hostile text. */
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
    return column->default_kind == GT_SQLITE_DEFAULT_OTHER || column->default_kind == GT_SQLITE_DEFAULT_REAL ||
           column->default_kind == GT_SQLITE_DEFAULT_TEXT ||
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

/* A megabyte of one piece after the beginning of a statement. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_random_statements),
        cmocka_unit_test(test_hostile_statements),
        cmocka_unit_test(test_long_statements),
    };
    return cmocka_run_group_tests(tests, world_begin, world_end);
}
