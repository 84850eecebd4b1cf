/* Packed files of several members, inflated on several threads: the same bytes and the same words on damage as from one
   stream, whatever the file contains. */
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
#include <zlib.h>
#include <zstd.h>

#include "base/members.h"
#include "base/readahead.h"
#include "random.h"

enum { MEMBERS = 120, MEMBER_BYTES = 60000, PLAIN_BYTES = MEMBERS * MEMBER_BYTES, PACKED_ROOM = PLAIN_BYTES };

static int file = -1;
static char path[64];
static unsigned char *plain, *packed;

static int set_up(void **state) {
    (void)state;
    uint64_t random = 3;
    plain = malloc(PLAIN_BYTES);
    packed = malloc(PACKED_ROOM);
    assert_non_null(plain);
    assert_non_null(packed);
    for (size_t i = 0; i < PLAIN_BYTES; i++)
        plain[i] = (unsigned char)('a' + random_below(&random, 4));
    file = memfd_create("packed", 0);
    assert_true(file >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    close(file);
    free(plain);
    free(packed);
    return 0;
}

/* A member as bgzip writes it; its size. */
static size_t pack_gzip(unsigned char *out, const unsigned char *bytes, size_t size) {
    static const unsigned char head[] = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, 'B', 'C', 2, 0};
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)bytes, .avail_in = (unsigned)size};
    memcpy(out, head, sizeof head);
    stream.next_out = out + sizeof head + 2;
    stream.avail_out = 70000;
    assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t total = sizeof head + 2 + stream.total_out + 8;
    deflateEnd(&stream);
    uint32_t ends[] = {(uint32_t)crc32(0, bytes, (unsigned)size), (uint32_t)size};
    for (int i = 0; i < 8; i++)
        out[total - 8 + (size_t)i] = (unsigned char)(ends[i / 4] >> i % 4 * 8);
    out[sizeof head] = (unsigned char)(total - 1);
    out[sizeof head + 1] = (unsigned char)((total - 1) >> 8);
    return total;
}

