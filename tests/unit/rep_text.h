/* For tests of the report decoder: messages are put together, a report is made of them, and the store that it decodes
   to comes out as text that can be compared. */
#ifndef TESTS_REP_TEXT_H
#define TESTS_REP_TEXT_H

#include <lz4.h>
#include <sys/mman.h>

#include "decode/nsys/nsys_rep.h"
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
    for (size_t at = 0; at < strings.size; at += 2u + strings.ptr[at + 1])
        string_count += strings.ptr[at] == 0x0a; /* tests have short strings only */
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
        print_store(out, store);
        print_more(out, store);
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
