/* SQLite databases: the connection, which writes nothing anywhere, and the names and columns of the tables. */
#include "decode/sqlite_db.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"

enum {
    VALUE_BYTES_MAX = 256 << 20,
    COUNTED_ROWS_MAX = 10000,
    ROW_BYTES_MIN = 6,              /* in a file: where it is, its size and number, and one value */
    STEPS_BETWEEN_CHECKS = 1 << 16, /* of SQLite's machine, of which a row takes a few more than it has columns */
    STEPS_SPARE = 16 << 20,
    STEPS_PER_BYTE = 32, /* of the database, over all queries: twice what the worst honest one needs */
};

/* "file:" and the path with everything escaped that means something in a URI, then the options. */
static struct gt_str make_uri(struct gt_arena *arena, const char *path, const char *options) {
    static const char digits[] = "0123456789ABCDEF";
    size_t len = strlen(path), at = 0;
    char *escaped = gt_arena_alloc(arena, 3 * len + 1);
    if (!escaped)
        return (struct gt_str){"", 0};
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)path[i];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("/._-~", c)) {
            escaped[at++] = (char)c;
        } else {
            escaped[at++] = '%';
            escaped[at++] = digits[c >> 4];
            escaped[at++] = digits[c & 15];
        }
    }
    /* Two more slashes, else a path that begins with two would name a host. */
    return gt_arena_printf(arena, "file:%s%s?%s", path[0] == '/' ? "//" : "", escaped, options);
}

