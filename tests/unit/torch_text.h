/* For tests of the trace decoder: JSON text comes in, the store it makes comes out as text that can be compared. */
#ifndef TESTS_TORCH_TEXT_H
#define TESTS_TORCH_TEXT_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/source.h"
#include "decode/torch/torch_json.h"

static inline int text_len(const struct gt_store *store, gt_strid id) {
    return (int)gt_store_string(store, id).len;
}

static inline void print_thread(FILE *out, const struct gt_store *store, uint32_t thread) {
    if (thread == GT_NO_TRACK) {
        fprintf(out, " -");
        return;
    }
    uint32_t process = store->threads.process[thread];
    gt_strid label = store->processes.label[process], tid_label = store->threads.label[thread];
    fprintf(out, " %" PRId64 "%.*s/%" PRId64 "%.*s", store->processes.pid[process], text_len(store, label),
            gt_store_string(store, label).ptr, store->threads.tid[thread], text_len(store, tid_label),
            gt_store_string(store, tid_label).ptr);
}

static inline void print_lane(FILE *out, const struct gt_store *store, uint32_t lane) {
    fprintf(out, " gpu %" PRId64 "/%" PRId64, store->devices.id[store->lanes.device[lane]], store->lanes.stream[lane]);
}

static inline void print_head(FILE *out, const struct gt_store *store, const char *kind, int64_t start_ns,
                              int64_t end_ns, gt_strid name) {
    fprintf(out, "%s %" PRId64 "+%" PRId64 " '%.*s'", kind, start_ns, end_ns - start_ns, text_len(store, name),
            gt_store_string(store, name).ptr);
}

static inline void print_correlation(FILE *out, uint64_t correlation) {
    if (correlation != GT_NO_CORRELATION)
        fprintf(out, " #%" PRIu64, correlation);
}

static inline void print_rows(FILE *out, const struct gt_store *store) {
    static const char *const kinds[] = {"kernel", "memcpy", "memset", "graph"};
    for (size_t i = 0; i < store->ops.count; i++) {
        print_head(out, store, kinds[store->ops.kind[i]], store->ops.start_ns[i], store->ops.end_ns[i],
                   store->ops.name[i]);
        print_lane(out, store, store->ops.lane[i]);
        print_correlation(out, store->ops.correlation[i]);
        fprintf(out, "%s\n", store->ops.flags[i] & GT_OP_IN_GRAPH ? " in graph" : "");
    }
    for (size_t i = 0; i < store->copies.count; i++)
        fprintf(out, "copy %" PRIu32 " %" PRIu64 " %d>%d\n", store->copies.op[i], store->copies.bytes[i],
                store->copies.src[i], store->copies.dst[i]);
    for (size_t i = 0; i < store->calls.count; i++) {
        print_head(out, store, "call", store->calls.start_ns[i], store->calls.end_ns[i], store->calls.name[i]);
        print_thread(out, store, store->calls.thread[i]);
        print_correlation(out, store->calls.correlation[i]);
        fprintf(out, "\n");
    }
    for (size_t i = 0; i < store->ranges.count; i++) {
        bool is_gpu = store->ranges.kind[i] == GT_RANGE_GPU;
        print_head(out, store, is_gpu ? "gpu range" : "range", store->ranges.start_ns[i], store->ranges.end_ns[i],
                   store->ranges.name[i]);
        if (is_gpu)
            print_lane(out, store, store->ranges.lane[i]);
        else
            print_thread(out, store, store->ranges.thread[i]);
        fprintf(out, "\n");
    }
    for (size_t i = 0; i < store->cpu_ops.count; i++) {
        print_head(out, store, "cpu op", store->cpu_ops.start_ns[i], store->cpu_ops.end_ns[i], store->cpu_ops.name[i]);
        print_thread(out, store, store->cpu_ops.thread[i]);
        fprintf(out, "\n");
    }
    for (size_t i = 0; i < store->overheads.count; i++) {
        print_head(out, store, "overhead", store->overheads.start_ns[i], store->overheads.end_ns[i],
                   store->overheads.name[i]);
        print_thread(out, store, store->overheads.thread[i]);
        fprintf(out, "\n");
    }
    for (size_t i = 0; i < store->driver_work.count; i++) {
        print_head(out, store, "driver", store->driver_work.start_ns[i], store->driver_work.end_ns[i],
                   store->driver_work.name[i]);
        print_thread(out, store, store->driver_work.thread[i]);
        fprintf(out, "\n");
    }
}

