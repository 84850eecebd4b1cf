/* For tests of the report decoder: messages are put together, a report is made of them, and the store that it decodes
   to comes out as text that can be compared. */
#ifndef TESTS_REP_TEXT_H
#define TESTS_REP_TEXT_H

#include <lz4.h>
#include <sys/mman.h>

#include "decode/nsys/nsys_rep.h"
#include "events/counter_track.h"
#include "torch_text.h"

/* ---- messages: bytes in a pool that every test starts anew ---- */

struct bytes {
    const unsigned char *ptr;
    size_t size;
};

static unsigned char pool[32 << 20];
static size_t pool_used;

static inline int clear_pool(void **state) {
    (void)state;
    pool_used = 0;
    return 0;
}

static inline struct bytes take_bytes(const void *bytes, size_t size) {
    assert_true(size <= sizeof pool - pool_used);
    unsigned char *to = pool + pool_used;
    if (size)
        memmove(to, bytes, size);
    pool_used += size;
    return (struct bytes){to, size};
}

static inline struct bytes varint(uint64_t value) {
    unsigned char bytes[10];
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (unsigned char)(value | 0x80);
    bytes[size++] = (unsigned char)value;
    return take_bytes(bytes, size);
}

static inline struct bytes join_count(const struct bytes *parts, size_t count) {
    struct bytes all = {pool + pool_used, 0};
    for (size_t i = 0; i < count; i++)
        all.size += take_bytes(parts[i].ptr, parts[i].size).size;
    return all;
}
#define JOIN(...)                                                                                                      \
    join_count((const struct bytes[]){__VA_ARGS__}, sizeof((const struct bytes[]){__VA_ARGS__}) / sizeof(struct bytes))

/* Fields: a number, a message, a text. */
static inline struct bytes num(unsigned field, uint64_t value) {
    return JOIN(varint((uint64_t)field << 3), varint(value));
}
static inline struct bytes sub(unsigned field, struct bytes message) {
    return JOIN(varint((uint64_t)field << 3 | 2), varint(message.size), message);
}
static inline struct bytes str(unsigned field, const char *text) {
    return sub(field, (struct bytes){(const unsigned char *)text, strlen(text)});
}
static inline struct bytes raw(const char *text) {
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}
static const struct bytes nothing = {(const unsigned char *)"", 0};

#define EVENT(type, field, ...) sub(1, JOIN(num(1, type), sub(field, JOIN(__VA_ARGS__))))

/* A process and a thread of it, as Nsight numbers them. */
#define PID(pid)      (UINT64_C(1) << 48 | (uint64_t)(pid) << 24)
#define TID(pid, tid) (PID(pid) | (uint64_t)(tid))

/* Common events: a kernel of 10 ns on device 0, stream 7 of process 5, and its launch call. */
static inline struct bytes kernel(uint64_t start, uint64_t name) {
    return EVENT(79, 107, num(1, start), num(2, start + 10), num(3, start), num(4, 0), num(6, 7), num(8, PID(5)),
                 sub(101, num(1, name)));
}

/* ---- reports ---- */

/* A length, the message, packed as one block after its sizes. */
static inline struct bytes chunk(struct bytes message) {
    struct bytes plain = JOIN(varint(message.size), message);
    int bound = LZ4_compressBound((int)plain.size);
    char *packed = malloc((size_t)bound);
    assert_non_null(packed);
    int size = LZ4_compress_default((const char *)plain.ptr, packed, (int)plain.size, bound);
    struct bytes block = take_bytes(packed, (size_t)size);
    free(packed);
    return JOIN(varint(block.size), varint(plain.size), block);
}

/* What a report is made of. Zeroed parts are left out or have the usual value. */
struct report {
    struct bytes head, index; /* messages; the index without its counts */
    struct bytes events;      /* chunks */
    struct bytes strings;     /* entries */
    struct bytes threads, target, schemas;
    struct bytes clocks;          /* section */
    uint64_t event_count;         /* of the index */
    const char *magic, *codec;    /* "QDTEXT00", "lz4" */
    const char *raw_name;         /* "Raw Sampling Data" */
    bool has_no_offsets, is_open; /* without the offsets section; without table and end marker */
    uint64_t strings_shift;       /* what the offset of the strings is wrong by */
};

static inline struct bytes section(const char *name, size_t offset, struct bytes content) {
    return sub(1, JOIN(str(1, name), num(2, offset), num(3, content.size)));
}

/* Texts of strings 0 .. 5 in every report that has no others. */
static inline struct bytes usual_strings(void) {
    return JOIN(str(1, "gemm<1>(int)"), str(1, "gemm"), str(1, "_Z4gemm"), str(1, "cudaLaunchKernel_v7000"),
                str(1, "main"), str(1, "registered"));
}

