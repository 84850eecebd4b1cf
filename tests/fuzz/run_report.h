/* What all fuzz targets share: bytes come in, a file in memory or a whole run over it (trace, every analysis of the
   registry, one output format) goes out. Any bytes must end in a report or in an error that says something. */
#ifndef TESTS_FUZZ_RUN_REPORT_H
#define TESTS_FUZZ_RUN_REPORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "gputime.h"

enum { FUZZ_PATH_MAX = 64, FUZZ_ANALYSES_MAX = 96 };

/* A file in memory that holds the bytes: its descriptor, and the path to read it by. */
static inline int fuzz_file(const void *data, size_t size, char path[FUZZ_PATH_MAX]) {
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, FUZZ_PATH_MAX, "/proc/self/fd/%d", fd);
    return fd;
}

static char fuzz_named_path[FUZZ_PATH_MAX];

static inline void fuzz_remove_named_file(void) {
    unlink(fuzz_named_path);
}

/* The same file each time, with a path that others can open too, as SQLite and the cache do; it goes with the process.
 */
static inline const char *fuzz_named_file(const void *data, size_t size) {
    static int fd = -1;
    if (fd < 0) {
        snprintf(fuzz_named_path, sizeof fuzz_named_path, "%s/gputime-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        fd = mkstemp(fuzz_named_path);
        atexit(fuzz_remove_named_file);
    }
    if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    return fuzz_named_path;
}

/* What failed must say why, in one line. */
static inline void fuzz_expect_reason(const struct gputime_error *err) {
    if (!err->status || !err->message[0])
        abort();
    for (const char *c = err->message; *c; c++)
        if ((unsigned char)*c < ' ')
            abort();
}

static inline size_t fuzz_analyses(const char *analyses[FUZZ_ANALYSES_MAX]) {
    size_t count = gputime_registry_count(GPUTIME_ANALYSES);
    if (count > FUZZ_ANALYSES_MAX)
        abort();
    for (size_t i = 0; i < count; i++)
        analyses[i] = gputime_registry_entry(GPUTIME_ANALYSES, i).key;
    return count;
}

/* The file's size picks the format. */
static inline const char *fuzz_format(size_t choice) {
    return gputime_registry_entry(GPUTIME_OUTPUTS, choice % gputime_registry_count(GPUTIME_OUTPUTS)).key;
}

/* All options of a run, automatic except for these: no cache, one thread, no nsys of this machine. */
struct fuzz_options {
    struct gputime_open_options opening;
    struct gputime_run run;
    struct gputime_selection selection;
    struct gputime_report_options report;
    struct gputime_write_options writing;
};

static inline struct fuzz_options fuzz_options_new(const char *format) {
    struct fuzz_options options = {.opening = GPUTIME_OPEN_OPTIONS_INIT,
                                   .run = GPUTIME_RUN_INIT,
                                   .selection = GPUTIME_SELECTION_INIT,
                                   .report = GPUTIME_REPORT_OPTIONS_INIT,
                                   .writing = GPUTIME_WRITE_OPTIONS_INIT};
    options.opening.no_cache = 1;
    options.opening.threads = options.report.threads = options.writing.threads = 1;
    options.opening.reader = GPUTIME_READER_NATIVE;
    options.report.command = "fuzz";
    options.writing.format = format;
    return options;
}

static inline enum gputime_status fuzz_open(const char *const *paths, size_t path_count,
                                            const struct fuzz_options *options, struct gputime_trace **trace,
                                            struct gputime_error *err) {
    return gputime_trace_open(paths, path_count, &options->opening, &options->run, trace, err);
}

static inline enum gputime_status fuzz_analyse(struct gputime_trace *trace, const char *const *analyses, size_t count,
                                               const struct fuzz_options *options, struct gputime_report **report,
                                               struct gputime_error *err) {
    struct gputime_report_options asked = options->report;
    asked.selection = &options->selection;
    asked.analyses = analyses;
    asked.analysis_count = count;
    return gputime_report_new(&trace, 1, &asked, report, err);
}

/* The whole run over one capture; true if it gave a report. */
static inline int fuzz_report(const char *const *paths, size_t path_count, const struct fuzz_options *options) {
    const char *analyses[FUZZ_ANALYSES_MAX];
    size_t analysis_count = fuzz_analyses(analyses);
    struct gputime_trace *trace = NULL;
    struct gputime_report *report = NULL;
    struct gputime_error err = {.status = GPUTIME_OK};
    enum gputime_status status = fuzz_open(paths, path_count, options, &trace, &err);
    if (status == GPUTIME_OK)
        status = fuzz_analyse(trace, analyses, analysis_count, options, &report, &err);
    if (status != GPUTIME_OK)
        fuzz_expect_reason(&err);
    else if (gputime_report_write(report, &options->writing, "/dev/null", &err) != GPUTIME_OK)
        abort();
    gputime_report_free(report);
    gputime_trace_free(trace);
    return status == GPUTIME_OK;
}

/* The bytes as the one file of a capture. Reports of Nsight are never handed to an nsys of this machine. */
static inline int fuzz_report_of(const uint8_t *data, size_t size) {
    const char *path = fuzz_named_file(data, size);
    struct fuzz_options options = fuzz_options_new(fuzz_format(size));
    fuzz_report(&path, 1, &options);
    return 0;
}

#endif
