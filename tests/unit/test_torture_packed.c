/* Torture of packed files: every call for memory, threads or bytes fails in turn while one is inflated, as one stream
   and on several threads. What comes is all of it, or an error that says why; never a part that passes for the whole.
 */
#include "torture_world.h"

#ifdef GT_HAVE_LZMA
#include <lzma.h>
#endif

#include "base/readahead.h"
#include "base/source.h"
#include "decode/torch/torch_json.h"
#include "decode/torch/torch_packed.h"
#include "random.h"

enum { PLAIN_BYTES = 3 << 20, FRAME_BYTES = 300000, PACKED_ROOM = 2 * PLAIN_BYTES, THREADS = 4 };

static unsigned char *plain, *packed;

static int make_bytes(void **state) {
    uint64_t random = 3;
    (void)state;
    plain = malloc(PLAIN_BYTES);
    packed = malloc(PACKED_ROOM);
    for (size_t i = 0; plain && i < PLAIN_BYTES; i++) /* so that a deflated one still has the least size for threads */
        plain[i] = (unsigned char)random_below(&random, 16);
    return plain && packed ? 0 : -1;
}

static int free_bytes(void **state) {
    (void)state;
    free(plain);
    free(packed);
    return 0;
}

struct reading {
    char path[64];
    size_t size, threads; /* of what is inside; 0: no thread reads ahead */
};

/* Reads to the end; *is_right: all bytes were as they should be. */
static enum gt_status read_through(const struct reading *reading, struct gt_source *source, bool *is_right,
                                   struct gt_error *err) {
    static unsigned char buffer[200000];
    struct gt_readahead *ahead = NULL;
    struct gt_str head;
    size_t total = 0, got = 1;
    enum gt_status status = gt_source_peek(source, &head, err);
    if (status == GT_OK && reading->threads)
        status = gt_readahead_open(source, reading->threads, &ahead, err);
    *is_right = true;
    while (status == GT_OK && got > 0) {
        status = ahead ? gt_readahead_read(ahead, buffer, sizeof buffer, &got, err)
                       : gt_source_read(source, buffer, sizeof buffer, &got, err);
        *is_right &= status != GT_OK || (got <= reading->size - total && memcmp(buffer, plain + total, got) == 0);
        total += status == GT_OK ? got : 0;
    }
    gt_readahead_close(ahead);
    *is_right &= total == reading->size && !gt_source_damage(source);
    return status;
}

static void run_reading(const void *context, const char *what) {
    const struct reading *reading = context;
    struct gt_source *source = NULL;
    struct gt_error err = {0};
    bool is_right = false;
    enum gt_status status = gt_source_open(reading->path, &source, &err);
    if (status == GT_OK)
        status = read_through(reading, source, &is_right, &err);
    gt_source_close(source);
    end_faults();
    if (status == GT_OK && !is_right)
        fail_msg("%s: other bytes, and nobody says so", what);
    if (status != GT_OK && (!system_state.was_hit || !err.message[0]))
        fail_msg("%s: fails with '%s'", what, err.message);
}

static void torture_file(const unsigned char *bytes, size_t size, size_t plain_bytes, size_t threads,
                         const char *name) {
    int file = memfd_create("packed", 0);
    struct reading reading = {.size = plain_bytes, .threads = threads};
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, bytes, size, 0), size);
    snprintf(reading.path, sizeof reading.path, "/proc/self/fd/%d", file);
    torture(run_reading, &reading, name);
    close(file);
}

/* A gzip file of one member. */
static size_t pack_gzip(size_t size) {
    z_stream stream = {
        .next_in = plain, .avail_in = (unsigned)size, .next_out = packed, .avail_out = (unsigned)PACKED_ROOM};
    assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return stream.total_out;
}

static void test_gzip(void **state) {
    (void)state;
    size_t size = pack_gzip(PLAIN_BYTES);
    assert_true(size > 9 << 17); /* enough for several threads on one member */
    torture_file(packed, size, PLAIN_BYTES, THREADS, "gzip on several threads");
    torture_file(packed, pack_gzip(100000), 100000, 0, "gzip");
    torture_file(packed, pack_gzip(100000), 100000, 1, "gzip, read ahead");
}

/* ---- a trace that is parsed while it is inflated ---- */

enum { EVENTS = 50, NAME_BYTES = 31000, TRACE_THREADS = 7 };
static const struct gt_torch_sizes trace_sizes = {100000, 50000, 1 << 20, GT_TORCH_USUAL, 0};

/* Few events with long names: few calls that can fail, and enough bytes for several threads. The last event is all in
   the last chunk, else the file is read in one go. */
static size_t write_trace(char *text) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint64_t random = 5;
    size_t size = (size_t)sprintf(text, "{\"traceEvents\": [\n");
    for (unsigned i = 0; i < EVENTS; i++) {
        size += (size_t)sprintf(text + size, "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"", i ? ",\n" : "");
        for (size_t k = 0; k < NAME_BYTES; k++)
            text[size++] = letters[random_below(&random, sizeof letters - 1)];
        size += (size_t)sprintf(text + size, "\", \"pid\": 0, \"tid\": 7, \"ts\": %u, \"dur\": 1}", 10 * i);
    }
    return size + (size_t)sprintf(text + size, "\n]}\n");
}

static bool is_whole(const struct gt_store *store) {
    for (size_t i = 0; i < store->ops.count; i++)
        if (store->ops.start_ns[i] != 10000 * (int64_t)i ||
            gt_store_string(store, store->ops.name[i]).len != NAME_BYTES)
            return false;
    return store->ops.count == EVENTS;
}

