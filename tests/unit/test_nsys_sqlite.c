/* Nsight exports of many generations, made by hand: what their rows become in the store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "decode/nsys_sqlite.h"

#include "sqlite_world.h"

#define PID(pid)      "((1 << 48) | (" #pid " << 24))"
#define TID(pid, tid) "((1 << 48) | (" #pid " << 24) | " #tid ")"

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
#define ONE_KERNEL                                                                                                     \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 0, 7, 1, " PID(42) ", 1, 2, 3, 8, NULL);"

static enum gt_status try_decode(const char *path, size_t threads, struct gt_store **store, struct gt_error *err) {
    struct gt_source *source;
    struct gt_decode_options options = {.threads = threads};
    *store = NULL;
    assert_int_equal(gt_source_open(path, &source, err), GT_OK);
    enum gt_status status = gt_nsys_sqlite_decode(&source, 1, &options, store, err);
    gt_source_close(source);
    return status;
}

static struct gt_store *decode(const char *sql) {
    struct gt_error err = {0};
    struct gt_store *store;
    world_make(world_path, sql);
    if (try_decode(world_path, 2, &store, &err) != GT_OK)
        fail_msg("%s", err.message);
    assert_string_equal(store->meta.format, "nsys-sqlite");
    return store;
}

static void assert_text(const struct gt_store *store, gt_strid id, const char *expected) {
    assert_string_equal(gt_store_string(store, id).ptr, expected);
}

static uint64_t issue(const struct gt_store *store, enum gt_issue_id id) {
    return store->issues[id].count;
}

static void test_kernels(void **state) {
    (void)state;
    struct gt_store *store = decode(
        STRINGS KERNELS ONE_KERNEL "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (30, 31, 1, 1, 0, 8, NULL, " PID(
            43) ", NULL, 2, 3, 8, 0),"
                " (40, 44, 1, 1, 0, 8, 9, " PID(
                    43) ", 77, 78, 3, 8, 4294967299), (50, 55, 1, 1, 0, 8, 9, NULL, 77, 78, 79, 8, NULL),"
                        " (60, 59, 0, 1, 0, 7, 1, NULL, 1, 2, 3, 8, NULL), (0, 0, 0, 1, 0, 7, 1, NULL, 1, 2, 3, 8, "
                        "NULL)");
    assert_int_equal(store->ops.count, 4);
    static const char *const names[] = {"void gemm<int>(int)", "gemm", "_Z4gemmIiEvi", "?"};
    for (size_t i = 0; i < 4; i++) {
        assert_text(store, store->ops.name[i], names[i]);
        assert_int_equal(store->ops.kind[i], GT_OP_KERNEL);
        assert_int_equal(store->ops.flags[i], i == 2 ? GT_OP_IN_GRAPH : 0);
    }
    assert_int_equal(store->ops.start_ns[2], 40);
    assert_int_equal(store->ops.end_ns[2], 44);
    assert_int_equal(store->ops.correlation[0], 1);
    assert_true(store->ops.correlation[1] == GT_NO_CORRELATION);
    uint32_t lane = store->ops.lane[0];
    assert_int_equal(store->processes.pid[store->lanes.process[lane]], 42);
    assert_int_equal(store->lanes.stream[lane], 7);
    assert_int_equal(store->devices.id[store->lanes.device[lane]], 0);
    assert_int_equal(store->ops.lane[1], store->ops.lane[2]);
    assert_int_equal(store->lanes.process[store->ops.lane[3]], GT_NO_TRACK);
    assert_int_equal(issue(store, GT_ISSUE_OP_WITHOUT_NAME), 1);
    assert_int_equal(issue(store, GT_ISSUE_OP_NEGATIVE), 1);
    assert_int_equal(issue(store, GT_ISSUE_OP_WITHOUT_TIME), 1);
    assert_int_equal(store->facts, GT_FACT_OPS | GT_FACT_CORRELATION);
    gt_store_free(store);
}

/* Exports that others wrote: names as text, other tables, other columns. */
static void test_other_schemas(void **state) {
    (void)state;
    struct gt_store *store = decode(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_ INTEGER PRIMARY KEY, start INTEGER, end INTEGER, "
        "name "
        "INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, processId INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (1, 5, 6, 12, 2, 3, 4, 99);"
        "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringTable VALUES (12, 'sum');"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER (start INTEGER, end INTEGER, name TEXT, processId INTEGER, threadId "
        "INTEGER, correlationId INTEGER); INSERT INTO CUPTI_ACTIVITY_KIND_DRIVER VALUES (1, 2, 'cuLaunchKernel', 99, "
        "100, 4)");
    assert_int_equal(store->ops.count, 1);
    assert_text(store, store->ops.name[0], "sum");
    assert_int_equal(store->processes.pid[store->lanes.process[store->ops.lane[0]]], 99);
    assert_int_equal(store->calls.count, 1);
    assert_text(store, store->calls.name[0], "cuLaunchKernel");
    assert_int_equal(store->threads.tid[store->calls.thread[0]], 100);
    assert_int_equal(store->processes.pid[store->threads.process[store->calls.thread[0]]], 99);
    gt_store_free(store);
    store = decode("CREATE TABLE my_gpu_kernels (start INTEGER, end INTEGER, shortName TEXT);"
                   "INSERT INTO my_gpu_kernels VALUES (1, 3, 'plain text')");
    assert_int_equal(store->ops.count, 1);
    assert_text(store, store->ops.name[0], "plain text");
    assert_int_equal(issue(store, GT_ISSUE_OP_WITHOUT_DEVICE), 1);
    gt_store_free(store);
}

static void test_copies(void **state) {
    (void)state;
    struct gt_store *store = decode(
        STRINGS
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, "
        "correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER, "
        "graphNodeId INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 7, 1, " PID(
            5) ", 4096, 1, 1, 2, NULL),"
               " (3, 4, 0, 7, 2, " PID(5) ", 8, 12, 4, 0, 6), (5, 6, 0, 7, 3, " PID(
                   5) ", NULL, 99, 7, NULL, NULL);"
                      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, streamId "
                      "INTEGER, "
                      "correlationId INTEGER, globalPid INTEGER, value INTEGER, bytes INTEGER, memKind INTEGER);"
                      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (7, 8, 0, 7, 4, " PID(
                          5) ", 0, 64, 2);"
                             "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId "
                             "INTEGER, streamId INTEGER, "
                             "correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId INTEGER);"
                             "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (9, 12, 0, 7, 5, " PID(
                                 5) ", 3, 6),"
                                    " (0, 0, 0, 7, 6, " PID(5) ", 3, 6), (20, 0, 0, 7, 7, " PID(5) ", 3, 6)");
    static const char *const names[] = {"[CUDA memcpy Host-to-Device]", "[CUDA memcpy Unified Device-to-Host]",
                                        "[CUDA memcpy Unknown]", "[CUDA memset]", "[CUDA graph 3]"};
    static const uint8_t kinds[] = {GT_OP_MEMCPY, GT_OP_MEMCPY, GT_OP_MEMCPY, GT_OP_MEMSET, GT_OP_GRAPH};
    assert_int_equal(store->ops.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_text(store, store->ops.name[i], names[i]);
        assert_int_equal(store->ops.kind[i], kinds[i]);
    }
    assert_int_equal(store->ops.flags[1], GT_OP_IN_GRAPH);
    assert_int_equal(store->ops.flags[4], 0);
    assert_int_equal(issue(store, GT_ISSUE_OP_WITHOUT_TIME), 2);
    static const struct gt_copies_row copies[] = {{4096, 0, GT_MEMORY_PINNED, GT_MEMORY_DEVICE},
                                                  {8, 1, GT_MEMORY_MANAGED, GT_MEMORY_PAGEABLE},
                                                  {64, 3, GT_MEMORY_UNKNOWN, GT_MEMORY_DEVICE}};
    assert_int_equal(store->copies.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(store->copies.bytes[i], copies[i].bytes);
        assert_int_equal(store->copies.op[i], copies[i].op);
        assert_int_equal(store->copies.src[i], copies[i].src);
        assert_int_equal(store->copies.dst[i], copies[i].dst);
    }
    gt_store_free(store);
}

static int64_t device_of(const struct gt_store *store, size_t op) {
    return store->devices.id[store->lanes.device[store->ops.lane[op]]];
}

/* Each worker sees its GPU as number 0. */
static void test_physical_devices(void **state) {
    (void)state;
    struct gt_store *store =
        decode(STRINGS KERNELS ONE_KERNEL "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 0, 7, 1, " PID(
            43) ", 1, 2, 3, 8, NULL);"
                "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
                "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 42), (3, 0, 43), (2, 1, 43);"
                "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER, smCount "
                "INTEGER);"
                "INSERT INTO TARGET_INFO_GPU VALUES (1, 0, 'H200', 141, 132), (1, 3, 'A100', 80, 108), (1, 2, "
                "'unused', 1, 1)");
    assert_int_equal(device_of(store, 0), 0);
    assert_int_equal(device_of(store, 1), 3);
    assert_int_equal(store->devices.count, 2);
    assert_text(store, store->devices.name[1], "A100");
    assert_int_equal(store->devices.memory_bytes[1], 80);
    assert_int_equal(store->devices.multiprocessors[1], 108);
    assert_int_equal(issue(store, GT_ISSUE_DEVICE_SHARED), 0);
    gt_store_free(store);
    /* Without the map the same number may mean different GPUs. */
    store =
        decode(STRINGS KERNELS ONE_KERNEL "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 0, 7, 1, " PID(
            43) ", 1, 2, 3, 8, NULL),"
                " (30, 40, 0, 1, 0, 9, 1, " PID(43) ", 1, 2, 3, 8, NULL), (30, 40, 1, 1, 0, 9, 1, " PID(
                    43) ", 1, 2, 3, 8, NULL)");
    assert_int_equal(device_of(store, 1), 0);
    assert_int_equal(store->lanes.count, 4);
    assert_int_equal(issue(store, GT_ISSUE_DEVICE_SHARED), 1);
    gt_store_free(store);
    /* One GPU is one GPU. */
    store =
        decode(STRINGS KERNELS ONE_KERNEL "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 0, 7, 1, " PID(
            43) ", 1, 2, 3, 8, NULL);"
                "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT); INSERT INTO TARGET_INFO_GPU VALUES (0, 'H200')");
    assert_int_equal(issue(store, GT_ISSUE_DEVICE_SHARED), 0);
    gt_store_free(store);
}

static void test_calls(void **state) {
    (void)state;
    struct gt_store *store = decode(STRINGS CALLS "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 3, 0, " TID(
        42, 44) ", 8, 4, 0, NULL),"
                " (5, 4, 1, " TID(
                    42,
                    45) ", NULL, 99, 0, NULL), (6, 7, 0, NULL, 9, 4, 0, NULL);"
                        "CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);"
                        "INSERT INTO ThreadNames VALUES (6, 1, " TID(42, 44) "), (5, 1, " TID(42, 44) "), (5, 1, " TID(
                            77, 1) ");"
                                   "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
                                   "INSERT INTO PROCESSES VALUES (" PID(42) ", 42, 'python3')");
    assert_int_equal(store->calls.count, 3);
    assert_text(store, store->calls.name[0], "cudaLaunchKernel_v7000");
    assert_text(store, store->calls.name[1], "?");
    assert_int_equal(store->calls.correlation[0], 8);
    assert_true(store->calls.correlation[1] == GT_NO_CORRELATION);
    assert_int_equal(store->calls.end_ns[1], 5);
    assert_int_equal(issue(store, GT_ISSUE_CALL_NEGATIVE), 1);
    assert_int_equal(store->calls.thread[2], GT_NO_TRACK);
    assert_int_equal(store->threads.tid[store->calls.thread[0]], 44);
    assert_text(store, store->threads.name[store->calls.thread[0]], "worker");
    assert_int_equal(store->processes.count, 1);
    assert_text(store, store->processes.name[0], "python3");
    gt_store_free(store);
}

static void test_ranges(void **state) {
    (void)state;
    struct gt_store *store = decode(
        STRINGS RANGES
        "CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER, duration INTEGER);"
        "INSERT INTO ANALYSIS_DETAILS VALUES (1, 1000);"
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
        "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1794709052199428612);"
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, endGlobalTid, textId, domainId) VALUES"
        " (-7, NULL, 75, 'NCCL', " TID(42, 42) ", NULL, NULL, 1), (-7, NULL, 75, 'other', " TID(
            43,
            43) ", NULL, NULL, 1),"
                " (10, 20, 59, 'inline', " TID(42, 42) ", NULL, NULL, 1), (11, 15, 70, NULL, " TID(
                    43,
                    43) ", NULL, 5, 1),"
                        " (12, 30, 60, 'across', " TID(42, 42) ", " TID(42, 50) ", NULL, 0), (13, 31, 71, '', " TID(42, 42) ", " TID(
                            42,
                            42) ", NULL, NULL),"
                                " (14, NULL, 34, 'mark', " TID(42, 42) ", NULL, NULL, 0), (15, NULL, 59, 'open', " TID(
                                    42, 42) ", NULL, NULL, 0),"
                                            " (16, 1000, 59, 'never closed', " TID(
                                                42, 42) ", NULL, NULL, 0), (17, 18, 59, "
                                                        "NULL, " TID(
                                                            42, 42) ", NULL, 99, 0),"
                                                                    " (18, 19, 59, "
                                                                    "NULL, " TID(
                                                                        42, 42) ", NULL, NULL, "
                                                                                "0),"
                                                                                " (1, NULL, 39, "
                                                                                "'my "
                                                                                "thread', " TID(
                                                                                    42,
                                                                                    42) ", "
                                                                                        "NULL, "
                                                                                        "NULL, "
                                                                                        "0), "
                                                                                        "(1, "
                                                                                        "NULL, "
                                                                                        "33, "
                                                                                        "'catego"
                                                                                        "ry',"
                                                                                        " " TID(42,
                                                                                                42) ", NULL, NULL, 0)");
    static const struct {
        const char *name, *domain;
        int64_t start_ns, end_ns;
        uint8_t kind;
    } expected[] = {
        {"inline", "NCCL", 10, 20, GT_RANGE_NESTED},
        {"registered", "other", 11, 15, GT_RANGE_NESTED},
        {"across", "", 12, 30, GT_RANGE_START_END},
        {"", "", 13, 31, GT_RANGE_START_END},
        {"mark", "", 14, 14, GT_RANGE_MARK},
        {"open", "", 15, 1000, GT_RANGE_NESTED},
        {"never closed", "", 16, 1000, GT_RANGE_NESTED},
        {"?", "", 17, 18, GT_RANGE_NESTED},
        {"", "", 18, 19, GT_RANGE_NESTED},
    };
    const struct gt_ranges *ranges = &store->ranges;
    assert_int_equal(ranges->count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < ranges->count; i++) {
        assert_text(store, ranges->name[i], expected[i].name);
        assert_text(store, ranges->domain[i], expected[i].domain);
        assert_int_equal(ranges->start_ns[i], expected[i].start_ns);
        assert_int_equal(ranges->end_ns[i], expected[i].end_ns);
        assert_int_equal(ranges->kind[i], expected[i].kind);
        assert_int_equal(ranges->lane[i], GT_NO_TRACK);
        if (i == 2)
            assert_int_equal(store->threads.tid[ranges->end_thread[i]], 50);
        else
            assert_int_equal(ranges->end_thread[i], GT_NO_TRACK);
    }
    assert_text(store, store->threads.name[ranges->thread[0]], "my thread");
    assert_int_equal(issue(store, GT_ISSUE_RANGE_OPEN), 2);
    assert_int_equal(store->meta.duration_ns, 1000);
    assert_true(store->meta.base_ns == 1794709052199428612);
    assert_int_equal(store->skipped_events, 0);
    gt_store_free(store);
    /* Without a duration the last timestamp is the end. */
    store = decode(STRINGS RANGES KERNELS ONE_KERNEL
                   "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES (5, NULL, 60, 'open', 1)");
    assert_int_equal(store->ranges.end_ns[0], 20);
    assert_int_equal(store->meta.duration_ns, -1);
    gt_store_free(store);
}

