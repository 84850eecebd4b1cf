/* Fuzzes files of rules: the bytes are rules, a class map and a map of phases, one after the other. Each is an error
   that says why, or gives every op of a tiny trace a category. */
#include <string.h>

#include "run_report.h"

enum { LONGEST = 1 << 16 };

static const char trace_text[] =
    "{\"traceEvents\":["
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"void flash::flash_fwd_kernel<int>(int)\",\"pid\":0,\"tid\":7,\"ts\":1,"
    "\"dur\":5,\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nvjet_gemm\",\"pid\":0,\"tid\":7,\"ts\":4,\"dur\":9,"
    "\"args\":{\"device\":1,\"stream\":7,\"correlation\":2}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclAllReduce\",\"pid\":0,\"tid\":7,\"ts\":20,\"dur\":5,"
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":3}},"
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy DtoH\",\"pid\":0,\"tid\":7,\"ts\":30,\"dur\":5,"
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":4,\"bytes\":64}},"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"prefill\",\"pid\":9,\"tid\":9,\"ts\":0,\"dur\":9,\"args\":{}}"
    ","
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":9,\"ts\":1,\"dur\":1,"
    "\"args\":{\"correlation\":1}}]}";

/* The categories of the graph hold every op once, whatever the rules say. */
static void check_instances(const struct gputime_report *report) {
    int64_t instances = 0;
    const struct gputime_table *graph = gputime_report_table(report, 0, "graph");
    size_t column = gputime_table_find_column(graph, "instances");
    for (size_t row = 0; row < gputime_table_row_count(graph); row++)
        instances += gputime_table_int(graph, row, column);
    if (instances != 4 + 1) /* and the non-GPU time */
        abort();
}

static void run(const char *trace_path, const struct fuzz_options *options) {
    static const char *const analyses[] = {"graph", "kernels", "categories", "phases"};
    struct gputime_trace *trace = NULL;
    struct gputime_report *report = NULL;
    struct gputime_error err = {.status = GPUTIME_OK};
    enum gputime_status status = fuzz_open(&trace_path, 1, options, &trace, &err);
    if (status == GPUTIME_OK)
        status = fuzz_analyse(trace, analyses, sizeof analyses / sizeof *analyses, options, &report, &err);
    if (status == GPUTIME_OK) {
        check_instances(report);
        if (gputime_report_write(report, &options->writing, "/dev/null", &err) != GPUTIME_OK)
            abort();
    } else {
        fuzz_expect_reason(&err);
    }
    gputime_report_free(report);
    gputime_trace_free(trace);
}

/* Reads the built-in engines too, which takes time: not for every input. */
static void list_rules(const char *path) {
    struct gputime_rules *rules = NULL;
    struct gputime_error err = {.status = GPUTIME_OK};
    if (gputime_rules_list(&path, 1, &rules, &err) != GPUTIME_OK)
        fuzz_expect_reason(&err);
    for (size_t i = 0; rules && i < gputime_rules_count(rules); i++) {
        struct gputime_rule rule = gputime_rules_at(rules, i);
        if (!rule.model || !rule.source || !rule.category || !rule.pattern || !rule.number)
            abort();
    }
    gputime_rules_free(rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[FUZZ_PATH_MAX], trace_path[FUZZ_PATH_MAX];
    if (size > LONGEST || (size && data[0] == 0x28)) /* zstd, whose frames may ask for gigabytes of window */
        return 0;
    int fd = fuzz_file(data, size, path);
    int trace_fd = fuzz_file(trace_text, sizeof trace_text - 1, trace_path);
    const struct fuzz_options common = fuzz_options_new(fuzz_format(size));
    struct fuzz_options by_file = common, by_model = common, by_map = common, by_phase = common;
    struct gputime_option phases = gputime_option_text("phase_map", path);
    by_file.opening.rules_path = by_model.opening.rules_path = path;
    by_model.opening.rules_engine = "vllm";
    by_model.opening.rules_model = "llama";
    by_map.opening.map_path = path;
    by_phase.report.options = &phases;
    by_phase.report.option_count = 1;
    run(trace_path, &by_file);
    run(trace_path, &by_model);
    run(trace_path, &by_map);
    run(trace_path, &by_phase);
    if (size % 16 == 0)
        list_rules(path);
    close(trace_fd);
    close(fd);
    return 0;
}
