/* Torture of reading what XLA's profiler writes, in both forms with all facts: every call for memory, bytes or threads
   fails in turn. Each run must end in the same store or in a failure that says why, with nothing leaked. */
#include "../fuzz/same_store.h"

#include "base/source.h"
#include "decode/xla/xla_json.h"
#include "decode/xla/xplane.h"
#include "faults.h"

enum { PIECE_BYTES = 300 };

struct reading {
    const char *path;
    bool is_json;
    size_t threads;
    struct gt_store *wanted;
};

static struct gt_store *decode(const struct reading *reading, size_t threads, struct gt_error *err) {
    struct gt_decode_options options = {.threads = threads, .facts = GT_FACTS_ALL};
    struct gt_source *source;
    struct gt_store *store = NULL;
    if (gt_source_open(reading->path, &source, err) != GT_OK)
        return NULL;
    if (reading->is_json)
        gt_xla_json_decode(&source, 1, &options, &store, err);
    else
        gt_xplane_decode_sized(source, &options, PIECE_BYTES, &store, err);
    gt_source_close(source);
    return store;
}

static void run_reading(const void *context, const char *what) {
    const struct reading *reading = context;
    struct gt_error err = {0};
    struct gt_store *store = decode(reading, reading->threads, &err);
    end_faults();
    if (!store && !err.message[0])
        fail_msg("%s: fails without a reason", what);
    if (store)
        fuzz_same_store(store, reading->wanted);
    gt_store_free(store);
}

static void check(const char *path, bool is_json, size_t threads) {
    struct gt_error err = {0};
    struct reading reading = {path, is_json, threads, NULL};
    reading.wanted = decode(&reading, 1, &err);
    assert_non_null(reading.wanted);
    assert_true(reading.wanted->ops.count >= 6 && reading.wanted->calls.count >= 3);
    torture(run_reading, &reading, path);
    gt_store_free(reading.wanted);
}

static void both_forms(void **state) {
    (void)state;
    check("tests/fuzz/seeds/fuzz_xla/small.xplane.pb", false, 1);
    check("tests/fuzz/seeds/fuzz_xla/small.xplane.pb", false, 3);
    check("tests/fuzz/seeds/fuzz_xla/small.trace.json", true, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
