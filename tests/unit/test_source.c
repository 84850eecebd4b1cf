/* Sources: plain, packed, piped, cut and damaged input, compared with the bytes that went in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/input", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_file(const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Text-like bytes that pack, with noise that does not: blocks of every kind. */
static struct bytes make_plain(size_t size, uint32_t seed) {
    struct bytes plain = {malloc(size + 1), size};
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525 + 1013904223;
        bool is_noise = (i >> 14) % 3 == 1;
        plain.ptr[i] =
            is_noise ? (unsigned char)(seed >> 24) : (unsigned char)"abcdefgh0123,:\"\n"[(seed >> 20) % 16 & (i >> 3)];
    }
    return plain;
}

static struct bytes pack_gzip(struct bytes plain, int level) {
    struct bytes packed = {malloc(plain.size + plain.size / 8 + 1024), plain.size + plain.size / 8 + 1024};
    z_stream stream = {.next_in = plain.ptr, .avail_in = (uInt)plain.size, .next_out = packed.ptr};
    stream.avail_out = (uInt)packed.size;
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.size = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

static struct bytes pack_zstd(struct bytes plain, int level) {
    struct bytes packed = {malloc(ZSTD_compressBound(plain.size)), ZSTD_compressBound(plain.size)};
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    packed.size = ZSTD_compress2(context, packed.ptr, packed.size, plain.ptr, plain.size);
    assert_false(ZSTD_isError(packed.size));
    ZSTD_freeCCtx(context);
    return packed;
}

typedef struct bytes (*pack_fn)(struct bytes plain, int level);
static const pack_fn packers[] = {pack_gzip, pack_zstd};
static const enum gt_packing packings[] = {GT_PACKING_GZIP, GT_PACKING_ZSTD};

static struct bytes join(struct bytes a, struct bytes b) {
    struct bytes both = {malloc(a.size + b.size + 1), a.size + b.size};
    if (a.size)
        memcpy(both.ptr, a.ptr, a.size);
    if (b.size)
        memcpy(both.ptr + a.size, b.ptr, b.size);
    return both;
}

/* Reads all of an open source in pieces of at most `piece` bytes. */
static struct bytes read_all(struct gt_source *source, size_t piece) {
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

static struct gt_source *open_source(const char *name) {
    struct gt_error err = {0};
    struct gt_source *source;
    if (gt_source_open(name, &source, &err) != GT_OK)
        fail_msg("%s", err.message);
    return source;
}

static void assert_same(struct bytes a, struct bytes b) {
    assert_int_equal(a.size, b.size);
    assert_true(a.size == 0 || memcmp(a.ptr, b.ptr, a.size) == 0);
}

/* The file at path gives these bytes, with this damage (NULL: none), however it is read. */
static void assert_file_gives(struct bytes expected, const char *damage, enum gt_packing packing) {
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

static void test_plain_sizes(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 65535, 65536, 65537, 262144, 262145, 1000003};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct bytes plain = make_plain(sizes[i], 1);
        write_file(plain.ptr, plain.size);
        assert_file_gives(plain, NULL, GT_PACKING_NONE);
        free(plain.ptr);
    }
}

static void test_packed_levels_and_sizes(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 100, 40000, 65536, 700001, 2000000};
    for (size_t p = 0; p < 2; p++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
            for (int level = p == 0 ? 0 : 1; level <= 9; level += 4) { /* gzip level 0 stores */
                struct bytes plain = make_plain(sizes[i], (uint32_t)i);
                struct bytes packed = packers[p](plain, level);
                write_file(packed.ptr, packed.size);
                assert_file_gives(plain, NULL, packings[p]);
                free(plain.ptr);
                free(packed.ptr);
            }
}

/* Several members with their ends at all offsets around the end of the input buffer. */
static void test_members_across_buffer(void **state) {
    (void)state;
    for (size_t p = 0; p < 2; p++)
        for (size_t extra = 0; extra < 24; extra++) {
            struct bytes noise = {malloc(262144), 262080 - 60 + extra};
            for (size_t i = 0; i < noise.size; i++)
                noise.ptr[i] = (unsigned char)(i * 2654435761u >> 13 ^ i >> 5);
            struct bytes small = make_plain(300, 5);
            struct bytes first = packers[p](noise, p == 0 ? 0 : 1), second = packers[p](small, 6);
            struct bytes packed = join(first, second), plain = join(noise, small);
            write_file(packed.ptr, packed.size);
            struct gt_source *source = open_source(path);
            struct bytes got = read_all(source, 1 << 20);
            assert_same(got, plain);
            assert_null(gt_source_damage(source));
            gt_source_close(source);
            free(noise.ptr), free(small.ptr), free(first.ptr), free(second.ptr);
            free(packed.ptr), free(plain.ptr), free(got.ptr);
        }
}

static void test_empty_members_between(void **state) {
    (void)state;
    for (size_t p = 0; p < 2; p++) {
        struct bytes plain = make_plain(1000, 2), none = {NULL, 0}, empty = make_plain(0, 0);
        struct bytes member = packers[p](plain, 6), hollow = packers[p](empty, 6);
        struct bytes packed = join(hollow, member), expected = join(none, plain);
        for (int i = 0; i < 50; i++) {
            struct bytes longer = join(packed, i % 2 ? member : hollow);
            struct bytes more = i % 2 ? join(expected, plain) : join(expected, none);
            free(packed.ptr), free(expected.ptr);
            packed = longer, expected = more;
        }
        write_file(packed.ptr, packed.size);
        assert_file_gives(expected, NULL, packings[p]);
        free(plain.ptr), free(empty.ptr), free(member.ptr), free(hollow.ptr), free(packed.ptr), free(expected.ptr);
    }
}

static void test_skippable_zstd_frames(void **state) {
    (void)state;
    struct bytes plain = make_plain(5000, 3), frame = pack_zstd(plain, 3);
    unsigned char skip_bytes[] = {0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'x', 'y', 'z'};
    struct bytes skip = {skip_bytes, sizeof(skip_bytes)};
    struct bytes a = join(skip, frame), b = join(a, skip), c = join(b, frame), expected = join(plain, plain);
    write_file(c.ptr, c.size);
    assert_file_gives(expected, NULL, GT_PACKING_ZSTD);
    struct bytes nothing = {NULL, 0};
    write_file(skip.ptr, skip.size);
    assert_file_gives(nothing, NULL, GT_PACKING_ZSTD);
    free(plain.ptr), free(frame.ptr), free(a.ptr), free(b.ptr), free(c.ptr), free(expected.ptr);
}

/* Cut anywhere: a prefix comes out, and the damage is told, but for a cut between members. */
static void test_cut_everywhere(void **state) {
    (void)state;
    for (size_t p = 0; p < 2; p++) {
        struct bytes plain = make_plain(3000, 4), member = packers[p](plain, 6);
        struct bytes packed = join(member, member), expected = join(plain, plain);
        size_t before = 0;
        for (size_t cut = 2; cut < packed.size; cut++) {
            write_file(packed.ptr, cut);
            struct gt_source *source = open_source(path);
            struct bytes got = read_all(source, 1000);
            assert_true(got.size <= expected.size);
            assert_true(memcmp(got.ptr, expected.ptr, got.size) == 0);
            assert_true(got.size >= before); /* more input never gives less */
            before = got.size;
            if (cut >= member.size)
                assert_true(got.size >= plain.size);
            if (cut == member.size)
                assert_null(gt_source_damage(source));
            else
                assert_string_equal(gt_source_damage(source),
                                    p == 0 ? "gzip stream ends early" : "zstd stream ends early");
            free(got.ptr);
            gt_source_close(source);
        }
        free(plain.ptr), free(member.ptr), free(packed.ptr), free(expected.ptr);
    }
}

/* What came before a cut of a long stream is all there: at most the last block is missing. */
static void test_cut_keeps_what_came_before(void **state) {
    (void)state;
    for (size_t p = 0; p < 2; p++) {
        struct bytes plain = make_plain(2000000, 6), packed = packers[p](plain, 3);
        for (size_t tenth = 1; tenth < 10; tenth++) {
            write_file(packed.ptr, packed.size * tenth / 10);
            struct gt_source *source = open_source(path);
            struct bytes got = read_all(source, 70000);
            assert_non_null(gt_source_damage(source));
            assert_true(got.size + 400000 > plain.size * tenth / 10);
            assert_true(memcmp(got.ptr, plain.ptr, got.size) == 0);
            free(got.ptr);
            gt_source_close(source);
        }
        free(plain.ptr), free(packed.ptr);
    }
}

/* Each byte broken in turn: no crash, the same end however it is read, and a change of the content never goes unseen.
   Header bytes without meaning (time, system) may change nothing. */
static void test_every_byte_broken(void **state) {
    (void)state;
    for (size_t p = 0; p < 2; p++) {
        struct bytes plain = make_plain(2000, 7), packed = packers[p](plain, 6);
        for (size_t at = 0; at < packed.size; at++)
            for (int bit = 0; bit < 8; bit += 3) {
                packed.ptr[at] ^= (unsigned char)(1 << bit);
                write_file(packed.ptr, packed.size);
                packed.ptr[at] ^= (unsigned char)(1 << bit);
                struct gt_source *source = open_source(path);
                struct bytes got = read_all(source, 333);
                if (gt_source_packing(source) != GT_PACKING_NONE && !gt_source_damage(source) && got.size > 0)
                    assert_same(got, plain);
                free(got.ptr);
                gt_source_close(source);
            }
        free(plain.ptr), free(packed.ptr);
    }
}

/* A bad spot late in the stream: everything before its block is delivered. */
static void test_damage_keeps_what_came_before(void **state) {
    (void)state;
    for (size_t p = 0; p < 2; p++) {
        struct bytes plain = make_plain(2000000, 8), packed = packers[p](plain, 3);
        size_t checksum_at = p == 0 ? packed.size - 8 : packed.size - 4;
        packed.ptr[checksum_at] ^= 1;
        write_file(packed.ptr, packed.size);
        assert_file_gives(plain, p == 0 ? "gzip checksum is wrong" : "zstd checksum is wrong", packings[p]);
        packed.ptr[checksum_at] ^= 1;
        memset(packed.ptr + packed.size * 3 / 4, 0xff, 4000);
        write_file(packed.ptr, packed.size);
        struct gt_source *source = open_source(path);
        struct bytes got = read_all(source, 1 << 20);
        assert_non_null(gt_source_damage(source));
        assert_true(got.size > plain.size / 2);
        assert_true(memcmp(got.ptr, plain.ptr, plain.size / 2) == 0);
        gt_source_close(source);
        free(plain.ptr), free(packed.ptr), free(got.ptr);
    }
}

static void test_tails(void **state) {
    (void)state;
    for (size_t p = 0; p < 2; p++) {
        struct bytes plain = make_plain(30000, 9), packed = packers[p](plain, 6), empty = make_plain(0, 0);
        struct bytes hollow = packers[p](empty, 6);
        struct bytes zeros = {calloc(1, 300000), 300000}, garbage = {(unsigned char *)"garbage behind", 14};
        struct bytes one = {(unsigned char *)"x", 1};
        struct bytes tails[] = {zeros, garbage, one};
        for (size_t i = 0; i < 3; i++) {
            struct bytes file = join(packed, tails[i]);
            write_file(file.ptr, file.size);
            assert_file_gives(plain, NULL, packings[p]);
            free(file.ptr);
        }
        struct bytes file = join(hollow, garbage);
        write_file(file.ptr, file.size);
        assert_file_gives(empty,
                          p == 0 ? "gzip stream is empty and something else follows it"
                                 : "zstd stream is empty and something else follows it",
                          packings[p]);
        free(plain.ptr), free(packed.ptr), free(empty.ptr), free(hollow.ptr), free(zeros.ptr), free(file.ptr);
    }
}

static void test_damaged_headers(void **state) {
    (void)state;
    struct bytes nothing = {NULL, 0};
    write_file("\x1f\x8b\x08\xe0whatever this is", 20); /* reserved flags */
    struct gt_source *source = open_source(path);
    struct bytes got = read_all(source, 100);
    assert_non_null(gt_source_damage(source));
    free(got.ptr);
    gt_source_close(source);
    write_file("\x28\xb5\x2f\xfd\x00\xb8\x00\x00\x00\x00\x00\x00", 12); /* window of 2^33 bytes */
    assert_file_gives(nothing, "zstd window is too large; pack it again with a smaller --long", GT_PACKING_ZSTD);
    write_file("\x1f\x8b", 2);
    assert_file_gives(nothing, "gzip stream ends early", GT_PACKING_GZIP);
}

/* ---- a copy from before the beginning ---- */

struct bits {
    unsigned char bytes[1000];
    size_t count;
};

/* Numbers stand with their lowest bit first, Huffman codes with their highest. */
static void put_number(struct bits *bits, unsigned value, unsigned width) {
    for (unsigned i = 0; i < width; i++, bits->count++)
        bits->bytes[bits->count / 8] |= (unsigned char)((value >> i & 1) << bits->count % 8);
}

static void put_code(struct bits *bits, unsigned code, unsigned width) {
    while (width-- > 0)
        put_number(bits, code >> width & 1, 1);
}

/* Three hundred letters, then a copy of `length` bytes (258 or 3) from a thousand before. */
static void test_copy_from_before_the_beginning(void **state) {
    (void)state;
    for (int is_long = 0; is_long < 2; is_long++) {
        struct bits bits = {{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3}, 80};
        put_number(&bits, 1 | 1 << 1, 3); /* the last block, of fixed codes */
        for (int i = 0; i < 300; i++)
            put_code(&bits, 0x30 + 'a', 8);
        put_code(&bits, is_long ? 0xc0 + 285 - 280 : 257 - 256, is_long ? 8 : 7);
        put_code(&bits, 19, 5); /* 769 to 1024 back */
        put_number(&bits, 1000 - 769, 8);
        put_code(&bits, 0, 7);
        write_file(bits.bytes, bits.count / 8 + 20);
        for (size_t piece = 1; piece <= 1000; piece *= 10) {
            struct gt_source *source = open_source(path);
            struct bytes given = read_all(source, piece);
            assert_non_null(gt_source_damage(source));
            assert_true(given.size <= 300 && given.size >= 300 - 255);
            for (size_t i = 0; i < given.size; i++)
                assert_int_equal(given.ptr[i], 'a'); /* and never what was in memory */
            free(given.ptr);
            gt_source_close(source);
        }
    }
}

static void test_gzip_header_fields(void **state) {
    (void)state;
    struct bytes plain = make_plain(1000, 10), packed = pack_gzip(plain, 6);
    unsigned char extra[] = {0x1f, 0x8b, 8,   4 | 8 | 16, 1,   2,   3,   4, 0,   3, 2,
                             0,    'A',  'B', 'n',        'a', 'm', 'e', 0, 'c', 0};
    struct bytes header = {extra, sizeof(extra)}, body = {packed.ptr + 10, packed.size - 10};
    struct bytes file = join(header, body);
    write_file(file.ptr, file.size);
    assert_file_gives(plain, NULL, GT_PACKING_GZIP);
    free(plain.ptr), free(packed.ptr), free(file.ptr);
}

struct feed {
    int fd;
    struct bytes bytes;
    size_t piece;
};

static void *feed_pipe(void *context) {
    struct feed *feed = context;
    for (size_t at = 0; at < feed->bytes.size;) {
        size_t left = feed->bytes.size - at;
        ssize_t n = write(feed->fd, feed->bytes.ptr + at, left < feed->piece ? left : feed->piece);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    close(feed->fd);
    return NULL;
}

/* The bytes arrive through a pipe in odd pieces; opened by name or as standard input. */
static void assert_pipe_gives(struct bytes sent, struct bytes expected, size_t piece, bool as_stdin, bool nonblocking) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    if (nonblocking)
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
    struct feed feed = {ends[1], sent, piece};
    char name[32] = "-";
    int saved = -1;
    if (as_stdin) {
        saved = dup(0);
        dup2(ends[0], 0);
    } else {
        snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
    }
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
    struct gt_source *source = open_source(name);
    assert_string_equal(gt_source_path(source), as_stdin ? "standard input" : name);
    uint64_t size, done, total;
    assert_false(gt_source_is_seekable(source, &size));
    struct gt_str head;
    assert_int_equal(gt_source_peek(source, &head, NULL), GT_OK);
    struct bytes got = read_all(source, 100000);
    assert_same(got, expected);
    assert_null(gt_source_damage(source));
    gt_source_progress(source, &done, &total);
    assert_int_equal(done, sent.size);
    assert_int_equal(total, 0);
    gt_source_close(source);
    pthread_join(thread, NULL);
    close(ends[0]);
    if (as_stdin) {
        dup2(saved, 0);
        close(saved);
    }
    free(got.ptr);
}

static void test_pipes(void **state) {
    (void)state;
    struct bytes plain = make_plain(150000, 11), gzip = pack_gzip(plain, 6), zstd = pack_zstd(plain, 3);
    struct bytes small = make_plain(2000, 12), small_gzip = pack_gzip(small, 6), small_zstd = pack_zstd(small, 3);
    for (int as_stdin = 0; as_stdin < 2; as_stdin++) {
        assert_pipe_gives(plain, plain, 4093, as_stdin, as_stdin);
        assert_pipe_gives(gzip, plain, 4093, as_stdin, as_stdin);
        assert_pipe_gives(zstd, plain, 4093, as_stdin, as_stdin);
        assert_pipe_gives(small, small, 1, as_stdin, false);
        assert_pipe_gives(small_gzip, small, 1, as_stdin, false);
        assert_pipe_gives(small_zstd, small, 1, as_stdin, as_stdin);
    }
    free(plain.ptr), free(gzip.ptr), free(zstd.ptr), free(small.ptr), free(small_gzip.ptr), free(small_zstd.ptr);
}

static void assert_open_fails(const char *name, const char *format) {
    char expected[256];
    snprintf(expected, sizeof(expected), format, name);
    struct gt_error err = {0};
    struct gt_source *source = (void *)1;
    assert_int_equal(gt_source_open(name, &source, &err), GT_ERR);
    assert_null(source);
    assert_string_equal(err.message, expected);
}

static void test_errors_name_the_file(void **state) {
    (void)state;
    assert_open_fails("no/such.json", "cannot open '%s': no such file or directory");
    assert_open_fails("", "cannot open '%s': no such file or directory");
    assert_open_fails(folder, "cannot read '%s': it is a directory");
    write_file("x", 1);
    if (geteuid() != 0) {
        chmod(path, 0);
        assert_open_fails(path, "cannot open '%s': permission denied");
        chmod(path, 0600);
    }
    char below[80];
    snprintf(below, sizeof(below), "%s/x", path);
    assert_open_fails(below, "cannot open '%s': not a directory");
    unlink(path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_open_fails(path, "cannot read '%s': it is a socket");
    close(fd);
    unlink(path);
}

static void test_stdin_file_goes_on_where_it_stands(void **state) {
    (void)state;
    struct bytes plain = make_plain(10000, 13);
    write_file(plain.ptr, plain.size);
    int saved = dup(0), fd = open(path, O_RDONLY);
    dup2(fd, 0);
    close(fd);
    lseek(0, 1234, SEEK_SET);
    struct gt_source *source = open_source("-");
    uint64_t size;
    assert_true(gt_source_is_seekable(source, &size));
    assert_int_equal(size, 10000 - 1234);
    char byte;
    size_t got;
    assert_int_equal(gt_source_pread(source, &byte, 1, 10, &got, NULL), GT_OK);
    assert_int_equal(byte, (char)plain.ptr[1244]);
    struct bytes all = read_all(source, 999);
    assert_int_equal(all.size, size);
    assert_true(memcmp(all.ptr, plain.ptr + 1234, size) == 0);
    gt_source_close(source);
    dup2(saved, 0);
    close(saved);
    free(plain.ptr), free(all.ptr);
}

struct slice {
    const struct gt_source *source;
    struct bytes plain;
    size_t first;
    bool is_right;
};

static void *pread_slices(void *context) {
    struct slice *slice = context;
    unsigned char buf[5000];
    slice->is_right = true;
    for (size_t at = slice->first; at < slice->plain.size; at += 4 * 4999) {
        size_t got, wanted = slice->plain.size - at < sizeof(buf) ? slice->plain.size - at : sizeof(buf);
        if (gt_source_pread(slice->source, buf, sizeof(buf), at, &got, NULL) != GT_OK || got != wanted ||
            memcmp(buf, slice->plain.ptr + at, got) != 0)
            slice->is_right = false;
    }
    return NULL;
}

static void test_pread_from_threads_and_shrinking(void **state) {
    (void)state;
    struct bytes plain = make_plain(1000000, 14);
    write_file(plain.ptr, plain.size);
    struct gt_source *source = open_source(path);
    uint64_t size, done, total;
    assert_true(gt_source_is_seekable(source, &size));
    assert_int_equal(size, plain.size);
    pthread_t threads[4];
    struct slice slices[4];
    for (size_t i = 0; i < 4; i++) {
        slices[i] = (struct slice){source, plain, i * 4999, false};
        assert_int_equal(pthread_create(&threads[i], NULL, pread_slices, &slices[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(slices[i].is_right);
    }
    gt_source_progress(source, &done, &total);
    assert_int_equal(total, plain.size);
    assert_int_equal(done, plain.size);

    char buf[100];
    size_t got;
    assert_int_equal(truncate(path, 500050), 0);
    assert_int_equal(gt_source_pread(source, buf, 100, 500000, &got, NULL), GT_OK);
    assert_int_equal(got, 50);
    assert_int_equal(gt_source_pread(source, buf, 100, 900000, &got, NULL), GT_OK);
    assert_int_equal(got, 0);
    assert_int_equal(gt_source_pread(source, buf, 100, UINT64_MAX - 10, &got, NULL), GT_OK);
    assert_int_equal(got, 0);
    struct bytes all = read_all(source, 4096);
    assert_int_equal(all.size, 500050);
    gt_source_close(source);
    free(plain.ptr), free(all.ptr);
}

static void test_packed_and_odd_files_do_not_seek(void **state) {
    (void)state;
    uint64_t size;
    struct bytes plain = make_plain(1000, 15), packed = pack_gzip(plain, 6);
    write_file(packed.ptr, packed.size);
    struct gt_source *source = open_source(path);
    assert_false(gt_source_is_seekable(source, &size));
    gt_source_close(source);
    source = open_source("/proc/self/status"); /* a regular file of size 0 with bytes in it */
    assert_false(gt_source_is_seekable(source, &size));
    struct bytes all = read_all(source, 100);
    assert_true(all.size > 100);
    gt_source_close(source);
    source = open_source("/dev/null");
    size_t got;
    assert_int_equal(gt_source_read(source, &size, sizeof(size), &got, NULL), GT_OK);
    assert_int_equal(got, 0);
    gt_source_close(source);
    gt_source_close(NULL);
    free(plain.ptr), free(packed.ptr), free(all.ptr);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_sizes),
        cmocka_unit_test(test_packed_levels_and_sizes),
        cmocka_unit_test(test_members_across_buffer),
        cmocka_unit_test(test_empty_members_between),
        cmocka_unit_test(test_skippable_zstd_frames),
        cmocka_unit_test(test_cut_everywhere),
        cmocka_unit_test(test_cut_keeps_what_came_before),
        cmocka_unit_test(test_every_byte_broken),
        cmocka_unit_test(test_damage_keeps_what_came_before),
        cmocka_unit_test(test_tails),
        cmocka_unit_test(test_damaged_headers),
        cmocka_unit_test(test_copy_from_before_the_beginning),
        cmocka_unit_test(test_gzip_header_fields),
        cmocka_unit_test(test_pipes),
        cmocka_unit_test(test_errors_name_the_file),
        cmocka_unit_test(test_stdin_file_goes_on_where_it_stands),
        cmocka_unit_test(test_pread_from_threads_and_shrinking),
        cmocka_unit_test(test_packed_and_odd_files_do_not_seek),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