static size_t pack_zstd(unsigned char *out, const unsigned char *bytes, size_t size) {
    static const unsigned char skippable[] = {0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'};
    memcpy(out, skippable, sizeof skippable);
    size_t total = ZSTD_compress(out + sizeof skippable, 2 * MEMBER_BYTES, bytes, size, 1);
    assert_false(ZSTD_isError(total));
    return sizeof skippable + total;
}

static size_t pack(enum gt_packing packing) {
    size_t total = 0;
    for (size_t i = 0; i < MEMBERS; i++)
        total += (packing == GT_PACKING_GZIP ? pack_gzip : pack_zstd)(packed + total, plain + i * MEMBER_BYTES,
                                                                      MEMBER_BYTES);
    return total;
}

static void write_file(const unsigned char *bytes, size_t size) {
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(pwrite(file, bytes, size, 0), size);
}

/* All of the file, read ahead with so many threads or (0) not; the damage it reports. */
static unsigned char *read_all(size_t threads, size_t *size, char *damage, size_t damage_bytes) {
    struct gt_source *source;
    struct gt_readahead *ahead = NULL;
    struct gt_str head;
    unsigned char *found = malloc(PLAIN_BYTES + 1);
    size_t got = 1;
    assert_non_null(found);
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    assert_int_equal(gt_source_peek(source, &head, NULL), GT_OK);
    if (threads)
        assert_int_equal(gt_readahead_open(source, threads, &ahead, NULL), GT_OK);
    for (*size = 0; got > 0; *size += got) {
        size_t room = PLAIN_BYTES + 1 - *size, wanted = room < 100001 ? room : 100001;
        assert_int_equal(ahead ? gt_readahead_read(ahead, found + *size, wanted, &got, NULL)
                               : gt_source_read(source, found + *size, wanted, &got, NULL),
                         GT_OK);
    }
    gt_readahead_close(ahead);
    snprintf(damage, damage_bytes, "%s", gt_source_damage(source) ? gt_source_damage(source) : "");
    gt_source_close(source);
    return found;
}

static void reads_alike(const char *damage) {
    char expected_damage[100], found_damage[100];
    size_t expected_size, found_size;
    unsigned char *expected = read_all(0, &expected_size, expected_damage, sizeof expected_damage);
    for (size_t threads = 1; threads <= 4; threads++) {
        unsigned char *found = read_all(threads, &found_size, found_damage, sizeof found_damage);
        assert_int_equal(found_size, expected_size);
        assert_memory_equal(found, expected, expected_size);
        assert_string_equal(found_damage, expected_damage);
        free(found);
    }
    if (damage)
        assert_string_equal(expected_damage, damage);
    free(expected);
}

static void members_are_inflated_in_order(void **state) {
    (void)state;
    for (enum gt_packing packing = GT_PACKING_GZIP; packing <= GT_PACKING_ZSTD; packing++) {
        struct gt_source *source;
        write_file(packed, pack(packing));
        assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
        struct gt_members *members = gt_members_open(source, 3);
        unsigned char *found = malloc(PLAIN_BYTES + 1);
        uint64_t file_size;
        assert_non_null(members);
        assert_non_null(found);
        assert_int_equal(gt_members_read(members, found, PLAIN_BYTES + 1), PLAIN_BYTES);
        assert_memory_equal(found, plain, PLAIN_BYTES);
        assert_true(gt_source_file_size(source, &file_size));
        assert_int_equal(gt_members_rest(members), file_size);
        gt_members_close(members);
        gt_source_close(source);
        free(found);
        reads_alike("");
    }
}

static void what_follows_members_is_read_as_ever(void **state) {
    (void)state;
    for (enum gt_packing packing = GT_PACKING_GZIP; packing <= GT_PACKING_ZSTD; packing++) {
        size_t size = pack(packing);
        memset(packed + size, 0, 1000);
        write_file(packed, size + 1000);
        reads_alike("");
        memcpy(packed + size, "garbage", 7);
        write_file(packed, size + 7);
        reads_alike("");
    }
}

static void damage_is_reported_as_without_threads(void **state) {
    (void)state;
    uint64_t random = 5;
    for (enum gt_packing packing = GT_PACKING_GZIP; packing <= GT_PACKING_ZSTD; packing++) {
        size_t size = pack(packing);
        for (int i = 0; i < 12; i++) {
            size_t at = random_below(&random, size);
            unsigned char was = packed[at];
            write_file(packed, at);
            reads_alike(NULL);
            packed[at] ^= (unsigned char)(1 + random_below(&random, 255));
            write_file(packed, size);
            reads_alike(NULL);
            packed[at] = was;
        }
    }
}

static void single_members_are_not_divided(void **state) {
    (void)state;
    struct gt_source *source;
    write_file(packed, pack_gzip(packed, plain, MEMBER_BYTES));
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    assert_null(gt_members_open(source, 2));
    gt_source_close(source);
    write_file(plain, MEMBER_BYTES);
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    assert_null(gt_members_open(source, 2));
    gt_source_close(source);
    gt_members_close(NULL);
}

static void members_may_be_closed_at_any_time(void **state) {
    (void)state;
    write_file(packed, pack(GT_PACKING_ZSTD));
    for (size_t bytes = 0; bytes < PLAIN_BYTES; bytes += PLAIN_BYTES / 5) {
        struct gt_source *source;
        assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
        struct gt_members *members = gt_members_open(source, 2);
        unsigned char *found = malloc(PLAIN_BYTES);
        assert_non_null(found);
        assert_int_equal(gt_members_read(members, found, bytes), bytes);
        gt_members_close(members);
        gt_source_close(source);
        free(found);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_inflated_in_order),         cmocka_unit_test(what_follows_members_is_read_as_ever),
        cmocka_unit_test(damage_is_reported_as_without_threads), cmocka_unit_test(single_members_are_not_divided),
        cmocka_unit_test(members_may_be_closed_at_any_time),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
