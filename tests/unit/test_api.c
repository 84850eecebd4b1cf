/* The public header as a program uses it: options of any size, values, tables as objects, and the events. */
#include <math.h>
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

static const char trace_path[] = "tests/data/torch/llama_train_compiled.json.gz";

static int open_trace(void **state) {
    static struct gputime_trace *trace;
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    const char *path = trace_path;
    options.no_cache = 1;
    *state = NULL;
    if (gputime_trace_open(&path, 1, &options, NULL, &trace, NULL) != GPUTIME_OK)
        return -1;
    *state = trace;
    return 0;
}

/* One of each format that a trace can be. */
static const char *const formats[] = {
    "tests/data/devices.json",
    "tests/data/nsys/graph_whole.nsys-rep",
    "tests/fuzz/seeds/fuzz_nsys_sqlite/small.sqlite",
    "tests/data/nsys-csv/mini_cuda_gpu_trace.csv",
    "tests/fuzz/seeds/fuzz_pftrace/pytorch.pftrace",
    "tests/data/xla/jax.xplane.pb",
    "tests/fuzz/seeds/fuzz_nccl_inspector/small.log",
    "tests/data/rocm/train.json",
    "tests/data/rocm/train.db",
    "tests/data/rocm/train_kernel_trace.csv",
};

static int free_trace(void **state) {
    gputime_trace_free(*state);
    return 0;
}

static enum gputime_status report_of(struct gputime_trace *trace, const char *analysis,
                                     struct gputime_report_options options, struct gputime_report **report,
                                     struct gputime_error *err) {
    options.analyses = &analysis;
    options.analysis_count = 1;
    return gputime_report_new(&trace, 1, &options, report, err);
}

static bool is_text(struct gputime_text text, const char *expected) {
    return text.bytes && text.size == strlen(expected) && memcmp(text.bytes, expected, text.size) == 0;
}

/* ---- formats ---- */

struct progress {
    uint64_t done_bytes, total_bytes;
    size_t calls;
    bool is_right;
};

static void take_progress(void *context, uint64_t done_bytes, uint64_t total_bytes) {
    struct progress *progress = context;
    progress->is_right &= done_bytes >= progress->done_bytes && (total_bytes == 0 || done_bytes <= total_bytes);
    progress->done_bytes = done_bytes;
    progress->total_bytes = total_bytes;
    progress->calls++;
}

static void progress_never_goes_back(void **state) {
    size_t calls = 0;
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct progress progress = {.is_right = true};
        struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
        struct gputime_trace *trace;
        options.no_cache = 1;
        options.progress = take_progress;
        options.progress_context = &progress;
        assert_int_equal(gputime_trace_open(&formats[i], 1, &options, NULL, &trace, NULL), GPUTIME_OK);
        gputime_trace_free(trace);
        assert_true(progress.is_right);
        calls += progress.calls;
    }
    assert_true(calls > 0);
}

/* Only some tables of a capture are several files. */
static void two_traces_are_not_one(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const char *paths[] = {formats[i], formats[i]};
        struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
        struct gputime_trace *trace;
        struct gputime_error err = {0};
        options.no_cache = 1;
        enum gputime_status status = gputime_trace_open(paths, 2, &options, NULL, &trace, &err);
        size_t length = strlen(formats[i]);
        bool is_csv = strcmp(formats[i] + length - 4, ".csv") == 0;
        if ((status == GPUTIME_OK) != is_csv || (!is_csv && !strstr(err.message, "one file")))
            fail_msg("%s twice: status %d, '%s'", formats[i], (int)status, err.message);
        gputime_trace_free(trace);
    }
}

/* ---- what makes no sense ---- */

static void choices_are_checked(void **state) {
    struct gputime_report *report;
    struct gputime_error err;
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_selection selection = GPUTIME_SELECTION_INIT;
    struct gputime_write_options writing = GPUTIME_WRITE_OPTIONS_INIT;
    options.names = (enum gputime_names)7;
    assert_int_equal(report_of(*state, "kernels", options, &report, &err), GPUTIME_USAGE);
    assert_string_equal(err.message, "names cannot be 7; the last choice is 1");
    options.names = GPUTIME_NAMES_FULL;
    options.selection = &selection;
    selection.from = (struct gputime_time){.kind = (enum gputime_time_kind)9};
    assert_int_equal(report_of(*state, "kernels", options, &report, &err), GPUTIME_USAGE);
    selection.from = (struct gputime_time){.kind = GPUTIME_TIME_SHARE, .share = NAN};
    assert_int_equal(report_of(*state, "kernels", options, &report, &err), GPUTIME_USAGE);
    options.selection = NULL;
    assert_int_equal(report_of(*state, "kernels", options, &report, &err), GPUTIME_OK);
    writing.unit = (enum gputime_unit)99;
    assert_int_equal(gputime_report_write(report, &writing, "/dev/null", &err), GPUTIME_USAGE);
    assert_string_equal(err.message, "unit cannot be 99; the last choice is 4");
    writing.unit = GPUTIME_UNIT_AUTO;
    writing.width = -1;
    assert_int_equal(gputime_report_write(report, &writing, "/dev/null", &err), GPUTIME_USAGE);
    gputime_report_free(report);
}