/* Exports of 2019 to 2021 have zeros where newer ones have NULL. */
static void test_zeros_for_null(void **state) {
    (void)state;
    struct gt_store *store = decode(STRINGS RANGES KERNELS ONE_KERNEL
                                    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 0;"
                                    "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, "
                                    "endGlobalTid, textId) VALUES (1, 2, 59, '', " TID(
                                        42, 42) ", 0, 5), (3, 0, 60, '', " TID(42, 42) ", 0, 99), (0, 0, 59, 'at "
                                                                                       "zero', " TID(42, 42) ", 0, 0)");
    assert_int_equal(store->ops.flags[0], 0);
    static const char *const names[] = {"registered", "", "at zero"};
    static const int64_t ends_ns[] = {2, 20, 0};
    assert_int_equal(store->ranges.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_text(store, store->ranges.name[i], names[i]);
        assert_int_equal(store->ranges.end_ns[i], ends_ns[i]);
        assert_int_equal(store->ranges.end_thread[i], GT_NO_TRACK);
    }
    assert_int_equal(store->threads.count, 1);
    assert_int_equal(issue(store, GT_ISSUE_RANGE_OPEN), 1);
    assert_int_equal(issue(store, GT_ISSUE_CALL_NEGATIVE), 0);
    gt_store_free(store);
}

