/* Torture of reading a log of NCCL Inspector: every call for memory or bytes fails in turn. Each run must end in the
   same store or in a failure that says why, with nothing leaked. And what a log is: rows by value. */
#include "../fuzz/same_store.h"

#include "base/source.h"
#include "decode/nccl/nccl_inspector.h"
#include "faults.h"

enum { WINDOW_BYTES = 100, COLLECTIVES = 3, MESSAGES = 2 };

static const char path[] = "tests/fuzz/seeds/fuzz_nccl_inspector/small.log";

static struct gt_store *decode(size_t window_bytes, struct gt_error *err) {
    const struct gt_decode_options options = {.threads = 1, .facts = GT_FACTS_ALL};
    struct gt_source *source;
    struct gt_store *store = NULL;
    if (gt_source_open(path, &source, err) != GT_OK)
        return NULL;
    gt_nccl_inspector_decode_sized(source, &options, window_bytes, &store, err);
    gt_source_close(source);
    return store;
}

struct reading {
    struct gt_store *wanted;
};

static void run_reading(const void *context, const char *what) {
    const struct reading *reading = context;
    struct gt_error err = {0};
    struct gt_store *store = decode(WINDOW_BYTES, &err);
    end_faults();
    if (!store && !err.message[0])
        fail_msg("%s: fails without a reason", what);
    if (store)
        fuzz_same_store(store, reading->wanted);
    gt_store_free(store);
}

static void reading(void **state) {
    (void)state;
    struct gt_error err = {0};
    struct gt_store *wanted = decode(1 << 20, &err);
    assert_non_null(wanted);
    torture(run_reading, &(struct reading){wanted}, path);
    gt_store_free(wanted);
}

static void rows(void **state) {
    (void)state;
    struct gt_error err = {0};
    struct gt_store *store = decode(WINDOW_BYTES, &err);
    assert_non_null(store);
    const struct gt_comm_logs *logs = &store->comm_logs;
    assert_int_equal(logs->count, COLLECTIVES + MESSAGES);
    assert_int_equal(store->facts, GT_FACT_COMM_LOGS);
    assert_int_equal(store->comm_groups.communicator[logs->group[0]], 0xabc0ffee1234);
    assert_int_equal(store->comm_groups.size[logs->group[0]], 4);
    assert_true(gt_str_eq(gt_store_string(store, logs->name[0]), GT_STR("AllReduce")));
    assert_int_equal(logs->bytes[0], 1 << 24);
    assert_true(logs->length_ns[0] >= 400000 && logs->busbw[0] > 0);
    assert_int_equal(logs->peer[0], -1);
    assert_int_equal(logs->peer[COLLECTIVES], 1);
    assert_int_equal(logs->start_ns[0], GT_NO_TIME);
    gt_store_free(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows), cmocka_unit_test(reading)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
