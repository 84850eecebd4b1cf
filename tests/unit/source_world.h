/* Bytes for tests of sources: made, packed and joined, in a file, and read back. */
#ifndef TESTS_UNIT_SOURCE_WORLD_H
#define TESTS_UNIT_SOURCE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/source.h"

struct bytes {
    unsigned char *ptr;
    size_t size;
};

static char folder[] = "/tmp/gputime-source-XXXXXX";
static char path[64];

static inline int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/input", folder);
    return 0;
}

static inline int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static inline void write_file(const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Text-like bytes that pack, with noise that does not: blocks of every kind. */
static inline struct bytes make_plain(size_t size, uint32_t seed) {
    struct bytes plain = {malloc(size + 1), size};
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525 + 1013904223;
        bool is_noise = (i >> 14) % 3 == 1;
        plain.ptr[i] =
            is_noise ? (unsigned char)(seed >> 24) : (unsigned char)"abcdefgh0123,:\"\n"[(seed >> 20) % 16 & (i >> 3)];
    }
    return plain;
}

static inline struct bytes pack_gzip(struct bytes plain, int level) {
    struct bytes packed = {malloc(plain.size + plain.size / 8 + 1024), plain.size + plain.size / 8 + 1024};
    z_stream stream = {.next_in = plain.ptr, .avail_in = (uInt)plain.size, .next_out = packed.ptr};
    stream.avail_out = (uInt)packed.size;
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.size = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

static inline struct bytes pack_zstd(struct bytes plain, int level) {
    struct bytes packed = {malloc(ZSTD_compressBound(plain.size)), ZSTD_compressBound(plain.size)};
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    packed.size = ZSTD_compress2(context, packed.ptr, packed.size, plain.ptr, plain.size);
    assert_false(ZSTD_isError(packed.size));
    ZSTD_freeCCtx(context);
    return packed;
}

/* Reads all of an open source in pieces of at most `piece` bytes. */
static inline struct bytes read_all(struct gt_source *source, size_t piece) {
    static unsigned char buf[1 << 22];
    struct gt_error err = {0};
    size_t got, size = 0;
    do {
        assert_true(size + piece <= sizeof(buf));
        assert_int_equal(gt_source_read(source, buf + size, piece, &got, &err), GT_OK);
        assert_true(got <= piece);
        size += got;
    } while (got > 0);
    assert_int_equal(gt_source_read(source, buf + size, piece, &got, &err), GT_OK);
    assert_int_equal(got, 0);
    struct bytes all = {malloc(size + 1), size};
    memcpy(all.ptr, buf, size);
    return all;
}

static inline struct gt_source *open_source(const char *name) {
    struct gt_error err = {0};
    struct gt_source *source;
    if (gt_source_open(name, &source, &err) != GT_OK)
        fail_msg("%s", err.message);
    return source;
}

static inline void assert_same(struct bytes a, struct bytes b) {
    assert_int_equal(a.size, b.size);
    assert_true(a.size == 0 || memcmp(a.ptr, b.ptr, a.size) == 0);
}

/* The file at path gives these bytes, with this damage (NULL: none), however it is read. */
static inline void assert_file_gives(struct bytes expected, const char *damage, enum gt_packing packing) {
    static const size_t pieces[] = {1, 7, 4096, 65536, 65537, 1 << 21};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
        if (pieces[i] < 4096 && expected.size > 50000)
            continue;
        for (int with_peek = 0; with_peek < 2; with_peek++) {
            struct gt_source *source = open_source(path);
            assert_int_equal(gt_source_packing(source), packing);
            if (with_peek) {
                struct gt_str head;
                assert_int_equal(gt_source_peek(source, &head, NULL), GT_OK);
                size_t wanted = expected.size < GT_SOURCE_PEEK_MAX ? expected.size : GT_SOURCE_PEEK_MAX;
                assert_int_equal(head.len, wanted);
                assert_true(wanted == 0 || memcmp(head.ptr, expected.ptr, wanted) == 0);
            }
            struct bytes got = read_all(source, pieces[i]);
            assert_same(got, expected);
            if (damage)
                assert_string_equal(gt_source_damage(source), damage);
            else
                assert_null(gt_source_damage(source));
            free(got.ptr);
            gt_source_close(source);
        }
    }
}

#endif
