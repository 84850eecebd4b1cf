/* Torture of reading what is asked for on demand: every call for memory or bytes fails in turn while a PyTorch trace
   with all facts is read. Each run must end in the same store or in a failure that says why, with nothing leaked. */
#include "../fuzz/same_store.h"

#include "base/source.h"
#include "decode/torch/torch_json.h"
#include "faults.h"

static const char path[] = "tests/fuzz/seeds/fuzz_torch_json/facts.json";

static struct gt_store *decode(size_t threads, struct gt_error *err) {
    const struct gt_torch_sizes sizes = {2048, 1024, 1 << 20, GT_TORCH_EAGER, 4096};
    struct gt_decode_options options = {.threads = threads, .facts = GT_FACTS_ALL};
    struct gt_source *source;
    struct gt_store *store = NULL;
    if (gt_source_open(path, &source, err) != GT_OK)
        return NULL;
    gt_torch_json_decode_sized(source, &options, &sizes, &store, err);
    gt_source_close(source);
    return store;
}

struct reading {
    size_t threads;
    struct gt_store *wanted;
};

static void run_reading(const void *context, const char *what) {
    const struct reading *reading = context;
    struct gt_error err = {0};
    struct gt_store *store = decode(reading->threads, &err);
    end_faults();
    if (!store && !err.message[0])
        fail_msg("%s: fails without a reason", what);
    if (store)
        fuzz_same_store(store, reading->wanted);
    gt_store_free(store);
}

static void test_reading_all_facts(void **state) {
    (void)state;
    for (size_t threads = 1; threads <= 3; threads += 2) {
        struct gt_error err = {0};
        struct reading reading = {threads, decode(1, &err)};
        assert_non_null(reading.wanted);
        torture(run_reading, &reading, path);
        gt_store_free(reading.wanted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reading_all_facts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
