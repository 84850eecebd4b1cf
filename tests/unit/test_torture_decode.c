/* Torture of the decoders that no other test of this kind has: Perfetto's traces in the forms of several writers, work
   of other accelerators, CSV files. Every call for memory, bytes or threads fails in turn; the store is the same, or a
   reason is given. */
#include "../fuzz/same_store.h"

#include "base/source.h"
#include "decode/csv/nsys_csv.h"
#include "decode/proto/pftrace.h"
#include "decode/torch/torch_json.h"
#include "decode/xla/xplane.h"
#include "faults.h"

typedef enum gt_status decode_function(struct gt_source *const *sources, size_t count,
                                       const struct gt_decode_options *options, struct gt_store **out,
                                       struct gt_error *err);

struct reading {
    const char *path;
    decode_function *decode;
    struct gt_store *wanted;
};

static struct gt_store *decode(const struct reading *reading, struct gt_error *err) {
    struct gt_decode_options options = {.threads = 1, .facts = GT_FACTS_ALL};
    struct gt_source *source;
    struct gt_store *store = NULL;
    if (gt_source_open(reading->path, &source, err) != GT_OK)
        return NULL;
    reading->decode(&source, 1, &options, &store, err);
    gt_source_close(source);
    return store;
}

static void run_reading(const void *context, const char *what) {
    const struct reading *reading = context;
    struct gt_error err = {0};
    struct gt_store *store = decode(reading, &err);
    end_faults();
    if (!store && (!err.message[0] || !system_state.was_hit))
        fail_msg("%s: fails with '%s'", what, err.message);
    if (store)
        fuzz_same_store(store, reading->wanted);
    gt_store_free(store);
}

static void check(const char *path, decode_function *function) {
    struct gt_error err = {0};
    struct reading reading = {path, function, NULL};
    reading.wanted = decode(&reading, &err);
    if (!reading.wanted)
        fail_msg("%s: %s", path, err.message);
    torture(run_reading, &reading, path);
    gt_store_free(reading.wanted);
}

#define PERFETTO(name) "tests/fuzz/seeds/fuzz_pftrace/" name ".pftrace"

static void perfetto(void **state) {
    (void)state;
    check(PERFETTO("compressed"), gt_pftrace_decode);
    check(PERFETTO("legacy"), gt_pftrace_decode);
    check(PERFETTO("other_field"), gt_pftrace_decode);
    check(PERFETTO("pytorch"), gt_pftrace_decode);
    check(PERFETTO("rocprof"), gt_pftrace_decode);
    check(PERFETTO("small"), gt_pftrace_decode);
}

static void other_accelerators(void **state) {
    (void)state;
    check("tests/data/ascend.json", gt_torch_json_decode);
}

static void tables(void **state) {
    (void)state;
    check("tests/data/nsys-csv/mini_nvtx_gpu_proj_trace.csv", gt_nsys_csv_decode);
    check("tests/data/nsys-csv/mini_cuda_gpu_trace.csv", gt_nsys_csv_decode);
}

static void words_of_xla(void **state) {
    (void)state;
    check("tests/fuzz/seeds/fuzz_xla/words.xplane.pb", gt_xplane_decode);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(perfetto, switch_faults_off),
        cmocka_unit_test_setup(other_accelerators, switch_faults_off),
        cmocka_unit_test_setup(tables, switch_faults_off),
        cmocka_unit_test_setup(words_of_xla, switch_faults_off),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    print_faults();
    return failed;
}