static void null_is_refused_or_nothing(void **state) {
    struct gputime_trace *traces[] = {*state, NULL};
    struct gputime_report *report, *sides[2];
    struct gputime_error err;
    const char *analysis = "kernels", *limit = "kernel:*<1ns", *path = "no such file";
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    options.analyses = &analysis;
    options.analysis_count = 1;
    assert_int_equal(gputime_report_new(traces, 2, &options, &report, &err), GPUTIME_USAGE);
    assert_string_equal(err.message, "trace 2 of 2 is NULL");
    assert_int_equal(gputime_report_new_sides(traces, 2, 1, &options, sides, &err), GPUTIME_USAGE);
    assert_null(report);
    assert_null(sides[0]);
    const struct gputime_rows *none = gputime_trace_rows(*state, "nothing");
    assert_null(none);
    assert_int_equal(gputime_rows_count(none), 0);
    assert_int_equal(gputime_rows_field_count(none), 0);
    assert_true(gputime_rows_find_field(none, "start_ns") == SIZE_MAX);
    assert_int_equal(gputime_rows_is_null(none, 0, 0), 1);
    assert_int_equal(gputime_report_new(traces, 1, &options, &report, NULL), GPUTIME_OK);
    assert_int_equal(gputime_report_check(report, &limit, 1, NULL, NULL), GPUTIME_OK);
    gputime_report_free(report);
    struct gputime_input input = {.paths = &path, .path_count = 1};
    assert_int_equal(gputime_traces_open(&input, 1, 0, traces, NULL), GPUTIME_FAILED);
    assert_null(traces[0]);
}

static void limits_name_their_tables(void **state) {
    (void)state;
    assert_string_equal(gputime_limit_table("peak_memory<70GB"), "memory_peak");
    assert_string_equal(gputime_limit_table("idle < 20%"), "measures");
    assert_string_equal(gputime_limit_table("each kernel:*<10%"), "kernels");
    assert_null(gputime_limit_table("issues<1"));
    assert_null(gputime_limit_table("peak_memory<70 parsec"));
    assert_null(gputime_limit_table("nothing<1"));
    assert_null(gputime_limit_table(NULL));
}

static void an_analysis_runs_once(void **state) {
    struct gputime_trace *trace = *state;
    struct gputime_report *report;
    const char *twice[] = {"kernels", "kernels"};
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    options.analyses = twice;
    options.analysis_count = 2;
    size_t tables = 0;
    assert_int_equal(gputime_report_new(&trace, 1, &options, &report, NULL), GPUTIME_OK);
    for (size_t i = 0; i < gputime_report_table_count(report, 0); i++)
        tables += strcmp(gputime_table_key(gputime_report_table_at(report, 0, i)), "kernels") == 0;
    assert_int_equal(tables, 1);
    gputime_report_free(report);
}

/* ---- values ---- */

static void times_are_read(void **state) {
    (void)state;
    struct gputime_time time;
    struct gputime_error err;
    assert_int_equal(gputime_time_parse("350ms", &time, NULL), GPUTIME_OK);
    assert_int_equal(time.kind, GPUTIME_TIME_NS);
    assert_int_equal(time.ns, 350000000);
    assert_string_equal(time.text, "350ms");
    assert_int_equal(gputime_time_parse("1.5", &time, NULL), GPUTIME_OK);
    assert_int_equal(time.ns, 1500000000);
    assert_int_equal(gputime_time_parse("40%", &time, NULL), GPUTIME_OK);
    assert_int_equal(time.kind, GPUTIME_TIME_SHARE);
    assert_true(time.share == 0.4);
    static const char *const bad[] = {"", "12q", "%", "x%", "1.2.3s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(gputime_time_parse(bad[i], &time, &err), GPUTIME_USAGE);
        assert_int_equal(time.kind, GPUTIME_TIME_NONE);
        assert_non_null(strstr(err.message, "use for example 1.2s, 350ms, 20us or 40%"));
    }
}

