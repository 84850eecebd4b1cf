/* Nsight exports however they are read: by any number of threads, by pages or by libsqlite3, cut, or not at all. */
#include "nsys_export.h"

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

/* The store does not depend on the number of threads. */
static void test_threads(void **state) {
    (void)state;
    world_make(world_path,
               "PRAGMA page_size = 512;" STRINGS KERNELS CALLS RANGES
               "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
               " INSERT INTO StringIds SELECT 100 + i, printf('kernel %d', i) FROM n;"
               "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)"
               " INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL"
               " SELECT i * 10, i * 10 + 5, i % 3, 1, 0, i * i % 5, i, pid(42), 101 + i * i % 300, 2, 3, 8, CASE "
               "i % 2 WHEN 1 THEN (5 << 32) + i % 400 END"
               " FROM n;"
               "CREATE TABLE CUDA_GRAPH_NODE_EVENTS (globalTid INTEGER, graphNodeId INTEGER, originalGraphNodeId);"
               "INSERT INTO CUDA_GRAPH_NODE_EVENTS SELECT globalPid, graphNodeId, (correlationId % 7 << 32)"
               " FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId < 900;"
               "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME"
               " SELECT start, end, 0, tid(42, 7) + correlationId % 9, correlationId, 4, 0, 0"
               " FROM CUPTI_ACTIVITY_KIND_KERNEL;"
               "INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES"
               " (1, 75, 'third', tid(42, 7), 3);"
               "INSERT INTO NVTX_EVENTS"
               " SELECT start, end, 59 + correlationId % 2, NULL, correlationId % 5, 0, 'text ' || correlationId "
               "% 77, tid(42, 7) + correlationId % 9, NULL, NULL, correlationId % 4"
               " FROM CUPTI_ACTIVITY_KIND_KERNEL;"
               "INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES"
               " (1, 75, 'three', tid(42, 7), 3), (1, 33, 'none', tid(42, 7), 0), (1, 39, 'named', tid(42, 9), 0)");
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

/* The same, where one process number means processes of several machines, whichever thread meets which first. */
static void test_threads_and_machines(void **state) {
    (void)state;
    world_make(world_path,
               "PRAGMA page_size = 512;" STRINGS KERNELS CALLS
               "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)"
               " INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL"
               " SELECT i * 10, i * 10 + 5, 0, 1, 0, 7, i, ((9 - i / 7000) << 48) | (42 << 24), 1, 2, 3, 8, NULL"
               " FROM n;"
               "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME"
               " SELECT start, end, 0, globalPid | 7, correlationId, 4, 0, 0 FROM CUPTI_ACTIVITY_KIND_KERNEL;"
               "CREATE TABLE PROCESSES (globalPid INTEGER, name TEXT);"
               " INSERT INTO PROCESSES VALUES ((3 << 48) | (42 << 24), 'third')");
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
        " INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i, i + 2, 0, tid(42, 7), i, 4, 0, 0 FROM n;"                  \
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES (1, 2, 59, "                          \
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
                               " INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL"
                               " SELECT i * 10, i * 10 + 5, 0, 1, 0, 7, i, pid(42), 1, 2, 3, 8, NULL FROM n");
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
    assert_true(samples.count >= 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreign), cmocka_unit_test(test_threads), cmocka_unit_test(test_threads_and_machines),
        cmocka_unit_test(test_cut),     cmocka_unit_test(test_samples), cmocka_unit_test(test_general_reader),
    };
    return cmocka_run_group_tests(tests, world_begin, world_end);
}
