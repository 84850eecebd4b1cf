/* Nsight exports of many generations, made by hand: what their rows become in the store. */
#include "nsys_export.h"

static void test_kernels(void **state) {
    (void)state;
    struct gt_store *store =
        decode(STRINGS KERNELS ONE_KERNEL
               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
               " (30, 31, 1, 1, 0, 8, NULL, pid(43), NULL, 2, 3, 8, 0),"
               " (40, 44, 1, 1, 0, 8, 9, pid(43), 77, 78, 3, 8, 4294967299),"
               " (50, 55, 1, 1, 0, 8, 9, NULL, 77, 78, 79, 8, NULL),"
               " (60, 59, 0, 1, 0, 7, 1, NULL, 1, 2, 3, 8, NULL), (0, 0, 0, 1, 0, 7, 1, NULL, 1, 2, 3, 8, NULL)");
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
    assert_int_equal(store->facts, GT_FACT_OPS | GT_FACT_CORRELATION | GT_FACT_GRAPHS | GT_FACT_SOURCE);
    gt_store_free(store);
}

/* Exports that others wrote: names as text, other tables, other columns. */
static void test_other_schemas(void **state) {
    (void)state;
    struct gt_store *store =
        decode("CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_ INTEGER PRIMARY KEY, start INTEGER, end "
               "INTEGER, name INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, processId "
               "INTEGER);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (1, 5, 6, 12, 2, 3, 4, 99);"
               "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT);"
               " INSERT INTO StringTable VALUES (12, 'sum');"
               "CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER (start INTEGER, end INTEGER, name TEXT, processId "
               "INTEGER, threadId INTEGER, correlationId INTEGER);"
               " INSERT INTO CUPTI_ACTIVITY_KIND_DRIVER VALUES (1, 2, 'cuLaunchKernel', 99, 100, 4)");
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
        STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId "
                "INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind "
                "INTEGER, dstKind INTEGER, graphNodeId INTEGER);"
                "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 7, 1, pid(5), 4096, 1, 1, 2, NULL),"
                " (3, 4, 0, 7, 2, pid(5), 8, 12, 4, 0, 6), (5, 6, 0, 7, 3, pid(5), NULL, 99, 7, NULL, NULL);"
                "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, streamId "
                "INTEGER, correlationId INTEGER, globalPid INTEGER, value INTEGER, bytes INTEGER, memKind INTEGER);"
                "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (7, 8, 0, 7, 4, pid(5), 0, 64, 2);"
                "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, "
                "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId INTEGER);"
                "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (9, 12, 0, 7, 5, pid(5), 3, 6),"
                " (0, 0, 0, 7, 6, pid(5), 3, 6), (20, 0, 0, 7, 7, pid(5), 3, 6)");
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
        decode(STRINGS KERNELS ONE_KERNEL
               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 0, 7, 1, pid(43), 1, 2, 3, 8, NULL);"
               "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
               "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 42), (3, 0, 43), (2, 1, 43);"
               "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER, smCount "
               "INTEGER);"
               "INSERT INTO TARGET_INFO_GPU VALUES (1, 0, 'H200', 141, 132), (1, 3, 'A100', 80, 108),"
               " (1, 2, 'unused', 1, 1)");
    assert_int_equal(device_of(store, 0), 0);
    assert_int_equal(device_of(store, 1), 3);
    assert_int_equal(store->devices.count, 2);
    assert_text(store, store->devices.name[1], "A100");
    assert_int_equal(store->devices.memory_bytes[1], 80);
    assert_int_equal(store->devices.multiprocessors[1], 108);
    assert_int_equal(issue(store, GT_ISSUE_DEVICE_SHARED), 0);
    gt_store_free(store);
    /* Without the map the same number may mean different GPUs. */
    store = decode(STRINGS KERNELS ONE_KERNEL
                   "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 0, 7, 1, pid(43), 1, 2, 3, 8, NULL),"
                   " (30, 40, 0, 1, 0, 9, 1, pid(43), 1, 2, 3, 8, NULL),"
                   " (30, 40, 1, 1, 0, 9, 1, pid(43), 1, 2, 3, 8, NULL)");
    assert_int_equal(device_of(store, 1), 0);
    assert_int_equal(store->lanes.count, 4);
    assert_int_equal(issue(store, GT_ISSUE_DEVICE_SHARED), 1);
    gt_store_free(store);
    /* One GPU is one GPU. */
    store = decode(STRINGS KERNELS ONE_KERNEL
                   "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 0, 7, 1, pid(43), 1, 2, 3, 8, NULL);"
                   "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);"
                   " INSERT INTO TARGET_INFO_GPU VALUES (0, 'H200')");
    assert_int_equal(issue(store, GT_ISSUE_DEVICE_SHARED), 0);
    gt_store_free(store);
}

