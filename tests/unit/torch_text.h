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

/* ---- tables that are read on demand ---- */

static inline uint64_t cell_bits(struct gt_store *store, const struct gt_column_info *info, size_t row) {
    const char *cell = (const char *)*gt_store_column(store, info) + row * info->elem_bytes;
    uint64_t bits = 0;
    memcpy(&bits, cell, info->elem_bytes);
    return bits;
}

static inline void print_group(FILE *out, const struct gt_store *store, uint32_t group) {
    const struct gt_comm_groups *groups = &store->comm_groups;
    struct gt_str name = gt_store_string(store, groups->name[group]);
    struct gt_str description = gt_store_string(store, groups->description[group]);
    struct gt_str ranks = gt_store_string(store, groups->ranks[group]);
    fprintf(out, "(%.*s|%.*s|%.*s|", (int)name.len, name.ptr, (int)description.len, description.ptr, (int)ranks.len,
            ranks.ptr);
    if (groups->size[group] >= 0)
        fprintf(out, "%" PRId64, groups->size[group]);
    if (groups->first_rank[group] != INT64_MIN)
        fprintf(out, "|%" PRId64 "+%" PRId64, groups->first_rank[group], groups->stride[group]);
    fprintf(out, ")");
}

/* " name=value", nothing for what is not known. */
static inline void print_cell(FILE *out, struct gt_store *store, const struct gt_column_info *info, size_t row) {
    uint64_t bits = cell_bits(store, info, row), largest = UINT64_MAX >> (64 - 8 * info->elem_bytes);
    double real;
    memcpy(&real, &bits, sizeof real);
    bool is_real = info->element == GT_ELEMENT_F64, is_negative = is_real ? real < 0 : (int64_t)bits < 0;
    if ((info->refers == GT_REFERS_OR_MAX && bits == largest) || (gt_store_column_refers(info) && bits == largest) ||
        (info->refers == GT_REFERS_OR_MIN && bits == (uint64_t)INT64_MIN) ||
        (info->refers == GT_REFERS_OR_NEGATIVE && is_negative) || (info->refers == GT_REFERS_STRING && bits == 0))
        return;
    fprintf(out, " %s=", info->name);
    if (info->refers == GT_REFERS_STRING)
        fprintf(out, "'%.*s'", text_len(store, (gt_strid)bits), gt_store_string(store, (gt_strid)bits).ptr);
    else if (info->refers == GT_REFERS_THREAD)
        print_thread(out, store, (uint32_t)bits);
    else if (info->refers == GT_REFERS_COMM_GROUP)
        print_group(out, store, (uint32_t)bits);
    else if (info->refers == GT_REFERS_PROCESS)
        fprintf(out, "%" PRId64, store->processes.pid[bits]);
    else if (is_real)
        fprintf(out, "%g", real);
    else if (info->element == GT_ELEMENT_I64)
        fprintf(out, "%" PRId64, (int64_t)bits);
    else
        fprintf(out, "%" PRIu64, bits);
}

static inline void print_table(FILE *out, struct gt_store *store, enum gt_table_id table) {
    for (size_t row = 0; row < *gt_store_row_count(store, table); row++) {
        bool is_first = true;
        for (size_t i = 0; i < gt_column_count; i++) {
            if (gt_column_infos[i].table != table)
                continue;
            if (is_first)
                fprintf(out, "%s", gt_column_infos[i].table_name);
            is_first = false;
            print_cell(out, store, &gt_column_infos[i], row);
        }
        fprintf(out, "\n");
    }
}

static inline void print_counters(FILE *out, struct gt_store *store) {
    const struct gt_counter_runs *runs = &store->counter_runs;
    const struct gt_counter_tracks *tracks = &store->counter_tracks;
    for (size_t r = 0; r < runs->count; r++) {
        uint32_t track = runs->track[r];
        fprintf(out, "counter '%.*s'", text_len(store, tracks->name[track]),
                gt_store_string(store, tracks->name[track]).ptr);
        if (tracks->series[track] != GT_STRID_EMPTY)
            fprintf(out, " series '%.*s'", text_len(store, tracks->series[track]),
                    gt_store_string(store, tracks->series[track]).ptr);
        if (tracks->process[track] != GT_NO_TRACK)
            fprintf(out, " of %" PRId64, store->processes.pid[tracks->process[track]]);
        if (tracks->device[track] >= 0)
            fprintf(out, " gpu %" PRId64, tracks->device[track]);
        for (uint32_t i = 0; i < runs->values[r]; i++)
            fprintf(out, " %g@%" PRId64, store->counters.value[runs->first[r] + i],
                    store->counters.time_ns[runs->first[r] + i]);
        fprintf(out, "\n");
    }
}