static void test_profiler(void **state) {
    (void)state;
    struct gt_store *store = decode(
        STRINGS "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
                "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2025.3.2.0'), ('EXPORT_HOST', 'x');"
                "CREATE TABLE PROFILER_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER, "
                "returnValue INTEGER);"
                "INSERT INTO PROFILER_OVERHEAD VALUES (5, 9, " TID(
                    1, 2) ", 7, 0), (10, 11, NULL, 70, 0);"
                          "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start, end, globalTid INTEGER, nameId INTEGER);"
                          "INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (20, 29, NULL, 5);"
                          "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT);"
                          "INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 1, 'Profiling has started.'),"
                          " (1, 2, 'Not all CUDA events might have been collected.'), (1, 2, 'Number of incomplete "
                          "CUPTI events dropped: 17'),"
                          " (1, 2, 'No NVTX events collected. Does the process use NVTX?')");
    assert_text(store, store->meta.producer, "Nsight Systems 2025.3.2.0");
    assert_int_equal(store->overheads.count, 2);
    assert_int_equal(store->driver_work.count, 1);
    assert_text(store, store->driver_work.name[0], "registered");
    assert_text(store, store->overheads.name[0], "CUPTI flush");
    assert_text(store, store->overheads.name[1], "?");
    assert_int_equal(store->overheads.thread[1], GT_NO_TRACK);
    assert_int_equal(issue(store, GT_ISSUE_EVENTS_DROPPED), 18);
    assert_int_equal(store->facts, 0);
    gt_store_free(store);
}

