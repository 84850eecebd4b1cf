/* Torture: every call to the system for memory, threads, reading or writing fails in turn, once or from then on. Each
   run must end in what it would have given anyway or in a failure that says why, with nothing leaked and no file left
   half-done. The calls are caught by the linker (--wrap, see the Makefile), so only those of the library fail, not
   those inside of other libraries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "gputime.h"
#include "report/layouts.h"

/* ---- faults ---- */

enum fault {
    FAULT_NONE,
    FAULT_ONCE,        /* one call fails */
    FAULT_FROM_THERE,  /* that call and all behind it fail */
    FAULT_INTERRUPTED, /* no call fails for good, but reading and writing is interrupted or stops half-way */
};
static const char *const fault_names[] = {"never", "once", "from there on", "interrupted"};

static struct {
    enum fault fault;
    long place; /* of the first call that fails */
    atomic_long calls;
    atomic_bool was_hit;
    atomic_long blocks, mappings; /* that are not given back yet */
} system_state;

static bool fails(int number) {
    if (system_state.fault == FAULT_NONE || system_state.fault == FAULT_INTERRUPTED)
        return false;
    long call = atomic_fetch_add(&system_state.calls, 1);
    if (call < system_state.place || (call > system_state.place && system_state.fault == FAULT_ONCE))
        return false;
    system_state.was_hit = true;
    errno = number;
    return true;
}

/* How many bytes a call that reads or writes may move: none with an interruption, half of them, or all. */
static bool is_interrupted(size_t *size) {
    if (system_state.fault != FAULT_INTERRUPTED)
        return false;
    long turn = atomic_fetch_add(&system_state.calls, 1) % 3;
    if (turn == 1)
        *size = (*size + 1) / 2;
    errno = EINTR;
    return turn == 0;
}

static void *counted(void *block) {
    system_state.blocks += block != NULL;
    return block;
}

/* What the linker puts in the place of each function, and what it calls the function itself. */
#define WRAPPED(type, name, ...)                                                                                       \
    type __real_##name(__VA_ARGS__);                                                                                   \
    type __wrap_##name(__VA_ARGS__);                                                                                   \
    type __wrap_##name(__VA_ARGS__)

WRAPPED(void *, malloc, size_t size) {
    return fails(ENOMEM) ? NULL : counted(__real_malloc(size));
}

WRAPPED(void *, calloc, size_t count, size_t size) {
    return fails(ENOMEM) ? NULL : counted(__real_calloc(count, size));
}

WRAPPED(void *, realloc, void *block, size_t size) {
    if (fails(ENOMEM))
        return NULL;
    return block ? __real_realloc(block, size) : counted(__real_realloc(block, size));
}

WRAPPED(void, free, void *block) {
    system_state.blocks -= block != NULL;
    __real_free(block);
}

WRAPPED(void *, mmap, void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    void *pages = fails(ENOMEM) ? MAP_FAILED : __real_mmap(address, size, protection, flags, fd, offset);
    system_state.mappings += pages != MAP_FAILED;
    return pages;
}

WRAPPED(void *, mremap, void *pages, size_t old_size, size_t new_size, int flags, ...) {
    return fails(ENOMEM) ? MAP_FAILED : __real_mremap(pages, old_size, new_size, flags);
}

WRAPPED(int, munmap, void *pages, size_t size) {
    system_state.mappings--;
    return __real_munmap(pages, size);
}

WRAPPED(ssize_t, read, int fd, void *bytes, size_t size) {
    return fails(EIO) || is_interrupted(&size) ? -1 : __real_read(fd, bytes, size);
}

WRAPPED(ssize_t, pread, int fd, void *bytes, size_t size, off_t offset) {
    return fails(EIO) || is_interrupted(&size) ? -1 : __real_pread(fd, bytes, size, offset);
}

WRAPPED(ssize_t, write, int fd, const void *bytes, size_t size) {
    return fails(ENOSPC) || is_interrupted(&size) ? -1 : __real_write(fd, bytes, size);
}

WRAPPED(ssize_t, pwrite, int fd, const void *bytes, size_t size, off_t offset) {
    return fails(ENOSPC) || is_interrupted(&size) ? -1 : __real_pwrite(fd, bytes, size, offset);
}

WRAPPED(int, fsync, int fd) {
    return fails(EIO) ? -1 : __real_fsync(fd);
}

