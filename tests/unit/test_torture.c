/* Torture of reading, writing and keeping: every call to the system for memory, threads, reading or writing fails in
   turn, once or from then on. Each run must end in what it would have given anyway or in a failure that says why, with
   nothing leaked and no file left half-done. */
#include "torture_world.h"

#include "report/layouts.h"

/* ---- reading ---- */

struct opening {
    const char *path;
    struct gputime_open_options options;
    struct text wanted;
};

static void run_opening(const void *context, const char *what) {
    const struct opening *opening = context;
    struct gputime_trace *trace = NULL;
    struct gputime_error err = {0};
    enum gputime_status status = gputime_trace_open(&opening->path, 1, &opening->options, NULL, &trace, &err);
    if (status != GPUTIME_OK) {
        expect_reason(status, &err, what);
        assert_null(trace);
        return;
    }
    end_faults();
    struct text got = report_of(trace);
    expect_same(got, opening->wanted, what);
    free(got.bytes);
    gputime_trace_free(trace);
}

static struct gputime_open_options native(int64_t threads) {
    struct gputime_open_options options = open_options(threads);
    options.reader = GPUTIME_READER_NATIVE;
    return options;
}

static void torture_opening(const char *path, struct gputime_open_options options) {
    struct gputime_trace *trace = open_trace(path);
    struct opening opening = {path, options, report_of(trace)};
    gputime_trace_free(trace);
    torture(run_opening, &opening, path);
    free(opening.wanted.bytes);
}

static void test_reading(void **state) {
    (void)state;
    const char *paths[] = {
        json,   json_gz,   json_zst,  "tests/data/hostile.json", "tests/data/cut.json", small_sqlite, small_rep,
        rep_gz, small_csv, small_sums};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        torture_opening(paths[i], native(1));
}

static void test_reading_with_threads(void **state) {
    (void)state;
    torture_opening(small_sqlite, native(3));
}

/* Two at once: what cannot be read does not keep the other from being read, unless both are needed. */
struct opening_both {
    const char *paths[2];
    bool needs_all;
    struct text wanted;
};

static void run_opening_both(const void *context, const char *what) {
    const struct opening_both *both = context;
    struct gputime_open_options options = native(2);
    struct gputime_input inputs[] = {{&both->paths[0], 1, &options, NULL}, {&both->paths[1], 1, &options, NULL}};
    struct gputime_trace *traces[2];
    struct gputime_error errors[2];
    enum gputime_status status = gputime_traces_open(inputs, 2, both->needs_all, traces, errors);
    for (size_t i = 0; i < 2; i++)
        if (errors[i].status)
            expect_reason(errors[i].status, &errors[i], what);
    end_faults();
    assert_int_equal(status, errors[0].status ? errors[0].status : errors[1].status);
    for (size_t i = 0; i < 2; i++) {
        bool is_left_out = i == 1 && both->needs_all && errors[0].status;
        if (traces[i]) {
            struct text got = report_of(traces[i]);
            expect_same(got, both->wanted, what);
            free(got.bytes);
        }
        assert_true(is_left_out || !traces[i] == (errors[i].status != GPUTIME_OK));
        gputime_trace_free(traces[i]);
    }
}

static void test_reading_two_at_once(void **state) {
    (void)state;
    struct gputime_trace *trace = open_trace(small_sqlite);
    struct opening_both both = {.paths = {small_sqlite, small_sqlite}, .wanted = report_of(trace)};
    gputime_trace_free(trace);
    torture(run_opening_both, &both, "two traces");
    both.needs_all = true;
    torture(run_opening_both, &both, "two traces that are needed");
    free(both.wanted.bytes);
}

/* ---- writing ---- */

struct writing {
    const struct gputime_report *report;
    struct gputime_write_options options;
    char target[PATH_BYTES];
    struct text wanted;  /* of a file */
    size_t wanted_files; /* in a folder */
};

/* The file that was there stays as it is, unless the new one is whole. */
static void run_writing(const void *context, const char *what) {
    const struct writing *writing = context;
    struct gputime_error err = {0};
    enum fault fault = system_state.fault;
    end_faults();
    write_file(writing->target, "old", 3);
    system_state.fault = fault;
    enum gputime_status status = gputime_report_write(writing->report, &writing->options, writing->target, &err);
    if (status != GPUTIME_OK)
        expect_reason(status, &err, what);
    end_faults();
    struct text got = read_file(writing->target);
    expect_same(got, status == GPUTIME_OK ? writing->wanted : (struct text){(char[]){"old"}, 3}, what);
    free(got.bytes);
    each_file(folder, refuse_temporary);
}

