/* Torture: every call to the system for memory, threads, reading or writing fails in turn, once or from then on. Each
   run must end in what it would have given anyway or in a failure that says why, with nothing leaked and no file left
   half-done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "faults.h"
#include "files.h"
#include "gputime.h"
#include "report/layouts.h"

/* ---- the world: a folder with inputs ---- */

enum { ANALYSES_MAX = 64 };

static const char small_sqlite[] = "tests/fuzz/seeds/fuzz_nsys_sqlite/small.sqlite";
static const char small_rep[] = "tests/fuzz/seeds/fuzz_nsys_rep/small.nsys-rep";
static const char small_csv[] = "tests/data/nsys-csv/mini_cuda_gpu_trace.csv";
static const char small_sums[] = "tests/data/nsys-csv/mini_cuda_gpu_kern_sum.csv";
static char folder[] = "/tmp/gputime-torture-XXXXXX";
static char json[PATH_BYTES], json_gz[PATH_BYTES], json_zst[PATH_BYTES], rep_gz[PATH_BYTES], cache[PATH_BYTES];
static const char *analyses[ANALYSES_MAX];
static size_t analysis_count;

static void write_gzip(const char *path, struct text text) {
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text.bytes, (unsigned)text.size), text.size);
    assert_int_equal(gzclose(file), Z_OK);
}

static void write_zstd(const char *path, struct text text) {
    char packed[64 * 1024];
    size_t size = ZSTD_compress(packed, sizeof packed, text.bytes, text.size, 3);
    assert_false(ZSTD_isError(size));
    write_file(path, packed, size);
}

