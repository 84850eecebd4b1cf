/* Rows that are cut into slices, one for each thread: whatever the cuts, every report is the same as with one thread.
   Linked with short_slices.c, so that small traces are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/threads.h"
#include "gputime.h"
#include "random.h"

enum { PROCESSES = 3, STEPS = 12, LAUNCHES = 20, ANALYSES_MAX = 64 };

/* ---- a trace: several processes, devices and streams, calls, ranges, operators, steps and gaps ---- */

struct trace_text {
    FILE *out;
    uint64_t random;
    unsigned correlation;
    double gpu_us[2][3]; /* when each stream is free */
};

static void put(struct trace_text *text, unsigned process, const char *category, const char *name, double start_us,
                double length_us, const char *args) {
    fprintf(
        text->out,
        ",\n{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %u, \"tid\": %u, \"ts\": %.3f, \"dur\": %.3f, "
        "\"args\": {%s}}",
        category, name, 1000 + process, 1000 + process, start_us, length_us, args);
}

static double some_us(struct trace_text *text, unsigned most) {
    return (double)random_between(&text->random, 1, 1000 * (int64_t)most) / 1000;
}

/* A call and the kernel or copy that it launches; gives when the call ends. */
static double put_launch(struct trace_text *text, unsigned process, double at_us) {
    static const char *const kernels[] = {"gemm", "softmax", "ncclDevKernel_AllReduce", "add", "norm", "gelu"};
    unsigned device = process % 2, stream = (unsigned)random_below(&text->random, 3);
    bool is_copy = random_below(&text->random, 8) == 0;
    double call_us = some_us(text, 9), length_us = some_us(text, random_below(&text->random, 9) ? 12 : 400);
    double *free_us = &text->gpu_us[device][stream];
    char args[200];
    snprintf(args, sizeof args, "\"correlation\": %u", ++text->correlation);
    put(text, process, "cuda_runtime", is_copy ? "cudaMemcpyAsync" : "cudaLaunchKernel", at_us, call_us, args);
    *free_us = (*free_us > at_us + call_us ? *free_us : at_us + call_us) + some_us(text, 3);
    snprintf(args, sizeof args, "\"device\": %u, \"stream\": %u, \"correlation\": %u, \"bytes\": %u", device,
             7 + stream, text->correlation, random_below(&text->random, 2) ? 4096u : 64u << 20);
    put(text, process, is_copy ? "gpu_memcpy" : "kernel",
        is_copy ? "Memcpy HtoD (Pageable -> Device)" : kernels[random_below(&text->random, 6)], *free_us, length_us,
        args);
    *free_us += length_us;
    return at_us + call_us;
}

static double put_step(struct trace_text *text, unsigned process, unsigned step, double at_us) {
    double begin_us = at_us, range_us = at_us;
    char name[40];
    for (unsigned i = 0; i < LAUNCHES; i++) {
        double operator_us = at_us + some_us(text, random_below(&text->random, 6) ? 5 : 300);
        at_us = put_launch(text, process, operator_us + 1) + 1;
        snprintf(name, sizeof name, "aten::op%u", i % 4);
        put(text, process, "cpu_op", name, operator_us, at_us - operator_us, "");
        if (i % 10 == 9) {
            put(text, process, "user_annotation", i == 9 ? "forward" : "backward", range_us, at_us - range_us, "");
            range_us = at_us;
        }
    }
    double wait_us = some_us(text, 200);
    char args[60];
    snprintf(args, sizeof args, "\"correlation\": %u", ++text->correlation);
    put(text, process, "cuda_runtime", "cudaDeviceSynchronize", at_us, wait_us, args);
    at_us += wait_us;
    snprintf(name, sizeof name, "ProfilerStep#%u", step);
    put(text, process, "user_annotation", name, begin_us, at_us - begin_us, "");
    return at_us + some_us(text, 30);
}