static void test_calls(void **state) {
    (void)state;
    struct gt_store *store = decode(
        STRINGS CALLS "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 3, 0, tid(42, 44), 8, 4, 0, NULL),"
                      " (5, 4, 1, tid(42, 45), NULL, 99, 0, NULL), (6, 7, 0, NULL, 9, 4, 0, NULL);"
                      "CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);"
                      "INSERT INTO ThreadNames VALUES (6, 1, tid(42, 44)), (5, 1, tid(42, 44)), (5, 1, tid(77, 1));"
                      "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
                      "INSERT INTO PROCESSES VALUES (pid(42), 42, 'python3')");
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
    struct gt_store *store =
        decode(STRINGS RANGES
               "CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER, duration INTEGER);"
               "INSERT INTO ANALYSIS_DETAILS VALUES (1, 1000);"
               "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
               "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1794709052199428612);"
               "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, endGlobalTid, textId, domainId) "
               "VALUES"
               " (-7, NULL, 75, 'NCCL', tid(42, 42), NULL, NULL, 1),"
               " (-7, NULL, 75, 'other', tid(43, 43), NULL, NULL, 1),"
               " (10, 20, 59, 'inline', tid(42, 42), NULL, NULL, 1), (11, 15, 70, NULL, tid(43, 43), NULL, 5, 1),"
               " (12, 30, 60, 'across', tid(42, 42), tid(42, 50), NULL, 0),"
               " (13, 31, 71, '', tid(42, 42), tid(42, 42), NULL, NULL),"
               " (14, NULL, 34, 'mark', tid(42, 42), NULL, NULL, 0),"
               " (15, NULL, 59, 'open', tid(42, 42), NULL, NULL, 0),"
               " (16, 1000, 59, 'never closed', tid(42, 42), NULL, NULL, 0),"
               " (17, 18, 59, NULL, tid(42, 42), NULL, 99, 0), (18, 19, 59, NULL, tid(42, 42), NULL, NULL, 0),"
               " (1, NULL, 39, 'my thread', tid(42, 42), NULL, NULL, 0),"
               " (1, NULL, 33, 'category', tid(42, 42), NULL, NULL, 0)");
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
    struct gt_store *store =
        decode(STRINGS RANGES KERNELS ONE_KERNEL
               "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 0;"
               "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, endGlobalTid, textId) VALUES"
               " (1, 2, 59, '', tid(42, 42), 0, 5), (3, 0, 60, '', tid(42, 42), 0, 99),"
               " (0, 0, 59, 'at zero', tid(42, 42), 0, 0)");
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
    struct gt_store *store =
        decode(STRINGS "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
                       "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2025.3.2.0'),"
                       " ('EXPORT_HOST', 'x');"
                       "CREATE TABLE PROFILER_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER, "
                       "returnValue INTEGER);"
                       "INSERT INTO PROFILER_OVERHEAD VALUES (5, 9, tid(1, 2), 7, 0), (10, 11, NULL, 70, 0);"
                       "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start, end, globalTid INTEGER, nameId INTEGER);"
                       "INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (20, 29, NULL, 5);"
                       "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT);"
                       "INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 1, 'Profiling has started.'),"
                       " (1, 2, 'Not all CUDA events might have been collected.'),"
                       " (1, 2, 'Number of incomplete CUPTI events dropped: 17'),"
                       " (1, 2, 'No NVTX events collected. Does the process use NVTX?')");
    assert_text(store, store->meta.producer, "Nsight Systems 2025.3.2.0");
    assert_int_equal(store->overheads.count, 2);
    assert_int_equal(store->driver_work.count, 1);
    assert_text(store, store->driver_work.name[0], "registered");
    assert_text(store, store->overheads.name[0], "CUPTI flush");
    assert_text(store, store->overheads.name[1], "?");
    assert_int_equal(store->overheads.thread[1], GT_NO_TRACK);
    assert_int_equal(issue(store, GT_ISSUE_EVENTS_DROPPED), 18);
    assert_int_equal(store->facts, GT_FACT_OVERHEADS | GT_FACT_SOURCE);
    gt_store_free(store);
}

