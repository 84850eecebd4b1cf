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

static inline enum gt_status try_decode(const char *path, size_t threads, struct gt_store **store,
                                        struct gt_error *err) {
    struct gt_source *source;
    struct gt_decode_options options = {.threads = threads};
    *store = NULL;
    assert_int_equal(gt_source_open(path, &source, err), GT_OK);
    enum gt_status status = gt_nsys_sqlite_decode(&source, 1, &options, store, err);
    gt_source_close(source);
    return status;
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
    return store->issues[id].count;
}

#endif
