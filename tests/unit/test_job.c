/* The public interface of jobs: traces are read on threads, what cannot be read is named, reports need no traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gputime.h"

static const char *const overlap = "tests/data/overlap.json";
static const char *const devices = "tests/data/devices.json";
static const char *const absent = "tests/data/absent.json";
static const char *const no_work = "tests/data/cpu-only.json";

/* On so many threads, without the cache. */
static struct gputime_open_options opening(int64_t threads) {
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    options.threads = threads;
    options.no_cache = 1;
    return options;
}

static struct gputime_report *report_of(const struct gputime_job *job) {
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_report *report;
    struct gputime_error err = {0};
    if (gputime_job_report(job, &options, &report, &err) != GPUTIME_OK)
        fail_msg("%s", err.message);
    return report;
}

static int64_t fact_of(const struct gputime_report *report, const char *key) {
    struct gputime_fact fact = gputime_report_fact(report, 0, key);
    assert_non_null(fact.key);
    return fact.value.integer;
}

static void what_cannot_be_read_is_left_out(void **state) {
    const struct gputime_open_options options = opening(4);
    const struct gputime_input inputs[] = {
        {.paths = &overlap, .path_count = 1, .options = &options},
        {.paths = &absent, .path_count = 1, .options = &options},
        {.paths = &devices, .path_count = 1, .options = &options},
        {.paths = &no_work, .path_count = 1, .options = &options},
    };
    struct gputime_error errors[4], err = {0};
    struct gputime_job *job;
    (void)state;
    assert_int_equal(gputime_job_open(inputs, 4, NULL, 0, &job, errors, &err), GPUTIME_OK);
    assert_int_equal(errors[0].status, GPUTIME_OK);
    assert_int_equal(errors[1].status, GPUTIME_FAILED);
    assert_non_null(strstr(errors[1].message, absent));
    assert_int_equal(errors[2].status, GPUTIME_OK);
    assert_int_equal(errors[3].status, GPUTIME_OK);
    assert_int_equal(gputime_job_rank_count(job), 2);
    struct gputime_report *report = report_of(job);
    gputime_job_free(job); /* the report does not need it */
    assert_int_equal(gputime_report_section_count(report), 1);
    assert_int_equal(fact_of(report, "ranks"), 2);
    assert_int_equal(fact_of(report, "collectives"), 0);
    gputime_report_free(report);
}

/* Nobody asked for the other ranks. */
static void what_one_trace_lacks_is_no_loss(void **state) {
    static const char *const path = "tests/data/limits.json", *const analysis = "ranks";
    const struct gputime_open_options opened = opening(1);
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_error err = {0};
    struct gputime_trace *trace;
    struct gputime_report *report;
    bool is_said = false;
    (void)state;
    options.analyses = &analysis;
    options.analysis_count = 1;
    assert_int_equal(gputime_trace_open(&path, 1, &opened, NULL, &trace, &err), GPUTIME_OK);
    assert_int_equal(gputime_report_new(&trace, 1, &options, &report, &err), GPUTIME_OK);
    for (size_t i = 0; i < gputime_report_note_count(report, 0); i++)
        is_said |= strstr(gputime_report_note(report, 0, i), "Ranks 0-2 and 4-7 of 8 have no trace.") != NULL;
    assert_true(is_said);
    assert_null(gputime_report_loss(report, 0, 0));
    gputime_report_free(report);
    gputime_trace_free(trace);
}

static void a_job_needs_something_to_read(void **state) {
    const struct gputime_open_options options = opening(1);
    const struct gputime_input input = {.paths = &absent, .path_count = 1, .options = &options};
    struct gputime_error err = {0};
    struct gputime_job *job;
    (void)state;
    assert_int_equal(gputime_job_open(&input, 1, NULL, 0, &job, NULL, &err), GPUTIME_FAILED);
    assert_null(job);
    assert_non_null(strstr(err.message, absent));
    assert_int_equal(gputime_job_open(&input, 1, NULL, 0, &job, NULL, NULL), GPUTIME_FAILED);
    assert_null(job);
    assert_int_equal(gputime_job_open(NULL, 0, NULL, 0, &job, NULL, &err), GPUTIME_USAGE);
    assert_null(job);
    gputime_job_free(NULL);
}

static void unknown_options_are_usage_errors(void **state) {
    const struct gputime_open_options options = opening(1);
    const struct gputime_input input = {.paths = &overlap, .path_count = 1, .options = &options};
    const struct gputime_option unknown = gputime_option_text("no_such_option", "x");
    struct gputime_error err = {0};
    struct gputime_job *job;
    (void)state;
    assert_int_equal(gputime_job_open(&input, 1, &unknown, 1, &job, NULL, &err), GPUTIME_USAGE);
    assert_null(job);
    assert_non_null(strstr(err.message, "no_such_option"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_read_is_left_out),
        cmocka_unit_test(what_one_trace_lacks_is_no_loss),
        cmocka_unit_test(a_job_needs_something_to_read),
        cmocka_unit_test(unknown_options_are_usage_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
