/* Nsight exports for tests, made by SQL: their usual tables, and stores decoded from them. */
#ifndef TESTS_UNIT_NSYS_EXPORT_H
#define TESTS_UNIT_NSYS_EXPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "decode/nsys/nsys_sqlite.h"

#include "sqlite_world.h"

/* Before an INSERT that selects from n: so many rows, i = 1 ... */
#define MANY(count) "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " #count ") "
#define STRINGS                                                                                                        \
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"                                   \
    "INSERT INTO StringIds VALUES (0, '[Unknown]'), (1, 'void gemm<int>(int)'), (2, 'gemm'), (3, '_Z4gemmIiEvi'),"     \
    " (4, 'cudaLaunchKernel_v7000'), (5, 'registered'), (6, 'worker'), (7, 'CUPTI flush');"
#define KERNELS                                                                                                        \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT "     \
    "NULL, contextId INTEGER, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid "    \
    "INTEGER, demangledName INTEGER, shortName INTEGER, mangledName INTEGER, gridX INTEGER, graphNodeId INTEGER);"
#define CALLS                                                                                                          \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,"     \
    " correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);"
#define RANGES                                                                                                         \
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,"      \
    " category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId "  \
    "INTEGER);"
#define ONE_KERNEL "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 0, 7, 1, pid(42), 1, 2, 3, 8, NULL);"

/* facts: enum gt_fact, what is to be read; 0: the usual. */
static inline enum gt_status try_decode_asked(const char *path, size_t threads, uint32_t facts, struct gt_store **store,
                                              struct gt_error *err) {
    struct gt_source *source;
    struct gt_decode_options options = {.threads = threads, .facts = facts};
    *store = NULL;
    assert_int_equal(gt_source_open(path, &source, err), GT_OK);
    enum gt_status status = gt_nsys_sqlite_decode(&source, 1, &options, store, err);
    gt_source_close(source);
    return status;
}

static inline enum gt_status try_decode(const char *path, size_t threads, struct gt_store **store,
                                        struct gt_error *err) {
    return try_decode_asked(path, threads, 0, store, err);
}

/* Every column of two stores. */
static inline void assert_same_store(struct gt_store *a, struct gt_store *b) {
    for (size_t i = 0; i < gt_column_count; i++) {
        const struct gt_column_info *info = &gt_column_infos[i];
        size_t count = *gt_store_row_count(a, info->table);
        assert_int_equal(count, *gt_store_row_count(b, info->table));
        if (count)
            assert_memory_equal(*gt_store_column(a, info), *gt_store_column(b, info), count * info->elem_bytes);
    }
    assert_int_equal(a->strings.count, b->strings.count);
    for (gt_strid i = 0; i < a->strings.count; i++)
        assert_true(gt_str_eq(gt_store_string(a, i), gt_store_string(b, i)));
    for (int i = 0; i < GT_ISSUE_COUNT; i++)
        assert_int_equal(gt_store_issue(a, (enum gt_issue_id)i, GT_FACTS_ALL).count,
                         gt_store_issue(b, (enum gt_issue_id)i, GT_FACTS_ALL).count);
    assert_int_equal(a->origin_ns, b->origin_ns);
    assert_int_equal(a->facts, b->facts);
    assert_int_equal(a->skipped_events, b->skipped_events);
}

/* Decoded in several ways, all of which give the same. */
static inline struct gt_store *decode_in_ways(const char *sql, uint32_t facts) {
    static const char *const settings[] = {"PRAGMA page_size = 512;", "PRAGMA encoding = 'UTF-16le';"};
    struct gt_error err = {0};
    struct gt_store *store, *other;
    char path[160];
    world_make(world_path, sql);
    if (try_decode_asked(world_path, 1, facts, &store, &err) != GT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(try_decode_asked(world_path, 3, facts, &other, &err), GT_OK);
    assert_same_store(store, other);
    assert_int_equal(store->meta.read_rows, other->meta.read_rows);
    assert_int_equal(store->meta.read_bytes, other->meta.read_bytes);
    gt_store_free(other);
    snprintf(path, sizeof path, "%s/b.sqlite", world_folder);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        unlink(path);
        sqlite3 *connection = world_open(path);
        world_sql(connection, settings[i]);
        world_sql(connection, sql);
        assert_int_equal(sqlite3_close(connection), SQLITE_OK);
        assert_int_equal(try_decode_asked(path, 2, facts, &other, &err), GT_OK);
        assert_same_store(store, other);
        gt_store_free(other);
    }
    unlink(path);
    return store;
}

static inline struct gt_store *decode(const char *sql) {
    struct gt_error err = {0};
    struct gt_store *store;
    world_make(world_path, sql);
    if (try_decode(world_path, 2, &store, &err) != GT_OK)
        fail_msg("%s", err.message);
    assert_string_equal(store->meta.format, "nsys-sqlite");
    return store;
}

static inline void assert_text(const struct gt_store *store, gt_strid id, const char *expected) {
    assert_string_equal(gt_store_string(store, id).ptr, expected);
}

static inline uint64_t issue(const struct gt_store *store, enum gt_issue_id id) {
    return gt_store_issue(store, id, GT_FACTS_ALL).count;
}

#endif
