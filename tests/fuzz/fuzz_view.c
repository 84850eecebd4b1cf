/* Fuzzes the addresses of a view of two small traces: each has an answer of JSON or the page, whatever is asked. */
#include "run_report.h"
#include "viewing.h"

enum { LONGEST = 1 << 12 };

static struct gputime_trace *traces[2];
static struct gputime_view *view;

static void close_view(void) {
    gputime_view_free(view);
    for (size_t i = 0; i < 2; i++)
        gputime_trace_free(traces[i]);
}

static void open_view(void) {
    static const char *const paths[] = {"tests/data/devices.json", "tests/data/overlap.json"};
    static const char *const analyses[] = {"kernels", "gaps"};
    struct fuzz_options options = fuzz_options_new(NULL);
    static struct gputime_report_options reporting = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_view_options viewing = GPUTIME_VIEW_OPTIONS_INIT;
    for (size_t i = 0; i < 2; i++)
        if (fuzz_open(&paths[i], 1, &options, &traces[i], NULL) != GPUTIME_OK)
            abort();
    reporting.analyses = analyses;
    reporting.analysis_count = 2;
    reporting.threads = 1;
    viewing.reporting = &reporting;
    if (gputime_view_new(traces, 2, &viewing, &view, NULL) != GPUTIME_OK)
        abort();
    atexit(close_view);
}

/* Nobody waits for long: a query that never ends is abandoned. */
static int is_gone(void *context) {
    (void)context;
    return 1;
}

static bool is_json(struct gputime_text text) {
    return text.size >= 2 && text.bytes[0] == '{' &&
           (text.bytes[text.size - 1] == '}' || text.bytes[text.size - 1] == '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char address[LONGEST + 1];
    struct gputime_answer answer;
    if (size > LONGEST)
        return 0;
    if (!view)
        open_view();
    memcpy(address, data, size);
    address[size] = '\0';
    if (gt_viewing_answer(view, address, &(struct gt_viewing_cache_asker){is_gone, NULL}, &answer, NULL) != GPUTIME_OK)
        abort();
    bool is_known = answer.status == 200 || answer.status == 400 || answer.status == 404 || answer.status == 500;
    if (!is_known || !answer.content_type || !(answer.policy ? answer.body.size > 0 : is_json(answer.body)))
        abort();
    gputime_text_free(answer.body);
    return 0;
}
