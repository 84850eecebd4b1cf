/* Tables of `nsys stats` for tests: decoded from text, and a store as text to compare. */
#ifndef TESTS_UNIT_CSV_WORLD_H
#define TESTS_UNIT_CSV_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decode/csv/nsys_csv.h"

enum { FILES_MAX = 4 };

static const struct gt_csv_sizes tiny_sizes = {3, 4096};

/* ---- a store as text ---- */

static inline const char *text_of(const struct gt_store *store, gt_strid id) {
    return gt_store_string(store, id).ptr;
}

static inline void print_ops(FILE *out, const struct gt_store *store) {
    static const char *const kinds[] = {"kernel", "memcpy", "memset", "graph"};
    const struct gt_ops *ops = &store->ops;
    size_t copy = 0;
    for (size_t i = 0; i < ops->count; i++) {
        uint32_t lane = ops->lane[i], device = store->lanes.device[lane];
        fprintf(out, "%s %" PRId64 "+%" PRId64 " '%s' gpu %" PRId64 " '%s' stream %" PRId64, kinds[ops->kind[i]],
                ops->start_ns[i], ops->end_ns[i] - ops->start_ns[i], text_of(store, ops->name[i]),
                store->devices.id[device], text_of(store, store->devices.name[device]), store->lanes.stream[lane]);
        assert_int_equal(store->lanes.process[lane], GT_NO_TRACK);
        if (ops->correlation[i] != GT_NO_CORRELATION)
            fprintf(out, " #%" PRIu64, ops->correlation[i]);
        if (copy < store->copies.count && store->copies.op[copy] == i) {
            fprintf(out, " %" PRIu64 " bytes %d>%d", store->copies.bytes[copy], store->copies.src[copy],
                    store->copies.dst[copy]);
            copy++;
        }
        fputc('\n', out);
    }
    assert_int_equal(copy, store->copies.count);
}

static inline void print_groups(FILE *out, const struct gt_store *store) {
    static const char *const kinds[] = {"kernel", "memcpy", "memset", "graph"};
    const struct gt_groups *groups = &store->groups;
    for (size_t i = 0; i < groups->count; i++)
        fprintf(out, "group %s '%s' %" PRIu64 "x %" PRId64 " [%" PRId64 ", %" PRId64 "] median %.10g stddev %.10g\n",
                kinds[groups->kind[i]], text_of(store, groups->name[i]), groups->instances[i], groups->total_ns[i],
                groups->min_ns[i], groups->max_ns[i], groups->median_ns[i], groups->stddev_ns[i]);
}

static inline void print_thread(FILE *out, const struct gt_store *store, uint32_t thread) {
    if (thread == GT_NO_TRACK)
        fprintf(out, "thread ?");
    else
        fprintf(out, "thread %" PRId64 "/%" PRId64, store->processes.pid[store->threads.process[thread]],
                store->threads.tid[thread]);
}

static inline void print_ranges(FILE *out, const struct gt_store *store) {
    const struct gt_projections *ranges = &store->projections;
    for (size_t i = 0; i < ranges->count; i++) {
        fprintf(out, "range '%s':'%s' %" PRId64 "+%" PRId64, text_of(store, ranges->domain[i]),
                text_of(store, ranges->name[i]), ranges->start_ns[i], ranges->end_ns[i] - ranges->start_ns[i]);
        if (ranges->range_start_ns[i] != GT_NO_TIME)
            fprintf(out, " of %" PRId64 "+%" PRId64, ranges->range_start_ns[i],
                    ranges->range_end_ns[i] - ranges->range_start_ns[i]);
        fputc(' ', out);
        print_thread(out, store, ranges->thread[i]);
        fprintf(out, " %" PRIu32 " ops level %d%s\n", ranges->ops[i], ranges->level[i],
                ranges->kind[i] == GT_RANGE_START_END ? " start/end" : "");
    }
    const struct gt_projection_groups *sums = &store->projection_groups;
    for (size_t i = 0; i < sums->count; i++)
        fprintf(out,
                "ranges '%s':'%s' %" PRIu64 "x %" PRId64 " of %" PRId64 " [%" PRId64 ", %" PRId64
                "] median %.10g stddev %.10g %" PRId64 " ops%s\n",
                text_of(store, sums->domain[i]), text_of(store, sums->name[i]), sums->instances[i], sums->total_ns[i],
                sums->range_total_ns[i], sums->min_ns[i], sums->max_ns[i], sums->median_ns[i], sums->stddev_ns[i],
                sums->ops[i], sums->kind[i] == GT_RANGE_START_END ? " start/end" : "");
}

