/* Torture of reading what ROCm's profilers write, in all forms with all facts: every call for memory, bytes or threads
   fails in turn. Each run must end in the same store or in a failure that says why, with nothing leaked. */
#include "../fuzz/same_store.h"

#include "base/source.h"
#include "decode/rocm/rocpd.h"
#include "decode/rocm/rocprof_csv.h"
#include "decode/rocm/rocprof_json.h"
#include "faults.h"

enum { FILES_MAX = 3 };

typedef enum gt_status decode_fn(struct gt_source *const *sources, size_t count,
                                 const struct gt_decode_options *options, struct gt_store **out, struct gt_error *err);

struct reading {
    const char *paths[FILES_MAX];
    size_t count;
    decode_fn *decode;
    size_t threads;
    struct gt_store *wanted;
};

static struct gt_store *decode(const struct reading *reading, size_t threads, struct gt_error *err) {
    struct gt_decode_options options = {.threads = threads, .facts = GT_FACTS_ALL};
    struct gt_source *sources[FILES_MAX] = {NULL};
    struct gt_store *store = NULL;
    size_t opened = 0;
    while (opened < reading->count && gt_source_open(reading->paths[opened], &sources[opened], err) == GT_OK)
        opened++;
    if (opened == reading->count)
        reading->decode(sources, opened, &options, &store, err);
    for (size_t i = 0; i < opened; i++)
        gt_source_close(sources[i]);
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

static void check(struct reading reading) {
    struct gt_error err = {0};
    reading.wanted = decode(&reading, 1, &err);
    assert_non_null(reading.wanted);
    assert_true(reading.wanted->ops.count >= 1);
    torture(run_reading, &reading, reading.paths[0]);
    gt_store_free(reading.wanted);
}

#define SEED(name) "tests/fuzz/seeds/fuzz_rocm/" name

static void databases(void **state) {
    (void)state;
    check((struct reading){{SEED("small.db")}, 1, gt_rocpd_decode, 1, NULL});
    check((struct reading){{SEED("small.db")}, 1, gt_rocpd_decode, 3, NULL});
    check((struct reading){{SEED("schema4.db")}, 1, gt_rocpd_decode, 1, NULL});
    check((struct reading){{SEED("args.db")}, 1, gt_rocpd_decode, 1, NULL});
    check((struct reading){{SEED("args.db")}, 1, gt_rocpd_decode, 3, NULL});
}

static void texts(void **state) {
    (void)state;
    check((struct reading){{SEED("small.json")}, 1, gt_rocprof_json_decode, 1, NULL});
    check((struct reading){{SEED("sorted.json")}, 1, gt_rocprof_json_decode, 1, NULL});
    check((struct reading){
        {SEED("small_kernel_trace.csv"), SEED("small_agent_info.csv"), SEED("small_hip_api_trace.csv")},
        3,
        gt_rocprof_csv_decode,
        1,
        NULL});
    check((struct reading){{SEED("small_counter_collection.csv")}, 1, gt_rocprof_csv_decode, 1, NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(databases), cmocka_unit_test(texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
