/* Torture of reading every fact of an Nsight report: every call to the system for memory, threads or reading fails in
   turn. Each run gives the whole store or a failure that says why, and leaks nothing. */
#include "faults.h"

#include "decode/nsys/nsys_rep.h"

#include "../fuzz/same_store.h"

static const char report[] = "tests/fuzz/seeds/fuzz_nsys_rep/facts.nsys-rep";

struct decoding {
    size_t threads;
    struct gt_store *wanted;
};

static struct gt_store *decode_facts(size_t threads, struct gt_error *err) {
    struct gt_decode_options options = {.threads = threads, .reader = GT_READER_NATIVE, .facts = GT_FACTS_ALL};
    struct gt_source *source = NULL;
    struct gt_store *store = NULL;
    enum gt_status status = gt_source_open(report, &source, err);
    if (status == GT_OK)
        status = gt_nsys_rep_decode(&source, 1, &options, &store, err);
    gt_source_close(source);
    assert_int_equal(status == GT_OK, store != NULL);
    return store;
}

static void run_decoding(const void *context, const char *what) {
    const struct decoding *decoding = context;
    struct gt_error err = {0};
    struct gt_store *store = decode_facts(decoding->threads, &err);
    end_faults();
    if (store)
        fuzz_same_store(store, decoding->wanted);
    else if (!err.message[0])
        fail_msg("no reason: %s", what);
    gt_store_free(store);
}

static void every_fact_is_read_or_a_reason_is_given(void **state) {
    (void)state;
    struct gt_error err = {0};
    for (size_t threads = 1; threads <= 3; threads += 2) {
        struct decoding decoding = {threads, decode_facts(1, &err)};
        assert_non_null(decoding.wanted);
        assert_true(decoding.wanted->sample_values.count && decoding.wanted->comms.count &&
                    decoding.wanted->syncs.count);
        torture(run_decoding, &decoding, report);
        gt_store_free(decoding.wanted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_fact_is_read_or_a_reason_is_given, switch_faults_off)};
    int failed = cmocka_run_group_tests_name("torture_nsys_rep", tests, NULL, NULL);
    print_faults();
    return failed;
}
