/* Packed sources: whole, cut and damaged streams of both kinds, compared with the bytes that went in. */
#include "source_world.h"

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

/* Cut anywhere: a prefix comes out, and the damage is reported, except for a cut between members. */
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
        struct bytes zeros = {calloc(1, 300000), 300000}, garbage = {(unsigned char *)"garbage after ", 14};
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
                          p == 0 ? "gzip stream is empty and followed by other data"
                                 : "zstd stream is empty and followed by other data",
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
    assert_file_gives(nothing, "zstd window is too large; compress again with a smaller --long", GT_PACKING_ZSTD);
    write_file("\x1f\x8b", 2);
    assert_file_gives(nothing, "gzip stream ends early", GT_PACKING_GZIP);
}

/* ---- a copy from before the beginning ---- */

struct bits {
    unsigned char bytes[1000];
    size_t count;
};

/* Numbers are stored with their lowest bit first, Huffman codes with their highest. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