/* Names of tracks, devices and what the capture says of itself; only what is there. */
static inline void print_meta(FILE *out, const struct gt_store *store) {
    for (size_t i = 0; i < store->processes.count; i++)
        if (store->processes.name[i])
            fprintf(out, "process %" PRId64 " is '%.*s'\n", store->processes.pid[i],
                    text_len(store, store->processes.name[i]), gt_store_string(store, store->processes.name[i]).ptr);
    for (size_t i = 0; i < store->threads.count; i++)
        if (store->threads.name[i])
            fprintf(out, "thread %" PRId64 " is '%.*s'\n", store->threads.tid[i],
                    text_len(store, store->threads.name[i]), gt_store_string(store, store->threads.name[i]).ptr);
    for (size_t i = 0; i < store->devices.count; i++)
        if (store->devices.name[i])
            fprintf(out, "device %" PRId64 " is '%.*s' %" PRIu64 " %" PRIu32 "\n", store->devices.id[i],
                    text_len(store, store->devices.name[i]), gt_store_string(store, store->devices.name[i]).ptr,
                    store->devices.memory_bytes[i], store->devices.multiprocessors[i]);
    if (store->meta.base_ns)
        fprintf(out, "base %" PRId64 "\n", store->meta.base_ns);
    if (store->meta.rank >= 0)
        fprintf(out, "rank %" PRId64 " of %" PRId64 "\n", store->meta.rank, store->meta.world_size);
    if (store->skipped_events)
        fprintf(out, "skipped %" PRIu64 "\n", store->skipped_events);
}

static inline void print_store(FILE *out, const struct gt_store *store) {
    print_rows(out, store);
    print_meta(out, store);
    for (int i = 0; i < GT_ISSUE_COUNT; i++) {
        if (store->issues[i].count == 0)
            continue;
        fprintf(out, "issue %s %" PRIu64, gt_issue_infos[i].id, store->issues[i].count);
        if (store->issues[i].first_offset != GT_NO_OFFSET)
            fprintf(out, " at %" PRIu64, store->issues[i].first_offset);
        fprintf(out, "\n");
    }
}

/* What decoding the file gives, as text to free: the store, or "error: ...". */
static inline char *decode_file(const char *path, size_t threads, const struct gt_torch_sizes *sizes) {
    struct gt_decode_options options = {.threads = threads};
    struct gt_error error = {0};
    struct gt_source *source;
    struct gt_store *store = NULL;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(gt_source_open(path, &source, &error), GT_OK);
    if (gt_torch_json_decode_sized(source, &options, sizes, &store, &error) == GT_OK)
        print_store(out, store);
    else
        fprintf(out, "error: %s\n", error.message);
    gt_store_free(store);
    gt_source_close(source);
    fclose(out);
    return text;
}

static inline void write_file(char *path, const char *bytes, size_t size) {
    strcpy(path, "/tmp/gputime-test-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, bytes + done, size - done);
        assert_true(n > 0);
        done += (size_t)n;
    }
    close(fd);
}

/* Sizes as usual, and so small that every event is cut by something. */
static const struct gt_torch_sizes usual_sizes = {8 << 20, 1 << 20, 64 << 20, GT_TORCH_USUAL};
static const struct gt_torch_sizes portable_sizes = {8 << 20, 1 << 20, 64 << 20, GT_TORCH_PORTABLE};

/* Decodes in one go, and with many threads, chunks and windows, fast or not: all must give the same. The result is to
   be freed. */
static inline char *decode_all_ways(const char *bytes, size_t size) {
    static const size_t threads[] = {1, 2, 3, 8}, chunks[] = {64, 100, 333, 4096}, windows[] = {16, 1 << 16};
    char path[32];
    write_file(path, bytes, size);
    char *expected = decode_file(path, 1, &portable_sizes);
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
        for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++)
            for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
                for (enum gt_torch_mode mode = GT_TORCH_USUAL; mode <= GT_TORCH_PORTABLE; mode++) {
                    struct gt_torch_sizes sizes = {chunks[c], windows[w], 64 << 20, mode};
                    char *found = decode_file(path, threads[t], &sizes);
                    assert_string_equal(found, expected);
                    free(found);
                }
    unlink(path);
    return expected;
}

/* The path is not part of messages that tests compare. */
static inline void mask_path(char *text) {
    char *path = strstr(text, "/tmp/gputime-test-");
    if (path)
        memmove(path, path + 24, strlen(path + 24) + 1);
}

static inline void bytes_give(const char *bytes, size_t size, const char *expected) {
    char *found = decode_all_ways(bytes, size);
    mask_path(found);
    assert_string_equal(found, expected);
    free(found);
}

static inline void json_gives(const char *json, const char *expected) {
    bytes_give(json, strlen(json), expected);
}

#endif