static void ranges_are_read(void **state) {
    (void)state;
    struct gputime_range ranges[2];
    struct gputime_error err;
    size_t count;
    assert_int_equal(gputime_ranges_parse("1-3, 7,-5--2", ranges, 2, &count, NULL), GPUTIME_OK);
    assert_int_equal(count, 3); /* of which two fit */
    assert_true(ranges[0].first == 1 && ranges[0].last == 3 && ranges[1].first == 7 && ranges[1].last == 7);
    static const char *const bad[] = {"", "x", "3-1", "1,,2", "1-", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(gputime_ranges_parse(bad[i], ranges, 2, &count, &err), GPUTIME_USAGE);
        assert_non_null(strstr(err.message, "use for example 2 or 0,2 or 1-3"));
    }
}

static void versions_agree(void **state) {
    (void)state;
    assert_string_equal(gputime_version(), GPUTIME_VERSION);
}

/* ---- structs of older and newer programs ---- */

static void sizes_are_checked(void **state) {
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_report *report;
    struct gputime_error err;
    options.heading = (const char *)1; /* an older program has no such field, so nobody looks at it */
    options.size = offsetof(struct gputime_report_options, heading);
    assert_int_equal(report_of(*state, "overview", options, &report, &err), GPUTIME_OK);
    gputime_report_free(report);

    options = (struct gputime_report_options)GPUTIME_REPORT_OPTIONS_INIT;
    options.size = 0;
    assert_int_equal(report_of(*state, "overview", options, &report, &err), GPUTIME_USAGE);
    assert_null(report);
    assert_non_null(strstr(err.message, "gputime_report_options"));
    assert_non_null(strstr(err.message, "INIT"));

    struct {
        struct gputime_write_options known;
        int64_t later;
    } newer = {GPUTIME_WRITE_OPTIONS_INIT, 0};
    newer.known.size = sizeof newer;
    options.size = sizeof options;
    assert_int_equal(report_of(*state, "overview", options, &report, &err), GPUTIME_OK);
    assert_int_equal(gputime_report_write(report, &newer.known, "/dev/null", &err), GPUTIME_OK);
    newer.later = 1;
    assert_int_equal(gputime_report_write(report, &newer.known, "/dev/null", &err), GPUTIME_USAGE);
    assert_non_null(strstr(err.message, "unknown to"));
    gputime_report_free(report);
}

static void shapes_are_checked(void **state) {
    struct {
        struct gputime_shape known;
        int64_t later;
    } newer[2] = {{.known = {.table = "kernels", .limit = 9}}, {.known = {.table = "kernels", .limit = 2}}};
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_shaping shaping = GPUTIME_SHAPING_INIT;
    struct gputime_report *report;
    struct gputime_error err;
    shaping.shapes = &newer[0].known;
    shaping.shape_count = 2;
    shaping.shape_size = sizeof *newer;
    options.shaping = &shaping;
    assert_int_equal(report_of(*state, "kernels", options, &report, &err), GPUTIME_OK);
    assert_int_equal(gputime_table_row_count(gputime_report_table(report, 0, "kernels")), 2);
    gputime_report_free(report);
    newer[1].later = 1;
    assert_int_equal(report_of(*state, "kernels", options, &report, &err), GPUTIME_USAGE);
    shaping.shape_size = 0;
    assert_int_equal(report_of(*state, "kernels", options, &report, &err), GPUTIME_USAGE);
    newer[1] = newer[0];
    newer[0].known.pivot_row = "name"; /* without a value */
    shaping.shape_size = sizeof *newer;
    assert_int_equal(report_of(*state, "kernels", options, &report, &err), GPUTIME_USAGE);
    assert_non_null(strstr(err.message, "both a row and a value"));
}

static void runs_are_checked(void **state) {
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_run run = GPUTIME_RUN_INIT;
    struct gputime_report *report;
    struct gputime_error err;
    options.run = &run;
    run.elapsed_ns = -1;
    assert_int_equal(report_of(*state, "graph", options, &report, &err), GPUTIME_USAGE);
    run.elapsed_ns = 123456789000;
    assert_int_equal(report_of(*state, "graph", options, &report, &err), GPUTIME_OK);
    const struct gputime_table *runs = gputime_report_table(report, 0, "graph_runs");
    assert_int_equal(gputime_table_int(runs, 0, gputime_table_find_column(runs, "elapsed_ns")), run.elapsed_ns);
    gputime_report_free(report);
}

