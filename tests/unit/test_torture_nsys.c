/* Torture of reading every fact of an Nsight report and of an export: every call to the system for memory, threads or
   reading fails in turn. Each run gives the whole store or a failure that says why, and leaks nothing. */
#include "faults.h"

#include "decode/nsys/nsys_rep.h"

#include "nsys_export.h"

struct decoding {
    const char *path;
    enum gt_status (*decode)(struct gt_source *const *, size_t, const struct gt_decode_options *, struct gt_store **,
                             struct gt_error *);
    enum gt_reader reader;
    size_t threads;
    struct gt_store *wanted;
    bool has_only_python, has_only_counters; /* else counters, collectives and synchronizations */
};

static struct gt_store *decode_facts(const struct decoding *decoding, size_t threads, struct gt_error *err) {
    struct gt_decode_options options = {.threads = threads, .reader = decoding->reader, .facts = GT_FACTS_ALL};
    struct gt_source *source = NULL;
    struct gt_store *store = NULL;
    enum gt_status status = gt_source_open(decoding->path, &source, err);
    if (status == GT_OK)
        status = decoding->decode(&source, 1, &options, &store, err);
    gt_source_close(source);
    assert_int_equal(status == GT_OK, store != NULL);
    return store;
}

static void run_decoding(const void *context, const char *what) {
    const struct decoding *decoding = context;
    struct gt_error err = {0};
    struct gt_store *store = decode_facts(decoding, decoding->threads, &err);
    end_faults();
    if (store)
        assert_same_store(store, decoding->wanted);
    else if (!err.message[0])
        fail_msg("no reason: %s", what);
    gt_store_free(store);
}

static void every_fact_is_read_or_a_reason_is_given(struct decoding decoding) {
    struct gt_error err = {0};
    decoding.wanted = decode_facts(&decoding, 1, &err);
    assert_non_null(decoding.wanted);
    const struct gt_store *wanted = decoding.wanted;
    if (decoding.has_only_python)
        assert_true(wanted->python_calls.count);
    else
        assert_true(wanted->counters.count + wanted->sample_values.count &&
                    (decoding.has_only_counters || (wanted->comms.count && wanted->syncs.count)));
    for (decoding.threads = 1; decoding.threads <= 3; decoding.threads += 2)
        torture(run_decoding, &decoding, decoding.path);
    gt_store_free(decoding.wanted);
}

static void reports(void **state) {
    (void)state;
    every_fact_is_read_or_a_reason_is_given((struct decoding){.path = "tests/fuzz/seeds/fuzz_nsys_rep/facts.nsys-rep",
                                                              .decode = gt_nsys_rep_decode,
                                                              .reader = GT_READER_NATIVE});
}

static void exports(void **state) {
    (void)state;
    every_fact_is_read_or_a_reason_is_given(
        (struct decoding){.path = "tests/fuzz/seeds/fuzz_nsys_sqlite/facts.sqlite", .decode = gt_nsys_sqlite_decode});
}

static void networks(void **state) {
    (void)state;
    every_fact_is_read_or_a_reason_is_given(
        (struct decoding){.path = "tests/fuzz/seeds/fuzz_nsys_sqlite/network.sqlite",
                          .decode = gt_nsys_sqlite_decode,
                          .has_only_counters = true});
}

static void samples_of_python(void **state) {
    (void)state;
    every_fact_is_read_or_a_reason_is_given((struct decoding){.path = "tests/fuzz/seeds/fuzz_nsys_sqlite/python.sqlite",
                                                              .decode = gt_nsys_sqlite_decode,
                                                              .has_only_python = true});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(reports, switch_faults_off),
                                       cmocka_unit_test_setup(exports, switch_faults_off),
                                       cmocka_unit_test_setup(networks, switch_faults_off),
                                       cmocka_unit_test_setup(samples_of_python, switch_faults_off)};
    int failed = cmocka_run_group_tests_name("torture_nsys", tests, NULL, NULL);
    print_faults();
    return failed;
}