static void test_categories(void **state) {
    (void)state;
#define RANGE_OF(category, domain, pid)  "(1, 2, 59, 'r', " TID(pid, 7) ", " #category ", " #domain ")"
#define CATEGORY(name, category, domain) "(0, NULL, 33, " #name ", " TID(42, 1) ", " #category ", " #domain ")"
    struct gt_store *store = decode(
        RANGES "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, category, domainId) VALUES "
        /* Of another domain, of another process, none, one that the export has instead of none. */
        RANGE_OF(3, 1, 42) "," RANGE_OF(3, 0, 42) "," RANGE_OF(3, 1, 43) "," RANGE_OF(NULL, 1, 42) "," RANGE_OF(
            0, 1, 42) "," RANGE_OF(-1, 1, 42) "," CATEGORY('layers', 3,
                                                           1) "," CATEGORY('later', 3,
                                                                           1) "," CATEGORY(NULL, 4,
                                                                                           1) "," RANGE_OF(4, 1, 42));
    static const struct {
        uint32_t range;
        const char *name;
    } expected[] = {{0, "layers"}, {1, "3"}, {2, "3"}, {6, "4"}};
    assert_int_equal(store->range_categories.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(store->range_categories.range[i], expected[i].range);
        assert_text(store, store->range_categories.name[i], expected[i].name);
    }
    gt_store_free(store);
}