static inline struct bytes report_bytes(const struct report *report) {
    struct bytes strings = report->strings.ptr ? report->strings : usual_strings();
    uint64_t string_count = 0;
    for (size_t at = 0; at < strings.size;) {
        size_t length = 0, shift = 0;
        string_count += strings.ptr[at++] == 0x0a;
        do
            length |= (size_t)(strings.ptr[at] & 0x7f) << shift;
        while (shift += 7, strings.ptr[at++] >= 0x80);
        at += length;
    }
    struct bytes index =
        JOIN(num(1, report->event_count), num(3, string_count), num(5, 0),
             str(9, report->codec ? report->codec : "lz4"), num(17, report->schemas.ptr != NULL), report->index);
    struct bytes start = JOIN(varint(report->head.size), report->head, varint(index.size), index, report->events);
    struct bytes rest = JOIN(chunk(strings), varint(report->threads.size), report->threads, varint(report->target.size),
                             report->target);
    struct bytes schemas = report->schemas.ptr ? chunk(report->schemas) : nothing;
    struct bytes raw_section = JOIN(raw(report->magic ? report->magic : "QDTEXT00"), start, rest, schemas);
    struct bytes first = raw("NVIDIA Tegra Profiler Report 36398880.");
    struct bytes offsets = JOIN(str(1, "lz4"), num(2, start.size + report->strings_shift));
    offsets = report->schemas.ptr ? JOIN(offsets, num(3, start.size + rest.size)) : offsets;
    struct bytes ui = str(6, "2025.3.1.0");
    if (report->is_open)
        return JOIN(first, raw_section);
    size_t at = first.size + raw_section.size;
    struct bytes table = section(report->raw_name ? report->raw_name : "Raw Sampling Data", first.size, raw_section);
    if (!report->has_no_offsets)
        table = JOIN(table, section("Sampling Data Offsets", at, offsets));
    table = JOIN(table, section("UI Data", at + offsets.size, ui),
                 section("Time Conversion Data", at + offsets.size + ui.size, report->clocks));
    uint64_t table_at = at + offsets.size + ui.size + report->clocks.size;
    return JOIN(first, raw_section, offsets, ui, report->clocks, table, take_bytes(&table_at, 8), raw("U3w[END]"));
}

/* ---- stores as text ---- */

static inline void print_more(FILE *out, const struct gt_store *store) {
    static const char *const kinds[] = {"nested", "start/end", "mark", "gpu"};
    for (size_t i = 0; i < store->ranges.count; i++) {
        fprintf(out, "range %zu %s domain '%.*s'", i, kinds[store->ranges.kind[i]],
                text_len(store, store->ranges.domain[i]), gt_store_string(store, store->ranges.domain[i]).ptr);
        if (store->ranges.end_thread[i] != GT_NO_TRACK)
            print_thread(out, store, store->ranges.end_thread[i]);
        fprintf(out, "\n");
    }
    for (size_t i = 0; i < store->comms.count; i++)
        fprintf(out, "payload %" PRIu32 " %" PRIu64 "\n", store->comms.range[i], store->comms.in_bytes[i]);
    for (size_t i = 0; i < store->range_categories.count; i++)
        fprintf(out, "category %" PRIu32 " '%s'\n", store->range_categories.range[i],
                gt_store_string(store, store->range_categories.name[i]).ptr);
    for (size_t i = 0; i < store->range_texts.count; i++)
        fprintf(out, "text %" PRIu32 " '%s' '%s'\n", store->range_texts.range[i],
                gt_store_string(store, store->range_texts.key[i]).ptr,
                gt_store_string(store, store->range_texts.text[i]).ptr);
    for (size_t i = 0; i < store->graph_ops.count; i++)
        fprintf(out, "graph of %" PRIu32 " %" PRIu32 "\n", store->graph_ops.op[i], store->graph_ops.graph[i]);
    if (store->meta.duration_ns >= 0)
        fprintf(out, "duration %" PRId64 "\n", store->meta.duration_ns);
}

static inline const char *text_of(const struct gt_store *store, gt_strid id) {
    return gt_store_string(store, id).ptr;
}

/* "name=value", unless the value is the one for unknown. */
static inline void print_known(FILE *out, const char *name, uint64_t value, uint64_t unknown) {
    if (value != unknown)
        fprintf(out, " %s=%" PRId64, name, (int64_t)value);
}

static inline void print_process(FILE *out, const struct gt_store *store, uint32_t process) {
    if (process != GT_NO_TRACK)
        fprintf(out, " of %" PRId64, store->processes.pid[process]);
}

