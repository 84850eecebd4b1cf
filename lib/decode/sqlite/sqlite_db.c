/* SQLite databases: a file comes in, a list of its tables goes out, and, where something needs libsqlite3, a connection
   that writes nothing anywhere. */
#include "decode/sqlite/sqlite_db.h"

#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "decode/sqlite/sqlite_schema.h"

enum {
    VALUE_BYTES_MAX = 256 << 20,
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

/* The size of a file next to the database, 0 if there is none; *first is its first byte. */
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

enum gt_status gt_sqlite_db_connect(struct gt_sqlite_db *db, struct gt_error *err) {
    if (db->connection)
        return GT_OK;
    /* Only an index of the log that is there already can be used without writing one. */
    struct gt_str uri =
        make_uri(&db->arena, db->path, db->reads_pages ? "mode=ro&immutable=1" : "mode=ro&readonly_shm=1");
    if (gt_arena_failed(&db->arena))
        return gt_fail_memory(err);
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_FULLMUTEX;
    if (sqlite3_open_v2(uri.ptr, &db->connection, flags, NULL) != SQLITE_OK)
        return gt_fail(err, "cannot open '%s': %s", db->path, sqlite3_errmsg(db->connection));
    sqlite3_limit(db->connection, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
    sqlite3_db_config(db->connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    db->checks_left = (STEPS_SPARE + STEPS_PER_BYTE * db->size_bytes) / STEPS_BETWEEN_CHECKS;
    sqlite3_progress_handler(db->connection, STEPS_BETWEEN_CHECKS, count_check, db);
    /* Nothing can be written, but this way a cut file opens and a damaged schema gives the tables that are left. */
    sqlite3_exec(db->connection, "PRAGMA writable_schema=ON", NULL, NULL, NULL);
    /* Else a cell that reaches after its page says what is in memory there. */
    sqlite3_exec(db->connection, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
    return GT_OK;
}

/* A database at rest is one file. Others need care: reading a log would write next to the database. */
static enum gt_status check_companions(struct gt_sqlite_db *db, const char *path, struct gt_error *err) {
    char real[PATH_MAX];
    unsigned char first = 0;
    if (!realpath(path, real))
        return gt_fail(err, "cannot read '%s' as an SQLite database: not a regular file; save it first", path);
    db->path = gt_arena_copy(&db->arena, gt_str_of(real)).ptr;
    if (companion_bytes(&db->arena, real, "-journal", &first) && first != 0)
        return gt_fail(
            err, "'%s': interrupted transaction ('%s-journal' exists); export it again or open it once with sqlite3",
            path, path);
    uint64_t log_bytes = companion_bytes(&db->arena, real, "-wal", &first);
    db->size_bytes += log_bytes;
    db->reads_pages = log_bytes == 0;
    if (db->reads_pages || (gt_sqlite_db_connect(db, err) == GT_OK &&
                            sqlite3_exec(db->connection, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL) == SQLITE_OK))
        return GT_OK;
    return gt_fail(err,
                   "'%s': changes in '%s-wal' cannot be read without writing; close the program that uses it or run: "
                   "sqlite3 '%s' 'PRAGMA wal_checkpoint(TRUNCATE)'",
                   path, path, path);
}

/* Whether it has something that the page reader does not know. */
static bool is_unusual(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table) {
    bool is_known = table->has_rowids;
    for (size_t i = 0; i < table->column_count && is_known; i++)
        is_known = gt_sqlite_db_knows_default(&table->columns[i], db->file.encoding);
    return !is_known;
}

/* libsqlite3 reads unusual tables, but not by a damaged schema: it lets memory show through. */
static enum gt_status find_tables(struct gt_sqlite_db *db, const char *path, struct gt_error *err) {
    if (gt_sqlite_schema_read(db, err) != GT_OK)
        return GT_ERR;
    if (db->is_schema_damaged)
        return db->table_count
                   ? GT_OK
                   : gt_fail(err, "cannot read '%s': its list of tables is truncated or damaged; export it again",
                             path);
    enum gt_status status = GT_OK;
    for (size_t i = 0; i < db->table_count && status == GT_OK; i++)
        if (is_unusual(db, &db->tables[i]))
            status = gt_sqlite_db_connect(db, err);
    return status;
}

static enum gt_status take_copy(struct gt_sqlite_db *db, const char *path, struct gt_error *err) {
    db->path = gt_arena_copy(&db->arena, gt_str_of(path)).ptr;
    db->reads_pages = true;
    return gt_arena_failed(&db->arena) ? gt_fail_memory(err) : GT_OK;
}

/* path: what errors call it. */
static enum gt_status open_database(struct gt_sqlite_db *db, struct gt_source *source, const char *path, bool is_copy,
                                    struct gt_error *err) {
    struct gt_str head;
    uint64_t size_bytes;
    memset(db, 0, sizeof *db);
    if (!gt_source_is_seekable(source, &size_bytes))
        return gt_fail(err,
                       "cannot read '%s': SQLite databases cannot be read from pipes or compressed files; decompress "
                       "it to a file first",
                       path);
    if (gt_source_peek(source, &head, err) != GT_OK)
        return GT_ERR;
    if (!gt_sqlite_pages_file_init(&db->file, source, head, size_bytes))
        return gt_fail(err, "cannot read '%s': its SQLite header is truncated or damaged", path);
    db->size_bytes = size_bytes;
    enum gt_status status = is_copy ? take_copy(db, gt_source_path(source), err) : check_companions(db, path, err);
    if (status == GT_OK)
        status = find_tables(db, path, err);
    if (status != GT_OK)
        gt_sqlite_db_close(db);
    return status;
}

enum gt_status gt_sqlite_db_open(struct gt_sqlite_db *db, struct gt_source *source, struct gt_error *err) {
    return open_database(db, source, gt_source_path(source), false, err);
}

enum gt_status gt_sqlite_db_open_copy(struct gt_sqlite_db *db, struct gt_source *source, const char *subject,
                                      struct gt_error *err) {
    return open_database(db, source, subject, true, err);
}

const char *gt_sqlite_db_problem(const struct gt_sqlite_db *db) {
    return db->checks_left ? sqlite3_errmsg(db->connection) : "links between its pages form a cycle";
}

bool gt_sqlite_db_is_to_blame(const struct gt_sqlite_db *db) {
    int code = sqlite3_errcode(db->connection);
    return code != SQLITE_NOMEM && code != SQLITE_IOERR && code != SQLITE_CANTOPEN;
}

void gt_sqlite_db_close(struct gt_sqlite_db *db) {
    sqlite3_close(db->connection);
    gt_mem_free(db->tables);
    gt_arena_release(&db->arena);
    memset(db, 0, sizeof *db);
}