/* An executable is followed back to the graph that was made, whatever the generation of the table. */
static void test_graph_clones(void **state) {
    (void)state;
#define NODE(graph, place) "((" #graph " << 32) + " #place ")"
#define ON(node)           "(10, 20, 0, 1, 0, 7, 1, " PID(42) ", 1, 2, 3, 8, " node ")"
    struct gt_store *store = decode(
        STRINGS KERNELS
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES " ON(NODE(5, 3)) "," ON(NODE(5, 4)) "," ON("NULL") "," ON("0") "," ON(NODE(9, 1)) "," ON(
            NODE(
                8, 1)) ";"
                       "CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start, globalTid INTEGER, graphNodeId INTEGER, "
                       "originalGraphNodeId);"
                       "INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES (0, " TID(42, 7) ", " NODE(
                           5,
                           3) ", NULL),"
                              " (0, " TID(42, 7) ", " NODE(5, 3) ", " NODE(2, 1) "), (0, " TID(42, 8) ", " NODE(2, 1) ", " NODE(
                                  1,
                                  0) "),"
                                     /* Of another process; one that is said to be a copy of itself; two that are copies
                                        of one another. */
                                     " (0, " TID(43, 7) ", " NODE(1, 0) ", " NODE(7, 0) "), (0, " TID(42, 7) ", " NODE(9, 1) ", " NODE(
                                         9,
                                         1) "),"
                                            " (0, " TID(42, 7) ", " NODE(8, 1) ", " NODE(6, 1) "), (0, " TID(
                                                42,
                                                7) ", " NODE(6,
                                                             1) ", " NODE(8,
                                                                          1) ");"
                                                                             "CREATE TABLE CUDA_GRAPH_EVENTS "
                                                                             "(start, globalTid INTEGER, graphId "
                                                                             "INTEGER, originalGraphId, "
                                                                             "graphExecId);"
                                                                             "INSERT INTO CUDA_GRAPH_EVENTS VALUES "
                                                                             "(0, " TID(
                                                                                 42,
                                                                                 7) ", 5, 4, NULL);"
                                                                                    "CREATE TABLE "
                                                                                    "CUPTI_ACTIVITY_KIND_GRAPH_"
                                                                                    "TRACE (start, end, deviceId, "
                                                                                    "streamId, correlationId, "
                                                                                    "globalPid,"
                                                                                    " graphId, graphExecId);"
                                                                                    "INSERT INTO "
                                                                                    "CUPTI_ACTIVITY_KIND_GRAPH_"
                                                                                    "TRACE VALUES (30, 40, 0, 7, "
                                                                                    "2, " PID(
                                                                                        42) ", 5, 6),"
                                                                                            " (30, 40, 0, 7, "
                                                                                            "2, " PID(
                                                                                                42) ", 3, 7), (30, "
                                                                                                    "40, 0, 7, "
                                                                                                    "2, " PID(42) ","
                                                                                                                  " "
                                                                                                                  "N"
                                                                                                                  "U"
                                                                                                                  "L"
                                                                                                                  "L"
                                                                                                                  ","
                                                                                                                  " "
                                                                                                                  "7"
                                                                                                                  ")");
    static const uint32_t expected[][2] = {{0, 1}, {1, 5}, {4, 9}, {5, 8}, {6, 4}, {7, 3}};
    assert_int_equal(store->graph_ops.count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(store->graph_ops.op[i], expected[i][0]);
        assert_int_equal(store->graph_ops.graph[i], expected[i][1]);
    }
    assert_text(store, store->ops.name[6], "[CUDA graph 5]");
    gt_store_free(store);
}