/* The size of a file beside the database, 0 if there is none; *first is its first byte. */
static uint64_t companion_bytes(struct gt_arena *arena, const char *path, const char *suffix, unsigned char *first) {
    struct gt_str name = gt_arena_printf(arena, "%s%s", path, suffix);
    int fd = open(name.ptr, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat info;
    if (fd < 0)
        return 0;
    bool has_bytes = read(fd, first, 1) == 1 && fstat(fd, &info) == 0;
    close(fd);
    return has_bytes ? (uint64_t)info.st_size : 0;
}

/* A small file can link its pages so that a query never ends: each page to one below it, hundreds of times. */
static int count_check(void *context) {
    struct gt_sqlite_db *db = context;
    if (db->checks_left == 0)
        return 1;
    db->checks_left--;
    return 0;
}

static enum gt_status connect_to(struct gt_sqlite_db *db, const char *path, const char *options, struct gt_error *err) {
    struct gt_str uri = make_uri(&db->arena, path, options);
    if (gt_arena_failed(&db->arena))
        return gt_fail_memory(err);
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_FULLMUTEX;
    if (sqlite3_open_v2(uri.ptr, &db->connection, flags, NULL) != SQLITE_OK)
        return gt_fail(err, "cannot open '%s': %s", path, sqlite3_errmsg(db->connection));
    sqlite3_limit(db->connection, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
    sqlite3_db_config(db->connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    db->checks_left = (STEPS_SPARE + STEPS_PER_BYTE * db->size_bytes) / STEPS_BETWEEN_CHECKS;
    sqlite3_progress_handler(db->connection, STEPS_BETWEEN_CHECKS, count_check, db);
    /* Nothing can be written, but this way a cut file opens and a damaged schema gives the tables that are left. */
    sqlite3_exec(db->connection, "PRAGMA writable_schema=ON", NULL, NULL, NULL);
    /* Else a cell that reaches behind its page tells what is in memory there. */
    sqlite3_exec(db->connection, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
    return GT_OK;
}

/* A database at rest is one file. Others need care: reading a log would write beside the database. */
static enum gt_status choose_connection(struct gt_sqlite_db *db, const char *path, struct gt_error *err) {
    char real[PATH_MAX];
    unsigned char first = 0;
    if (!realpath(path, real))
        return gt_fail(err, "cannot read '%s' as an SQLite database: it is not a file with a path; save it first",
                       path);
    if (companion_bytes(&db->arena, real, "-journal", &first) && first != 0)
        return gt_fail(err,
                       "'%s' was left in the middle of a change ('%s-journal' is beside it); export it again, or "
                       "open it once with the sqlite3 program",
                       path, path);
    uint64_t log_bytes = companion_bytes(&db->arena, real, "-wal", &first);
    db->size_bytes += log_bytes;
    if (log_bytes == 0) {
        db->reads_pages = true;
        return connect_to(db, real, "mode=ro&immutable=1", err);
    }
    /* Only an index of the log that is there already can be used without writing one. */
    if (connect_to(db, real, "mode=ro&readonly_shm=1", err) == GT_OK &&
        sqlite3_exec(db->connection, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL) == SQLITE_OK)
        return GT_OK;
    return gt_fail(err,
                   "'%s' has changes in '%s-wal' that cannot be read without writing; close the program that uses it, "
                   "or run: sqlite3 '%s' 'PRAGMA wal_checkpoint(TRUNCATE)'",
                   path, path, path);
}

static enum gt_status list_tables(struct gt_sqlite_db *db, const char *path, struct gt_error *err) {
    static const char query[] = "SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'";
    size_t capacity = 0;
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(db->connection, query, -1, &statement, NULL);
    while (result == SQLITE_OK && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        result = SQLITE_OK;
        sqlite3_int64 root = sqlite3_column_int64(statement, 1);
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        if (!name || root < 1 || root > UINT32_MAX)
            continue; /* virtual tables have no pages */
        if (db->table_count == capacity) {
            size_t grown = capacity ? capacity * 2 : 128;
            struct gt_sqlite_table *tables = gt_arena_array(&db->arena, grown, sizeof *tables);
            if (!tables)
                break;
            if (capacity)
                memcpy(tables, db->tables, capacity * sizeof *tables);
            db->tables = tables;
            capacity = grown;
        }
        db->tables[db->table_count++] =
            (struct gt_sqlite_table){.name = gt_arena_copy(&db->arena, gt_str_of(name)), .root = (uint32_t)root};
    }
    sqlite3_finalize(statement);
    if (gt_arena_failed(&db->arena))
        return gt_fail_memory(err);
    db->is_schema_damaged = result != SQLITE_DONE;
    if (db->is_schema_damaged && db->table_count == 0)
        return gt_fail(err, "cannot read '%s': %s", path, gt_sqlite_db_problem(db));
    return GT_OK;
}

enum gt_status gt_sqlite_db_open(struct gt_sqlite_db *db, struct gt_source *source, struct gt_error *err) {
    const char *path = gt_source_path(source);
    struct gt_str head;
    uint64_t size_bytes;
    memset(db, 0, sizeof *db);
    if (!gt_source_is_seekable(source, &size_bytes))
        return gt_fail(
            err, "cannot read an SQLite database from a pipe or packed file: '%s'; unpack it to a file first", path);
    if (gt_source_peek(source, &head, err) != GT_OK)
        return GT_ERR;
    if (!gt_sqlite_file_init(&db->file, source, head, size_bytes))
        return gt_fail(err, "cannot read '%s': its SQLite header is cut or damaged", path);
    db->size_bytes = size_bytes;
    enum gt_status status = choose_connection(db, path, err);
    if (status == GT_OK)
        status = list_tables(db, path, err);
    if (status != GT_OK)
        gt_sqlite_db_close(db);
    return status;
}

const char *gt_sqlite_db_problem(const struct gt_sqlite_db *db) {
    return db->checks_left ? sqlite3_errmsg(db->connection) : "links between its pages do not end";
}

void gt_sqlite_db_close(struct gt_sqlite_db *db) {
    sqlite3_close(db->connection);
    gt_arena_release(&db->arena);
    memset(db, 0, sizeof *db);
}

/* The affinity rules of SQLite: the first of these words in a declared type that is there decides. */
static bool is_real_type(const char *type) {
    struct gt_str text = gt_str_of(type);
    static const struct gt_str before[] = {GT_STR("INT"), GT_STR("CHAR"), GT_STR("CLOB"), GT_STR("TEXT"),
                                           GT_STR("BLOB")};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (gt_str_find_nocase(text, before[i]))
            return false;
    return gt_str_find_nocase(text, GT_STR("REAL")) || gt_str_find_nocase(text, GT_STR("FLOA")) ||
           gt_str_find_nocase(text, GT_STR("DOUB"));
}

/* Records from before ALTER TABLE are short, and what is missing has this value. A plain number in a column of integers
   is what exporters write; the rest is left to libsqlite3. */
static void take_default(struct gt_sqlite_column *column, const char *type, const char *text) {
    bool is_integer = gt_str_find_nocase(gt_str_of(type), GT_STR("INT"));
    column->default_kind = GT_SQLITE_DEFAULT_NULL;
    if (text && strcasecmp(text, "NULL") != 0)
        column->default_kind = is_integer && gt_num_parse_int(gt_str_of(text), &column->default_value)
                                   ? GT_SQLITE_DEFAULT_INTEGER
                                   : GT_SQLITE_DEFAULT_OTHER;
}

/* One row of the table's description. */
static void take_column(struct gt_sqlite_db *db, struct gt_sqlite_table *table, sqlite3_stmt *row, int *key_columns) {
    const char *name = (const char *)sqlite3_column_text(row, 0), *type = (const char *)sqlite3_column_text(row, 1);
    struct gt_sqlite_column *column = &table->columns[table->column_count];
    /* Generated columns are not in the record, or not where they are declared, and what computes them is the file's. */
    if (sqlite3_column_int(row, 3) != 0) {
        table->is_plain = false;
        return;
    }
    column->name = gt_arena_copy(&db->arena, gt_str_of(name ? name : ""));
    column->type = gt_arena_copy(&db->arena, gt_str_of(type ? type : ""));
    column->is_real = is_real_type(type ? type : "");
    take_default(column, type ? type : "", (const char *)sqlite3_column_text(row, 4));
    if (sqlite3_column_int(row, 2) > 0) {
        bool is_integer = type && strcasecmp(type, "INTEGER") == 0;
        table->rowid_alias = is_integer ? (uint16_t)table->column_count : GT_SQLITE_NO_COLUMN;
        ++*key_columns;
    }
    table->column_count++;
}

/* Prepared with the table's name bound; NULL if that fails. */
static sqlite3_stmt *prepare_for(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table,
                                 const char *query) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db->connection, query, -1, &statement, NULL) != SQLITE_OK)
        return NULL;
    sqlite3_bind_text(statement, 1, table->name.ptr, (int)table->name.len, SQLITE_STATIC);
    return statement;
}

/* INTEGER PRIMARY KEY DESC is no alias of the rowid: such a table has an index for its key. */
static bool has_key_index(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table) {
    sqlite3_stmt *statement = prepare_for(db, table, "SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk'");
    bool found = statement && sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return found;
}

enum gt_status gt_sqlite_table_load(struct gt_sqlite_db *db, struct gt_sqlite_table *table, struct gt_error *err) {
    static const char count_query[] = "SELECT count(*) FROM pragma_table_xinfo(?)";
    static const char query[] = "SELECT name, type, pk, hidden, dflt_value FROM pragma_table_xinfo(?)";
    if (table->is_loaded)
        return GT_OK;
    table->is_loaded = table->is_plain = true;
    table->rowid_alias = GT_SQLITE_NO_COLUMN;
    sqlite3_stmt *counting = prepare_for(db, table, count_query);
    size_t count = counting && sqlite3_step(counting) == SQLITE_ROW ? (size_t)sqlite3_column_int(counting, 0) : 0;
    sqlite3_finalize(counting);
    table->columns = gt_arena_array(&db->arena, count + 1, sizeof *table->columns);
    sqlite3_stmt *statement = table->columns && count < GT_SQLITE_NO_COLUMN ? prepare_for(db, table, query) : NULL;
    int key_columns = 0;
    while (statement && table->column_count < count && sqlite3_step(statement) == SQLITE_ROW)
        take_column(db, table, statement, &key_columns);
    sqlite3_finalize(statement);
    if (gt_arena_failed(&db->arena))
        return gt_fail_memory(err);
    if (key_columns != 1 || has_key_index(db, table))
        table->rowid_alias = GT_SQLITE_NO_COLUMN;
    return GT_OK;
}

/* What a query with the table's name in it gives first: SQLITE_ROW and the number in *value, SQLITE_DONE, an error. */
static int first_number(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table, const char *format,
                        int64_t *value) {
    sqlite3_stmt *statement = NULL;
    char *query = sqlite3_mprintf(format, table->name.ptr, COUNTED_ROWS_MAX + 1);
    int result = query ? sqlite3_prepare_v2(db->connection, query, -1, &statement, NULL) : SQLITE_NOMEM;
    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    if (result == SQLITE_ROW)
        *value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_free(query);
    return result;
}

bool gt_sqlite_table_has_rows(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table) {
    int64_t one;
    return first_number(db, table, "SELECT 1 FROM \"%w\" LIMIT 1", &one) != SQLITE_DONE;
}

uint64_t gt_sqlite_table_rows(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table) {
    static const char count_query[] = "SELECT count(*) FROM (SELECT 1 FROM \"%w\" LIMIT %d)";
    int64_t last = 0, count = 0;
    /* Counting reads all pages of a table, and a plain count(*) could not be ended. A number that the file has no room
       for tells of removed rows, or of damage. */
    if (first_number(db, table, "SELECT max(rowid) FROM \"%w\"", &last) == SQLITE_ROW && last > COUNTED_ROWS_MAX &&
        (uint64_t)last <= db->size_bytes / ROW_BYTES_MIN)
        return (uint64_t)last;
    bool is_counted = first_number(db, table, count_query, &count) == SQLITE_ROW && count <= COUNTED_ROWS_MAX;
    return is_counted ? (uint64_t)count : UINT64_MAX;
}

uint16_t gt_sqlite_table_column(const struct gt_sqlite_table *table, struct gt_str name) {
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].name.len == name.len && strncasecmp(table->columns[i].name.ptr, name.ptr, name.len) == 0)
            return (uint16_t)i;
    return GT_SQLITE_NO_COLUMN;
}
