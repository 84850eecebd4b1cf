/* Fuzzes files of limits: the bytes are such a file, for a report and for a comparison. Each gives a verdict for every
   limit or an error that says why. */
#include "../../cli/limits.h"
#include "../../cli/make.h"
#include "../../cli/terminal.h"
#include "run_report.h"

enum { LONGEST = 1 << 14 };

static const char *const analyses[] = {"overview", "accounting", "steps", "measures", "categories",
                                       "kernels",  "memory",     "gaps",  "ranges",   "launches"};

static struct gputime_trace *trace;

static void close_trace(void) {
    gputime_trace_free(trace);
}

static void open_trace(void) {
    const char *path = "tests/data/devices.json";
    struct fuzz_options options = fuzz_options_new(NULL);
    if (fuzz_open(&path, 1, &options, &trace, NULL) != GPUTIME_OK)
        abort();
    atexit(close_trace);
}

static struct gputime_report *new_report(void) {
    struct fuzz_options options = fuzz_options_new(NULL);
    struct gputime_report *report = NULL;
    if (fuzz_analyse(trace, analyses, sizeof analyses / sizeof *analyses, &options, &report, NULL))
        abort();
    return report;
}

static void expect_reason(const struct gputime_error *err) {
    struct gputime_error shown = {.status = err->status};
    cli_terminal_text(shown.message, sizeof shown.message, err->message);
    fuzz_expect_reason(&shown);
}

static void judge(struct gputime_report *report, const struct cli_limits *limits, const char *format) {
    struct gputime_error err = {.status = GPUTIME_OK};
    struct fuzz_options options = fuzz_options_new(format);
    struct cli_verdicts verdicts = {0};
    if (cli_limits_judge(limits, report, &verdicts, &err))
        expect_reason(&err);
    else if (verdicts.count < limits->count || verdicts.broken + verdicts.noise > verdicts.count ||
             gputime_report_write(report, &options.writing, "/dev/null", &err))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[FUZZ_PATH_MAX];
    const struct cli_command *command = cli_command_find("check");
    struct cli_options options = {.limit_files = {.items = {path}, .count = 1}};
    struct cli_limits limits;
    struct gputime_error err = {.status = GPUTIME_OK};
    if (size > LONGEST)
        return 0;
    if (!trace)
        open_trace();
    int fd = fuzz_file(data, size, path);
    if (cli_limits_init(&limits, command, &options, (struct cli_words){0}, &err)) {
        expect_reason(&err);
    } else {
        struct gputime_report *a = new_report(), *b = new_report(), *changes = NULL;
        if (gputime_report_diff(a, b, NULL, &changes, NULL))
            abort();
        judge(changes, &limits, fuzz_format(size));
        judge(a, &limits, fuzz_format(size + 1));
        gputime_report_free(changes);
        gputime_report_free(a);
        gputime_report_free(b);
    }
    cli_limits_release(&limits);
    close(fd);
    return 0;
}