static inline void print_issues(FILE *out, const struct gt_store *store) {
    for (int k = 0; k < GT_ISSUE_COUNT; k++)
        if (gt_store_issue(store, (enum gt_issue_id)k, GT_FACTS_ALL).count) {
            fprintf(out, "issue %s %" PRIu64, gt_issue_infos[k].id,
                    gt_store_issue(store, (enum gt_issue_id)k, GT_FACTS_ALL).count);
            if (gt_store_issue(store, (enum gt_issue_id)k, GT_FACTS_ALL).first_offset != GT_NO_OFFSET)
                fprintf(out, " at %" PRIu64, gt_store_issue(store, (enum gt_issue_id)k, GT_FACTS_ALL).first_offset);
            fputc('\n', out);
        }
    if (store->skipped_events)
        fprintf(out, "skipped %" PRIu64 "\n", store->skipped_events);
}

/* ---- decoding texts ---- */

static inline struct gt_source *source_of(struct gt_str bytes, int *fd) {
    struct gt_source *source;
    char path[64];
    *fd = memfd_create("table", 0);
    assert_true(*fd >= 0 && write(*fd, bytes.ptr, bytes.len) == (ssize_t)bytes.len);
    snprintf(path, sizeof path, "/proc/self/fd/%d", *fd);
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    return source;
}

/* NULL: the decoder refused; *message says why. facts: enum gt_fact, what is to be read; 0: the usual. */
static inline struct gt_store *decode_asked(const struct gt_str *files, size_t count, uint32_t facts,
                                            const struct gt_csv_sizes *sizes, struct gt_error *err) {
    struct gt_source *sources[FILES_MAX] = {0};
    int fds[FILES_MAX];
    struct gt_store *store = NULL;
    struct gt_decode_options options = {.threads = 1, .facts = facts};
    for (size_t i = 0; i < count; i++)
        sources[i] = source_of(files[i], &fds[i]);
    enum gt_status status = gt_nsys_csv_decode_sized(sources, count, &options, sizes, &store, err);
    assert_int_equal(status == GT_OK, store != NULL);
    for (size_t i = 0; i < count; i++) {
        gt_source_close(sources[i]);
        close(fds[i]);
    }
    return store;
}

static inline struct gt_store *decode(const struct gt_str *files, size_t count, const struct gt_csv_sizes *sizes,
                                      struct gt_error *err) {
    return decode_asked(files, count, 0, sizes, err);
}

static inline char *describe(const struct gt_str *files, size_t count, const struct gt_csv_sizes *sizes) {
    char *text = NULL;
    size_t size;
    struct gt_error err = {0};
    struct gt_store *store = decode(files, count, sizes, &err);
    FILE *out = open_memstream(&text, &size);
    if (store) {
        print_ops(out, store);
        print_groups(out, store);
        print_ranges(out, store);
        print_issues(out, store);
    } else {
        fprintf(out, "error\n");
    }
    fclose(out);
    gt_store_free(store);
    return text;
}

static inline void check_files(const struct gt_str *files, size_t count, const char *expected) {
    char *whole = describe(files, count, &gt_csv_default_sizes), *parts = describe(files, count, &tiny_sizes);
    assert_string_equal(whole, expected);
    assert_string_equal(parts, expected);
    free(whole);
    free(parts);
}

static inline void check(const char *text, const char *expected) {
    struct gt_str file = gt_str_of(text);
    check_files(&file, 1, expected);
}

/* ---- tables ---- */

#define KERNELS                                                                                                        \
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"                        \
    "66.7,2000,2,1000.0,1000.5,900,1100,141.4,\"f(int, float)\"\n"                                                     \
    "33.3,1000,1,1000.0,1000.0,1000,1000,0.0,g\n"
#define KERNEL_GROUPS                                                                                                  \
    "group kernel 'f(int, float)' 2x 2000 [900, 1100] median 1000.5 stddev 141.4\n"                                    \
    "group kernel 'g' 1x 1000 [1000, 1000] median 1000 stddev 0\n"
#define MEMORY                                                                                                         \
    "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\n"                       \
    "100.0,500,5,100.0,100.0,100,100,0.0,[CUDA memcpy Device-to-Device]\n"
#define MEMORY_GROUPS "group memcpy '[CUDA memcpy Device-to-Device]' 5x 500 [100, 100] median 100 stddev 0\n"

#define RANGES                                                                                                         \
    "Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Orig Duration (ns),Style,PID,TID,NumGPUOps,"    \
    "Lvl,NumChild,RangeId,ParentId,RangeStack\n"

#endif
