/* Torture of measuring and comparing, as in test_torture.c: every call for memory or threads fails in turn. */
#include "torture_world.h"

/* ---- measuring ---- */

struct measuring {
    struct gputime_trace *trace;
    bool is_twice; /* two inputs, whose tables text joins */
    struct gputime_report_options options;
    struct text wanted;
};

static enum gputime_status measure(const struct measuring *measuring, struct gputime_report **report,
                                   struct gputime_error *err) {
    struct gputime_trace *traces[] = {measuring->trace, measuring->trace};
    return gputime_report_new(traces, measuring->is_twice ? 2 : 1, &measuring->options, report, err);
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
        struct measuring measuring = {.trace = open_trace(paths[p])};
        for (size_t i = 0; i < analysis_count; i++) {
            measuring.options = report_options(&analyses[i], 1);
            torture_measuring(&measuring, analyses[i]);
        }
        gputime_trace_free(measuring.trace);
    }
}

/* Here the gaps are too many for the room that they were found in. */
static void test_splitting_gaps(void **state) {
    (void)state;
    static const char *const gaps[] = {"gaps"};
    struct measuring measuring = {.trace = open_trace("tests/data/late_start.json")};
    measuring.options = report_options(gaps, 1);
    torture_measuring(&measuring, "late starts");
    gputime_trace_free(measuring.trace);
}

/* Samples, kernels to solve for, and memory with steps. */
static void test_counters_and_memory(void **state) {
    (void)state;
    static const char *const keys[] = {"counters", "memory_use", "waterfall", "efficiency"};
    struct measuring measuring = {.trace = open_trace("tests/data/sampled.json")};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        measuring.options = report_options(&keys[i], 1);
        torture_measuring(&measuring, keys[i]);
    }
    static const char *const findings[] = {"findings", "finding_facts"};
    measuring.options = report_options(findings, 2);
    torture_measuring(&measuring, "findings on samples");
    gputime_trace_free(measuring.trace);
}

/* Operators with shapes, one inside another, a backward node that has its work from its forward operator, and kernels
   of which one is in a graph. */
static const char shaped[] =
    "{\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H200\", \"numSms\": 132, \"computeMajor\": 9, "
    "\"computeMinor\": 0}], \"traceEvents\": ["
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#1\", \"pid\": 1, \"tid\": 1, \"ts\": 0, "
    "\"dur\": 900},"
#define SHAPES "\"Input Dims\": [[512, 64], [64, 512]], \"Input type\": [\"float\", \"float\"]"
#define LARGE  "\"Input Dims\": [[1024, 1024], [1024, 1024]], \"Input type\": [\"float\", \"float\"]"
#define OPERATOR(name, start, length, args)                                                                            \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" name "\", \"pid\": 1, \"tid\": 1, \"ts\": " start              \
    ", \"dur\": " length ", \"args\": {" args "}},"
#define KERNEL(number, start, more)                                                                                    \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, \"tid\": 1, "              \
    "\"ts\": " start ", \"dur\": 2, \"args\": {\"correlation\": " number "}},"                                         \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": " start                  \
    "5, \"dur\": 90, \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": " number more                           \
    ", \"grid\": [4, 1, 1], \"block\": [128, 1, 1]}},"
    OPERATOR("aten::matmul", "10", "50", "\"External id\": 1, " SHAPES)
        OPERATOR("aten::mm", "12", "20", "\"External id\": 2, \"Sequence number\": 5, \"Fwd thread id\": 0, " SHAPES)
            OPERATOR("aten::add", "40", "15", "\"External id\": 3, " SHAPES)
                OPERATOR("MyBackward", "100", "50", "\"External id\": 4, \"Sequence number\": 5, \"Fwd thread id\": 1")
                    KERNEL("1", "15", "") KERNEL("2", "45", "") KERNEL("3", "58", "") KERNEL("4", "110", "")
                        KERNEL("5", "200", ", \"graph id\": 3") OPERATOR("aten::mul", "300", "20", LARGE)
                            KERNEL("6", "305", ", \"registers per thread\": 32, \"shared memory\": 0") "{}]}";

static void test_work(void **state) {
    (void)state;
    static const char *const keys[] = {"waterfall", "mfu", "roofline", "op_efficiency", "efficiency", "peaks"};
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/shaped.json", folder);
    write_file(path, shaped, sizeof shaped - 1);
    struct measuring measuring = {.trace = open_trace(path)};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        measuring.options = report_options(&keys[i], 1);
        torture_measuring(&measuring, keys[i]);
    }
    static const char *const findings[] = {"findings", "finding_facts"};
    measuring.options = report_options(findings, 2);
    torture_measuring(&measuring, "findings on roofs");
    gputime_trace_free(measuring.trace);
    unlink(path);
}

static void test_joining(void **state) {
    (void)state;
    static const char *const graph = "graph";
    static const struct gputime_shape shapes[] = {
        {.table = "graph_runs", .joined = 1}, {.table = "graph", .pivot_row = "category", .pivot_value = "elapsed_ns"}};
    struct gputime_shaping shaping = GPUTIME_SHAPING_INIT;
    struct measuring measuring = {.trace = open_trace(json), .is_twice = true, .options = report_options(&graph, 1)};
    shaping.shapes = shapes;
    shaping.shape_count = 2;
    measuring.options.shaping = &shaping;
    measuring.options.heading = "two";
    torture_measuring(&measuring, "two inputs");
    gputime_trace_free(measuring.trace);
}

