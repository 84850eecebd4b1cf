/* Metrics of GPUs and networks in Nsight exports: names and units, the sign of unsigned values, any number of GPUs and
   ports, and rubbish. */
#include "nsys_export.h"

#define METRICS                                                                                                        \
    STRINGS "CREATE TABLE GPU_METRICS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, metricId INTEGER, "    \
            "value INTEGER);"                                                                                          \
            "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId "         \
            "INTEGER, metricName TEXT);"                                                                               \
            "CREATE TABLE GENERIC_EVENT_TYPE_FIELDS (typeId INTEGER, fieldIdx INTEGER, fieldNameId INTEGER, offset "   \
            "INTEGER, size INTEGER, type INTEGER);"                                                                    \
            "CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);"                                                  \
            "INSERT INTO META_DATA_CAPTURE VALUES ('GPU_METRICS_OPTIONS:SAMPLING_FREQUENCY', '20000');"                \
            "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (256, 0, '', 0, 'GPC Clock Frequency [MHz]'),"                 \
            " (256, 0, '', 1, 'SMs Active [Throughput %]'), (256, 0, '', 2, 'Warps [Avg]'),"                           \
            " (257, 0, '', 0, 'GPC Clock Frequency [MHz]'), (257, 0, '', 1, 'Warps [Avg]');"                           \
            "INSERT INTO GENERIC_EVENT_TYPE_FIELDS VALUES (256, 0, 1, 0, 4, 1), (256, 1, 2, 4, 1, 1),"                 \
            " (256, 2, 3, 5, 3, 1), (257, 0, 1, 0, 4, 1), (257, 1, 1, 4, 2, 0);"

/* The run of the track of a device with this name. */
static size_t run_of(const struct gt_store *store, int64_t device, const char *name) {
    for (size_t i = 0; i < store->counter_runs.count; i++) {
        uint32_t track = store->counter_runs.track[i];
        if (store->counter_tracks.device[track] == device &&
            strcmp(gt_store_string(store, store->counter_tracks.name[track]).ptr, name) == 0)
            return i;
    }
    fail_msg("no run of %s", name);
    return 0;
}

static void assert_values(const struct gt_store *store, int64_t device, const char *name, const double *values,
                          size_t count) {
    size_t run = run_of(store, device, name);
    assert_int_equal(store->counter_runs.values[run], count);
    for (size_t i = 0; i < count; i++)
        assert_true(store->counters.value[store->counter_runs.first[run] + i] == values[i]);
}

static void test_values(void **state) {
    (void)state;
    struct gt_store *store = decode_in_ways(METRICS "INSERT INTO GPU_METRICS VALUES"
                                                    " (-5, -5, 256, 0, 1980000000), (-5, -5, 256, 1, -128),"
                                                    " (-5, -5, 256, 2, -1), (-4, -4, 257, 0, -1), (-4, -4, 257, 1, -3),"
                                                    " (5, 5, 256, 0, 0), (5, 5, 256, 1, 100), (5, 5, 256, 2, 7),"
                                                    " (6, 6, 257, 0, 2.5), (6, 6, 257, 1, 9)",
                                            GT_FACT_COUNTERS);
    assert_int_equal(store->counter_tracks.count, 5);
    assert_int_equal(store->counters.count, 10);
    assert_values(store, 0, "GPC Clock Frequency", (double[]){1980000000, 0}, 2);
    assert_values(store, 0, "SMs Active", (double[]){128, 100}, 2);
    assert_values(store, 0, "Warps", (double[]){16777215, 7}, 2);
    assert_values(store, 1, "GPC Clock Frequency", (double[]){4294967295, 2.5}, 2);
    assert_values(store, 1, "Warps", (double[]){-3, 9}, 2); /* signed */
    size_t run = run_of(store, 0, "SMs Active");
    uint32_t track = store->counter_runs.track[run];
    assert_int_equal(store->counters.time_ns[store->counter_runs.first[run]], -5);
    assert_int_equal(store->counter_tracks.period_ns[track], 50000);
    assert_int_equal(store->counter_tracks.kind[track], GT_COUNTER_SAMPLED);
    assert_int_equal(store->counter_tracks.process[track], GT_NO_TRACK);
    assert_text(store, store->counter_tracks.unit[track], "%");
    assert_text(store, store->counter_tracks.unit[store->counter_runs.track[run_of(store, 0, "GPC Clock Frequency")]],
                "Hz");
    assert_int_equal(issue(store, GT_ISSUE_PAYLOAD_UNREADABLE), 0);
    gt_store_free(store);
    store = decode(METRICS "INSERT INTO GPU_METRICS VALUES (1, 1, 256, 0, 1)");
    assert_int_equal(store->counters.count + store->counter_tracks.count, 0);
    gt_store_free(store);
}