static int write_trace(uint64_t seed) {
    int file = memfd_create("trace", 0);
    struct trace_text text = {.out = fdopen(dup(file), "w"), .random = seed};
    double at_us[PROCESSES] = {0};
    assert_non_null(text.out);
    fputs("{\"traceEvents\": [{}", text.out);
    for (unsigned step = 0; step < STEPS; step++)
        for (unsigned process = 0; process < PROCESSES; process++)
            at_us[process] = put_step(&text, process, step, at_us[process]);
    fputs("\n]}\n", text.out);
    fclose(text.out);
    return file;
}

/* ---- reports ---- */

static char *text_of(const struct gputime_report *report, const char *format) {
    struct gputime_write_options options = GPUTIME_WRITE_OPTIONS_INIT;
    struct gputime_error err = {0};
    char path[64];
    int file = memfd_create("report", 0);
    options.format = format;
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    if (gputime_report_write(report, &options, path, &err) != GPUTIME_OK)
        fail_msg("%s", err.message);
    size_t size = (size_t)lseek(file, 0, SEEK_END);
    char *text = calloc(size + 1, 1);
    assert_non_null(text);
    assert_int_equal(pread(file, text, size, 0), size);
    close(file);
    return text;
}

struct texts {
    char *json, *page;
};

/* What all analyses say. */
static struct texts report_of(const char *path, int64_t threads) {
    const char *analyses[ANALYSES_MAX];
    size_t count = gputime_registry_count(GPUTIME_ANALYSES);
    assert_true(count <= ANALYSES_MAX);
    for (size_t i = 0; i < count; i++)
        analyses[i] = gputime_registry_entry(GPUTIME_ANALYSES, i).key;
    struct gputime_open_options opening = GPUTIME_OPEN_OPTIONS_INIT;
    opening.no_cache = 1;
    opening.threads = threads;
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    options.command = "test";
    options.analyses = analyses;
    options.analysis_count = count;
    options.threads = threads;
    struct gputime_trace *trace;
    struct gputime_report *report = NULL;
    struct gputime_error err = {0};
    if (gputime_trace_open(&path, 1, &opening, NULL, &trace, &err) != GPUTIME_OK ||
        gputime_report_new(&trace, 1, &options, &report, &err) != GPUTIME_OK)
        fail_msg("%s", err.message);
    struct texts texts = {text_of(report, "json"), text_of(report, "html")};
    gputime_report_free(report);
    gputime_trace_free(trace);
    return texts;
}

static void expect_same(const char *found, const char *expected, int64_t threads) {
    size_t at = 0;
    while (found[at] && found[at] == expected[at])
        at++;
    if (found[at] || expected[at]) {
        size_t from = at < 200 ? 0 : at - 200;
        fail_msg("with %lld threads:\n%.400s\ninstead of\n%.400s", (long long)threads, found + from, expected + from);
    }
}

static void is_the_same_on_any_number_of_threads(const char *path) {
    struct texts expected = report_of(path, 1);
    static const int64_t threads[] = {2, 3, 4, 7};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct texts found = report_of(path, threads[i]);
        expect_same(found.json, expected.json, threads[i]);
        expect_same(found.page, expected.page, threads[i]);
        free(found.json);
        free(found.page);
    }
    free(expected.json);
    free(expected.page);
}

static void random_traces(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        char path[64];
        int file = write_trace(seed);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        struct texts texts = report_of(path, 1);
        assert_non_null(strstr(texts.json, "\"steps\""));
        free(texts.json);
        free(texts.page);
        is_the_same_on_any_number_of_threads(path);
        close(file);
    }
}

static void samples(void **state) {
    (void)state;
    is_the_same_on_any_number_of_threads("tests/data/nsys/extras.nsys-rep");
    is_the_same_on_any_number_of_threads("tests/data/sampled.json");
}

static void small_traces_are_cut(void **state) {
    (void)state;
    assert_int_equal(gt_threads_slices(4, (size_t)PROCESSES * STEPS * LAUNCHES, 0), 4);
    assert_int_equal(gt_threads_slices(4, 40, 0), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(small_traces_are_cut), cmocka_unit_test(random_traces),
                                       cmocka_unit_test(samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