WRAPPED(int, rename, const char *from, const char *to) {
    return fails(EIO) ? -1 : __real_rename(from, to);
}

WRAPPED(int, renameat, int from_folder, const char *from, int to_folder, const char *to) {
    return fails(EIO) ? -1 : __real_renameat(from_folder, from, to_folder, to);
}

WRAPPED(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context) {
    return fails(EAGAIN) ? EAGAIN : __real_pthread_create(thread, attributes, run, context);
}

/* ---- one run ---- */

/* What must be as it was when a run is over. */
struct holdings {
    long blocks, mappings, descriptors;
};

static struct holdings holdings_now(void) {
    struct holdings now = {system_state.blocks, system_state.mappings, 0};
    for (int fd = 0; fd < 256; fd++)
        now.descriptors += fcntl(fd, F_GETFD) >= 0;
    return now;
}

static void begin_faults(enum fault fault, long place) {
    system_state.calls = 0;
    system_state.was_hit = false;
    system_state.place = place;
    system_state.fault = fault;
}

static void end_faults(void) {
    system_state.fault = FAULT_NONE;
}

/* A run on the context; what it made is judged and freed by itself. */
typedef void run_function(const void *context, const char *what);

static void torture_once(run_function *run, const void *context, const char *name, enum fault fault, long place) {
    char what[300];
    struct holdings before = holdings_now();
    snprintf(what, sizeof what, "%s, call %ld fails %s", name, place, fault_names[fault]);
    begin_faults(fault, place);
    run(context, what);
    end_faults();
    struct holdings after = holdings_now();
    if (memcmp(&before, &after, sizeof before) != 0)
        fail_msg("%s: leaks %ld blocks, %ld mappings, %ld descriptors", what, after.blocks - before.blocks,
                 after.mappings - before.mappings, after.descriptors - before.descriptors);
}

/* Until no call is left that could fail. */
static void torture(run_function *run, const void *context, const char *name) {
    torture_once(run, context, name, FAULT_NONE, 0);
    torture_once(run, context, name, FAULT_INTERRUPTED, 0);
    for (enum fault fault = FAULT_ONCE; fault <= FAULT_FROM_THERE; fault++) {
        long place = 0;
        do
            torture_once(run, context, name, fault, place++);
        while (system_state.was_hit);
        assert_true(place > 1);
    }
}

static void expect_reason(enum gputime_status status, const struct gputime_error *err, const char *what) {
    if (status != GPUTIME_FAILED || err->status != GPUTIME_FAILED || !err->message[0] || strchr(err->message, '\n'))
        fail_msg("%s: status %d, message '%s'", what, (int)status, err->message);
    if (system_state.fault == FAULT_NONE)
        fail_msg("%s: fails without a fault: %s", what, err->message);
    if (system_state.fault == FAULT_INTERRUPTED)
        fail_msg("%s: does not stand an interruption: %s", what, err->message);
}

/* ---- the world: a folder with inputs ---- */

enum { PATH_BYTES = 128, ANALYSES_MAX = 64 };

struct text {
    char *bytes;
    size_t size;
};

static const char small_sqlite[] = "tests/fuzz/seeds/fuzz_nsys_sqlite/small.sqlite";
static const char small_rep[] = "tests/fuzz/seeds/fuzz_nsys_rep/small.nsys-rep";
static const char small_csv[] = "tests/data/nsys-csv/mini_cuda_gpu_trace.csv";
static const char small_sums[] = "tests/data/nsys-csv/mini_cuda_gpu_kern_sum.csv";
static char folder[] = "/tmp/gputime-torture-XXXXXX";
static char json[PATH_BYTES], json_gz[PATH_BYTES], json_zst[PATH_BYTES], rep_gz[PATH_BYTES], cache[PATH_BYTES];
static const char *analyses[ANALYSES_MAX];
static size_t analysis_count;

static struct text read_file(const char *path) {
    struct stat info;
    struct text text = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) < 0)
        fail_msg("cannot read %s", path);
    text.size = (size_t)info.st_size;
    text.bytes = malloc(text.size + 1);
    assert_non_null(text.bytes);
    assert_int_equal(read(fd, text.bytes, text.size), text.size);
    text.bytes[text.size] = '\0';
    close(fd);
    return text;
}