/* What was passed in may be gone when the report is read. */
static void reports_keep_their_own(void **state) {
    char heading[] = "heading", title[] = "title", table[] = "kernels", column[] = "count", from[] = "1%";
    const char *columns[] = {column};
    struct gputime_shape shape = {.table = table, .columns = columns, .column_count = 1};
    struct gputime_shaping shaping = GPUTIME_SHAPING_INIT;
    struct gputime_run run = GPUTIME_RUN_INIT;
    struct gputime_selection selection = GPUTIME_SELECTION_INIT;
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_report *report;
    shaping.shapes = &shape;
    shaping.shape_count = 1;
    shaping.main_table = table;
    run.title = title;
    selection.from = (struct gputime_time){GPUTIME_TIME_SHARE, 0, 0.01, from};
    options.heading = heading;
    options.run = &run;
    options.shaping = &shaping;
    options.selection = &selection;
    assert_int_equal(report_of(*state, "kernels", options, &report, NULL), GPUTIME_OK);
    memset(heading, 'x', sizeof heading);
    memset(title, 'x', sizeof title);
    memset(table, 'x', sizeof table);
    memset(column, 'x', sizeof column);
    memset(from, 'x', sizeof from);
    assert_string_equal(gputime_report_section_title(report, 0), "title");
    assert_string_equal(gputime_report_note(report, 0, 0), "Selection: from 1%.");
    struct gputime_write_options writing = GPUTIME_WRITE_OPTIONS_INIT;
    for (size_t i = 0; i < gputime_registry_count(GPUTIME_OUTPUTS); i++) {
        writing.format = gputime_registry_entry(GPUTIME_OUTPUTS, i).key;
        if (!gputime_registry_entry(GPUTIME_OUTPUTS, i).is_missing)
            assert_int_equal(gputime_report_write(report, &writing, "/dev/null", NULL), GPUTIME_OK);
    }
    gputime_report_free(report);
}

/* ---- options of analyses ---- */

static void options_are_listed(void **state) {
    (void)state;
    bool has_bins = false;
    for (size_t i = 0; i < gputime_option_count(); i++) {
        struct gputime_option_info info = gputime_option_at(i);
        assert_non_null(gputime_registry_find(GPUTIME_ANALYSES, info.analysis).key);
        assert_true(info.help && *info.help && info.unit);
        has_bins |= strcmp(info.automatic.key, "bins") == 0 && info.automatic.type == GPUTIME_OPTION_CHOICE &&
                    strcmp(info.choices, "log|linear") == 0;
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(info.automatic.key, gputime_option_at(k).automatic.key);
    }
    assert_true(has_bins);
    assert_null(gputime_option_at(gputime_option_count()).analysis);
}

static size_t histogram_rows(void **state, const struct gputime_option *given, size_t count) {
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_report *report;
    options.options = given;
    options.option_count = count;
    assert_int_equal(report_of(*state, "histogram", options, &report, NULL), GPUTIME_OK);
    size_t rows = gputime_table_row_count(gputime_report_table(report, 0, "histogram"));
    gputime_report_free(report);
    return rows;
}

static void options_reach_their_analysis(void **state) {
    const struct gputime_option linear[] = {gputime_option_choice("bins", "linear"), gputime_option_int("bin_count", 9),
                                            gputime_option_int("bin_count", 4)};
    assert_int_equal(histogram_rows(state, linear, 1), 15);
    assert_int_equal(histogram_rows(state, linear, 3), 4);
}

