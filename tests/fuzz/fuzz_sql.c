/* Fuzzes queries over a small trace: each gives a result within the limits that every format can write, or an error
   that says why; and facts are found for any text. */
#include "../../cli/terminal.h"
#include "run_report.h"

enum { LONGEST = 1 << 12, ROWS_MOST = 50 };

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

static void expect_reason(const struct gputime_error *err) {
    struct gputime_error shown = {.status = err->status};
    cli_terminal_text(shown.message, sizeof shown.message, err->message);
    fuzz_expect_reason(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct gputime_error err = {.status = GPUTIME_OK};
    struct gputime_sql_options options = GPUTIME_SQL_OPTIONS_INIT;
    struct gputime_report *report = NULL;
    char text[LONGEST + 1];
    if (size > LONGEST)
        return 0;
    if (!trace)
        open_trace();
    memcpy(text, data, size);
    text[size] = '\0';
    options.max_rows = ROWS_MOST;
    options.max_bytes = 1 << 16;
    options.timeout_ns = 20 * 1000 * 1000;
    if (!gputime_sql_facts(text))
        abort();
    if (gputime_sql_query(&trace, 1, text, &options, &report, &err)) {
        expect_reason(&err);
    } else {
        struct fuzz_options writing = fuzz_options_new(fuzz_format(size));
        if (gputime_table_row_count(gputime_report_table(report, 0, "rows")) > ROWS_MOST ||
            gputime_report_write(report, &writing.writing, "/dev/null", &err))
            abort();
    }
    gputime_report_free(report);
    return 0;
}
