/* Inputs for the torture of the library, and what it says of them when no call fails. */
#ifndef TESTS_UNIT_TORTURE_WORLD_H
#define TESTS_UNIT_TORTURE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "faults.h"
#include "files.h"
#include "gputime.h"

enum { ANALYSES_MAX = 64 };

static const char small_sqlite[] = "tests/fuzz/seeds/fuzz_nsys_sqlite/small.sqlite";
static const char small_rep[] = "tests/fuzz/seeds/fuzz_nsys_rep/small.nsys-rep";
static const char small_csv[] = "tests/data/nsys-csv/mini_cuda_gpu_trace.csv";
static const char small_sums[] = "tests/data/nsys-csv/mini_cuda_gpu_kern_sum.csv";
static char folder[] = "/tmp/gputime-torture-XXXXXX";
static char json[PATH_BYTES], json_gz[PATH_BYTES], json_zst[PATH_BYTES], rep_gz[PATH_BYTES], cache[PATH_BYTES];
static const char *analyses[ANALYSES_MAX];
static size_t analysis_count;

static inline void write_gzip(const char *path, struct text text) {
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text.bytes, (unsigned)text.size), text.size);
    assert_int_equal(gzclose(file), Z_OK);
}

static inline void write_zstd(const char *path, struct text text) {
    char packed[64 * 1024];
    size_t size = ZSTD_compress(packed, sizeof packed, text.bytes, text.size, 3);
    assert_false(ZSTD_isError(size));
    write_file(path, packed, size);
}

static inline int make_world(void **state) {
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

static inline int remove_world(void **state) {
    (void)state;
    each_file(cache, remove_file);
    each_file(folder, remove_file);
    return rmdir(folder);
}

/* The report of these analyses, and of nothing else. */
static inline struct gputime_report_options report_options(const char *const *keys, size_t count) {
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    options.command = "torture";
    options.analyses = keys;
    options.analysis_count = count;
    return options;
}

static inline struct gputime_report *whole_report(struct gputime_trace *trace, const struct gputime_shaping *shaping) {
    struct gputime_report_options options = report_options(analyses, analysis_count);
    struct gputime_report *report;
    struct gputime_error err;
    options.shaping = shaping;
    if (gputime_report_new(&trace, 1, &options, &report, &err) != GPUTIME_OK)
        fail_msg("%s", err.message);
    return report;
}

static inline struct text text_of(const struct gputime_report *report, const char *format) {
    struct gputime_write_options options = GPUTIME_WRITE_OPTIONS_INIT;
    options.format = format;
    options.width = 80;
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
static inline struct text report_of(struct gputime_trace *trace) {
    struct gputime_report *report = whole_report(trace, NULL);
    struct text text = text_of(report, "json");
    gputime_report_free(report);
    return text;
}

static inline void expect_same(struct text got, struct text wanted, const char *what) {
    if (got.size != wanted.size || memcmp(got.bytes, wanted.bytes, got.size) != 0)
        fail_msg("%s: succeeds with another result\n%.*s\ninstead of\n%.*s", what, (int)got.size, got.bytes,
                 (int)wanted.size, wanted.bytes);
}

static inline struct gputime_open_options open_options(int64_t threads) {
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    options.no_cache = 1;
    options.threads = threads;
    return options;
}

static inline struct gputime_trace *open_trace(const char *path) {
    struct gputime_open_options options = open_options(1);
    struct gputime_trace *trace;
    struct gputime_error err;
    if (gputime_trace_open(&path, 1, &options, NULL, &trace, &err) != GPUTIME_OK)
        fail_msg("%s", err.message);
    return trace;
}

#endif