static inline void print_launches(FILE *out, const struct gt_store *store) {
    const struct gt_kernel_configs *configs = &store->kernel_configs;
    for (size_t i = 0; i < configs->count; i++) {
        fprintf(out, "config of %" PRIu32 " %" PRIu32 "x%" PRIu32 "x%" PRIu32 " %" PRIu32 "x%" PRIu32 "x%" PRIu32,
                configs->op[i], configs->grid_x[i], configs->grid_y[i], configs->grid_z[i], configs->block_x[i],
                configs->block_y[i], configs->block_z[i]);
        print_known(out, "cluster", configs->cluster_x[i], UINT32_MAX);
        print_known(out, "registers", configs->registers[i], UINT32_MAX);
        print_known(out, "static", configs->static_shared_bytes[i], UINT64_MAX);
        print_known(out, "dynamic", configs->dynamic_shared_bytes[i], UINT64_MAX);
        print_known(out, "shared", configs->shared_bytes[i], UINT64_MAX);
        print_known(out, "local", configs->local_bytes[i], UINT64_MAX);
        fprintf(out, "\n");
    }
}

static inline void print_waits(FILE *out, const struct gt_store *store) {
    static const char *const kinds[] = {"unknown", "event", "stream wait", "stream", "context"};
    const struct gt_syncs *syncs = &store->syncs;
    const struct gt_event_records *records = &store->event_records;
    for (size_t i = 0; i < syncs->count; i++) {
        fprintf(out, "sync %" PRId64 "+%" PRId64 " %s gpu %" PRId64, syncs->start_ns[i],
                syncs->end_ns[i] - syncs->start_ns[i], kinds[syncs->kind[i]], syncs->device[i]);
        print_process(out, store, syncs->process[i]);
        print_known(out, "#", syncs->correlation[i], UINT64_MAX);
        print_known(out, "stream", (uint64_t)syncs->stream[i], UINT64_MAX);
        print_known(out, "event", syncs->event[i], UINT64_MAX);
        print_known(out, "record", syncs->record[i], UINT64_MAX);
        fprintf(out, "\n");
    }
    for (size_t i = 0; i < records->count; i++) {
        fprintf(out, "record gpu %" PRId64, records->device[i]);
        print_process(out, store, records->process[i]);
        print_known(out, "#", records->correlation[i], UINT64_MAX);
        print_known(out, "stream", (uint64_t)records->stream[i], UINT64_MAX);
        print_known(out, "event", records->event[i], UINT64_MAX);
        print_known(out, "record", records->record[i], UINT64_MAX);
        fprintf(out, "\n");
    }
}

static inline void print_memory(FILE *out, const struct gt_store *store) {
    static const char *const operations[] = {"allocate", "free", "create pool", "destroy pool", "trim pool"};
    const struct gt_memory_events *events = &store->memory_events;
    for (size_t i = 0; i < events->count; i++) {
        fprintf(out, "%s %" PRId64 " gpu %" PRId64 " kind %u", operations[events->operation[i]], events->bytes[i],
                events->device[i], events->kind[i]);
        print_process(out, store, events->process[i]);
        print_known(out, "at", (uint64_t)events->time_ns[i], (uint64_t)GT_NO_TIME);
        print_known(out, "#", events->correlation[i], UINT64_MAX);
        print_known(out, "address", events->address[i], UINT64_MAX);
        print_known(out, "stream", (uint64_t)events->stream[i], UINT64_MAX);
        print_known(out, "pool", events->pool[i], UINT64_MAX);
        print_known(out, "size", events->pool_bytes[i], UINT64_MAX);
        print_known(out, "used", events->pool_used_bytes[i], UINT64_MAX);
        print_known(out, "kept", events->pool_kept_bytes[i], UINT64_MAX);
        fprintf(out, "%s%s\n", events->name[i] ? " " : "", text_of(store, events->name[i]));
    }
}

static inline void print_rep_counters(FILE *out, const struct gt_store *store) {
    const struct gt_counter_tracks *tracks = &store->counter_tracks;
    for (uint32_t track = 0; track < tracks->count; track++) {
        size_t count = gt_counter_track_count(store, track);
        if (count == 0)
            continue;
        fprintf(out, "counter '%s' [%s] gpu %" PRId64, text_of(store, tracks->name[track]),
                text_of(store, tracks->unit[track]), tracks->device[track]);
        print_process(out, store, tracks->process[track]);
        print_known(out, "period", (uint64_t)tracks->period_ns[track], 0);
        fprintf(out, "%s", tracks->kind[track] == GT_COUNTER_STATE ? " states" : "");
        int64_t *times_ns = calloc(count, sizeof *times_ns);
        double *values = calloc(count, sizeof *values);
        assert_non_null(times_ns);
        assert_non_null(values);
        assert_int_equal(gt_counter_track_read(store, track, 0, count, times_ns, values), count);
        for (size_t k = 0; k < count; k++)
            fprintf(out, " %" PRId64 ":%.17g", times_ns[k], values[k]);
        free(times_ns);
        free(values);
        fprintf(out, "\n");
    }
}

