/* Facts on demand: a report says the same whether a trace was read for it alone or with everything, and what was not
   read is read when a report asks for it. */
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gputime.h"

enum { ALL_FACTS = (GPUTIME_FACT_STACKS << 1) - 1 };

static struct gputime_trace *open_with(const char *path, uint64_t facts) {
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    struct gputime_trace *trace = NULL;
    options.no_cache = 1;
    options.threads = 1;
    options.facts = facts;
    gputime_trace_open(&path, 1, &options, NULL, &trace, NULL);
    return trace;
}

static struct gputime_report_options options_for(const char *const *analysis) {
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    options.analyses = analysis;
    options.analysis_count = 1;
    options.threads = 1;
    return options;
}

/* What a report of one analysis writes; the caller frees it. */
static char *json_of(struct gputime_trace *trace, const char *analysis) {
    char path[] = "/tmp/gputime-facts-XXXXXX";
    struct gputime_report_options options = options_for(&analysis);
    struct gputime_write_options writing = GPUTIME_WRITE_OPTIONS_INIT;
    struct gputime_report *report;
    struct gputime_error err;
    writing.format = strcmp(analysis, "timeline") == 0 ? "html" : "json"; /* only pages have one */
    if (gputime_report_new(&trace, 1, &options, &report, &err) != GPUTIME_OK)
        return strdup(err.message);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(gputime_report_write(report, &writing, path, &err), GPUTIME_OK);
    gputime_report_free(report);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = NULL;
    size_t room = 0;
    assert_true(getdelim(&text, &room, '\0', file) >= 0);
    fclose(file);
    unlink(path);
    return text;
}

/* ---- all analyses on all samples ---- */

static size_t compared;

static void compare(const char *path, struct gputime_trace *wide, const char *analysis) {
    struct gputime_report_options options = options_for(&analysis);
    struct gputime_trace *narrow = open_with(path, gputime_report_facts(&options));
    assert_non_null(narrow);
    char *alone = json_of(narrow, analysis), *among = json_of(wide, analysis);
    if (strcmp(alone, among) != 0) {
        size_t at = 0;
        while (alone[at] == among[at])
            at++;
        at = at < 60 ? 0 : at - 60;
        fail_msg("%s, %s: '%.200s' alone, '%.200s' with everything", path, analysis, alone + at, among + at);
    }
    free(alone);
    free(among);
    gputime_trace_free(narrow);
    compared++;
}

static int compare_sample(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)place;
    if (kind != FTW_F || info->st_size > 2 << 20)
        return 0;
    struct gputime_trace *wide = open_with(path, ALL_FACTS);
    for (size_t i = 0; wide && i < gputime_registry_count(GPUTIME_ANALYSES); i++)
        compare(path, wide, gputime_registry_entry(GPUTIME_ANALYSES, i).key);
    gputime_trace_free(wide);
    return 0;
}

static void reports_do_not_depend_on_what_else_was_read(void **state) {
    (void)state;
    compared = 0;
    nftw("tests/data", compare_sample, 16, FTW_PHYS);
    assert_true(compared > 500);
}

/* ---- reading again ---- */

static const char train[] = "tests/data/torch/llama_train_compiled.json.gz";

static size_t rows_of(const struct gputime_trace *trace, const char *kind) {
    return gputime_rows_count(gputime_trace_rows(trace, kind));
}

static void what_was_not_asked_for_is_not_there(void **state) {
    (void)state;
    struct gputime_trace *trace = open_with(train, GPUTIME_FACT_OPS);
    assert_non_null(trace);
    struct gputime_trace_info info = gputime_trace_describe(trace);
    assert_true(rows_of(trace, "ops") > 0);
    assert_int_equal(rows_of(trace, "calls"), 0);
    assert_int_equal(rows_of(trace, "cpu_ops"), 0);
    assert_int_equal(info.facts_read, GPUTIME_FACT_OPS);
    assert_false(info.facts_present & GPUTIME_FACT_CALLS);
    assert_int_equal(info.facts_present & ~info.facts_read, 0);
    assert_true(info.facts_possible & GPUTIME_FACT_CALLS);
    assert_false(info.facts_possible & GPUTIME_FACT_SOURCE);
    gputime_trace_free(trace);
}