static inline void print_facts(FILE *out, struct gt_store *store) {
    static const enum gt_table_id tables[] = {
        GT_TABLE_comms,         GT_TABLE_syncs,          GT_TABLE_event_records, GT_TABLE_flows,
        GT_TABLE_operator_args, GT_TABLE_kernel_configs, GT_TABLE_memory_events, GT_TABLE_python_calls,
    };
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        print_table(out, store, tables[t]);
    print_counters(out, store);
    for (uint32_t i = 0; i < store->comm_groups.count; i++)
        if (store->comm_groups.source[i] == GT_GROUP_OF_CONFIG) {
            fprintf(out, "group ");
            print_group(out, store, i);
            fprintf(out, "\n");
        }
    if (store->meta.host)
        fprintf(out, "host '%.*s'\n", text_len(store, store->meta.host), gt_store_string(store, store->meta.host).ptr);
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

static inline void print_issues(FILE *out, const struct gt_store *store) {
    for (int i = 0; i < GT_ISSUE_COUNT; i++) {
        if (gt_store_issue(store, (enum gt_issue_id)i, GT_FACTS_ALL).count == 0)
            continue;
        fprintf(out, "issue %s %" PRIu64, gt_issue_infos[i].id,
                gt_store_issue(store, (enum gt_issue_id)i, GT_FACTS_ALL).count);
        if (gt_store_issue(store, (enum gt_issue_id)i, GT_FACTS_ALL).first_offset != GT_NO_OFFSET)
            fprintf(out, " at %" PRIu64, gt_store_issue(store, (enum gt_issue_id)i, GT_FACTS_ALL).first_offset);
        fprintf(out, "\n");
    }
}

static inline void print_store(FILE *out, struct gt_store *store) {
    print_rows(out, store);
    print_facts(out, store);
    print_meta(out, store);
    print_issues(out, store);
}

/* What decoding the file gives, as text to free: the store, or "error: ...". facts: what is asked for. */
static inline char *decode_facts(const char *path, size_t threads, const struct gt_torch_sizes *sizes, uint32_t facts) {
    struct gt_decode_options options = {.threads = threads, .facts = facts};
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

static inline char *decode_file(const char *path, size_t threads, const struct gt_torch_sizes *sizes) {
    return decode_facts(path, threads, sizes, 0);
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
static const struct gt_torch_sizes usual_sizes = {8 << 20, 1 << 20, 64 << 20, GT_TORCH_USUAL, 8 << 20};
static const struct gt_torch_sizes portable_sizes = {8 << 20, 1 << 20, 64 << 20, GT_TORCH_PORTABLE, 0};

/* With so many threads and all chunks and windows, fast or not, the file decodes as expected. */
static inline void decodes_as(const char *path, size_t threads, uint32_t facts, const char *expected) {
    static const size_t chunks[] = {64, 100, 333, 4096}, windows[] = {16, 1 << 16};
    for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++)
        for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
            for (enum gt_torch_mode mode = GT_TORCH_USUAL; mode <= GT_TORCH_PORTABLE; mode++) {
                struct gt_torch_sizes sizes = {chunks[c], windows[w], 64 << 20, mode, windows[w]};
                char *found = decode_facts(path, threads, &sizes, facts);
                assert_string_equal(found, expected);
                free(found);
            }
}

/* Decodes in one go, and with each of these numbers of threads: all must give the same. The result is to be freed. */
static inline char *decode_with_threads(const char *bytes, size_t size, uint32_t facts, const size_t *threads,
                                        size_t count) {
    char path[32];
    write_file(path, bytes, size);
    char *expected = decode_facts(path, 1, &portable_sizes, facts);
    for (size_t i = 0; i < count; i++)
        decodes_as(path, threads[i], facts, expected);
    unlink(path);
    return expected;
}

static const size_t thread_counts[] = {1, 2, 3, 8};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof *thread_counts };

static inline char *decode_all_ways(const char *bytes, size_t size, uint32_t facts) {
    return decode_with_threads(bytes, size, facts, thread_counts, THREAD_COUNTS);
}

/* The path is not part of messages that tests compare. */
static inline void mask_path(char *text) {
    char *path = strstr(text, "/tmp/gputime-test-");
    if (path)
        memmove(path, path + 24, strlen(path + 24) + 1);
}

static inline void bytes_give(const char *bytes, size_t size, const char *expected) {
    char *found = decode_all_ways(bytes, size, 0);
    mask_path(found);
    assert_string_equal(found, expected);
    free(found);
}

/* Where issues are first seen says little here. */
static inline void strip_offsets(char *text) {
    for (char *issue = strstr(text, "issue "), *at; issue; issue = strstr(issue + 1, "issue "))
        if ((at = strstr(issue, " at ")))
            memmove(at, at + strcspn(at, "\n"), strlen(at + strcspn(at, "\n")) + 1);
}

static inline void facts_give(uint32_t facts, const char *json, const char *expected) {
    char *found = decode_all_ways(json, strlen(json), facts);
    strip_offsets(found);
    assert_string_equal(found, expected);
    free(found);
}

static inline void json_gives(const char *json, const char *expected) {
    bytes_give(json, strlen(json), expected);
}

#endif