static inline void print_groups(FILE *out, const struct gt_store *store) {
    for (size_t i = 0; i < store->comms.count; i++) {
        if (!store->comms.name[i])
            continue; /* a size alone */
        fprintf(out, "comm %" PRIu32 " %s", store->comms.range[i], text_of(store, store->comms.name[i]));
        uint32_t group = store->comms.group[i];
        if (group != GT_NO_TRACK) {
            print_known(out, "communicator", store->comm_groups.communicator[group], UINT64_MAX);
            print_known(out, "ranks", (uint64_t)store->comm_groups.size[group], UINT64_MAX);
        }
        print_known(out, "rank", (uint64_t)store->comms.rank[i], (uint64_t)INT64_MIN);
        print_known(out, "root", (uint64_t)store->comms.root[i], (uint64_t)INT64_MIN);
        print_known(out, "peer", (uint64_t)store->comms.peer[i], (uint64_t)INT64_MIN);
        fprintf(out, "%s%s\n", store->comms.reduction[i] ? " " : "", text_of(store, store->comms.reduction[i]));
    }
    for (size_t i = 0; i < store->processes.count; i++)
        if (store->processes.rank[i] >= 0 || store->processes.world_size[i] >= 0)
            fprintf(out, "process %" PRId64 " is rank %" PRId64 " of %" PRId64 " by %u\n", store->processes.pid[i],
                    store->processes.rank[i], store->processes.world_size[i], store->processes.rank_source[i]);
    if (store->meta.host)
        fprintf(out, "host '%s'\n", text_of(store, store->meta.host));
}

static inline void print_python(FILE *out, const struct gt_store *store) {
    for (size_t i = 0; i < store->python_calls.count; i++) {
        uint32_t thread = store->python_calls.thread[i];
        int64_t start_ns = store->python_calls.start_ns[i];
        fprintf(out, "python %" PRId64 "+%" PRId64 " '%s' of %" PRId64 "\n", start_ns,
                store->python_calls.end_ns[i] - start_ns, text_of(store, store->python_calls.name[i]),
                store->threads.tid[thread]);
    }
}

static inline void print_host_calls(FILE *out, const struct gt_store *store) {
    for (size_t i = 0; i < store->host_calls.count; i++) {
        int64_t start_ns = store->host_calls.start_ns[i];
        fprintf(out, "%s call %" PRId64 "+%" PRId64 " '%s' of %" PRId64 "\n",
                text_of(store, store->host_calls.domain[i]), start_ns, store->host_calls.end_ns[i] - start_ns,
                text_of(store, store->host_calls.name[i]), store->threads.tid[store->host_calls.thread[i]]);
    }
}

/* What is read only when it is asked for. */
static inline void print_asked(FILE *out, const struct gt_store *store) {
    print_host_calls(out, store);
    print_python(out, store);
    print_launches(out, store);
    print_waits(out, store);
    print_memory(out, store);
    print_rep_counters(out, store);
    print_groups(out, store);
}

static inline int memory_file(const void *bytes, size_t size, char path[64]) {
    int fd = memfd_create("report", 0);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

/* The store as text to free, or "error: ..." without the path. */
static inline char *decode_bytes(struct bytes bytes, const struct gt_decode_options *options) {
    struct gt_error error = {0};
    struct gt_source *source;
    struct gt_store *store = NULL;
    char *text = NULL, path[64];
    size_t size;
    int fd = memory_file(bytes.ptr, bytes.size, path);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(gt_source_open(path, &source, &error), GT_OK);
    if (gt_nsys_rep_decode(&source, 1, options, &store, &error) == GT_OK) {
        print_rows(out, store); /* facts are printed in this file's own way */
        print_meta(out, store);
        print_issues(out, store);
        print_more(out, store);
        print_asked(out, store);
    } else {
        assert_null(store);
        const char *after_path = strstr(error.message, "': ");
        fprintf(out, "error: %s", after_path ? after_path + 3 : error.message);
    }
    fclose(out);
    gt_store_free(store);
    gt_source_close(source);
    close(fd);
    return text;
}

static inline void report_bytes_give(struct bytes bytes, const char *expected) {
    const struct gt_decode_options options = {.threads = 3, .reader = GT_READER_NATIVE};
    char *text = decode_bytes(bytes, &options);
    assert_string_equal(text, expected);
    free(text);
}

static inline void report_gives(const struct report *report, const char *expected) {
    report_bytes_give(report_bytes(report), expected);
}

#endif