static void torture_writing(struct writing *writing, const char *format) {
    struct gputime_error err;
    snprintf(writing->target, sizeof writing->target, "%s/out", folder);
    writing->options.format = format;
    if (gputime_report_write(writing->report, &writing->options, writing->target, &err) != GPUTIME_OK)
        fail_msg("%s: %s", format, err.message);
    writing->wanted = read_file(writing->target);
    torture(run_writing, writing, format);
    free(writing->wanted.bytes);
}

static void test_writing(void **state) {
    (void)state;
    struct writing writing = {.options = GPUTIME_WRITE_OPTIONS_INIT};
    struct gputime_shaping shaping = GPUTIME_SHAPING_INIT;
    shaping.main_table = "kernels";
    struct gputime_trace *trace = open_trace(json);
    struct gputime_report *report = whole_report(trace, &shaping);
    writing.report = report;
    for (size_t i = 0; i < gputime_registry_count(GPUTIME_OUTPUTS); i++)
        if (!gputime_registry_entry(GPUTIME_OUTPUTS, i).is_missing)
            torture_writing(&writing, gputime_registry_entry(GPUTIME_OUTPUTS, i).key);
    for (size_t i = 0; i < gt_layout_count; i++)
        torture_writing(&writing, gt_layouts[i].key);
    gputime_report_free(report);
    gputime_trace_free(trace);
}

/* The same into memory: nothing, or all of it. A table alone has no format. */
static void run_printing(const void *context, const char *what) {
    const struct writing *writing = context;
    const struct gputime_table *table = gputime_report_table(writing->report, 0, "kernels");
    struct gputime_error err = {0};
    struct gputime_text text;
    enum gputime_status status = writing->options.format
                                     ? gputime_report_print(writing->report, &writing->options, &text, &err)
                                     : gputime_table_print(table, &writing->options, &text, &err);
    if (status != GPUTIME_OK)
        expect_reason(status, &err, what);
    end_faults();
    assert_true(!text.bytes == (status != GPUTIME_OK));
    if (status == GPUTIME_OK) {
        assert_true(text.size > 0 && strlen(text.bytes) == text.size);
        assert_non_null(strstr(text.bytes, "ernel"));
    }
    gputime_text_free(text);
}

static void test_printing(void **state) {
    (void)state;
    struct writing writing = {.options = GPUTIME_WRITE_OPTIONS_INIT};
    struct gputime_trace *trace = open_trace(json);
    struct gputime_report *report = whole_report(trace, NULL);
    writing.report = report;
    torture(run_printing, &writing, "table");
    writing.options.format = "text";
    torture(run_printing, &writing, "report");
    gputime_report_free(report);
    gputime_trace_free(trace);
}

/* A folder of tables may be left unfinished, but none of its files is. */
static void refuse_unfinished(const char *path, const char *name) {
    refuse_temporary(path, name);
    struct text text = read_file(path);
    if (text.size == 0 || text.bytes[text.size - 1] != '\n')
        fail_msg("%s is not whole", path);
    free(text.bytes);
}

static void run_writing_folder(const void *context, const char *what) {
    const struct writing *writing = context;
    struct gputime_error err = {0};
    enum gputime_status status = gputime_report_write(writing->report, &writing->options, writing->target, &err);
    if (status != GPUTIME_OK)
        expect_reason(status, &err, what);
    end_faults();
    size_t count = each_file(writing->target, refuse_unfinished);
    if (status == GPUTIME_OK && count != writing->wanted_files)
        fail_msg("%s: %zu files instead of %zu", what, count, writing->wanted_files);
    each_file(writing->target, remove_file);
    rmdir(writing->target);
}

static void test_writing_folder(void **state) {
    (void)state;
    static const char *const few[] = {"kernels", "accounting"};
    struct writing writing = {.options = GPUTIME_WRITE_OPTIONS_INIT,
                              .wanted_files = 3}; /* kernels, accounting and its summary */
    struct gputime_trace *trace = open_trace(json);
    struct gputime_report_options options = report_options(few, 2);
    struct gputime_report *report;
    assert_int_equal(gputime_report_new(&trace, 1, &options, &report, NULL), GPUTIME_OK);
    writing.report = report;
    snprintf(writing.target, sizeof writing.target, "%s/tables/", folder);
    torture(run_writing_folder, &writing, "folder");
    gputime_report_free(report);
    gputime_trace_free(trace);
}

/* ---- Arrow streams ---- */

/* Reads a stream to its end. A failure says why, and what was made until then can be released. */
static void drain(struct ArrowArrayStream *stream, const char *what) {
    struct ArrowSchema schema;
    struct ArrowArray array;
    int schema_error = stream->get_schema(stream, &schema), array_error = stream->get_next(stream, &array);
    if ((schema_error || array_error) && !stream->get_last_error(stream))
        fail_msg("%s: fails without a reason", what);
    if (schema_error ? schema.release != NULL : !schema.release)
        fail_msg("%s: a schema that is not there", what);
    if (!schema_error)
        schema.release(&schema);
    if (array_error ? array.release != NULL : !array.release)
        fail_msg("%s: an array that is not there", what);
    stream->release(stream);
    if (!array_error)
        array.release(&array);
}