/* Samples in many parts: no part and no thread shows in the store. */
static void test_many(void **state) {
    (void)state;
    struct gt_store *store =
        decode_in_ways(METRICS MANY(40000) "INSERT INTO GPU_METRICS SELECT i / 4 * 1000, i / 4 * 1000, "
                                           "CASE i % 4 WHEN 3 THEN 257 ELSE 256 END, i % 4 % 3, i % 101 FROM n",
                       GT_FACT_COUNTERS);
    assert_int_equal(store->counters.count, 40000);
    assert_int_equal(store->counter_runs.count, 4);
    for (size_t r = 0; r < 4; r++) {
        size_t first = store->counter_runs.first[r];
        assert_int_equal(store->counter_runs.values[r], 10000);
        for (size_t i = 1; i < 10000; i++)
            assert_true(store->counters.time_ns[first + i] > store->counters.time_ns[first + i - 1]);
    }
    gt_store_free(store);
}

static void test_rubbish(void **state) {
    (void)state;
    /* Types and metrics without a name, values that are none, sizes that no field has. */
    struct gt_store *store = decode_in_ways(
        METRICS "INSERT INTO GENERIC_EVENT_TYPE_FIELDS VALUES (256, 0, 1, 0, 99999999, 1), (300, 0, 1, 0, -1, 1),"
                " (300, 1, 1, 0, 8, 1), (300, 2, 1, 0, 4611686018427387904, 1), (300, NULL, 1, 0, 1, 1);"
                "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (300, 0, '', 0, 'a [b]'), (300, 0, '', 1, '[]'),"
                " (300, 0, '', 2, ']'), (300, 0, '', 3, ''), (300, 0, '', NULL, 'x'), (300, 0, '', 4, NULL),"
                " (300, 0, '', 0, 'again');"
                "INSERT INTO GPU_METRICS VALUES (1, 1, 300, 0, -1), (1, 1, 300, 1, -1), (1, 1, 300, 2, -1),"
                " (1, 1, 300, 3, 1), (1, 1, 300, 4, 1), (1, 1, 999, 0, 1), (1, 1, NULL, 0, 1), (1, 1, 256, NULL, 1),"
                " (1, 1, 256, 0, 'x'), (1, NULL, 256, 0, 1), (1, 1, 256, 0, NULL)",
        GT_FACT_COUNTERS);
    assert_int_equal(store->counters.count, 3);
    assert_int_equal(issue(store, GT_ISSUE_PAYLOAD_UNREADABLE), 8);
    assert_values(store, 44, "a", (double[]){-1}, 1);
    assert_values(store, 44, "", (double[]){18446744073709551615.0}, 1);
    assert_values(store, 44, "]", (double[]){-1}, 1);
    gt_store_free(store);
    /* Nothing is kept of rows that nobody declared, however many. */
    store = decode_in_ways(METRICS "DELETE FROM TARGET_INFO_GPU_METRICS;" MANY(
                               300000) "INSERT INTO GPU_METRICS SELECT i, i, i, i, i FROM n",
                           GT_FACT_COUNTERS);
    assert_int_equal(store->counters.count + store->counter_tracks.count, 0);
    assert_int_equal(issue(store, GT_ISSUE_PAYLOAD_UNREADABLE), 300000);
    gt_store_free(store);
}

/* A name for every row: as many tracks as rows, and each value in its own. */
static void test_many_tracks(void **state) {
    (void)state;
    struct gt_store *store =
        decode_in_ways(METRICS "DELETE FROM TARGET_INFO_GPU_METRICS;" MANY(
                           20000) "INSERT INTO TARGET_INFO_GPU_METRICS SELECT 256, 0, '', i, 'metric ' || i FROM "
                                  "n;" MANY(20000) "INSERT INTO GPU_METRICS SELECT i, i, 256, i, i FROM n",
                       GT_FACT_COUNTERS);
    assert_int_equal(store->counter_tracks.count, 20000);
    assert_int_equal(store->counter_runs.count, 20000);
    assert_int_equal(store->counters.count, 20000);
    gt_store_free(store);
}