static int make_world(void **state) {
    (void)state;
    struct timespec long_ago[2] = {{1600000000, 0}, {1600000000, 0}};
    if (!mkdtemp(folder))
        return -1;
    snprintf(json, sizeof json, "%s/trace.json", folder);
    snprintf(json_gz, sizeof json_gz, "%s/trace.json.gz", folder);
    snprintf(json_zst, sizeof json_zst, "%s/trace.json.zst", folder);
    snprintf(rep_gz, sizeof rep_gz, "%s/report.nsys-rep.gz", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("GPUTIME_CACHE", cache, 1);
    struct text text = read_file("tests/data/devices.json");
    write_file(json, text.bytes, text.size);
    utimensat(AT_FDCWD, json, long_ago, 0); /* old enough for the cache */
    write_gzip(json_gz, text);
    write_zstd(json_zst, text);
    free(text.bytes);
    text = read_file(small_rep);
    write_gzip(rep_gz, text);
    free(text.bytes);
    analysis_count = gputime_registry_count(GPUTIME_ANALYSES);
    assert_true(analysis_count <= ANALYSES_MAX);
    for (size_t i = 0; i < analysis_count; i++)
        analyses[i] = gputime_registry_entry(GPUTIME_ANALYSES, i).key;
    return 0;
}

static int remove_world(void **state) {
    (void)state;
    each_file(cache, remove_file);
    each_file(folder, remove_file);
    return rmdir(folder);
}

static struct gputime_report *whole_report(struct gputime_trace *trace, const struct gputime_options *options) {
    struct gputime_report *report;
    struct gputime_error err;
    if (gputime_report_new(&trace, 1, "torture", analyses, analysis_count, options, &report, &err) != GPUTIME_OK)
        fail_msg("%s", err.message);
    return report;
}

static struct text text_of(const struct gputime_report *report, const char *format) {
    struct gputime_options options = {.format = format, .width = 80, .color = GPUTIME_COLOR_NEVER};
    struct gputime_error err;
    char path[PATH_BYTES];
    int fd = memfd_create("report", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    if (gputime_report_write(report, &options, path, &err) != GPUTIME_OK)
        fail_msg("%s", err.message);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct text text = read_file(path);
    close(fd);
    return text;
}

/* Everything the library says of a trace. */
static struct text report_of(struct gputime_trace *trace) {
    struct gputime_options options = {0};
    struct gputime_report *report = whole_report(trace, &options);
    struct text text = text_of(report, "json");
    gputime_report_free(report);
    return text;
}

static void expect_same(struct text got, struct text wanted, const char *what) {
    if (got.size != wanted.size || memcmp(got.bytes, wanted.bytes, got.size) != 0)
        fail_msg("%s: succeeds with another result\n%.*s\ninstead of\n%.*s", what, (int)got.size, got.bytes,
                 (int)wanted.size, wanted.bytes);
}

static struct gputime_trace *open_trace(const char *path) {
    struct gputime_options options = {.no_cache = 1, .threads = 1};
    struct gputime_trace *trace;
    struct gputime_error err;
    if (gputime_trace_open(&path, 1, &options, &trace, &err) != GPUTIME_OK)
        fail_msg("%s", err.message);
    return trace;
}

/* ---- reading ---- */

struct opening {
    const char *path;
    struct gputime_options options;
    struct text wanted;
};

static void run_opening(const void *context, const char *what) {
    const struct opening *opening = context;
    struct gputime_trace *trace = NULL;
    struct gputime_error err = {0};
    enum gputime_status status = gputime_trace_open(&opening->path, 1, &opening->options, &trace, &err);
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

static void torture_opening(const char *path, struct gputime_options options) {
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
        torture_opening(paths[i],
                        (struct gputime_options){.no_cache = 1, .threads = 1, .reader = GPUTIME_READER_NATIVE});
}

static void test_reading_with_threads(void **state) {
    (void)state;
    struct gputime_options options = {.no_cache = 1, .threads = 3, .reader = GPUTIME_READER_NATIVE};
    torture_opening(small_sqlite, options);
}

/* Two at once: what cannot be read does not keep the other from being read, unless both are needed. */
struct opening_both {
    const char *paths[2];
    bool needs_all;
    struct text wanted;
};

static void run_opening_both(const void *context, const char *what) {
    const struct opening_both *both = context;
    struct gputime_options options = {.no_cache = 1, .threads = 2, .reader = GPUTIME_READER_NATIVE};
    struct gputime_input inputs[] = {{&both->paths[0], 1, options}, {&both->paths[1], 1, options}};
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

/* ---- measuring ---- */

struct measuring {
    struct gputime_trace *trace;
    bool is_twice; /* two inputs, whose tables text joins */
    const char *const *analyses;
    size_t analysis_count;
    struct gputime_options options;
    struct text wanted;
};

static enum gputime_status measure(const struct measuring *measuring, struct gputime_report **report,
                                   struct gputime_error *err) {
    struct gputime_trace *traces[] = {measuring->trace, measuring->trace};
    return gputime_report_new(traces, measuring->is_twice ? 2 : 1, "torture", measuring->analyses,
                              measuring->analysis_count, &measuring->options, report, err);
}

static void run_measuring(const void *context, const char *what) {
    const struct measuring *measuring = context;
    struct gputime_report *report = NULL;
    struct gputime_error err = {0};
    enum gputime_status status = measure(measuring, &report, &err);
    if (status != GPUTIME_OK) {
        expect_reason(status, &err, what);
        assert_null(report);
        return;
    }
    end_faults();
    struct text got = text_of(report, measuring->is_twice ? "text" : "json");
    expect_same(got, measuring->wanted, what);
    free(got.bytes);
    gputime_report_free(report);
}

static void torture_measuring(struct measuring *measuring, const char *name) {
    struct gputime_report *report;
    struct gputime_error err;
    if (measure(measuring, &report, &err) != GPUTIME_OK)
        fail_msg("%s: %s", name, err.message);
    measuring->wanted = text_of(report, measuring->is_twice ? "text" : "json");
    gputime_report_free(report);
    torture(run_measuring, measuring, name);
    free(measuring->wanted.bytes);
}

static void test_measuring(void **state) {
    (void)state;
    const char *paths[] = {json, small_sqlite, small_sums};
    for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
        struct measuring measuring = {.trace = open_trace(paths[p]), .analysis_count = 1};
        for (size_t i = 0; i < analysis_count; i++) {
            measuring.analyses = &analyses[i];
            torture_measuring(&measuring, analyses[i]);
        }
        gputime_trace_free(measuring.trace);
    }
}

static void test_joining(void **state) {
    (void)state;
    static const char *const graph = "graph";
    static const struct gputime_shape shapes[] = {{.table = "graph_runs", .joined = 1},
                                                  {.table = "graph", .pivot = "category,elapsed_ns"}};
    struct measuring measuring = {.trace = open_trace(json), .is_twice = true, .analyses = &graph, .analysis_count = 1};
    measuring.options.shapes = shapes;
    measuring.options.shape_count = 2;
    measuring.options.heading = "two";
    torture_measuring(&measuring, "two inputs");
    gputime_trace_free(measuring.trace);
}

static void run_listing(const void *context, const char *what) {
    struct gputime_rules *rules = NULL;
    struct gputime_error err = {0};
    struct gputime_options options = {.rule_files = context, .rule_file_count = 1};
    enum gputime_status status = gputime_rules_list(&options, &rules, &err);
    if (status != GPUTIME_OK) {
        expect_reason(status, &err, what);
        assert_null(rules);
        return;
    }
    end_faults();
    assert_true(gputime_rules_count(rules) > 300);
    gputime_rules_free(rules);
}

static void run_checking(const void *context, const char *what) {
    struct gputime_error err = {0};
    struct gputime_options options = {.rules = "vllm,llama", .rule_files = context, .rule_file_count = 1};
    enum gputime_status status = gputime_options_check(&options, &err);
    if (status != GPUTIME_OK)
        expect_reason(status, &err, what);
}

static void test_rules(void **state) {
    (void)state;
    static const char *const file = "tests/fuzz/seeds/fuzz_rules/engine.json";
    torture(run_checking, &file, "rules");
    torture(run_listing, &file, "a list of rules");
}

/* A class map, and the ranges of a tag. */
static void test_class_statistics(void **state) {
    (void)state;
    static const struct gputime_class classes[] = {{"gemm", "Gemm"}, {"gemm_x", "X"}, {"e", "E"}};
    static const char *const statistics = "class_stats";
    struct gputime_options options = {.no_cache = 1, .threads = 1, .classes = classes, .class_count = 3};
    const struct {
        const char *path, *tag;
    } cases[] = {{small_sqlite, "decode"},
                 {"tests/data/nsys-csv/mini_nvtx_gpu_proj_trace.csv", "NCCL:ncclAllReduce"},
                 {"tests/data/nsys-csv/mini_nvtx_gpu_proj_sum.csv", ":step"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct measuring measuring = {.analyses = &statistics, .analysis_count = 1};
        measuring.options.nvtx_tag = cases[i].tag;
        assert_int_equal(gputime_trace_open(&cases[i].path, 1, &options, &measuring.trace, NULL), GPUTIME_OK);
        torture_measuring(&measuring, cases[i].path);
        gputime_trace_free(measuring.trace);
    }
}

/* ---- comparing ---- */

static const char *const tortured_limits[] = {"busy>+0%", "kernel:*>+5%", "utilisation<-1%"};

struct comparing {
    const struct gputime_report *a, *b;
    struct text wanted;
};

static enum gputime_status compare(const struct comparing *comparing, struct gputime_report **report,
                                   struct gputime_error *err) {
    size_t broken;
    enum gputime_status status = gputime_report_diff(comparing->a, comparing->b, NULL, NULL, report, err);
    if (status == GPUTIME_OK)
        status = gputime_report_check(*report, tortured_limits, 3, &broken, err);
    return status;
}

static void run_comparing(const void *context, const char *what) {
    const struct comparing *comparing = context;
    struct gputime_report *report = NULL;
    struct gputime_error err = {0};
    enum gputime_status status = compare(comparing, &report, &err);
    if (status != GPUTIME_OK) {
        expect_reason(status, &err, what);
    } else {
        end_faults();
        struct text got = text_of(report, "json");
        expect_same(got, comparing->wanted, what);
        free(got.bytes);
    }
    gputime_report_free(report);
}

static void test_comparing(void **state) {
    (void)state;
    struct gputime_trace *a = open_trace(json), *b = open_trace(small_sqlite);
    struct gputime_options options = {0};
    struct gputime_report *of_a = whole_report(a, &options), *of_b = whole_report(b, &options), *report;
    struct comparing comparing = {.a = of_a, .b = of_b};
    struct gputime_error err = {0};
    if (compare(&comparing, &report, &err) != GPUTIME_OK)
        fail_msg("%s", err.message);
    comparing.wanted = text_of(report, "json");
    gputime_report_free(report);
    torture(run_comparing, &comparing, "a comparison");
    free(comparing.wanted.bytes);
    gputime_report_free(of_a);
    gputime_report_free(of_b);
    gputime_trace_free(a);
    gputime_trace_free(b);
}

/* Both sides at once, on a thread each. */
static const char *const side_analyses[] = {"overview", "kernels"};

struct making_sides {
    struct gputime_trace *traces[2];
    struct text wanted;
};

static void run_making_sides(const void *context, const char *what) {
    const struct making_sides *making = context;
    struct gputime_options options = {.threads = 2};
    struct gputime_report *sides[2];
    struct gputime_error err = {0};
    enum gputime_status status =
        gputime_report_new_sides(making->traces, 2, 1, "torture", side_analyses, 2, &options, sides, &err);
    if (status != GPUTIME_OK) {
        expect_reason(status, &err, what);
        assert_true(!sides[0] && !sides[1]);
        return;
    }
    end_faults();
    for (size_t i = 0; i < 2; i++) {
        struct text got = text_of(sides[i], "json");
        expect_same(got, making->wanted, what);
        free(got.bytes);
        gputime_report_free(sides[i]);
    }
}

static void test_making_sides(void **state) {
    (void)state;
    struct making_sides making = {.traces = {open_trace(small_sqlite), open_trace(small_sqlite)}};
    struct gputime_report *report;
    assert_int_equal(gputime_report_new(making.traces, 1, "torture", side_analyses, 2, NULL, &report, NULL),
                     GPUTIME_OK);
    making.wanted = text_of(report, "json");
    gputime_report_free(report);
    torture(run_making_sides, &making, "two sides");
    free(making.wanted.bytes);
    gputime_trace_free(making.traces[0]);
    gputime_trace_free(making.traces[1]);
}

static void run_configuring(const void *context, const char *what) {
    struct gputime_config *config = NULL;
    struct gputime_error err = {0};
    enum gputime_status status = gputime_config_open(context, &config, &err);
    if (status != GPUTIME_OK) {
        expect_reason(status, &err, what);
        assert_null(config);
        return;
    }
    end_faults();
    assert_int_equal(gputime_config_input_count(config), 1);
    assert_int_equal(gputime_config_input(config, 0, NULL).path_count, 3);
    gputime_config_free(config);
}

static void test_configuring(void **state) {
    (void)state;
    torture(run_configuring, "tests/data/stats/readme_llama2/config.json", "a configuration");
}

static void test_selecting_and_shaping(void **state) {
    (void)state;
    static const char *const kernels = "kernels";
    const struct gputime_shape shape = {.table = "kernels", .sort = "avg_ns", .limit = 1, .columns = "name,count"};
    struct measuring measuring = {.trace = open_trace(json),
                                  .analyses = &kernels,
                                  .analysis_count = 1,
                                  .options = {.from = "1%",
                                              .to = "99%",
                                              .device = "0",
                                              .stream = "0-1000",
                                              .process = "0-100000",
                                              .step = "0-1000",
                                              .name = "re:[a-z]",
                                              .category = "compute,memory",
                                              .names = GPUTIME_NAMES_SHORT,
                                              .shapes = &shape,
                                              .shape_count = 1}};
    torture_measuring(&measuring, "selection");
    gputime_trace_free(measuring.trace);
}

/* ---- writing ---- */

struct writing {
    const struct gputime_report *report;
    struct gputime_options options;
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
    struct writing writing = {.options = {.main_table = "kernels", .width = 80}};
    struct gputime_trace *trace = open_trace(json);
    struct gputime_report *report = whole_report(trace, &writing.options);
    writing.report = report;
    for (size_t i = 0; i < gputime_registry_count(GPUTIME_OUTPUTS); i++)
        if (!gputime_registry_entry(GPUTIME_OUTPUTS, i).is_missing)
            torture_writing(&writing, gputime_registry_entry(GPUTIME_OUTPUTS, i).key);
    for (size_t i = 0; i < gt_layout_count; i++)
        torture_writing(&writing, gt_layouts[i].key);
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
    struct writing writing = {.options = {.format = "csv"},
                              .wanted_files = 3}; /* kernels, accounting and its summary */
    struct gputime_trace *trace = open_trace(json);
    struct gputime_report *report;
    assert_int_equal(gputime_report_new(&trace, 1, "torture", few, 2, &writing.options, &report, NULL), GPUTIME_OK);
    writing.report = report;
    snprintf(writing.target, sizeof writing.target, "%s/tables/", folder);
    torture(run_writing_folder, &writing, "folder");
    gputime_report_free(report);
    gputime_trace_free(trace);
}

static void run_redacting(const void *context, const char *what) {
    const char *target = context;
    struct gputime_error err = {0};
    enum fault fault = system_state.fault;
    end_faults();
    write_file(target, "old", 3);
    system_state.fault = fault;
    enum gputime_status status = gputime_redact(small_sqlite, target, GPUTIME_NAMES_HASH, NULL, &err);
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

static struct gputime_options cached(void) {
    return (struct gputime_options){.threads = 1, .cache_after = "0ns"};
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
    struct gputime_options options = cached();
    struct gputime_trace *trace, *again;
    const char *path = json;
    assert_int_equal(gputime_trace_open(&path, 1, &options, &trace, NULL), GPUTIME_OK);
    struct text wanted = report_of(trace);
    torture(run_keeping, &trace, "keeping");
    assert_int_equal(each_file(cache, refuse_temporary), 1);
    assert_int_equal(gputime_trace_open(&path, 1, &options, &again, NULL), GPUTIME_OK);
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
        cmocka_unit_test_setup(test_measuring, switch_faults_off),
        cmocka_unit_test_setup(test_joining, switch_faults_off),
        cmocka_unit_test_setup(test_comparing, switch_faults_off),
        cmocka_unit_test_setup(test_making_sides, switch_faults_off),
        cmocka_unit_test_setup(test_rules, switch_faults_off),
        cmocka_unit_test_setup(test_class_statistics, switch_faults_off),
        cmocka_unit_test_setup(test_configuring, switch_faults_off),
        cmocka_unit_test_setup(test_selecting_and_shaping, switch_faults_off),
        cmocka_unit_test_setup(test_writing, switch_faults_off),
        cmocka_unit_test_setup(test_writing_folder, switch_faults_off),
        cmocka_unit_test_setup(test_redacting, switch_faults_off),
        cmocka_unit_test_setup(test_keeping, switch_faults_off),
        cmocka_unit_test_setup(test_reading_what_was_kept, switch_faults_off),
    };
    int failed = cmocka_run_group_tests(tests, make_world, remove_world);
    tell_faults();
    return failed;
}