/* Exports of a part of a capture keep its string ids, which then lie far apart. */
static void test_sparse_strings(void **state) {
    (void)state;
    struct gt_store *store = decode(
        STRINGS KERNELS
        "INSERT INTO StringIds VALUES (9000000000000000000, 'far'), (-4, 'below'), (66000, 'near');"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 1, 0, 7, 1, 0, 9000000000000000000, 2, 3, 8, NULL),"
        " (1, 2, 0, 1, 0, 7, 1, 0, -4, 2, 3, 8, NULL), (1, 2, 0, 1, 0, 7, 1, 0, 66000, 2, 3, 8, NULL),"
        " (1, 2, 0, 1, 0, 7, 1, 0, 9000000000000000001, NULL, NULL, 8, NULL)");
    static const char *const names[] = {"far", "below", "near", "?"};
    for (size_t i = 0; i < 4; i++)
        assert_text(store, store->ops.name[i], names[i]);
    gt_store_free(store);
}

static void assert_refused(const char *sql, const char *words) {
    struct gt_error err = {0};
    struct gt_store *store;
    world_make(world_path, sql);
    assert_int_equal(try_decode(world_path, 1, &store, &err), GT_ERR);
    assert_null(store);
    assert_non_null(strstr(err.message, words));
}

static void test_foreign(void **state) {
    (void)state;
    assert_refused("CREATE TABLE urls (id INTEGER, value TEXT); CREATE TABLE visits (a)",
                   "its tables are urls, visits");
    assert_refused("PRAGMA user_version = 3", "it has no tables");
    /* An export without any event is one: the report says so. */
    struct gt_store *store = decode("CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT)");
    assert_int_equal(store->ops.count, 0);
    gt_store_free(store);
    assert_int_equal(gt_nsys_sqlite_sniff((struct gt_str){"SQLite format 3", 16}, "x"), 100);
    assert_int_equal(gt_nsys_sqlite_sniff(GT_STR("SQLite format 3 is a format"), "x"), 0);
}