static void run_listing(const void *context, const char *what) {
    struct gputime_rules *rules = NULL;
    struct gputime_error err = {0};
    enum gputime_status status = gputime_rules_list(context, 1, &rules, &err);
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
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    options.rules_engine = "vllm";
    options.rules_model = "llama";
    options.rule_paths = context;
    options.rule_path_count = 1;
    enum gputime_status status = gputime_open_options_check(&options, &err);
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
    struct gputime_open_options options = open_options(1);
    options.classes = classes;
    options.class_count = 3;
    const struct {
        const char *path, *tag;
    } cases[] = {{small_sqlite, "decode"},
                 {"tests/data/nsys-csv/mini_nvtx_gpu_proj_trace.csv", "NCCL:ncclAllReduce"},
                 {"tests/data/nsys-csv/mini_nvtx_gpu_proj_sum.csv", ":step"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct measuring measuring = {.options = report_options(&statistics, 1)};
        struct gputime_run run = GPUTIME_RUN_INIT;
        run.iteration_range = cases[i].tag;
        measuring.options.run = &run;
        assert_int_equal(gputime_trace_open(&cases[i].path, 1, &options, NULL, &measuring.trace, NULL), GPUTIME_OK);
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
    enum gputime_status status = gputime_report_diff(comparing->a, comparing->b, NULL, report, err);
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
    struct gputime_report *of_a = whole_report(a, NULL), *of_b = whole_report(b, NULL), *report;
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
    struct gputime_report_options options = report_options(side_analyses, 2);
    struct gputime_report *sides[2];
    struct gputime_error err = {0};
    options.threads = 2;
    enum gputime_status status = gputime_report_new_sides(making->traces, 2, 1, &options, sides, &err);
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
    struct gputime_report_options options = report_options(side_analyses, 2);
    struct gputime_report *sides[2];
    assert_int_equal(gputime_report_new_sides(making.traces, 2, 1, &options, sides, NULL), GPUTIME_OK);
    making.wanted = text_of(sides[0], "json");
    assert_non_null(memmem(making.wanted.bytes, making.wanted.size, "\"kernels\": {", strlen("\"kernels\": {")));
    assert_non_null(memmem(making.wanted.bytes, making.wanted.size, "\"measures\": {",
                           strlen("\"measures\": {"))); /* every comparison needs it */
    gputime_report_free(sides[0]);
    gputime_report_free(sides[1]);
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
    size_t path_count;
    assert_non_null(gputime_config_paths(config, 0, &path_count));
    assert_int_equal(path_count, 3);
    gputime_config_free(config);
}

static void test_configuring(void **state) {
    (void)state;
    torture(run_configuring, "tests/data/stats/readme_llama2/config.json", "a configuration");
}

static void test_selecting_and_shaping(void **state) {
    (void)state;
    static const char *const kernels = "kernels";
    static const char *const columns[] = {"name", "count"}, *const categories[] = {"compute", "memory"};
    const struct gputime_shape shape = {
        .table = "kernels", .sort = "avg_ns", .limit = 1, .columns = columns, .column_count = 2};
    const struct gputime_range devices = {0, 0}, numbers = {0, 100000};
    const struct gputime_option options[] = {gputime_option_choice("bins", "linear"),
                                             gputime_option_int("bin_count", 3)};
    struct gputime_shaping shaping = GPUTIME_SHAPING_INIT;
    struct gputime_selection selection = GPUTIME_SELECTION_INIT;
    struct measuring measuring = {.trace = open_trace(json), .options = report_options(&kernels, 1)};
    shaping.shapes = &shape;
    shaping.shape_count = 1;
    shaping.shown = shaping.forced = &kernels;
    shaping.shown_count = shaping.forced_count = 1;
    selection.from = (struct gputime_time){.kind = GPUTIME_TIME_SHARE, .share = 0.01};
    selection.to = (struct gputime_time){.kind = GPUTIME_TIME_SHARE, .share = 0.99};
    selection.devices = &devices;
    selection.streams = selection.processes = selection.steps = &numbers;
    selection.device_count = selection.stream_count = selection.process_count = selection.step_count = 1;
    selection.name = "re:[a-z]";
    selection.categories = categories;
    selection.category_count = 2;
    measuring.options.options = options;
    measuring.options.option_count = 2;
    measuring.options.names = GPUTIME_NAMES_SHORT;
    measuring.options.shaping = &shaping;
    measuring.options.selection = &selection;
    torture_measuring(&measuring, "selection");
    gputime_trace_free(measuring.trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_measuring, switch_faults_off),
        cmocka_unit_test_setup(test_splitting_gaps, switch_faults_off),
        cmocka_unit_test_setup(test_counters_and_memory, switch_faults_off),
        cmocka_unit_test_setup(test_work, switch_faults_off),
        cmocka_unit_test_setup(test_joining, switch_faults_off),
        cmocka_unit_test_setup(test_comparing, switch_faults_off),
        cmocka_unit_test_setup(test_making_sides, switch_faults_off),
        cmocka_unit_test_setup(test_rules, switch_faults_off),
        cmocka_unit_test_setup(test_class_statistics, switch_faults_off),
        cmocka_unit_test_setup(test_configuring, switch_faults_off),
        cmocka_unit_test_setup(test_selecting_and_shaping, switch_faults_off),
    };
    int failed = cmocka_run_group_tests(tests, make_world, remove_world);
    print_faults();
    return failed;
}
