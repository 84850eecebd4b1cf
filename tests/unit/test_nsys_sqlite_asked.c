/* Nsight exports, read for certain facts: what is there when it is asked for, and that nothing else is looked at. */
#include "measure/analysis.h"

#include "nsys_export.h"

/* ---- what is left out ---- */

#define EXPORT                                                                                                         \
    STRINGS KERNELS CALLS RANGES                                                                                       \
        "CREATE TABLE PROFILER_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER);"              \
        "CREATE TABLE CUDA_GRAPH_NODE_EVENTS (globalTid INTEGER, graphNodeId INTEGER, originalGraphNodeId INTEGER);"   \
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"     \
        " correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind "        \
        "INTEGER);"                                                                                                    \
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (5, 6, 0, 7, 9, pid(42), 64, 1, 1, 2);" MANY(                   \
            2000) "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 10, i * 10 + 5, 0, 1, 0, 7, i, pid(42), 1, 2, "   \
                  "3, 8,"                                                                                              \
                  " CASE i WHEN 9 THEN node(3, 4) END FROM n;" MANY(                                                   \
                      2000) "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i, i + 2, 0, tid(42, 7), i, 4, 0, 0 FROM " \
                            "n;" MANY(2000) "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, "        \
                                            "category) SELECT i, i + 5, 59, 'range', "                                 \
                                            "tid(42, 7), 3 FROM n;" MANY(                                              \
                                                500) "INSERT INTO PROFILER_OVERHEAD SELECT i, i + 1, tid(42, 7), 7 "   \
                                                     "FROM n;" MANY(500) "INSERT INTO CUDA_GRAPH_NODE_EVENTS SELECT "  \
                                                                         "tid(42, 7), node(3, i), node(2, i) FROM n;"