#define NETWORK                                                                                                        \
    STRINGS "CREATE TABLE TARGET_INFO_NETWORK_METRICS (metricsListId INTEGER, metricsIdx INTEGER, name TEXT, "         \
            "description TEXT, unit TEXT);"                                                                            \
            "CREATE TABLE TARGET_INFO_NIC_INFO (GUID INTEGER, nicId INTEGER, name TEXT);"                              \
            "CREATE TABLE NIC_ID_MAP (nicId INTEGER, globalId INTEGER);"                                               \
            "CREATE TABLE NET_NIC_METRIC (start INTEGER, end INTEGER, globalId INTEGER, portId INTEGER, "              \
            "metricsListId INTEGER, metricsIdx INTEGER, value INTEGER);"                                               \
            "CREATE TABLE NET_IB_SWITCH_METRIC (start INTEGER, end INTEGER, globalId INTEGER, portId INTEGER, "        \
            "metricsListId INTEGER, metricsIdx INTEGER, value INTEGER);"                                               \
            "INSERT INTO TARGET_INFO_NETWORK_METRICS VALUES (4, 0, 'sent', '', 'B/ms'), (4, 1, 'waits', '', '');"      \
            "INSERT INTO TARGET_INFO_NIC_INFO VALUES (1, 0, 'mlx5_0'), (2, 1, printf('%.80c', 'x'));"                  \
            "INSERT INTO NIC_ID_MAP VALUES (0, 1000), (1, 1001);"

static void test_network(void **state) {
    (void)state;
    struct gt_store *store =
        decode_in_ways(NETWORK "INSERT INTO NET_NIC_METRIC VALUES (5, 6, 1000, 1, 4, 0, 7), (6, 7, 1000, 1, 4, 0, 2.5),"
                               " (5, 6, 1000, 1, 4, 1, -3), (5, 6, 1001, 2, 4, 1, 1), (5, 6, 1000, 1, 5, 0, 1);"
                               "INSERT INTO NET_IB_SWITCH_METRIC VALUES (5, 6, 1000, 1, 4, 0, 8)",
                       GT_FACT_METRICS);
    static const struct {
        const char *name, *series;
    } expected[] = {
        {"sent", "mlx5_0 port 1"},
        {"waits", "mlx5_0 port 1"},
        {"waits", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx port 2"},
        {"sent", "switch 0x3e8 port 1"},
    };
    assert_int_equal(store->counter_tracks.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_text(store, store->counter_tracks.name[i], expected[i].name);
        assert_text(store, store->counter_tracks.series[i], expected[i].series);
        assert_int_equal(store->counter_tracks.device[i], -1);
    }
    assert_values(store, -1, "sent", (double[]){7, 2.5}, 2);
    assert_values(store, -1, "waits", (double[]){-3}, 1);
    assert_text(store, store->counter_tracks.unit[0], "B/ms");
    assert_int_equal(issue(store, GT_ISSUE_PAYLOAD_UNREADABLE), 1);
    gt_store_free(store);
    store = decode(NETWORK "INSERT INTO NET_NIC_METRIC VALUES (5, 6, 1000, 1, 4, 0, 7)");
    assert_int_equal(store->counters.count + store->counter_tracks.count, 0);
    gt_store_free(store);
}

/* A port for every row: no part and no thread shows. */
static void test_many_ports(void **state) {
    (void)state;
    struct gt_store *store = decode_in_ways(
        NETWORK MANY(20000) "INSERT INTO NET_NIC_METRIC SELECT i, i, i, i % 3, 4, i % 2, i FROM n", GT_FACT_METRICS);
    assert_int_equal(store->counter_tracks.count, 20000);
    assert_int_equal(store->counters.count, 20000);
    gt_store_free(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),      cmocka_unit_test(test_many),    cmocka_unit_test(test_rubbish),
        cmocka_unit_test(test_many_tracks), cmocka_unit_test(test_network), cmocka_unit_test(test_many_ports),
    };
    return cmocka_run_group_tests_name("nsys_sqlite_metrics", tests, world_begin, world_end);
}