struct streaming {
    struct gputime_trace *trace;
    const struct gputime_table *table;
};

static void run_streaming(const void *context, const char *what) {
    const struct streaming *streaming = context;
    struct ArrowArrayStream stream;
    struct gputime_error err = {0};
    enum gputime_status status = streaming->table
                                     ? gputime_table_arrow(streaming->table, &stream, &err)
                                     : gputime_trace_arrow(streaming->trace, "ops", NULL, 0, &stream, &err);
    if (status != GPUTIME_OK) {
        assert_null(stream.release);
        expect_reason(status, &err, what);
    } else {
        drain(&stream, what);
    }
    end_faults();
}

static void test_streaming(void **state) {
    (void)state;
    struct streaming streaming = {.trace = open_trace(json)};
    struct gputime_report *report = whole_report(streaming.trace, NULL);
    torture(run_streaming, &streaming, "frame");
    streaming.table = gputime_report_table(report, 0, "kernels");
    torture(run_streaming, &streaming, "table");
    gputime_report_free(report);
    gputime_trace_free(streaming.trace);
}

static void run_redacting(const void *context, const char *what) {
    const char *target = context;
    struct gputime_error err = {0};
    enum fault fault = system_state.fault;
    end_faults();
    write_file(target, "old", 3);
    system_state.fault = fault;
    enum gputime_status status = gputime_redact(small_sqlite, target, 1, NULL, &err);
    if (status != GPUTIME_OK)
        expect_reason(status, &err, what);
    end_faults();
    struct text got = read_file(target);
    if (status == GPUTIME_OK ? got.size < 512 || strcmp(got.bytes, "SQLite format 3") != 0
                             : strcmp(got.bytes, "old") != 0)
        fail_msg("%s: leaves %zu bytes", what, got.size);
    free(got.bytes);
    each_file(folder, refuse_temporary);
}

static void test_redacting(void **state) {
    (void)state;
    char target[PATH_BYTES];
    snprintf(target, sizeof target, "%s/redacted.sqlite", folder);
    torture(run_redacting, target, "redaction");
}

/* ---- the cache ---- */

static struct gputime_open_options cached(void) {
    struct gputime_open_options options = open_options(1);
    options.no_cache = 0;
    options.cache_after_ns = 1;
    return options;
}

static void run_keeping(const void *context, const char *what) {
    struct gputime_trace *const *trace = context;
    (void)what;
    gputime_trace_store_cache(*trace);
    end_faults();
    each_file(cache, refuse_temporary);
}

/* Keeping never fails loudly, and what is kept is right. */
static void test_keeping(void **state) {
    (void)state;
    struct gputime_open_options options = cached();
    struct gputime_trace *trace, *again;
    const char *path = json;
    assert_int_equal(gputime_trace_open(&path, 1, &options, NULL, &trace, NULL), GPUTIME_OK);
    struct text wanted = report_of(trace);
    torture(run_keeping, &trace, "keeping");
    assert_int_equal(each_file(cache, refuse_temporary), 1);
    assert_int_equal(gputime_trace_open(&path, 1, &options, NULL, &again, NULL), GPUTIME_OK);
    struct text got = report_of(again);
    expect_same(got, wanted, "what was kept");
    free(got.bytes);
    free(wanted.bytes);
    gputime_trace_free(again);
    gputime_trace_free(trace);
}

/* After test_keeping there is something to be found. */
static void test_reading_what_was_kept(void **state) {
    (void)state;
    assert_int_equal(each_file(cache, refuse_temporary), 1);
    torture_opening(json, cached());
    assert_int_equal(each_file(cache, refuse_temporary), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_reading, switch_faults_off),
        cmocka_unit_test_setup(test_reading_with_threads, switch_faults_off),
        cmocka_unit_test_setup(test_reading_two_at_once, switch_faults_off),
        cmocka_unit_test_setup(test_writing, switch_faults_off),
        cmocka_unit_test_setup(test_printing, switch_faults_off),
        cmocka_unit_test_setup(test_writing_folder, switch_faults_off),
        cmocka_unit_test_setup(test_streaming, switch_faults_off),
        cmocka_unit_test_setup(test_redacting, switch_faults_off),
        cmocka_unit_test_setup(test_keeping, switch_faults_off),
        cmocka_unit_test_setup(test_reading_what_was_kept, switch_faults_off),
    };
    int failed = cmocka_run_group_tests(tests, make_world, remove_world);
    print_faults();
    return failed;
}
