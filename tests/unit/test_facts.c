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
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "gputime.h"
#include "sqlite_world.h"

static const char train[] = "tests/data/torch/llama_train_compiled.json.gz";

enum { ALL_FACTS = (GPUTIME_FACT_CALL_ARGS << 1) - 1 };

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

/* What a report of one analysis writes; the caller frees it. selection: NULL for the whole trace. */
static char *json_of_selected(struct gputime_trace *trace, const char *analysis,
                              const struct gputime_selection *selection) {
    char path[] = "/tmp/gputime-facts-XXXXXX";
    struct gputime_report_options options = options_for(&analysis);
    struct gputime_write_options writing = GPUTIME_WRITE_OPTIONS_INIT;
    struct gputime_report *report;
    struct gputime_error err;
    options.selection = selection;
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

static char *json_of(struct gputime_trace *trace, const char *analysis) {
    return json_of_selected(trace, analysis, NULL);
}

/* ---- all analyses on all samples ---- */

static size_t compared;

static void expect_same(const char *path, const char *analysis, char *alone, char *among) {
    if (strcmp(alone, among) != 0) {
        size_t at = 0;
        while (alone[at] == among[at])
            at++;
        at = at < 60 ? 0 : at - 60;
        fail_msg("%s, %s: '%.200s' alone, '%.200s' with everything", path, analysis, alone + at, among + at);
    }
    free(alone);
    free(among);
    compared++;
}

static void compare_selected(const char *path, struct gputime_trace *wide, const char *analysis,
                             const struct gputime_selection *selection) {
    struct gputime_report_options options = options_for(&analysis);
    options.selection = selection;
    struct gputime_trace *narrow = open_with(path, gputime_report_facts(&options));
    assert_non_null(narrow);
    expect_same(path, analysis, json_of_selected(narrow, analysis, selection),
                json_of_selected(wide, analysis, selection));
    gputime_trace_free(narrow);
}

static void compare(const char *path, struct gputime_trace *wide, const char *analysis) {
    compare_selected(path, wide, analysis, NULL);
}

static void compare_all(const char *path, const struct gputime_selection *selection) {
    struct gputime_trace *wide = open_with(path, ALL_FACTS);
    assert_non_null(wide);
    for (size_t i = 0; i < gputime_registry_count(GPUTIME_ANALYSES); i++)
        compare_selected(path, wide, gputime_registry_entry(GPUTIME_ANALYSES, i).key, selection);
    gputime_trace_free(wide);
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

/* ---- damage ---- */

#define EVENT(category, rest) "{\"ph\":\"X\",\"cat\":\"" category "\",\"pid\":1,\"tid\":2," rest "}"
#define KERNEL(rest)          "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7," rest "}"

/* Something is wrong with an event of each kind, and with arguments that only some facts are read from. */
static const char
    damaged[] =
        "{\"traceEvents\":[" KERNEL(
            "\"ts\":1,\"dur\":5,\"args\":{\"device\":0,\"stream\":7,\"correlation\":1,"
            "\"grid\":[1,\"x\",1],\"registers per thread\":\"many\"}") "," KERNEL("\"ts\":9,\"dur\":5,\"args\":{"
                                                                                  "\"device\":"
                                                                                  "0,\"stream\":7,\"correlation\":\"N/"
                                                                                  "A\"}") "," EVENT("cpu_op", "\"name\""
                                                                                                              ":\"aten:"
                                                                                                              ":mm\","
                                                                                                              "\"dur\":"
                                                                                                              "3") "," EVENT("cpu_op", "\"name\":\"aten::mm\",\"ts\":1,\"dur\":-3,\"args\":{\"Sequence number\":\"none\"}") "," EVENT("cpu_op", "\"name\":\"bad \\q escape\",\"ts\":1,\"dur\":3") "," EVENT("cuda_runtime",
                                                                                                                                                                                                                                                                                                            "\"name\":\"cudaLaunchKernel\",\"ts\":0,\"dur\":-1,\"args\":{\"correlation\":1}") "," EVENT("cuda_runtime",
                                                                                                                                                                                                                                                                                                                                                                                                        "\"name\":\"cudaLaunchKernel\",\"ts\":2,\"dur\":1,\"args\":{\"correlation\":\"NaN\"}") "," EVENT("user_annotation",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         "\"name\":\"ProfilerStep#1\",\"ts\":0,\"dur\":20") "," EVENT("user_annotation",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "\"name\":\"phase\",\"ts\":\"inf\",\"dur\":2") "," EVENT("overhead",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "\"name\":\"Buffer Flush\",\"dur\":2") "," EVENT("python_function",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                "\"name\":\"f\",\"ts\":5,\"dur\":-2") ","
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "{\"ph\":\"C\",\"name\":\"power\",\"pid\":0,\"ts\":1,\"args\":{\"W\":\"NaN\"}},"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":2,\"ts\":1,\"args\":{\"Bytes\":\"none\"}},"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "{\"ph\":\"s\",\"cat\":\"fwdbwd\",\"id\":\"?\",\"pid\":1,\"tid\":2,\"ts\":1},"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "\"no event\"]}";

/* A file of these bytes, old enough to be cached; the caller unlinks it. */
static void write_old(char *path, const char *text) {
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    struct timespec times[2] = {{time(NULL) - 100, 0}, {time(NULL) - 100, 0}};
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static void damage_concerns_those_who_read_it(void **state) {
    (void)state;
    char path[] = "/tmp/gputime-damaged-XXXXXX";
    write_old(path, damaged);
    compare_all(path, NULL);
    struct gputime_trace *trace = open_with(path, ALL_FACTS);
    char *kernels = json_of(trace, "kernels"), *launches = json_of(trace, "launches");
    assert_non_null(strstr(kernels, "number_unreadable"));
    assert_null(strstr(kernels, "call_negative_duration"));
    assert_non_null(strstr(launches, "call_negative_duration"));
    free(kernels);
    free(launches);
    gputime_trace_free(trace);
    unlink(path);
}

static void damaged_tables_concern_those_who_read_them(void **state) {
    (void)state;
    world_make(world_path,
               "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
               "INSERT INTO StringIds VALUES (1, 'k'), (2, 'cudaLaunchKernel');"
               "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId, globalPid,"
               " shortName, demangledName);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 7, 1, pid(5), 1, 1);"
               "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(begin, end, globalTid, correlationId, nameId);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, tid(5, 5), 1, 2);");
    compare_all(world_path, NULL);
    struct gputime_trace *trace = open_with(world_path, ALL_FACTS);
    char *kernels = json_of(trace, "kernels"), *launches = json_of(trace, "launches");
    assert_null(strstr(kernels, "table_incomplete"));
    assert_non_null(strstr(launches, "table_incomplete"));
    free(kernels);
    free(launches);
    gputime_trace_free(trace);
}

static void selections_have_what_they_need_read(void **state) {
    (void)state;
    static const struct gputime_range some = {1, 4}, all = {0, INT32_MAX};
    struct gputime_selection by_step = GPUTIME_SELECTION_INIT, by_process = GPUTIME_SELECTION_INIT;
    char path[] = "/tmp/gputime-damaged-XXXXXX";
    by_step.steps = &some;
    by_step.step_count = 1;
    by_process.processes = &all;
    by_process.process_count = 1;
    write_old(path, damaged);
    compare_all(path, &by_step);
    compare_all(path, &by_process);
    compare_all(train, &by_step);
    compare_all(train, &by_process);
    unlink(path);
}

/* ---- strict ---- */

static enum gputime_status open_strictly(const char *path, uint64_t facts, bool has_cache,
                                         struct gputime_trace **trace) {
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    options.no_cache = !has_cache;
    options.threads = 1;
    options.strict = 1;
    options.facts = facts;
    return gputime_trace_open(&path, 1, &options, NULL, trace, NULL);
}

/* Kernels are whole, calls are not. */
static const char lost_call[] =
    "{\"traceEvents\":[" KERNEL("\"ts\":1,\"dur\":5,\"args\":{\"device\":0,\"stream\":7}") "," EVENT(
        "cuda_runtime", "\"name\":\"cudaLaunchKernel\",\"dur\":1") "]}";

static void expect_strict(const char *path, bool has_cache) {
    struct gputime_trace *trace;
    assert_int_equal(open_strictly(path, GPUTIME_FACT_CALLS, has_cache, &trace), GPUTIME_FAILED);
    assert_int_equal(open_strictly(path, ALL_FACTS, has_cache, &trace), GPUTIME_FAILED);
    assert_int_equal(open_strictly(path, GPUTIME_FACT_OPS, has_cache, &trace), GPUTIME_OK);
    assert_null(gputime_trace_loss(trace));
    assert_int_equal(gputime_trace_read(trace, GPUTIME_FACT_RANGES, NULL), GPUTIME_OK);
    assert_int_equal(gputime_trace_read(trace, GPUTIME_FACT_CALLS, NULL), GPUTIME_FAILED);
    char *text = json_of(trace, "launches");
    assert_non_null(strstr(text, "was only partly read (event_damaged, 1 occurrence)"));
    free(text);
    gputime_trace_free(trace);
}

static void strict_refuses_losses_of_what_was_asked_for(void **state) {
    (void)state;
    char path[] = "/tmp/gputime-damaged-XXXXXX";
    write_old(path, lost_call);
    expect_strict(path, false);
    unlink(path);
}

/* ---- the cache ---- */

static struct gputime_trace *open_cached(const char *path, uint64_t facts) {
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    struct gputime_trace *trace = NULL;
    options.threads = 1;
    options.cache_after_ns = 1;
    options.facts = facts;
    assert_int_equal(gputime_trace_open(&path, 1, &options, NULL, &trace, NULL), GPUTIME_OK);
    return trace;
}

/* All that the cache has was read, but where GPU work alone was asked for. */
static void expect_facts_of_cache(const struct gputime_trace *trace, uint64_t asked) {
    const uint64_t of_ops = GPUTIME_FACT_OPS | GPUTIME_FACT_GROUPS | GPUTIME_FACT_BYTES | GPUTIME_FACT_PROJECTIONS;
    assert_int_equal(gputime_trace_describe(trace).facts_read, asked & ~of_ops ? ALL_FACTS : asked);
}

/* The cache has all facts; those who ask for less must not see that. */
static void a_wide_cache_does_not_show(void **state) {
    (void)state;
    char path[] = "/tmp/gputime-damaged-XXXXXX", strict_path[] = "/tmp/gputime-damaged-XXXXXX";
    const char *const paths[] = {path, strict_path};
    write_old(path, damaged);
    write_old(strict_path, lost_call);
    setenv("GPUTIME_CACHE", world_folder, 1);
    for (size_t i = 0; i < 2; i++) {
        struct gputime_trace *wide = open_cached(paths[i], ALL_FACTS);
        gputime_trace_store_cache(wide);
        gputime_trace_free(wide);
    }
    for (size_t i = 0; i < gputime_registry_count(GPUTIME_ANALYSES); i++) {
        const char *analysis = gputime_registry_entry(GPUTIME_ANALYSES, i).key;
        struct gputime_report_options options = options_for(&analysis);
        struct gputime_trace *cached = open_cached(path, gputime_report_facts(&options));
        struct gputime_trace *narrow = open_with(path, gputime_report_facts(&options));
        expect_facts_of_cache(cached, gputime_report_facts(&options));
        expect_same(path, analysis, json_of(narrow, analysis), json_of(cached, analysis));
        gputime_trace_free(cached);
        gputime_trace_free(narrow);
    }
    expect_strict(strict_path, true);
    unsetenv("GPUTIME_CACHE");
    unlink(path);
    unlink(strict_path);
}

/* The cache got all facts while a trace that has fewer was open: what is shown of it must not take its place. */
static void a_wide_cache_stays(void **state) {
    (void)state;
    char path[] = "/tmp/gputime-damaged-XXXXXX";
    const uint64_t more = GPUTIME_FACT_OPS | GPUTIME_FACT_BYTES;
    write_old(path, damaged);
    setenv("GPUTIME_CACHE", world_folder, 1);
    struct gputime_trace *narrow = open_cached(path, GPUTIME_FACT_OPS), *wide = open_cached(path, ALL_FACTS);
    gputime_trace_store_cache(wide);
    gputime_trace_free(wide);
    assert_int_equal(gputime_trace_read(narrow, more, NULL), GPUTIME_OK);
    assert_int_equal(gputime_trace_describe(narrow).facts_read, more);
    gputime_trace_store_cache(narrow);
    gputime_trace_free(narrow);
    struct gputime_trace *cached = open_cached(path, GPUTIME_FACT_CALLS);
    expect_facts_of_cache(cached, GPUTIME_FACT_CALLS);
    gputime_trace_free(cached);
    unsetenv("GPUTIME_CACHE");
    unlink(path);
}

/* ---- what every report says ---- */

static bool has_issue(const struct gputime_report *report, const char *id) {
    for (size_t i = 0; i < gputime_report_issue_count(report, 0); i++)
        if (strcmp(gputime_report_issue(report, 0, i).id, id) == 0)
            return true;
    return false;
}

/* A launch call of a process, and its kernel. */
#define LAUNCHED(pid, correlation, start)                                                                              \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": " pid                         \
    ", \"tid\": 1, \"ts\": " start ", \"dur\": 1, \"args\": {\"correlation\": " correlation "}},"                      \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": " start                  \
    "5, \"dur\": 1, \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": " correlation "}}"

/* Calls are read to look for steps. There are none, so everything is selected; with calls it matters whose ops they
 * are. */
static void a_shared_device_is_said_of_kernels(void **state) {
    (void)state;
    static const char *const analysis = "kernels";
    char path[] = "/tmp/gputime-damaged-XXXXXX";
    write_old(path, "{\"traceEvents\": [" LAUNCHED("100", "1", "1") "," LAUNCHED("200", "2", "2") "]}");
    for (enum gputime_whole_steps steps = GPUTIME_STEPS_IF_MOST; steps <= GPUTIME_STEPS_WHOLE; steps++) {
        struct gputime_selection selection = GPUTIME_SELECTION_INIT;
        struct gputime_report_options options = options_for(&analysis);
        selection.whole_steps = steps;
        options.selection = &selection;
        struct gputime_trace *trace = open_with(path, gputime_report_facts(&options));
        struct gputime_report *report = NULL;
        assert_int_equal(gputime_report_new(&trace, 1, &options, &report, NULL), GPUTIME_OK);
        assert_true(has_issue(report, "device_shared"));
        gputime_report_free(report);
        gputime_trace_free(trace);
    }
    unlink(path);
}

/* ---- pipes ---- */

/* The text with each name of its input, its path or what it is called, as "INPUT"; frees the original. */
static char *without_name(char *text, const char *path, const char *called) {
    char *out = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&out, &bytes);
    char quoted[80];
    snprintf(quoted, sizeof quoted, "\"%s\"", called);
    for (const char *p = text; *p;) {
        const char *name = strncmp(p, path, strlen(path)) == 0       ? path
                           : strncmp(p, quoted, strlen(quoted)) == 0 ? quoted
                                                                     : NULL;
        fputs(name ? "INPUT" : (char[]){*p, 0}, stream);
        p += name ? strlen(name) : 1;
    }
    fclose(stream);
    free(text);
    return out;
}