static void write_file(const char *path, const char *bytes, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

static void write_gzip(const char *path, struct text text) {
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text.bytes, (unsigned)text.size), text.size);
    assert_int_equal(gzclose(file), Z_OK);
}

static void write_zstd(const char *path, struct text text) {
    char packed[64 * 1024];
    size_t size = ZSTD_compress(packed, sizeof packed, text.bytes, text.size, 3);
    assert_false(ZSTD_isError(size));
    write_file(path, packed, size);
}

static int make_world(void **state) {
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

/* Calls visit for every file of a folder. */
static size_t each_file(const char *path, void (*visit)(const char *path, const char *name)) {
    size_t count = 0;
    char file[PATH_BYTES + 256];
    DIR *listing = opendir(path);
    for (struct dirent *item; listing && (item = readdir(listing));) {
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
            continue;
        snprintf(file, sizeof file, "%s/%s", path, item->d_name);
        visit(file, item->d_name);
        count++;
    }
    if (listing)
        closedir(listing);
    return count;
}

static void remove_file(const char *path, const char *name) {
    (void)name;
    remove(path);
}

static int remove_world(void **state) {
    (void)state;
    each_file(cache, remove_file);
    each_file(folder, remove_file);
    return rmdir(folder);
}

static struct gputime_report *whole_report(struct gputime_trace *trace, const struct gputime_options *options) {
    struct gputime_report *report;
    struct gputime_error err;
    if (gputime_report_new(&trace, 1, "torture", analyses, analysis_count, options, &report, &err) != GPUTIME_OK)
        fail_msg("%s", err.message);
    return report;
}

/* The JSON of a report. */
static struct text json_of(const struct gputime_report *report) {
    struct gputime_options options = {.format = "json"};
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
static struct text report_of(struct gputime_trace *trace) {
    struct gputime_options options = {0};
    struct gputime_report *report = whole_report(trace, &options);
    struct text text = json_of(report);
    gputime_report_free(report);
    return text;
}

static void expect_same(struct text got, struct text wanted, const char *what) {
    if (got.size != wanted.size || memcmp(got.bytes, wanted.bytes, got.size) != 0)
        fail_msg("%s: succeeds with another result\n%.*s\ninstead of\n%.*s", what, (int)got.size, got.bytes,
                 (int)wanted.size, wanted.bytes);
}

/* A test that failed may have left them on. */
static int switch_faults_off(void **state) {
    (void)state;
    end_faults();
    return 0;
}

static struct gputime_trace *open_trace(const char *path) {
    struct gputime_options options = {.no_cache = 1, .threads = 1};
    struct gputime_trace *trace;
    struct gputime_error err;
    if (gputime_trace_open(&path, 1, &options, &trace, &err) != GPUTIME_OK)
        fail_msg("%s", err.message);
    return trace;
}

/* ---- reading ---- */

struct opening {
    const char *path;
    struct gputime_options options;
    struct text wanted;
};

static void run_opening(const void *context, const char *what) {
    const struct opening *opening = context;
    struct gputime_trace *trace = NULL;
    struct gputime_error err = {0};
    enum gputime_status status = gputime_trace_open(&opening->path, 1, &opening->options, &trace, &err);
    if (status != GPUTIME_OK) {
        expect_reason(status, &err, what);
        assert_null(trace);
        return;
    }
    end_faults();
    struct text got = report_of(trace);
    expect_same(got, opening->wanted, what);
    free(got.bytes);
    gputime_trace_free(trace);
}

static void torture_opening(const char *path, struct gputime_options options) {
    struct gputime_trace *trace = open_trace(path);
    struct opening opening = {path, options, report_of(trace)};
    gputime_trace_free(trace);
    torture(run_opening, &opening, path);
    free(opening.wanted.bytes);
}

static void test_reading(void **state) {
    (void)state;
    const char *paths[] = {
        json,   json_gz,   json_zst,  "tests/data/hostile.json", "tests/data/cut.json", small_sqlite, small_rep,
        rep_gz, small_csv, small_sums};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        torture_opening(paths[i],
                        (struct gputime_options){.no_cache = 1, .threads = 1, .reader = GPUTIME_READER_NATIVE});
}

static void test_reading_with_threads(void **state) {
    (void)state;
    struct gputime_options options = {.no_cache = 1, .threads = 3, .reader = GPUTIME_READER_NATIVE};
    torture_opening(small_sqlite, options);
}

/* ---- measuring ---- */

struct measuring {
    struct gputime_trace *trace;
    const char *const *analyses;
    size_t analysis_count;
    struct gputime_options options;
    struct text wanted;
};

static void run_measuring(const void *context, const char *what) {
    const struct measuring *measuring = context;
    struct gputime_trace *trace = measuring->trace;
    struct gputime_report *report = NULL;
    struct gputime_error err = {0};
    enum gputime_status status = gputime_report_new(&trace, 1, "torture", measuring->analyses,
                                                    measuring->analysis_count, &measuring->options, &report, &err);
    if (status != GPUTIME_OK) {
        expect_reason(status, &err, what);
        assert_null(report);
        return;
    }
    end_faults();
    struct text got = json_of(report);
    expect_same(got, measuring->wanted, what);
    free(got.bytes);
    gputime_report_free(report);
}

static void torture_measuring(struct measuring *measuring, const char *name) {
    struct gputime_report *report;
    struct gputime_error err;
    if (gputime_report_new(&measuring->trace, 1, "torture", measuring->analyses, measuring->analysis_count,
                           &measuring->options, &report, &err) != GPUTIME_OK)
        fail_msg("%s: %s", name, err.message);
    measuring->wanted = json_of(report);
    gputime_report_free(report);
    torture(run_measuring, measuring, name);
    free(measuring->wanted.bytes);
}

static void test_measuring(void **state) {
    (void)state;
    const char *paths[] = {json, small_sqlite, small_sums};
    for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
        struct measuring measuring = {.trace = open_trace(paths[p]), .analysis_count = 1};
        for (size_t i = 0; i < analysis_count; i++) {
            measuring.analyses = &analyses[i];
            torture_measuring(&measuring, analyses[i]);
        }
        gputime_trace_free(measuring.trace);
    }
}

static void test_selecting_and_shaping(void **state) {
    (void)state;
    static const char *const kernels = "kernels";
    const struct gputime_shape shape = {.table = "kernels", .sort = "avg_ns", .limit = 1, .columns = "name,count"};
    struct measuring measuring = {.trace = open_trace(json),
                                  .analyses = &kernels,
                                  .analysis_count = 1,
                                  .options = {.from = "1%",
                                              .to = "99%",
                                              .device = "0",
                                              .stream = "0-1000",
                                              .process = "0-100000",
                                              .step = "0-1000",
                                              .name = "re:[a-z]",
                                              .category = "compute,memory",
                                              .names = GPUTIME_NAMES_SHORT,
                                              .shapes = &shape,
                                              .shape_count = 1}};
    torture_measuring(&measuring, "selection");
    gputime_trace_free(measuring.trace);
}

/* ---- writing ---- */

struct writing {
    const struct gputime_report *report;
    struct gputime_options options;
    char target[PATH_BYTES];
    struct text wanted;  /* of a file */
    size_t wanted_files; /* in a folder */
};

static void refuse_temporary(const char *path, const char *name) {
    if (strstr(name, "tmp"))
        fail_msg("%s is left behind", path);
}

/* The file that was there stays as it is, unless the new one is whole. */
static void run_writing(const void *context, const char *what) {
    const struct writing *writing = context;
    struct gputime_error err = {0};
    enum fault fault = system_state.fault;
    end_faults();
    write_file(writing->target, "old", 3);
    system_state.fault = fault;
    enum gputime_status status = gputime_report_write(writing->report, &writing->options, writing->target, &err);
    if (status != GPUTIME_OK)
        expect_reason(status, &err, what);
    end_faults();
    struct text got = read_file(writing->target);
    expect_same(got, status == GPUTIME_OK ? writing->wanted : (struct text){(char[]){"old"}, 3}, what);
    free(got.bytes);
    each_file(folder, refuse_temporary);
}

static void torture_writing(struct writing *writing, const char *format) {
    struct gputime_error err;
    snprintf(writing->target, sizeof writing->target, "%s/out", folder);
    writing->options.format = format;
    if (gputime_report_write(writing->report, &writing->options, writing->target, &err) != GPUTIME_OK)
        fail_msg("%s: %s", format, err.message);
    writing->wanted = read_file(writing->target);
    torture(run_writing, writing, format);
    free(writing->wanted.bytes);
}

static void test_writing(void **state) {
    (void)state;
    struct writing writing = {.options = {.main_table = "kernels", .width = 80}};
    struct gputime_trace *trace = open_trace(json);
    struct gputime_report *report = whole_report(trace, &writing.options);
    writing.report = report;
    for (size_t i = 0; i < gputime_registry_count(GPUTIME_OUTPUTS); i++)
        torture_writing(&writing, gputime_registry_entry(GPUTIME_OUTPUTS, i).key);
    for (size_t i = 0; i < gt_layout_count; i++)
        torture_writing(&writing, gt_layouts[i].key);
    gputime_report_free(report);
    gputime_trace_free(trace);
}

/* A folder of tables may be left unfinished, but none of its files is. */
static void refuse_unfinished(const char *path, const char *name) {
    refuse_temporary(path, name);
    struct text text = read_file(path);
    if (text.size == 0 || text.bytes[text.size - 1] != '\n')
        fail_msg("%s is not whole", path);
    free(text.bytes);
}

static void run_writing_folder(const void *context, const char *what) {
    const struct writing *writing = context;
    struct gputime_error err = {0};
    enum gputime_status status = gputime_report_write(writing->report, &writing->options, writing->target, &err);
    if (status != GPUTIME_OK)
        expect_reason(status, &err, what);
    end_faults();
    size_t count = each_file(writing->target, refuse_unfinished);
    if (status == GPUTIME_OK && count != writing->wanted_files)
        fail_msg("%s: %zu files instead of %zu", what, count, writing->wanted_files);
    each_file(writing->target, remove_file);
    rmdir(writing->target);
}

static void test_writing_folder(void **state) {
    (void)state;
    static const char *const few[] = {"kernels", "accounting"};
    struct writing writing = {.options = {.format = "csv"},
                              .wanted_files = 3}; /* kernels, accounting and its summary */
    struct gputime_trace *trace = open_trace(json);
    struct gputime_report *report;
    assert_int_equal(gputime_report_new(&trace, 1, "torture", few, 2, &writing.options, &report, NULL), GPUTIME_OK);
    writing.report = report;
    snprintf(writing.target, sizeof writing.target, "%s/tables/", folder);
    torture(run_writing_folder, &writing, "folder");
    gputime_report_free(report);
    gputime_trace_free(trace);
}

/* ---- the cache ---- */

static struct gputime_options cached(void) {
    return (struct gputime_options){.threads = 1, .cache_after = "0ns"};
}

static void run_keeping(const void *context, const char *what) {
    struct gputime_trace *const *trace = context;
    (void)what;
    gputime_trace_store_cache(*trace);
    end_faults();
    each_file(cache, refuse_temporary);
}

/* Keeping never fails loudly, and what is kept is right. */
static void test_keeping(void **state) {
    (void)state;
    struct gputime_options options = cached();
    struct gputime_trace *trace, *again;
    const char *path = json;
    assert_int_equal(gputime_trace_open(&path, 1, &options, &trace, NULL), GPUTIME_OK);
    struct text wanted = report_of(trace);
    torture(run_keeping, &trace, "keeping");
    assert_int_equal(each_file(cache, refuse_temporary), 1);
    assert_int_equal(gputime_trace_open(&path, 1, &options, &again, NULL), GPUTIME_OK);
    struct text got = report_of(again);
    expect_same(got, wanted, "what was kept");
    free(got.bytes);
    free(wanted.bytes);
    gputime_trace_free(again);
    gputime_trace_free(trace);
}

/* After test_keeping there is something to be found. */
static void test_reading_what_was_kept(void **state) {
    (void)state;
    assert_int_equal(each_file(cache, refuse_temporary), 1);
    torture_opening(json, cached());
    assert_int_equal(each_file(cache, refuse_temporary), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_reading, switch_faults_off),
        cmocka_unit_test_setup(test_reading_with_threads, switch_faults_off),
        cmocka_unit_test_setup(test_measuring, switch_faults_off),
        cmocka_unit_test_setup(test_selecting_and_shaping, switch_faults_off),
        cmocka_unit_test_setup(test_writing, switch_faults_off),
        cmocka_unit_test_setup(test_writing_folder, switch_faults_off),
        cmocka_unit_test_setup(test_keeping, switch_faults_off),
        cmocka_unit_test_setup(test_reading_what_was_kept, switch_faults_off),
    };
    return cmocka_run_group_tests(tests, make_world, remove_world);
}
