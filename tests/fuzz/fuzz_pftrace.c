/* Fuzzes the decoder of Perfetto traces and everything after it: with every fact there is, and again with the usual
   ones; then as any report is read. What is read can be exported. */
#include "decode/proto/pftrace.h"
#include "run_report.h"

static void decode(const char *path, uint32_t facts) {
    const struct gt_decode_options options = {.threads = 1, .facts = facts};
    struct gt_source *source;
    struct gt_store *store = NULL;
    if (gt_source_open(path, &source, NULL) != GT_OK)
        return;
    gt_pftrace_decode(&source, 1, &options, &store, NULL);
    gt_store_free(store);
    gt_source_close(source);
}

static void export_again(const char *path) {
    struct gputime_open_options opening = GPUTIME_OPEN_OPTIONS_INIT;
    struct gputime_export_options options = GPUTIME_EXPORT_OPTIONS_INIT;
    struct gputime_trace *trace = NULL;
    opening.threads = options.threads = 1;
    opening.no_cache = 1;
    options.format = "perfetto";
    if (gputime_trace_open(&path, 1, &opening, NULL, &trace, NULL) == GPUTIME_OK)
        gputime_traces_export(&trace, 1, &options, "/dev/null", NULL);
    gputime_trace_free(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[FUZZ_PATH_MAX];
    int fd = fuzz_file(data, size, path);
    decode(path, GT_FACTS_ALL);
    decode(path, 0);
    export_again(path);
    close(fd);
    return fuzz_report_of(data, size);
}