/* Every column of two stores. */
static void assert_same_store(struct gt_store *a, struct gt_store *b) {
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
        assert_int_equal(a->issues[i].count, b->issues[i].count);
    assert_int_equal(a->origin_ns, b->origin_ns);
    assert_int_equal(a->facts, b->facts);
    assert_int_equal(a->skipped_events, b->skipped_events);
}

/* The store does not depend on the number of threads. */
static void test_threads(void **state) {
    (void)state;
    world_make(
        world_path,
        "PRAGMA page_size = 512;" STRINGS KERNELS CALLS RANGES
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
        " INSERT INTO StringIds SELECT 100 + i, printf('kernel %d', i) FROM n;"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)"
        " INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 10, i * 10 + 5, i % 3, 1, 0, i * i % 5, i, " PID(
            42) ","
                " 101 + i * i % 300, 2, 3, 8, CASE i % 2 WHEN 1 THEN (5 << 32) + i % 400 END FROM n;"
                "CREATE TABLE CUDA_GRAPH_NODE_EVENTS (globalTid INTEGER, graphNodeId INTEGER, originalGraphNodeId);"
                "INSERT INTO CUDA_GRAPH_NODE_EVENTS SELECT globalPid, graphNodeId, (correlationId % 7 << 32) FROM "
                "CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId < 900;"
                "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT start, end, 0, " TID(
                    42,
                    7) " + correlationId % 9, correlationId, 4, 0, 0"
                       " FROM CUPTI_ACTIVITY_KIND_KERNEL;"
                       "INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES (1, 75, "
                       "'third', " TID(
                           42,
                           7) ", 3);"
                              "INSERT INTO NVTX_EVENTS SELECT start, end, 59 + correlationId % 2, NULL, correlationId "
                              "% 5, 0, 'text ' "
                              "|| "
                              "correlationId % 77,"
                              " " TID(
                                  42,
                                  7) " + correlationId % 9, NULL, NULL, correlationId % 4 FROM "
                                     "CUPTI_ACTIVITY_KIND_KERNEL;"
                                     "INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES (1, "
                                     "75, 'three', " TID(42, 7) ", 3),"
                                                                " (1, 33, 'none', " TID(42, 7) ", 0),"
                                                                                               " (1, 39, 'named', " TID(
                                                                                                   42, 9) ", 0)");
    struct gt_error err = {0};
    struct gt_store *one, *several;
    assert_int_equal(try_decode(world_path, 1, &one, &err), GT_OK);
    assert_int_equal(one->ops.count, 150000);
    assert_int_equal(one->ranges.count, 150000);
    assert_int_equal(one->range_categories.count, 120000);
    assert_int_equal(one->graph_ops.count, 75000);
    assert_text(one, one->ranges.domain[2], "third"); /* the first name that a domain gets stays */
    for (size_t threads = 2; threads <= 5; threads++) {
        assert_int_equal(try_decode(world_path, threads, &several, &err), GT_OK);
        assert_same_store(one, several);
        gt_store_free(several);
    }
    gt_store_free(one);
}

/* The same, where one process number stands for processes of several machines, whichever thread meets which first. */
static void test_threads_and_machines(void **state) {
    (void)state;
    world_make(world_path,
               "PRAGMA page_size = 512;" STRINGS KERNELS CALLS
               "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)"
               " INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 10, i * 10 + 5, 0, 1, 0, 7, i,"
               " ((9 - i / 7000) << 48) | (42 << 24), 1, 2, 3, 8, NULL FROM n;"
               "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT start, end, 0, globalPid | 7, correlationId, 4, 0, 0"
               " FROM CUPTI_ACTIVITY_KIND_KERNEL;"
               "CREATE TABLE PROCESSES (globalPid INTEGER, name TEXT); INSERT INTO PROCESSES VALUES "
               "((3 << 48) | (42 << 24), 'third')");
    struct gt_error err = {0};
    struct gt_store *one, *several;
    assert_int_equal(try_decode(world_path, 1, &one, &err), GT_OK);
    assert_int_equal(one->processes.count, 9);
    assert_int_equal(one->threads.count, 9);
    for (size_t i = 0; i < 9; i++) {
        char label[32];
        snprintf(label, sizeof label, "hw 0, vm %zu", 9 - i);
        assert_text(one, one->processes.label[i], label);
        assert_int_equal(one->processes.pid[i], 42);
        assert_text(one, one->processes.name[i], i == 6 ? "third" : "");
    }
    for (size_t i = 0; i < one->ops.count; i += 500)
        assert_int_equal(one->lanes.process[one->ops.lane[i]], one->threads.process[one->calls.thread[i]]);
    assert_int_equal(issue(one, GT_ISSUE_DEVICE_SHARED), 1);
    for (size_t threads = 2; threads <= 5; threads++) {
        assert_int_equal(try_decode(world_path, threads, &several, &err), GT_OK);
        assert_same_store(one, several);
        gt_store_free(several);
    }
    gt_store_free(one);
}