static void options_are_checked(void **state) {
    const struct {
        struct gputime_option option;
        const char *message;
    } cases[] = {
        {gputime_option_int("bin_count", 0),
         "option 'bin_count' of analysis 'histogram' must be from 1 to 10000, not 0"},
        {gputime_option_real("bin_count", 3), "takes a whole number, not a number"},
        {gputime_option_text("bins", "log"), "takes a choice, not text"},
        {gputime_option_choice("bins", "square"), "cannot be 'square'; available: log|linear"},
        {gputime_option_real("coverage_threshold", 1.5), "must be from 0 to 1, not 1.5"},
        {gputime_option_flag("nonsense", 1), "no analysis has an option 'nonsense'; available: bins, bin_count"},
        {gputime_option_flag(NULL, 1), "no analysis has an option ''"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
        struct gputime_report *report;
        struct gputime_error err;
        options.options = &cases[i].option;
        options.option_count = 1;
        assert_int_equal(report_of(*state, "histogram", options, &report, &err), GPUTIME_USAGE);
        if (!strstr(err.message, cases[i].message))
            fail_msg("'%s' lacks '%s'", err.message, cases[i].message);
    }
}

/* ---- tables, findings, facts ---- */

static void tables_are_objects(void **state) {
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_report *report;
    assert_int_equal(report_of(*state, "kernels", options, &report, NULL), GPUTIME_OK);
    const struct gputime_table *table = gputime_report_table(report, 0, "kernels");
    assert_ptr_equal(gputime_report_table_at(report, 0, 0), table);
    assert_string_equal(gputime_table_key(table), "kernels");
    size_t total = gputime_table_find_column(table, "total_ns"), name = gputime_table_find_column(table, "name");
    assert_string_equal(gputime_table_column(table, total).unit, "ns");
    assert_true(gputime_table_row_count(table) > 3);
    for (size_t row = 0; row < gputime_table_row_count(table); row++) {
        assert_true(gputime_table_int(table, row, total) > 0);
        assert_true(gputime_table_real(table, row, total) == (double)gputime_table_int(table, row, total));
        assert_true(gputime_table_text(table, row, name).size > 0);
        assert_null(gputime_table_text(table, row, total).bytes);
    }
    size_t none = gputime_table_find_column(table, "nothing");
    assert_int_equal(none, SIZE_MAX);
    assert_int_equal(gputime_table_cell(table, 0, none).type, GPUTIME_CELL_NULL);
    assert_int_equal(gputime_table_cell(table, SIZE_MAX, 0).type, GPUTIME_CELL_NULL);
    assert_null(gputime_table_column(table, none).key);
    const struct gputime_table *absent = gputime_report_table(report, 0, "nothing");
    assert_true(!absent && !gputime_report_table(report, 9, "kernels") && !gputime_report_table_at(report, 0, 99));
    assert_true(!gputime_table_key(absent) && gputime_table_row_count(absent) == 0);
    assert_int_equal(gputime_table_find_column(absent, "name"), SIZE_MAX);
    gputime_report_free(report);
}

static void facts_and_findings_are_there(void **state) {
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_report *report;
    assert_int_equal(report_of(*state, "overview", options, &report, NULL), GPUTIME_OK);
    assert_true(gputime_report_fact_count(report, 0) > 0);
    struct gputime_fact first = gputime_report_fact_at(report, 0, 0);
    assert_string_equal(gputime_report_fact(report, 0, first.key).title, first.title);
    assert_null(gputime_report_fact(report, 0, "nothing").key);
    for (size_t i = 0; i < gputime_report_issue_count(report, 0); i++)
        assert_true(gputime_report_issue(report, 0, i).count > 0);
    assert_null(gputime_report_issue(report, 0, gputime_report_issue_count(report, 0)).id);
    gputime_report_free(report);
    assert_int_equal(report_of(*state, "findings", options, &report, NULL), GPUTIME_OK);
    size_t count = gputime_report_finding_count(report, 0);
    const struct gputime_table *table = gputime_report_table(report, 0, "findings");
    assert_true(count > 0 && count == gputime_table_row_count(table));
    for (size_t i = 0; i < count; i++) {
        struct gputime_finding finding = gputime_report_finding(report, 0, i);
        assert_true(is_text(gputime_table_text(table, i, gputime_table_find_column(table, "id")), finding.id));
        assert_true(finding.title.size && finding.evidence_count && finding.evidence[0].size);
        assert_true(finding.rule && finding.share <= 1 && finding.window_count <= 5);
        assert_true((finding.share < 0) == (finding.recoverable_ns < 0) &&
                    (finding.share < 0) == !finding.window_count);
        for (size_t w = 0; w < finding.window_count; w++)
            assert_true(finding.windows[w].start_ns < finding.windows[w].end_ns);
    }
    assert_null(gputime_report_finding(report, 0, count).id);
    gputime_report_free(report);
}

static void one_finding_is_explained(void **state) {
    struct gputime_option why = {.key = "why", .type = GPUTIME_OPTION_TEXT, .text = "host_bound"};
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_report *report;
    struct gputime_error err = {0};
    options.options = &why;
    options.option_count = 1;
    assert_int_equal(report_of(*state, "findings", options, &report, NULL), GPUTIME_OK);
    assert_true(gputime_table_row_count(gputime_report_table(report, 0, "finding_thresholds")) >= 3);
    assert_non_null(gputime_report_table(report, 0, "finding_windows"));
    assert_non_null(gputime_report_table(report, 0, "finding_rows"));
    assert_true(gputime_report_note_count(report, 0) > 0);
    gputime_report_free(report);
    why.text = "nonsense";
    assert_int_equal(report_of(*state, "findings", options, &report, &err), GPUTIME_USAGE);
    assert_non_null(strstr(err.message, "nonsense"));
}

static void only_tables_that_are_listed_are_shown(void **state) {
    static const char *const shown[] = {"idle_causes"};
    struct gputime_shaping shaping = GPUTIME_SHAPING_INIT;
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_write_options writing = GPUTIME_WRITE_OPTIONS_INIT;
    struct gputime_report *report;
    char path[] = "/tmp/gputime-api-XXXXXX", text[1 << 14];
    int fd = mkstemp(path);
    shaping.shown = shown;
    shaping.shown_count = 1;
    options.shaping = &shaping;
    writing.format = "text";
    assert_int_equal(report_of(*state, "gaps", options, &report, NULL), GPUTIME_OK);
    assert_non_null(gputime_report_table(report, 0, "gaps")); /* it is for data all the same */
    assert_int_equal(gputime_report_write(report, &writing, path, NULL), GPUTIME_OK);
    FILE *file = fopen(path, "r");
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    close(fd);
    unlink(path);
    assert_non_null(strstr(text, gputime_table_title(gputime_report_table(report, 0, "idle_causes"))));
    assert_null(strstr(text, gputime_table_title(gputime_report_table(report, 0, "gaps"))));
    gputime_report_free(report);
}

/* What is printed into memory is what is written to a file. */
static void reports_are_printed(void **state) {
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_write_options writing = GPUTIME_WRITE_OPTIONS_INIT;
    struct gputime_report *report;
    struct gputime_text text, table;
    struct gputime_error err;
    static char written[1 << 20];
    char path[] = "/tmp/gputime-api-XXXXXX";
    int fd = mkstemp(path);
    writing.format = "json";
    assert_int_equal(report_of(*state, "kernels", options, &report, NULL), GPUTIME_OK);
    assert_int_equal(gputime_report_write(report, &writing, path, NULL), GPUTIME_OK);
    FILE *file = fopen(path, "r");
    size_t size = fread(written, 1, sizeof written - 1, file);
    written[size] = '\0';
    fclose(file);
    close(fd);
    unlink(path);
    assert_int_equal(gputime_report_print(report, &writing, &text, NULL), GPUTIME_OK);
    assert_true(is_text(text, written));
    gputime_text_free(text);
    writing.format = "nothing";
    assert_int_equal(gputime_report_print(report, &writing, &text, &err), GPUTIME_USAGE);
    assert_string_equal(err.message, "unknown format 'nothing'; see 'gputime list outputs'");
    assert_null(text.bytes);
    writing.format = "explain"; /* a directory */
    assert_int_equal(gputime_report_print(report, &writing, &text, &err), GPUTIME_USAGE);

    /* A table alone is a part of the text of its report. */
    assert_int_equal(gputime_report_print(report, NULL, &text, NULL), GPUTIME_OK);
    assert_int_equal(gputime_table_print(gputime_report_table(report, 0, "kernels"), NULL, &table, NULL), GPUTIME_OK);
    assert_true(table.size > 0 && table.size < text.size && strstr(text.bytes, table.bytes));
    gputime_text_free(table);
    gputime_text_free(text);
    assert_int_equal(gputime_table_print(NULL, NULL, &table, NULL), GPUTIME_OK);
    assert_int_equal(table.size, 0);
    gputime_text_free(table);
    gputime_text_free((struct gputime_text){NULL, 0});
    gputime_report_free(report);
}

/* ---- events ---- */

static void rows_describe_themselves(void **state) {
    const struct gputime_trace *trace = *state;
    for (size_t i = 0; i < gputime_trace_rows_count(trace); i++) {
        const struct gputime_rows *rows = gputime_trace_rows_at(trace, i);
        assert_ptr_equal(gputime_trace_rows(trace, gputime_rows_key(rows)), rows);
        assert_true(gputime_rows_field_count(rows) > 0);
        for (size_t f = 0; f < gputime_rows_field_count(rows); f++) {
            struct gputime_field field = gputime_rows_field(rows, f);
            assert_int_equal(gputime_rows_find_field(rows, field.key), f);
            assert_true(field.unit && (field.data || gputime_rows_count(rows) == 0));
            if (field.refers_to && strcmp(field.refers_to, "strings") != 0)
                assert_non_null(gputime_trace_rows(trace, field.refers_to));
        }
        assert_null(gputime_rows_field(rows, gputime_rows_field_count(rows)).key);
    }
    assert_null(gputime_trace_rows(trace, "nothing"));
    assert_null(gputime_trace_rows_at(trace, gputime_trace_rows_count(trace)));
}

/* Every number of a row that is not null is the number of a row that is there. */
static void check_references(const struct gputime_trace *trace) {
    for (size_t i = 0; i < gputime_trace_rows_count(trace); i++) {
        const struct gputime_rows *rows = gputime_trace_rows_at(trace, i);
        for (size_t f = 0; f < gputime_rows_field_count(rows); f++) {
            const char *kind = gputime_rows_field(rows, f).refers_to;
            if (!kind)
                continue;
            size_t count = strcmp(kind, "strings") == 0 ? gputime_trace_string_count(trace)
                                                        : gputime_rows_count(gputime_trace_rows(trace, kind));
            for (size_t row = 0; row < gputime_rows_count(rows); row++)
                assert_true(gputime_rows_is_null(rows, row, f) || (uint64_t)gputime_rows_int(rows, row, f) < count);
        }
    }
}

static void references_hold(void **state) {
    check_references(*state);
}

static size_t field_of(const struct gputime_rows *rows, const char *key) {
    size_t field = gputime_rows_find_field(rows, key);
    assert_true(field != SIZE_MAX);
    return field;
}

/* Communication kernels lead to what is known about their collective. */
static void ops_have_collectives(void **state) {
    (void)state;
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    const char *path = "tests/data/torch/tpdp_rank0.json.gz";
    struct gputime_trace *trace;
    size_t with = 0, bytes = 0;
    options.no_cache = 1;
    assert_int_equal(gputime_trace_open(&path, 1, &options, NULL, &trace, NULL), GPUTIME_OK);
    assert_true(gputime_rows_find_field(gputime_trace_rows(trace, "ops"), "collective") == SIZE_MAX);
    assert_int_equal(gputime_rows_count(gputime_trace_rows(trace, "collectives")), 0);
    assert_int_equal(gputime_trace_read(trace, GPUTIME_FACT_COMMS, NULL), GPUTIME_OK);
    const struct gputime_rows *ops = gputime_trace_rows(trace, "ops");
    const struct gputime_rows *collectives = gputime_trace_rows(trace, "collectives");
    const struct gputime_rows *groups = gputime_trace_rows(trace, "collective_groups");
    check_references(trace);
    for (size_t op = 0; op < gputime_rows_count(ops); op++) {
        if (gputime_rows_is_null(ops, op, field_of(ops, "collective")))
            continue;
        size_t row = (size_t)gputime_rows_int(ops, op, field_of(ops, "collective"));
        struct gputime_text name = gputime_rows_text(ops, op, field_of(ops, "name"));
        struct gputime_text operation = gputime_rows_text(collectives, row, field_of(collectives, "operation"));
        with++;
        bytes += (size_t)gputime_rows_int(collectives, row, field_of(collectives, "in_bytes"));
        assert_true(is_text(operation, "all_reduce") == (memmem(name.bytes, name.size, "AllReduce", 9) != NULL));
        size_t group = (size_t)gputime_rows_int(collectives, row, field_of(collectives, "group"));
        assert_true(gputime_rows_int(groups, group, field_of(groups, "size")) > 0);
    }
    assert_int_equal(with, 48);
    assert_int_equal(bytes, 24 * (2097152 + 4194304) * 2); /* BFloat16 */
    gputime_trace_free(trace);
}

/* The kernels of the report are those of the events. */
static void events_give_the_report(void **state) {
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_report *report;
    const struct gputime_rows *ops = gputime_trace_rows(*state, "ops");
    size_t start = gputime_rows_find_field(ops, "start_ns"), end = gputime_rows_find_field(ops, "end_ns");
    size_t kind = gputime_rows_find_field(ops, "kind"), name = gputime_rows_find_field(ops, "name");
    const int64_t *starts = gputime_rows_field(ops, start).data, *ends = gputime_rows_field(ops, end).data;
    int64_t events_ns = 0, first_ns = 0, report_ns = 0;
    assert_int_equal(report_of(*state, "kernels", options, &report, NULL), GPUTIME_OK);
    const struct gputime_table *table = gputime_report_table(report, 0, "kernels");
    size_t total = gputime_table_find_column(table, "total_ns");
    struct gputime_text first = gputime_table_text(table, 0, gputime_table_find_column(table, "name"));
    for (size_t row = 0; row < gputime_table_row_count(table); row++)
        report_ns += gputime_table_int(table, row, total);
    for (size_t row = 0; row < gputime_rows_count(ops); row++) {
        if (!is_text(gputime_rows_text(ops, row, kind), "kernel"))
            continue;
        struct gputime_text text = gputime_rows_text(ops, row, name);
        bool is_first = text.size == first.size && memcmp(text.bytes, first.bytes, text.size) == 0;
        assert_int_equal(ends[row], gputime_rows_int(ops, row, end));
        events_ns += ends[row] - starts[row];
        first_ns += is_first ? ends[row] - starts[row] : 0;
    }
    assert_true(events_ns > 0 && first_ns > 0);
    assert_int_equal(events_ns, report_ns);
    assert_int_equal(first_ns, gputime_table_int(table, 0, total));
    gputime_report_free(report);
}

static void labels_are_fields(void **state) {
    const struct gputime_trace *trace = *state;
    const struct gputime_rows *ops = gputime_trace_rows(trace, "ops");
    const struct gputime_rows *calls = gputime_trace_rows(trace, "calls");
    const struct gputime_rows *categories = gputime_trace_rows(trace, "categories");
    size_t call = gputime_rows_find_field(ops, "call"), category = gputime_rows_find_field(ops, "category");
    size_t key = gputime_rows_find_field(categories, "key"), op_name = gputime_rows_find_field(ops, "name");
    size_t launched = 0;
    assert_int_equal(gputime_rows_field(ops, category).null, GPUTIME_NULL_NEVER);
    for (size_t row = 0; row < gputime_rows_count(ops); row++) {
        assert_true(gputime_rows_text(categories, (size_t)gputime_rows_int(ops, row, category), key).size > 0);
        assert_true(gputime_trace_short_name(trace, (uint32_t)gputime_rows_int(ops, row, op_name)).size > 0);
        launched += !gputime_rows_is_null(ops, row, call);
    }
    assert_true(launched > 0 && launched <= gputime_rows_count(ops) && gputime_rows_count(calls) > 0);
    assert_true(gputime_rows_is_null(ops, SIZE_MAX, call) && !gputime_rows_text(ops, 0, SIZE_MAX).bytes);
    assert_int_equal(gputime_rows_int(ops, SIZE_MAX, call), 0);
    assert_null(gputime_trace_string(trace, UINT32_MAX).bytes);
}

static void traces_describe_themselves(void **state) {
    struct gputime_trace_info info = gputime_trace_describe(*state);
    assert_string_equal(info.format, "torch-json");
    assert_string_equal(info.path, trace_path);
    assert_true(info.producer.size > 0);
    assert_int_equal(info.rank >= 0, info.rank_source != NULL);
    assert_int_equal(gputime_capture_prefix("run/a_cuda_gpu_trace.csv"), strlen("run/a"));
    assert_int_equal(gputime_capture_prefix("a.json"), 0);
}

static void copies_of_a_capture_are_known_by_name(void **state) {
    (void)state;
    const char *const paths[] = {"d/a.nsys-rep", "d/b.xplane.pb"};
    const char *const copies[] = {"d/a.sqlite",     "d/a.SQLITE.gz",    "d/a.sqlite.zst", "d/a_cuda_gpu_trace.csv",
                                  "d/b.trace.json", "d/b.trace.json.gz"};
    const char *const others[] = {
        "d/a.nsys-rep", "d/b.xplane.pb",     "e/a.sqlite", "d/ab.sqlite",       ".sqlite",     "d/a.json",
        "d/b.sqlite",   "d/a.trace.json.gz", "",           "d/b.pt.trace.json", "d/b.json.gz", "d/b.trace.json2"};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        assert_true(gputime_capture_is_copy(copies[i], paths, 2));
        assert_false(gputime_capture_is_copy(copies[i], paths, 0));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(gputime_capture_is_copy(others[i], paths, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_never_goes_back),
        cmocka_unit_test(two_traces_are_not_one),
        cmocka_unit_test(choices_are_checked),
        cmocka_unit_test(null_is_refused_or_nothing),
        cmocka_unit_test(limits_name_their_tables),
        cmocka_unit_test(an_analysis_runs_once),
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(ranges_are_read),
        cmocka_unit_test(versions_agree),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(shapes_are_checked),
        cmocka_unit_test(runs_are_checked),
        cmocka_unit_test(reports_keep_their_own),
        cmocka_unit_test(options_are_listed),
        cmocka_unit_test(options_reach_their_analysis),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(tables_are_objects),
        cmocka_unit_test(facts_and_findings_are_there),
        cmocka_unit_test(one_finding_is_explained),
        cmocka_unit_test(only_tables_that_are_listed_are_shown),
        cmocka_unit_test(reports_are_printed),
        cmocka_unit_test(rows_describe_themselves),
        cmocka_unit_test(references_hold),
        cmocka_unit_test(ops_have_collectives),
        cmocka_unit_test(events_give_the_report),
        cmocka_unit_test(labels_are_fields),
        cmocka_unit_test(copies_of_a_capture_are_known_by_name),
        cmocka_unit_test(traces_describe_themselves),
    };
    return cmocka_run_group_tests(tests, open_trace, free_trace);
}
