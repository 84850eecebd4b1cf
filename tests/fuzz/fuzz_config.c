/* Fuzzes configurations of class statistics: the bytes are the file. It gives inputs or an error with its place; what
   it says of an input and its class map then go into a report over a table that is there. */
#include "run_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const table = "tests/data/nsys-csv/mini_cuda_gpu_kern_sum.csv";
    static const char *const statistics = "class_stats";
    char path[FUZZ_PATH_MAX];
    struct gputime_config *config = NULL;
    struct gputime_error err = {.status = GPUTIME_OK};
    if (size && data[0] == 0x28) /* zstd, whose frames may ask for gigabytes of window */
        return 0;
    int fd = fuzz_file(data, size, path);
    if (gputime_config_open(path, &config, &err) != GPUTIME_OK)
        fuzz_expect_reason(&err);
    for (size_t i = 0; config && i < gputime_config_input_count(config) && i < 4; i++) {
        struct fuzz_options options = fuzz_options_new(i % 2 ? "json" : "stats");
        struct gputime_trace *trace = NULL;
        struct gputime_report *report = NULL;
        options.run = (struct gputime_run)GPUTIME_RUN_INIT;
        gputime_config_run(config, i, &options.run);
        options.opening.map_path = gputime_config_map_path(config);
        enum gputime_status status = fuzz_open(&table, 1, &options, &trace, &err);
        if (!status)
            status = fuzz_analyse(trace, &statistics, 1, &options, &report, &err);
        if (!status)
            status = gputime_report_write(report, &options.writing, "/dev/null", &err);
        if (status)
            fuzz_expect_reason(&err);
        gputime_report_free(report);
        gputime_trace_free(trace);
    }
    gputime_config_free(config);
    close(fd);
    return 0;
}
