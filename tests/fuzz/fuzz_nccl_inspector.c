/* Fuzzes the decoder of NCCL Inspector's logs and everything after it: in a window of the usual size and in one that
   holds no whole line at first, which must come to the same rows; then as any report is read, and as a job of one log.
 */
#include "decode/nccl/nccl_inspector.h"
#include "run_report.h"
#include "same_store.h"

enum { SMALL_WINDOW_BYTES = 64, USUAL_WINDOW_BYTES = 1 << 20 };

static struct gt_store *decode(const char *path, size_t window_bytes) {
    const struct gt_decode_options options = {.threads = 1, .facts = GT_FACTS_ALL};
    struct gt_source *source;
    struct gt_store *store = NULL;
    if (gt_source_open(path, &source, NULL) != GT_OK)
        return NULL;
    gt_nccl_inspector_decode_sized(source, &options, window_bytes, &store, NULL);
    gt_source_close(source);
    return store;
}

/* The same log twice: what is there once more must not be compared with itself. */
static void run_job(const char *path) {
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    options.threads = 1; /* blocks that stay (large_blocks.c) are of one thread */
    options.no_cache = 1;
    const struct gputime_input inputs[] = {{.paths = &path, .path_count = 1, .options = &options},
                                           {.paths = &path, .path_count = 1, .options = &options}};
    struct gputime_job *job = NULL;
    struct gputime_report *report = NULL;
    struct gputime_error errors[2] = {{0}}, err = {0};
    if (gputime_job_open(inputs, 2, NULL, 0, &job, errors, &err)) {
        fuzz_expect_reason(&err);
        return;
    }
    if (gputime_job_report(job, NULL, &report, &err))
        fuzz_expect_reason(&err);
    gputime_report_free(report);
    gputime_job_free(job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[FUZZ_PATH_MAX];
    int fd = fuzz_file(data, size, path);
    struct gt_store *usual = decode(path, USUAL_WINDOW_BYTES), *small = decode(path, SMALL_WINDOW_BYTES);
    fuzz_same_store(small, usual);
    gt_store_free(small);
    gt_store_free(usual);
    run_job(path);
    close(fd);
    return fuzz_report_of(data, size);
}