static void a_report_has_the_rest_read(void **state) {
    (void)state;
    struct gputime_trace *narrow = open_with(train, GPUTIME_FACT_OPS), *wide = open_with(train, 0);
    char *again = json_of(narrow, "launches"), *once = json_of(wide, "launches");
    assert_string_equal(again, once);
    assert_int_equal(rows_of(narrow, "calls"), 0); /* the rows that callers see stay what they are */
    assert_int_equal(gputime_trace_read(narrow, GPUTIME_FACT_CALLS, NULL), GPUTIME_OK);
    assert_int_equal(rows_of(narrow, "calls"), rows_of(wide, "calls"));
    assert_true(rows_of(wide, "calls") > 0);
    free(again);
    free(once);
    gputime_trace_free(narrow);
    gputime_trace_free(wide);
}

/* Its name is gone once it is open, so that nothing can be read again. */
static struct gputime_trace *open_once(uint64_t facts) {
    char target[PATH_MAX], path[] = "/tmp/gputime-once-XXXXXX";
    assert_non_null(realpath(train, target));
    close(mkstemp(path));
    unlink(path);
    assert_int_equal(symlink(target, path), 0);
    struct gputime_trace *trace = open_with(path, facts);
    unlink(path);
    assert_non_null(trace);
    return trace;
}

static void a_comparison_names_all_that_it_reads(void **state) {
    (void)state;
    const char *analysis = "kernels";
    struct gputime_report_options options = options_for(&analysis);
    uint64_t facts = gputime_report_sides_facts(&options);
    assert_int_equal(facts & gputime_report_facts(&options), gputime_report_facts(&options));
    assert_int_equal(facts & ~(uint64_t)GPUTIME_FACTS_USUAL, 0);
    struct gputime_trace *traces[] = {open_once(facts), open_once(facts)};
    struct gputime_report *sides[2];
    assert_int_equal(gputime_report_new_sides(traces, 2, 1, &options, sides, NULL), GPUTIME_OK);
    for (size_t i = 0; i < 2; i++) {
        gputime_report_free(sides[i]);
        gputime_trace_free(traces[i]);
    }
    options.size = 1; /* smaller than any version of it */
    assert_int_equal(gputime_report_sides_facts(&options), 0);
}

static void facts_imply_others(void **state) {
    (void)state;
    struct gputime_trace *trace = open_with(train, GPUTIME_FACT_ARGUMENTS);
    assert_int_equal(gputime_trace_describe(trace).facts_read, GPUTIME_FACT_ARGUMENTS | GPUTIME_FACT_CPU_OPS);
    gputime_trace_free(trace);
}

static void unknown_facts_are_errors(void **state) {
    (void)state;
    struct gputime_error err;
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    struct gputime_trace *trace;
    const char *path = train;
    options.facts = UINT64_C(1) << 60;
    assert_int_equal(gputime_trace_open(&path, 1, &options, NULL, &trace, &err), GPUTIME_USAGE);
    trace = open_with(train, GPUTIME_FACT_OPS);
    assert_int_equal(gputime_trace_read(trace, UINT64_C(1) << 40, &err), GPUTIME_USAGE);
    gputime_trace_free(trace);
}

/* A pipe gives its bytes once. */
static void a_pipe_cannot_be_read_again(void **state) {
    (void)state;
    static const char text[] =
        "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": 1, \"dur\": 1, "
        "\"args\": {\"device\": 0, \"stream\": 7}}]}";
    int ends[2];
    char path[64];
    struct gputime_error err;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, sizeof text - 1), sizeof text - 1);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct gputime_trace *trace = open_with(path, GPUTIME_FACT_OPS);
    assert_non_null(trace);
    assert_int_equal(gputime_trace_read(trace, GPUTIME_FACT_CALLS, &err), GPUTIME_USAGE);
    assert_non_null(strstr(err.message, "was read without runtime calls and cannot be read again"));
    gputime_trace_free(trace);
    close(ends[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_do_not_depend_on_what_else_was_read),
        cmocka_unit_test(what_was_not_asked_for_is_not_there),
        cmocka_unit_test(a_report_has_the_rest_read),
        cmocka_unit_test(a_comparison_names_all_that_it_reads),
        cmocka_unit_test(facts_imply_others),
        cmocka_unit_test(unknown_facts_are_errors),
        cmocka_unit_test(a_pipe_cannot_be_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