static void run_decoding(const void *context, const char *what) {
    const struct gt_decode_options options = {.threads = TRACE_THREADS};
    struct gt_source *source = NULL;
    struct gt_store *store = NULL;
    struct gt_error err = {0};
    enum gt_status status = gt_source_open(context, &source, &err);
    if (status == GT_OK)
        status = gt_torch_json_decode_sized(source, &options, &trace_sizes, &store, &err);
    bool is_right = status == GT_OK && is_whole(store), has_damage = source && gt_source_damage(source);
    gt_store_free(store);
    gt_source_close(source);
    end_faults();
    if (status == GT_OK && !is_right && !has_damage)
        fail_msg("%s: another trace, and nobody says so", what);
    if (status != GT_OK && (!system_state.was_hit || !err.message[0]))
        fail_msg("%s: fails with '%s'", what, err.message);
}

static void expect_parsed_while_inflated(const char *path) {
    const struct gt_decode_options options = {.threads = TRACE_THREADS};
    struct gt_source *source;
    struct gt_store *store = NULL;
    struct gt_error err = {0};
    enum gt_status status;
    assert_int_equal(gt_source_open(path, &source, &err), GT_OK);
    assert_true(gt_torch_packed_decode(source, &options, &trace_sizes, &store, &status, &err));
    assert_int_equal(status, GT_OK);
    gt_store_free(store);
    gt_source_close(source);
}

static void test_trace(void **state) {
    (void)state;
    char path[64];
    size_t size = pack_gzip(write_trace((char *)plain));
    assert_true(size > 8 << 17);
    int file = memfd_create("trace", 0);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, packed, size, 0), size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    expect_parsed_while_inflated(path);
    torture(run_decoding, path, "a trace that is parsed while it is inflated");
    close(file);
}

static void test_zstd(void **state) {
    (void)state;
    size_t size = 0;
    for (size_t at = 0; at < PLAIN_BYTES; at += FRAME_BYTES)
        size += ZSTD_compress(packed + size, PACKED_ROOM - size, plain + at,
                              PLAIN_BYTES - at < FRAME_BYTES ? PLAIN_BYTES - at : FRAME_BYTES, 1);
    torture_file(packed, size, PLAIN_BYTES, THREADS, "frames of zstd on several threads");
    torture_file(packed, ZSTD_compress(packed, PACKED_ROOM, plain, 100000, 1), 100000, 1, "zstd, read ahead");
}

static void test_plain(void **state) {
    (void)state;
    memset(plain, 'x', 8); /* no packing begins so */
    torture_file(plain, 2000000, 2000000, 1, "plain, read ahead");
}

static void test_xz(void **state) {
    (void)state;
#ifdef GT_HAVE_LZMA
    size_t size = 0;
    assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, plain, 100000, packed, &size, PACKED_ROOM),
                     LZMA_OK);
    torture_file(packed, size, 100000, 0, "xz");
    torture_file(packed, size, 100000, THREADS, "xz, read ahead");
#else
    skip();
#endif
}

static unsigned char *put(unsigned char *p, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        *p++ = (unsigned char)(value >> 8 * i);
    return p;
}

/* The numbers that both headers of a member have, from the version on. */
static unsigned char *put_member(unsigned char *p, unsigned method, uint32_t check, size_t size, size_t plain_bytes) {
    p = put(put(put(p, 20, 2), 0, 2), method, 2);
    p = put(put(put(put(p, 0, 4), check, 4), size, 4), plain_bytes, 4);
    return put(put(p, 1, 2), 0, 2); /* a name of one letter */
}

/* An archive with one member, stored or deflated. */
static size_t pack_zip(bool is_stored, size_t plain_bytes) {
    unsigned char *body = packed + 31, *p;
    z_stream stream = {.next_in = plain,
                       .avail_in = (unsigned)plain_bytes,
                       .next_out = body,
                       .avail_out = (unsigned)(PACKED_ROOM - 1000)};
    uint32_t check = (uint32_t)crc32(0, plain, (unsigned)plain_bytes);
    assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    if (is_stored)
        memcpy(body, plain, plain_bytes);
    size_t size = is_stored ? plain_bytes : stream.total_out;
    unsigned method = is_stored ? 0 : 8;
    p = put_member(put(packed, 0x04034b50, 4), method, check, size, plain_bytes);
    *p = 'a';
    unsigned char *directory = body + size;
    p = put_member(put(put(directory, 0x02014b50, 4), 20, 2), method, check, size, plain_bytes);
    p = put(put(put(put(p, 0, 2), 0, 2), 0, 2), 0, 8); /* no comment, first disk, attributes, at the beginning */
    *p++ = 'a';
    size_t directory_bytes = (size_t)(p - directory);
    p = put(put(put(put(p, 0x06054b50, 4), 0, 4), 1, 2), 1, 2);
    p = put(put(put(p, directory_bytes, 4), (size_t)(directory - packed), 4), 0, 2);
    return (size_t)(p - packed);
}

static void test_zip(void **state) {
    (void)state;
    torture_file(packed, pack_zip(false, 100000), 100000, 0, "a deflated member of a zip archive");
    torture_file(packed, pack_zip(true, 100000), 100000, 1, "a stored member, read ahead");
    torture_file(packed, pack_zip(false, 1000000), 1000000, THREADS, "a large member, read ahead");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_gzip, switch_faults_off),  cmocka_unit_test_setup(test_zstd, switch_faults_off),
        cmocka_unit_test_setup(test_xz, switch_faults_off),    cmocka_unit_test_setup(test_zip, switch_faults_off),
        cmocka_unit_test_setup(test_plain, switch_faults_off), cmocka_unit_test_setup(test_trace, switch_faults_off),
    };
    int failed = cmocka_run_group_tests(tests, make_bytes, free_bytes);
    print_faults();
    return failed;
}