/* Helper processes that use no GPU lose nothing; what is known to be lost counts whoever it belongs to. */
static void test_losses_of_processes(void **state) {
    (void)state;
#define DIAGNOSTICS "CREATE TABLE DIAGNOSTIC_EVENT (text TEXT, globalPid INTEGER); INSERT INTO DIAGNOSTIC_EVENT VALUES "
    static const struct {
        const char *sql;
        unsigned dropped;
    } cases[] = {
        {STRINGS KERNELS ONE_KERNEL DIAGNOSTICS
         "('Not all CUDA events might have been collected.', pid(9)), ('No CUDA events collected.', pid(9))",
         0},
        {STRINGS KERNELS ONE_KERNEL DIAGNOSTICS
         "('Not all CUDA events might have been collected.', pid(42)), ('No CUDA events collected.', pid(9)),"
         " ('Not all NVTX events might have been collected.', pid(9)), ('No CUDA events collected.', NULL)",
         2},
        {STRINGS KERNELS ONE_KERNEL DIAGNOSTICS "('Number of incomplete CUPTI events dropped: 17', pid(9))", 17},
        {STRINGS KERNELS DIAGNOSTICS
         "('No CUDA events collected.', pid(8)), ('CUDA profiling might have not been started correctly.', pid(9))",
         2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gt_store *store = decode(cases[i].sql);
        assert_int_equal(issue(store, GT_ISSUE_EVENTS_DROPPED), cases[i].dropped);
        gt_store_free(store);
    }
}

/* Exports of 2021 call the number of a GPU deviceId. */
static void test_gpus_of_2021(void **state) {
    (void)state;
    struct gt_store *store = decode(STRINGS KERNELS ONE_KERNEL
                                    "CREATE TABLE TARGET_INFO_GPU (deviceId INTEGER, name TEXT, totalMemory INTEGER);"
                                    " INSERT INTO TARGET_INFO_GPU VALUES (0, 'V100', 16)");
    assert_int_equal(issue(store, GT_ISSUE_TABLE_INCOMPLETE), 0);
    assert_text(store, store->devices.name[0], "V100");
    assert_int_equal(store->devices.memory_bytes[0], 16);
    gt_store_free(store);
}

static void test_categories(void **state) {
    (void)state;
    struct gt_store *store =
        decode(RANGES "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, category, domainId) VALUES"
                      /* Of another domain, of another process, none, one that the export has instead of none. */
                      " (1, 2, 59, 'r', tid(42, 7), 3, 1), (1, 2, 59, 'r', tid(42, 7), 3, 0),"
                      " (1, 2, 59, 'r', tid(43, 7), 3, 1), (1, 2, 59, 'r', tid(42, 7), NULL, 1),"
                      " (1, 2, 59, 'r', tid(42, 7), 0, 1), (1, 2, 59, 'r', tid(42, 7), -1, 1),"
                      " (0, NULL, 33, 'layers', tid(42, 1), 3, 1), (0, NULL, 33, 'later', tid(42, 1), 3, 1),"
                      " (0, NULL, 33, NULL, tid(42, 1), 4, 1), (1, 2, 59, 'r', tid(42, 7), 4, 1)");
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
    struct gt_store *store =
        decode(STRINGS KERNELS
               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
               " (10, 20, 0, 1, 0, 7, 1, pid(42), 1, 2, 3, 8, node(5, 3)),"
               " (10, 20, 0, 1, 0, 7, 1, pid(42), 1, 2, 3, 8, node(5, 4)),"
               " (10, 20, 0, 1, 0, 7, 1, pid(42), 1, 2, 3, 8, NULL),"
               " (10, 20, 0, 1, 0, 7, 1, pid(42), 1, 2, 3, 8, 0),"
               " (10, 20, 0, 1, 0, 7, 1, pid(42), 1, 2, 3, 8, node(9, 1)),"
               " (10, 20, 0, 1, 0, 7, 1, pid(42), 1, 2, 3, 8, node(8, 1));"
               "CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start, globalTid INTEGER, graphNodeId INTEGER, "
               "originalGraphNodeId);"
               "INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES (0, tid(42, 7), node(5, 3), NULL),"
               " (0, tid(42, 7), node(5, 3), node(2, 1)), (0, tid(42, 8), node(2, 1), node(1, 0)),"
               /* Of another process; one that is said to be a copy of itself; two that are copies of one another. */
               " (0, tid(43, 7), node(1, 0), node(7, 0)), (0, tid(42, 7), node(9, 1), node(9, 1)),"
               " (0, tid(42, 7), node(8, 1), node(6, 1)), (0, tid(42, 7), node(6, 1), node(8, 1));"
               "CREATE TABLE CUDA_GRAPH_EVENTS (start, globalTid INTEGER, graphId INTEGER, originalGraphId, "
               "graphExecId);"
               "INSERT INTO CUDA_GRAPH_EVENTS VALUES (0, tid(42, 7), 5, 4, NULL);"
               "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, streamId, correlationId, "
               "globalPid, graphId, graphExecId);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (30, 40, 0, 7, 2, pid(42), 5, 6),"
               " (30, 40, 0, 7, 2, pid(42), 3, 7), (30, 40, 0, 7, 2, pid(42), NULL, 7)");
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
        STRINGS KERNELS "INSERT INTO StringIds VALUES (9000000000000000000, 'far'), (-4, 'below'), (66000, 'near');"
                        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
                        " (1, 2, 0, 1, 0, 7, 1, 0, 9000000000000000000, 2, 3, 8, NULL),"
                        " (1, 2, 0, 1, 0, 7, 1, 0, -4, 2, 3, 8, NULL), (1, 2, 0, 1, 0, 7, 1, 0, 66000, 2, 3, 8, NULL),"
                        " (1, 2, 0, 1, 0, 7, 1, 0, 9000000000000000001, NULL, NULL, 8, NULL)");
    static const char *const names[] = {"far", "below", "near", "?"};
    for (size_t i = 0; i < 4; i++)
        assert_text(store, store->ops.name[i], names[i]);
    gt_store_free(store);
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
        cmocka_unit_test(test_losses_of_processes),
        cmocka_unit_test(test_gpus_of_2021),
        cmocka_unit_test(test_categories),
        cmocka_unit_test(test_graph_clones),
        cmocka_unit_test(test_sparse_strings),
    };
    return cmocka_run_group_tests(tests, world_begin, world_end);
}