#define MIXED_EXPORT                                                                                                   \
    STRINGS KERNELS CALLS RANGES ONE_KERNEL                                                                            \
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"                               \
        " INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i, i + 2, 0, " TID(                                           \
            42, 7) ", i, 4, 0, 0 FROM n;"                                                                              \
                   "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES (1, 2, 59, "               \
                   "'Gr\xC3\xBC\xC3\x9F', 5)"

/* What the page reader cannot read (here: text of another encoding) comes through libsqlite3, with the same result. */
static void test_general_reader(void **state) {
    (void)state;
    struct gt_store *usual = decode(MIXED_EXPORT), *other = decode("PRAGMA encoding = 'UTF-16be';" MIXED_EXPORT);
    assert_int_equal(usual->calls.count, 3000);
    assert_same_store(usual, other);
    gt_store_free(usual);
    gt_store_free(other);
}

/* A cut export gives what came before the cut, and says so. */
static void test_cut(void **state) {
    (void)state;
    unsigned char *bytes;
    struct gt_error err = {0};
    struct gt_store *store;
    world_make(world_path,
               STRINGS KERNELS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
                               " INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 10, i * 10 + 5, 0, 1, 0, 7, i, " PID(
                                   42) ", 1, 2, 3, 8, NULL FROM n");
    size_t size = world_read(world_path, &bytes), before = 0;
    for (size_t part = 1; part <= 40; part++) {
        world_write(world_path, bytes, size * part / 40);
        if (try_decode(world_path, 2, &store, &err) != GT_OK) {
            assert_true(part < 3);
            continue;
        }
        assert_int_equal(issue(store, GT_ISSUE_INPUT_CUT), part < 40);
        assert_int_equal(issue(store, GT_ISSUE_EVENT_DAMAGED), 0);
        assert_true(store->ops.count >= before);
        before = store->ops.count;
        gt_store_free(store);
    }
    assert_int_equal(before, 20000);
    /* A damaged page costs its rows. */
    memset(bytes + 30 * 4096, 0xFF, 4096);
    world_write(world_path, bytes, size);
    assert_int_equal(try_decode(world_path, 2, &store, &err), GT_OK);
    assert_int_equal(issue(store, GT_ISSUE_EVENT_DAMAGED), 1);
    assert_in_range(store->ops.count, 19800, 19999);
    gt_store_free(store);
    free(bytes);
}

/* Every sample is read, whatever its generation, and threads do not matter. */
static void test_samples(void **state) {
    (void)state;
    struct world_samples samples;
    for (const char *path = world_first_sample(&samples); path; path = world_next_sample(&samples)) {
        struct gt_error err = {0};
        struct gt_store *one, *several;
        assert_int_equal(try_decode(path, 1, &one, &err), GT_OK);
        assert_int_equal(try_decode(path, 3, &several, &err), GT_OK);
        assert_same_store(one, several);
        assert_int_equal(one->ops.count > 0, !strstr(path, "no_kernels"));
        assert_int_equal(issue(one, GT_ISSUE_EVENT_DAMAGED) + issue(one, GT_ISSUE_INPUT_CUT), 0);
        gt_store_free(one);
        gt_store_free(several);
    }
    assert_true(samples.count >= 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_other_schemas),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_physical_devices),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_zeros_for_null),
        cmocka_unit_test(test_profiler),
        cmocka_unit_test(test_categories),
        cmocka_unit_test(test_graph_clones),
        cmocka_unit_test(test_sparse_strings),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_threads_and_machines),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_general_reader),
    };
    return cmocka_run_group_tests(tests, world_begin, world_end);
}