/* A pipe that gives these bytes once, by the name of its end; the caller closes it. */
static int pipe_with(const char *text, char path[64]) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    close(ends[1]);
    snprintf(path, 64, "/dev/fd/%d", ends[0]);
    return ends[0];
}

static const char one_kernel[] =
    "{\"traceEvents\":[" KERNEL("\"ts\":1,\"dur\":1,\"args\":{\"device\":0,\"stream\":7}") "]}";

static void a_pipe_cannot_be_read_again(void **state) {
    (void)state;
    char path[64];
    struct gputime_error err;
    int end = pipe_with(one_kernel, path);
    struct gputime_trace *trace = open_with(path, GPUTIME_FACT_OPS);
    assert_non_null(trace);
    assert_int_equal(gputime_trace_read(trace, GPUTIME_FACT_CALLS, NULL), GPUTIME_OK); /* it came along */
    assert_int_equal(gputime_trace_read(trace, GPUTIME_FACT_COUNTERS, &err), GPUTIME_USAGE);
    assert_non_null(strstr(err.message, "was read without counters and cannot be read again"));
    gputime_trace_free(trace);
    close(end);
}

/* Launches without kernels: why there are none is in what kernels alone are not read with. */
static const char no_kernels[] = "{\"traceEvents\":[" EVENT(
    "cuda_runtime", "\"name\":\"cudaLaunchKernel\",\"ts\":2,\"dur\":1,\"args\":{"
                    "\"correlation\":1}") "," EVENT("cpu_op", "\"name\":\"aten::mm\",\"ts\":1,\"dur\":3") "]}";