/* Fills all pages of a table with rubbish; of the whole database nothing else changes. */
static void spoil(const char *table) {
    sqlite3 *connection = world_open(world_path);
    sqlite3_stmt *statement;
    char query[160];
    unsigned char *bytes;
    snprintf(query, sizeof query, "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
    assert_int_equal(sqlite3_prepare_v2(connection, query, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    size_t page = (size_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    assert_int_equal(sqlite3_close(connection), SQLITE_OK);
    size_t size = world_read(world_path, &bytes);
    memset(bytes + (page - 1) * 4096, 0xA5, 4096);
    world_write(world_path, bytes, size);
    free(bytes);
}

static void test_unasked_tables(void **state) {
    (void)state;
    static const char *const unasked[] = {"CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "PROFILER_OVERHEAD",
                                          "CUDA_GRAPH_NODE_EVENTS"};
    static const char *const kernels[] = {"kernels"};
    struct gt_error err = {0};
    struct gt_store *whole, *store;
    world_make(world_path, EXPORT);
    assert_int_equal(try_decode(world_path, 2, &whole, &err), GT_OK);
    for (size_t i = 0; i < sizeof unasked / sizeof *unasked; i++)
        spoil(unasked[i]);
    assert_int_equal(try_decode_asked(world_path, 2, gt_analysis_facts(kernels, 1), &store, &err), GT_OK);
    assert_int_equal(store->ops.count, 2001);
    assert_memory_equal(store->ops.start_ns, whole->ops.start_ns, 2001 * sizeof(int64_t));
    assert_memory_equal(store->ops.flags, whole->ops.flags, 2001);
    assert_int_equal(store->facts, GT_FACT_OPS | GT_FACT_BYTES);
    assert_true(store->ops.correlation[0] == GT_NO_CORRELATION);
    assert_int_equal(store->calls.count + store->ranges.count + store->overheads.count, 0);
    assert_int_equal(store->copies.count, 1);
    assert_int_equal(store->graph_ops.count + store->source_columns.count, 0);
    for (int i = 0; i < GT_ISSUE_COUNT; i++)
        assert_int_equal(gt_store_issue(store, (enum gt_issue_id)i, GT_FACTS_ALL).count, 0);
    assert_int_equal(store->meta.read_rows, 8 + 2000 + 1); /* strings, kernels, the copy */
    assert_true(store->meta.read_bytes * 2 < whole->meta.read_bytes);
    assert_int_equal(whole->meta.read_rows, 8 + 2001 + 2 * 2000 + 2 * 500);
    gt_store_free(store);
    /* The same tables, when they are asked for. */
    assert_int_equal(try_decode(world_path, 2, &store, &err), GT_OK);
    assert_true(issue(store, GT_ISSUE_EVENT_DAMAGED) >= 4);
    gt_store_free(store);
    gt_store_free(whole);
}

static void test_one_fact_each(void **state) {
    (void)state;
    struct gt_store *store = decode_in_ways(EXPORT, GT_FACT_CALLS);
    assert_int_equal(store->calls.count, 2000);
    assert_int_equal(store->ops.count + store->ranges.count, 0);
    assert_true(store->calls.correlation[0] == GT_NO_CORRELATION);
    gt_store_free(store);
    store = decode_in_ways(EXPORT, GT_FACT_RANGES);
    assert_int_equal(store->ranges.count, 2000);
    assert_int_equal(store->range_categories.count, 0);
    gt_store_free(store);
    store = decode_in_ways(EXPORT, GT_FACT_RANGE_TEXTS);
    assert_int_equal(store->range_categories.count, 2000);
    gt_store_free(store);
    store = decode_in_ways(EXPORT, GT_FACT_OVERHEADS);
    assert_int_equal(store->overheads.count, 500);
    gt_store_free(store);
    store = decode_in_ways(EXPORT, GT_FACT_GRAPHS);
    assert_int_equal(store->graph_ops.count, 1);
    assert_int_equal(store->graph_ops.graph[0], 2);
    gt_store_free(store);
    store = decode_in_ways(EXPORT, GT_FACT_OPS | GT_FACT_BYTES | GT_FACT_CORRELATION);
    assert_int_equal(store->copies.count, 1);
    assert_int_equal(store->ops.correlation[store->copies.op[0]], 9);
    gt_store_free(store);
    store = decode_in_ways(EXPORT, GT_FACT_SOURCE);
    assert_true(store->source_columns.count > 0);
    for (size_t i = 0; i < store->source_columns.count; i++)
        if (strcmp(gt_store_string(store, store->source_columns.table[i]).ptr, "CUPTI_ACTIVITY_KIND_KERNEL") == 0) {
            assert_text(store, store->source_columns.role[i], ""); /* not read */
            assert_int_equal(store->source_columns.rows[i], 2000);
        }
    gt_store_free(store);
}

/* ---- launch configurations ---- */

static void test_configs(void **state) {
    (void)state;
    static const char sql[] =
        STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId "
                "INTEGER, demangledName INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ "
                "INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, "
                "dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER, sharedMemoryExecuted INTEGER, clusterX "
                "INTEGER, clusterY INTEGER, clusterZ INTEGER);"
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
                " (10, 20, 0, 7, 1, 255, 1000000, 2, 3, 128, 4, 5, 16, 49152, 8, 65536, 2, 1, 1),"
                " (30, 20, 0, 7, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)," /* ends before it starts */
                " (40, 50, 0, 7, 1, NULL, -1, 9223372036854775807, 'x', 1, 1, 1, -5, 0, 0, NULL, NULL, NULL, NULL)";
    struct gt_store *store = decode_in_ways(sql, GT_FACT_CONFIGS);
    const struct gt_kernel_configs *configs = &store->kernel_configs;
    assert_int_equal(configs->count, 2);
    assert_int_equal(configs->op[0], 0);
    assert_int_equal(configs->op[1], 1);
    assert_int_equal(configs->grid_x[0], 1000000);
    assert_int_equal(configs->grid_y[0], 2);
    assert_int_equal(configs->grid_z[0], 3);
    assert_int_equal(configs->block_x[0], 128);
    assert_int_equal(configs->block_y[0], 4);
    assert_int_equal(configs->block_z[0], 5);
    assert_int_equal(configs->cluster_x[0], 2);
    assert_int_equal(configs->registers[0], 255);
    assert_int_equal(configs->static_shared_bytes[0], 16);
    assert_int_equal(configs->dynamic_shared_bytes[0], 49152);
    assert_int_equal(configs->shared_bytes[0], 65536);
    assert_int_equal(configs->local_bytes[0], 8);
    assert_int_equal(configs->registers[1], UINT32_MAX);
    assert_int_equal(configs->grid_x[1], UINT32_MAX);
    assert_int_equal(configs->grid_y[1], UINT32_MAX);
    assert_int_equal(configs->grid_z[1], UINT32_MAX);
    assert_int_equal(configs->cluster_z[1], UINT32_MAX);
    gt_store_free(store);
    store = decode_in_ways(sql, GT_FACT_OPS);
    assert_int_equal(store->ops.count, 2);
    assert_int_equal(store->kernel_configs.count, 0);
    gt_store_free(store);
}

/* ---- events and waits ---- */

#define SYNCS(more)                                                                                                    \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, "                 \
    "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER, eventId INTEGER" more ");"
#define DEVICES                                                                                                        \
    "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"                               \
    "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (5, 0, 42);"

static void assert_kinds(const struct gt_store *store, const enum gt_sync_kind *kinds, size_t count) {
    assert_int_equal(store->syncs.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(store->syncs.kind[i], kinds[i]);
}

static void test_syncs(void **state) {
    (void)state;
    static const enum gt_sync_kind now[] = {GT_SYNC_EVENT,  GT_SYNC_STREAM,  GT_SYNC_STREAM_WAIT,
                                            GT_SYNC_STREAM, GT_SYNC_CONTEXT, GT_SYNC_UNKNOWN};
    struct gt_store *store = decode_in_ways(
        STRINGS DEVICES SYNCS(
            ", deprecatedSyncType INTEGER, eventSyncId INTEGER") "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION "
                                                                 "VALUES"
                                                                 " (10, 20, 0, 7, 1, pid(42), 1, 3, NULL, 4), (11, 20, "
                                                                 "0, 8, 2, pid(42), 2, 4294967295, NULL, 0),"
                                                                 " (12, 20, 0, 8, 3, pid(42), 2, 5, NULL, 6), (13, 20, "
                                                                 "0, 8, 4, pid(42), 3, 4294967295, NULL, 0),"
                                                                 " (14, NULL, 0, 4294967295, NULL, NULL, 4, "
                                                                 "4294967295, NULL, NULL), (15, 16, 9, 1, 1, 1, 77, 1, "
                                                                 "NULL, 1),"
                                                                 " (NULL, 20, 0, 8, 3, pid(42), 2, 5, NULL, 6);"
                                                                 "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT "
                                                                 "(deviceId INTEGER, streamId INTEGER, correlationId "
                                                                 "INTEGER,"
                                                                 " globalPid INTEGER, eventId INTEGER, eventSyncId "
                                                                 "INTEGER);"
                                                                 "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES "
                                                                 "(0, 7, 33, pid(42), 3, 4), (NULL, NULL, NULL, NULL, "
                                                                 "NULL, "
                                                                 "NULL)",
        GT_FACT_SYNCS);
    assert_kinds(store, now, 6);
    assert_int_equal(issue(store, GT_ISSUE_EVENT_DAMAGED), 1);
    assert_int_equal(store->syncs.device[0], 5);
    assert_int_equal(store->syncs.event[0], 3);
    assert_int_equal(store->syncs.record[0], 4);
    assert_int_equal(store->processes.pid[store->syncs.process[0]], 42);
    assert_true(store->syncs.event[1] == UINT64_MAX);
    assert_int_equal(store->syncs.end_ns[4], 14);
    assert_int_equal(store->syncs.stream[4], -1);
    assert_int_equal(store->syncs.process[4], GT_NO_TRACK);
    assert_int_equal(store->event_records.count, 2);
    assert_int_equal(store->event_records.device[0], 5);
    assert_int_equal(store->event_records.correlation[0], 33);
    assert_int_equal(store->event_records.record[0], 4);
    assert_int_equal(store->event_records.device[1], -1);
    gt_store_free(store);
}

/* Whether a program waits for an event or asks for it is known by its call. */
static void test_queries(void **state) {
    (void)state;
    static const enum gt_sync_kind kinds[] = {GT_SYNC_QUERY, GT_SYNC_EVENT,  GT_SYNC_EVENT,
                                              GT_SYNC_QUERY, GT_SYNC_STREAM, GT_SYNC_EVENT};
    struct gt_store *store = decode_in_ways(
        STRINGS CALLS
        "INSERT INTO StringIds VALUES (20, 'cudaEventQuery_v3020'), (21, 'cuEventQuery'), (22, 'cudaEventSynchronize');"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, tid(42, 7), 1, 20, 0, 0),"
        " (3, 4, 0, tid(42, 7), 2, 22, 0, 0), (5, 6, 0, tid(43, 7), 3, 20, 0, 0), (7, 8, 0, tid(42, 8), 4, 21, 0, 0),"
        " (9, 10, 0, NULL, 6, 21, 0, 0), (9, 10, 0, tid(42, 8), 5, 21, 0, 0);" SYNCS(
            ", eventSyncId INTEGER") "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1, 2, 0, 7, 1, pid(42), "
                                     "1, 3, 0),"
                                     " (3, 4, 0, 7, 2, pid(42), 1, 3, 0), (5, 6, 0, 7, 3, pid(42), 1, 3, 0), (7, 8, 0, "
                                     "7, 4, pid(42), 1, 3, 0),"
                                     " (7, 8, 0, 7, 5, pid(42), 3, 3, 0), (9, 10, 0, 7, 6, NULL, 1, 3, 0)",
        GT_FACT_SYNCS);
    assert_kinds(store, kinds, 6);
    gt_store_free(store);
}

/* Before 2025.1, and reports from before it in later exports. */
static void test_old_syncs(void **state) {
    (void)state;
    static const enum gt_sync_kind kinds[] = {GT_SYNC_CONTEXT, GT_SYNC_EVENT, GT_SYNC_STREAM, GT_SYNC_STREAM_WAIT};
    struct gt_store *store = decode_in_ways(STRINGS SYNCS("") "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
                                                              " (10, 20, 0, 7, 1, pid(42), 1, 4294967295),"
                                                              " (10, 20, 0, 7, 1, pid(42), 2, 3),"
                                                              " (10, 20, 0, 7, 1, pid(42), 3, 4294967295),"
                                                              " (10, 20, 0, 7, 1, pid(42), 3, 3)",
                                            GT_FACT_SYNCS);
    assert_kinds(store, kinds, 4);
    gt_store_free(store);
    store = decode_in_ways(
        STRINGS SYNCS(", deprecatedSyncType INTEGER") "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
                                                      " (10, 20, 0, 7, 1, pid(42), 0, 4294967295, 1), (10, 20, 0, 7, "
                                                      "1, pid(42), 0, 3, 2),"
                                                      " (10, 20, 0, 7, 1, pid(42), 0, 4294967295, 3), (10, 20, 0, 7, "
                                                      "1, pid(42), 0, 3, 3)",
        GT_FACT_SYNCS);
    assert_kinds(store, kinds, 4);
    gt_store_free(store);
}

/* ---- memory ---- */

#define MEMORY                                                                                                         \
    STRINGS DEVICES                                                                                                    \
        "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER, contextId "    \
        "INTEGER, address INTEGER, pc INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER, name "     \
        "TEXT, correlationId INTEGER, streamId INTEGER, localMemoryPoolAddress INTEGER, "                              \
        "localMemoryPoolReleaseThreshold INTEGER, localMemoryPoolSize INTEGER, localMemoryPoolUtilizedSize INTEGER);"  \
        "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES"                                                              \
        " (0, pid(42), 0, 1, 140000000000000, 0, 2097152, 2, 0, NULL, 8, NULL, NULL, NULL, NULL, NULL),"               \
        " (9, pid(42), 0, 1, 4096, 0, 512, 2, 1, NULL, 9, 7, 99, 1, 2, 3),"                                            \
        " (10, pid(42), 0, 0, 1, 0, 4, 5, 0, 'variable', NULL, NULL, NULL, NULL, NULL, NULL),"                         \
        " (11, pid(42), 0, 0, 1, 0, NULL, 5, 0, 'variable', NULL, NULL, NULL, NULL, NULL, NULL),"                      \
        " (12, NULL, NULL, 0, -1, 0, -1, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL);"                             \
        "CREATE TABLE CUDA_GPU_MEMORY_POOL_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER, address "       \
        "INTEGER, operationType INTEGER, poolType INTEGER, correlationId INTEGER, minBytesToKeep INTEGER, "            \
        "localMemoryPoolReleaseThreshold INTEGER, localMemoryPoolSize INTEGER, localMemoryPoolUtilizedSize INTEGER);"  \
        "INSERT INTO CUDA_GPU_MEMORY_POOL_EVENTS VALUES (20, pid(42), 0, 99, 1, 1, 31, 0, 4, 5, 6),"                   \
        " (21, pid(42), 0, 99, 3, 1, 32, 7, 4, 5, 6), (22, pid(42), 0, 99, 2, 1, 33, 0, 4, 5, 6)"

static void test_memory(void **state) {
    (void)state;
    struct gt_store *store = decode_in_ways(MEMORY, GT_FACT_MEMORY);
    const struct gt_memory_events *events = &store->memory_events;
    static const enum gt_memory_operation operations[] = {GT_MEMORY_ALLOCATE, GT_MEMORY_FREE, GT_MEMORY_ALLOCATE,
                                                          GT_POOL_CREATE,     GT_POOL_TRIM,   GT_POOL_DESTROY};
    /* All bits of a size set is how a missing one reads: the row does not count. */
    assert_int_equal(issue(store, GT_ISSUE_EVENT_DAMAGED), 2);
    assert_int_equal(events->count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(events->operation[i], operations[i]);
    assert_true(events->time_ns[0] == GT_NO_TIME);
    assert_int_equal(events->bytes[0], 2097152);
    assert_int_equal(events->address[0], 140000000000000);
    assert_int_equal(events->device[0], 5);
    assert_int_equal(events->correlation[0], 8);
    assert_int_equal(events->kind[0], GT_MEMORY_DEVICE);
    assert_true(events->pool[0] == UINT64_MAX && events->stream[0] == -1);
    assert_int_equal(events->time_ns[1], 9);
    assert_int_equal(events->bytes[1], -512);
    assert_int_equal(events->stream[1], 7);
    assert_int_equal(events->pool[1], 99);
    assert_int_equal(events->pool_kept_bytes[1], 1);
    assert_int_equal(events->pool_bytes[1], 2);
    assert_int_equal(events->pool_used_bytes[1], 3);
    assert_text(store, events->name[2], "variable");
    assert_true(events->address[3] == UINT64_MAX && events->pool[3] == 99);
    assert_int_equal(events->bytes[4], 7);
    assert_int_equal(events->correlation[5], 33);
    assert_int_equal(events->pool_used_bytes[5], 6);
    assert_int_equal(events->kind[2], GT_MEMORY_STATIC);
    assert_int_equal(store->counters.count, 0);
    gt_store_free(store);
}

/* Memory in use is a counter; the events that it is made of are not kept for it. */
static void test_memory_counters(void **state) {
    (void)state;
    struct gt_store *store = decode_in_ways(MEMORY, GT_FACT_COUNTERS);
    static const char *const names[] = {"CUDA memory in use", "memory pool 0x63 size", "memory pool 0x63 used"};
    static const double last[] = {2097152 - 512, 5, 6};
    assert_int_equal(store->memory_events.count, 0);
    assert_int_equal(store->facts, GT_FACT_COUNTERS);
    assert_int_equal(store->counter_tracks.count, 3);
    for (size_t t = 0; t < 3; t++) {
        const struct gt_counter_runs *runs = &store->counter_runs;
        assert_text(store, store->counter_tracks.name[runs->track[t]], names[t]);
        assert_int_equal(store->counter_tracks.device[runs->track[t]], 5);
        assert_true(store->counters.value[runs->first[t] + runs->values[t] - 1] == last[t]);
    }
    gt_store_free(store);
    store = decode_in_ways(MEMORY, GT_FACT_COUNTERS | GT_FACT_MEMORY);
    assert_int_equal(store->memory_events.count, 6);
    assert_int_equal(store->counter_tracks.count, 3);
    gt_store_free(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unasked_tables), cmocka_unit_test(test_one_fact_each),   cmocka_unit_test(test_configs),
        cmocka_unit_test(test_syncs),          cmocka_unit_test(test_old_syncs),       cmocka_unit_test(test_queries),
        cmocka_unit_test(test_memory),         cmocka_unit_test(test_memory_counters),
    };
    return cmocka_run_group_tests_name("nsys_sqlite_asked", tests, world_begin, world_end);
}