static void a_pipe_gives_the_report_of_its_bytes(void **state) {
    (void)state;
    static const char *const texts[] = {one_kernel, no_kernels, damaged, lost_call};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (size_t i = 0; i < gputime_registry_count(GPUTIME_ANALYSES); i++) {
            const char *analysis = gputime_registry_entry(GPUTIME_ANALYSES, i).key;
            struct gputime_report_options options = options_for(&analysis);
            char file[] = "/tmp/gputime-piped-XXXXXX", path[64];
            write_old(file, texts[t]);
            int end = pipe_with(texts[t], path);
            struct gputime_trace *from_file = open_with(file, gputime_report_facts(&options));
            struct gputime_trace *from_pipe = open_with(path, gputime_report_facts(&options));
            char *a = json_of(from_file, analysis), *b = json_of(from_pipe, analysis);
            expect_same(file, analysis, without_name(a, file, strrchr(file, '/') + 1), without_name(b, path, "pipe"));
            gputime_trace_free(from_file);
            gputime_trace_free(from_pipe);
            close(end);
            unlink(file);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_do_not_depend_on_what_else_was_read),
        cmocka_unit_test(what_was_not_asked_for_is_not_there),
        cmocka_unit_test(a_report_has_the_rest_read),
        cmocka_unit_test(a_comparison_names_all_that_it_reads),
        cmocka_unit_test(facts_imply_others),
        cmocka_unit_test(unknown_facts_are_errors),
        cmocka_unit_test(damage_concerns_those_who_read_it),
        cmocka_unit_test(damaged_tables_concern_those_who_read_them),
        cmocka_unit_test(selections_have_what_they_need_read),
        cmocka_unit_test(strict_refuses_losses_of_what_was_asked_for),
        cmocka_unit_test(a_wide_cache_does_not_show),
        cmocka_unit_test(a_wide_cache_stays),
        cmocka_unit_test(a_shared_device_is_said_of_kernels),
        cmocka_unit_test(a_pipe_cannot_be_read_again),
        cmocka_unit_test(a_pipe_gives_the_report_of_its_bytes),
    };
    return cmocka_run_group_tests(tests, world_begin, world_end);
}
