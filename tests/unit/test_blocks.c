/* gzip files of one member, inflated on several threads: the same bytes and the same words on damage as from one
   stream, whatever wrote the file and whatever it contains. */
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

#include "base/blocks.h"
#include "base/crc.h"
#include "base/deflate.h"
#include "base/pieces.h"
#include "base/readahead.h"
#include "random.h"

enum { PLAIN_BYTES = 6 << 20, PACKED_ROOM = PLAIN_BYTES + (1 << 20), THREADS = 5 };

static int file = -1;
static char path[64];
static unsigned char *plain, *packed;

static int set_up(void **state) {
    (void)state;
    plain = malloc(PLAIN_BYTES + 1);
    packed = malloc(PACKED_ROOM);
    assert_non_null(plain);
    assert_non_null(packed);
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

/* Lines like those of a trace: copies from near and far, some noise. */
static void fill_with_lines(uint64_t seed, unsigned noise) {
    uint64_t random = seed;
    char line[200];
    for (size_t at = 0; at < PLAIN_BYTES;) {
        unsigned long long kernel = random_below(&random, 50), decimals = random_below(&random, 1000);
        int tildes = (int)random_below(&random, 9);
        int size = snprintf(line, sizeof line,
                            "{\"ph\": \"X\", \"name\": \"kernel_%llu\", \"ts\": %llu.%03llu, \"x%.*s\": %llu},\n",
                            kernel, (unsigned long long)at, decimals, tildes, "~~~~~~~~",
                            (unsigned long long)random_below(&random, UINT64_C(1) << noise));
        size_t room = PLAIN_BYTES - at, bytes = (size_t)size < room ? (size_t)size : room;
        memcpy(plain + at, line, bytes);
        at += bytes;
    }
}

static void fill_with_noise(uint64_t seed, unsigned letters) {
    uint64_t random = seed;
    for (size_t i = 0; i < PLAIN_BYTES; i++)
        plain[i] = (unsigned char)random_below(&random, letters);
}

struct packing {
    int level, memory, strategy, flush; /* flush: after every so many bytes; 0: never */
    bool has_name;
};

/* A member with the whole of `plain`; its size. */
static size_t pack(const struct packing *how, unsigned char *out) {
    z_stream stream = {.next_in = plain, .next_out = out, .avail_out = PACKED_ROOM};
    gz_header header = {.name = (unsigned char *)(uintptr_t) "trace.json", .comment = (unsigned char *)(uintptr_t) "c"};
    assert_int_equal(deflateInit2(&stream, how->level, Z_DEFLATED, 31, how->memory, how->strategy), Z_OK);
    if (how->has_name)
        assert_int_equal(deflateSetHeader(&stream, &header), Z_OK);
    for (size_t left = PLAIN_BYTES, piece; left > 0; left -= piece) {
        piece = how->flush && (size_t)how->flush < left ? (size_t)how->flush : left;
        stream.avail_in = (unsigned)piece;
        assert_int_equal(deflate(&stream, piece == left ? Z_FINISH : Z_SYNC_FLUSH),
                         piece == left ? Z_STREAM_END : Z_OK);
        assert_int_equal(stream.avail_in, 0);
    }
    size_t total = stream.total_out;
    deflateEnd(&stream);
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
    size_t got = 1, room = 2 * PLAIN_BYTES + 1;
    unsigned char *found = malloc(room);
    assert_non_null(found);
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    assert_int_equal(gt_source_peek(source, &head, NULL), GT_OK);
    if (threads)
        assert_int_equal(gt_readahead_open(source, threads, &ahead, NULL), GT_OK);
    for (*size = 0; got > 0; *size += got) {
        size_t wanted = room - *size < 300001 ? room - *size : 300001;
        assert_int_equal(ahead ? gt_readahead_read(ahead, found + *size, wanted, &got, NULL)
                               : gt_source_read(source, found + *size, wanted, &got, NULL),
                         GT_OK);
    }
    gt_readahead_close(ahead);
    snprintf(damage, damage_bytes, "%s", gt_source_damage(source) ? gt_source_damage(source) : "");
    gt_source_close(source);
    return found;
}

static void reads_alike(void) {
    char expected_damage[100], found_damage[100];
    size_t expected_size, found_size;
    unsigned char *expected = read_all(0, &expected_size, expected_damage, sizeof expected_damage);
    for (size_t threads = THREADS; threads <= 8; threads += 3) {
        unsigned char *found = read_all(threads, &found_size, found_damage, sizeof found_damage);
        assert_int_equal(found_size, expected_size);
        assert_memory_equal(found, expected, expected_size);
        assert_string_equal(found_damage, expected_damage);
        free(found);
    }
    free(expected);
}

/* What the threads give by themselves, and whether they get to the end of the member. */
static bool inflates_all_on(size_t threads, size_t packed_bytes) {
    struct gt_source *source;
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    struct gt_blocks *blocks = gt_blocks_open(source, threads, 0, 0);
    assert_non_null(blocks);
    unsigned char *found = malloc(PLAIN_BYTES + 1);
    assert_non_null(found);
    size_t size = gt_blocks_read(blocks, found, PLAIN_BYTES + 1);
    assert_memory_equal(found, plain, size);
    struct gt_blocks_rest rest = gt_blocks_rest(blocks);
    if (rest.offset) {
        assert_int_equal(size, PLAIN_BYTES);
        assert_int_equal(rest.offset, packed_bytes);
    }
    assert_int_equal(rest.skipped_bytes, rest.offset ? 0 : size);
    gt_blocks_close(blocks);
    gt_source_close(source);
    free(found);
    return rest.offset > 0;
}

/* With maps for no piece, for some and for most. */
static bool inflates_all(size_t packed_bytes) {
    bool some = inflates_all_on(7, packed_bytes), most = inflates_all_on(12, packed_bytes);
    assert_int_equal(some, most);
    return inflates_all_on(THREADS, packed_bytes) && some;
}

static void members_of_any_writer(void **state) {
    (void)state;
    static const struct packing ways[] = {
        {6, 8, Z_DEFAULT_STRATEGY, 0, false},      {1, 8, Z_DEFAULT_STRATEGY, 0, true},
        {9, 9, Z_DEFAULT_STRATEGY, 0, false},      {6, 1, Z_DEFAULT_STRATEGY, 0, true},
        {6, 8, Z_HUFFMAN_ONLY, 0, false},          {6, 8, Z_RLE, 0, false},
        {6, 8, Z_DEFAULT_STRATEGY, 131072, false}, {2, 8, Z_DEFAULT_STRATEGY, 5000, false},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        fill_with_lines(i + 1, 60);
        size_t size = pack(&ways[i], packed);
        write_file(packed, size);
        assert_true(inflates_all(size));
    }
}

/* Fields of the header that others write, and one that is longer than what is looked at. */
static void headers_of_any_writer(void **state) {
    (void)state;
    static unsigned char extra[60000];
    static char name[80000];
    memset(extra, 'e', sizeof extra);
    memset(name, 'n', sizeof name - 1);
    fill_with_lines(5, 60);
    for (int i = 0; i < 5; i++) {
        z_stream stream = {
            .next_in = plain, .avail_in = PLAIN_BYTES, .next_out = packed, .avail_out = (unsigned)PACKED_ROOM};
        gz_header header = {.hcrc = i == 1 || i == 2, .name = i == 3 ? (unsigned char *)name : NULL};
        header.extra = i == 0 || i == 2 || i == 4 ? extra : NULL;
        header.extra_len = i == 4 ? sizeof extra : 20;
        assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
        assert_int_equal(deflateSetHeader(&stream, &header), Z_OK);
        assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
        size_t size = stream.total_out;
        deflateEnd(&stream);
        write_file(packed, size);
        if (i < 3)
            assert_true(inflates_all(size));
        else
            reads_alike();
    }
}

/* Nothing to be found, or nothing worth it: the file is read as one stream in the end. */
static void members_that_cannot_be_divided(void **state) {
    (void)state;
    static const struct packing ways[] = {
        {0, 8, Z_DEFAULT_STRATEGY, 0, false}, /* stored */
        {6, 8, Z_FIXED, 0, false},            /* no codes of their own */
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        fill_with_lines(i + 1, 60);
        size_t size = pack(&ways[i], packed);
        write_file(packed, size);
        inflates_all(size);
        reads_alike();
    }
    fill_with_noise(1, 256);
    write_file(packed, pack(&ways[0], packed));
    reads_alike();
    fill_with_noise(1, 3);
    write_file(packed, pack(&(struct packing){6, 8, Z_DEFAULT_STRATEGY, 0, false}, packed));
    reads_alike();
}

/* Blocks inside stored bytes look like blocks, and are none. */
static void packed_files_inside_packed_files(void **state) {
    (void)state;
    fill_with_lines(7, 60);
    size_t inner = pack(&(struct packing){6, 3, Z_DEFAULT_STRATEGY, 0, false}, packed);
    assert_true(inner < PLAIN_BYTES);
    for (size_t at = 0; at < PLAIN_BYTES; at += inner)
        memcpy(plain + at, packed, PLAIN_BYTES - at < inner ? PLAIN_BYTES - at : inner);
    for (int level = 0; level < 7; level += 3) {
        write_file(packed, pack(&(struct packing){level, 8, Z_DEFAULT_STRATEGY, 0, false}, packed));
        reads_alike();
    }
}

static void what_follows_the_member(void **state) {
    (void)state;
    fill_with_lines(3, 60);
    size_t size = pack(&(struct packing){6, 8, Z_DEFAULT_STRATEGY, 0, false}, packed);
    memset(packed + size, 0, 1000);
    write_file(packed, size + 1000);
    reads_alike();
    memcpy(packed + size, "garbage", 7);
    write_file(packed, size + 7);
    reads_alike();
    memcpy(packed + size, packed, size);
    write_file(packed, 2 * size);
    reads_alike();
    write_file(packed, 2 * size - 100);
    reads_alike();
}

static void damage_is_reported_as_without_threads(void **state) {
    (void)state;
    uint64_t random = 5;
    fill_with_lines(4, 60);
    size_t size = pack(&(struct packing){6, 8, Z_DEFAULT_STRATEGY, 0, false}, packed);
    for (int i = 0; i < 12; i++) {
        size_t at = i < 8 ? size - 1 - (size_t)i : random_below(&random, size);
        unsigned char was = packed[at];
        write_file(packed, at);
        reads_alike();
        packed[at] ^= (unsigned char)(1 + random_below(&random, 255));
        write_file(packed, size);
        reads_alike();
        packed[at] = was;
    }
}

static void small_files_and_few_threads_are_not_divided(void **state) {
    (void)state;
    struct gt_source *source;
    fill_with_lines(5, 60);
    size_t size = pack(&(struct packing){6, 8, Z_DEFAULT_STRATEGY, 0, false}, packed);
    write_file(packed, size);
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    assert_null(gt_blocks_open(source, 2, 0, 0));
    gt_source_close(source);
    write_file(packed, 100000);
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    assert_null(gt_blocks_open(source, THREADS, 0, 0));
    gt_source_close(source);
    write_file(plain, PLAIN_BYTES);
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    assert_null(gt_blocks_open(source, THREADS, 0, 0));
    gt_source_close(source);
    gt_blocks_close(NULL);
}

static void blocks_may_be_closed_at_any_time(void **state) {
    (void)state;
    fill_with_lines(6, 60);
    write_file(packed, pack(&(struct packing){6, 8, Z_DEFAULT_STRATEGY, 0, false}, packed));
    unsigned char *found = malloc(PLAIN_BYTES);
    assert_non_null(found);
    for (size_t bytes = 0; bytes < PLAIN_BYTES; bytes += PLAIN_BYTES / 5) {
        struct gt_source *source;
        assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
        struct gt_blocks *blocks = gt_blocks_open(source, THREADS, 0, 0);
        assert_int_equal(gt_blocks_read(blocks, found, bytes), bytes);
        gt_blocks_close(blocks);
        gt_source_close(source);
    }
    free(found);
}

/* Who takes pieces helps until the next one is ready, and only then asks for it. */
static void who_waits_may_inflate(void **state) {
    (void)state;
    enum { ZEROS = GT_BLOCKS_ZEROS };
    const char zeros[ZEROS] = {0};
    fill_with_lines(8, 60);
    write_file(packed, pack(&(struct packing){6, 8, Z_DEFAULT_STRATEGY, 0, false}, packed));
    for (size_t helpers = 0; helpers < 3; helpers++) {
        struct gt_source *source;
        struct gt_str bytes = {0};
        size_t size = 0, helped = 0;
        assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
        struct gt_blocks *blocks = gt_blocks_open(source, THREADS, helpers, 0);
        assert_non_null(blocks);
        for (bool is_more = true; is_more; size += bytes.len) {
            while (!gt_blocks_is_ready(blocks) && gt_blocks_help(blocks))
                helped++;
            bytes.len = 0;
            is_more = gt_blocks_lend(blocks, &bytes);
            if (!is_more)
                break;
            assert_true(size + bytes.len <= PLAIN_BYTES);
            assert_memory_equal(bytes.ptr, plain + size, bytes.len);
            assert_memory_equal(bytes.ptr + bytes.len, zeros, sizeof zeros);
            gt_blocks_take_back(blocks);
        }
        assert_int_equal(size, PLAIN_BYTES);
        assert_true(gt_blocks_is_all(blocks));
        assert_true(gt_blocks_is_ready(blocks));
        assert_false(gt_blocks_help(blocks));
        assert_true(helpers > 0 || helped == 0);
        gt_blocks_close(blocks);
        gt_source_close(source);
    }
}

/* All blocks from a bit on; room comes when it is asked for. */
static enum gt_deflate_status decode_all(struct gt_deflate *deflate) {
    enum gt_deflate_status status;
    do {
        status = gt_deflate_block(deflate);
        if (status == GT_DEFLATE_NEEDS_ROOM && gt_deflate_make_room(deflate))
            status = GT_DEFLATE_BLOCK_END;
        if (status == GT_DEFLATE_BLOCK_END)
            assert_true(deflate->bit <= 8 * deflate->in_bytes);
    } while (status == GT_DEFLATE_BLOCK_END);
    return status;
}

static void gives_plain(const struct gt_steps *text) {
    assert_int_equal(text->text_bytes, PLAIN_BYTES);
    assert_int_equal(gt_deflate_steps_reach(text), 0);
    unsigned char *found = malloc(PLAIN_BYTES + GT_STEPS_WINDOW + GT_STEPS_SLACK);
    assert_non_null(found);
    memset(found, 0, GT_STEPS_WINDOW);
    assert_int_equal(gt_deflate_steps_write(text, found + GT_STEPS_WINDOW), gt_crc_of(plain, PLAIN_BYTES));
    assert_memory_equal(found + GT_STEPS_WINDOW, plain, PLAIN_BYTES);
    free(found);
}

/* The block after any bit of the file is found, and nothing else. */
static void blocks_are_found(void **state) {
    (void)state;
    static struct gt_deflate deflate;
    struct gt_steps text = {0};
    uint64_t begins[2000], random = 11;
    size_t count = 0;
    fill_with_lines(8, 60);
    deflate.in_bytes = pack(&(struct packing){6, 8, Z_DEFAULT_STRATEGY, 0, false}, packed);
    memset(packed + deflate.in_bytes, 0, GT_DEFLATE_PADDING);
    deflate.in = packed;
    deflate.has_all = true;
    deflate.bit = 80;
    deflate.text = &text;
    enum gt_deflate_status status = GT_DEFLATE_BLOCK_END;
    while ((status == GT_DEFLATE_BLOCK_END || (status == GT_DEFLATE_NEEDS_ROOM && gt_deflate_make_room(&deflate))) &&
           count < 2000) {
        status = gt_deflate_block(&deflate);
        if (status == GT_DEFLATE_BLOCK_END)
            begins[count++] = deflate.bit;
    }
    assert_int_equal(status, GT_DEFLATE_STREAM_END);
    gives_plain(&text);
    assert_true(count > 20);
    for (size_t i = 1; i + 1 < count;
         i++) { /* the one after the last of these is the last block, which is not looked for */
        deflate.bit = begins[i - 1] + 1 + random_below(&random, begins[i] - begins[i - 1]);
        assert_true(gt_deflate_find(&deflate, 8 * deflate.in_bytes));
        assert_int_equal(deflate.bit, begins[i]);
    }
    gt_deflate_steps_release(&text);
}

/* Input that ends anywhere, in memory that ends where the padding does: sanitizers see what is read after it. */
static void input_may_end_anywhere(void **state) {
    (void)state;
    static struct gt_deflate deflate;
    struct gt_steps text = {0};
    uint64_t random = 17;
    fill_with_lines(9, 60);
    size_t size = pack(&(struct packing){6, 8, Z_DEFAULT_STRATEGY, 0, false}, packed);
    deflate.text = &text;
    for (int i = 0; i < 3000; i++) {
        bool is_noise = i % 3 == 0;
        deflate.in_bytes = 20 + random_below(&random, is_noise ? 300 : size / 8);
        unsigned char *in = calloc(1, deflate.in_bytes + GT_DEFLATE_PADDING);
        assert_non_null(in);
        memcpy(in, packed, deflate.in_bytes);
        for (size_t k = 10; is_noise && k < deflate.in_bytes; k++)
            in[k] = (unsigned char)(random_below(&random, 4) ? random_below(&random, 256) : 0);
        deflate.in = in;
        deflate.bit = 80;
        deflate.is_inside = false;
        deflate.has_all = i % 2;
        gt_deflate_steps_clear(&text);
        enum gt_deflate_status status = decode_all(&deflate);
        if (!is_noise)
            assert_int_equal(status, GT_DEFLATE_NEEDS_INPUT);
        deflate.bit = 80;
        gt_deflate_find(&deflate, 8 * deflate.in_bytes);
        assert_true(deflate.bit <= 8 * deflate.in_bytes);
        free(in);
    }
    gt_deflate_steps_release(&text);
}

/* Decoding goes on where the input ended, inside a block or its codes, and with symbols of the last part of the text.
 */
static void input_may_come_in_parts(void **state) {
    (void)state;
    static const struct packing ways[] = {
        {6, 8, Z_DEFAULT_STRATEGY, 0, false}, {9, 9, Z_RLE, 0, false},
        {6, 8, Z_HUFFMAN_ONLY, 0, false},     {6, 8, Z_FIXED, 0, false},
        {0, 8, Z_DEFAULT_STRATEGY, 0, false}, {2, 8, Z_DEFAULT_STRATEGY, 5000, false},
    };
    static struct gt_deflate deflate;
    static uint16_t symbols[GT_DEFLATE_SYMBOL_ROOM];
    uint64_t random = 19;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct gt_steps text = {0};
        fill_with_lines(20 + i, 60);
        size_t size = pack(&ways[i], packed);
        unsigned char *in = calloc(1, size + GT_DEFLATE_PADDING);
        assert_non_null(in);
        deflate.in = in;
        deflate.in_bytes = 0;
        deflate.has_all = deflate.is_inside = false;
        deflate.bit = 80;
        deflate.text = &text;
        deflate.symbols = symbols;
        gt_deflate_begin_symbols(&deflate);
        enum gt_deflate_status status = GT_DEFLATE_NEEDS_INPUT;
        while (status == GT_DEFLATE_NEEDS_INPUT && !deflate.has_all) {
            size_t left = size - deflate.in_bytes, part = 1 + random_below(&random, 2000);
            part = part < left ? part : left;
            memcpy(in + deflate.in_bytes, packed + deflate.in_bytes, part);
            deflate.in_bytes += part;
            deflate.has_all = part == left;
            status = decode_all(&deflate);
        }
        assert_int_equal(status, GT_DEFLATE_STREAM_END);
        gives_plain(&text);
        const uint16_t *last = symbols + deflate.symbol_count - GT_DEFLATE_WINDOW;
        for (size_t k = 0; k < GT_DEFLATE_WINDOW; k++)
            assert_int_equal(last[k], plain[PLAIN_BYTES - GT_DEFLATE_WINDOW + k]);
        gt_deflate_steps_release(&text);
        free(in);
    }
}

/* A piece from the middle: what is before it is not known, and its map finds the window after it all the same. */
static void maps_find_the_window(void **state) {
    (void)state;
    static unsigned char window[2][GT_DEFLATE_WINDOW];
    static struct gt_piece_decoder decoder;
    struct gt_source *source;
    struct gt_piece piece = {0}, same = {0};
    fill_with_lines(31, 60);
    write_file(packed, pack(&(struct packing){6, 8, Z_DEFAULT_STRATEGY, 0, false}, packed));
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    decoder.source = source;
    decoder.max_text_bytes = PLAIN_BYTES;
    unsigned char *found = calloc(1, PLAIN_BYTES + GT_STEPS_WINDOW + GT_STEPS_SLACK);
    assert_non_null(found);
    size_t at = 0;
    assert_true(gt_piece_decode(&decoder, &piece, 0, 80));
    for (uint64_t number = 1; !piece.is_last; number++) {
        gt_deflate_steps_write(&piece.text, found + GT_STEPS_WINDOW + at);
        at += piece.text.text_bytes;
        uint64_t bit = piece.end_bit;
        assert_true(gt_piece_find(&decoder, &piece, number, true));
        if (piece.begin_bit == piece.end_bit) { /* the last block is not looked for */
            assert_true(gt_piece_decode(&decoder, &piece, number, bit));
            continue;
        }
        assert_int_equal(piece.begin_bit, bit);
        assert_true(piece.is_mapped);
        gt_piece_map(&piece, found + at, window[0]);
        assert_memory_equal(window[0] + GT_DEFLATE_WINDOW - 1000, plain + at + piece.text.text_bytes - 1000, 1000);
        memcpy(window[1], plain + at + piece.text.text_bytes - GT_DEFLATE_WINDOW, GT_DEFLATE_WINDOW);
        assert_memory_equal(window[0], window[1], GT_DEFLATE_WINDOW);
        assert_true(gt_piece_find(&decoder, &same, number, false));
        assert_false(same.is_mapped);
        assert_int_equal(same.text.text_bytes, piece.text.text_bytes);
        assert_int_equal(same.end_bit, piece.end_bit);
    }
    gt_deflate_steps_write(&piece.text, found + GT_STEPS_WINDOW + at);
    assert_memory_equal(found + GT_STEPS_WINDOW, plain, PLAIN_BYTES);
    free(found);
    gt_piece_release(&piece);
    gt_piece_release(&same);
    gt_piece_decoder_release(&decoder);
    gt_source_close(source);
}

static void checksums_of_parts(void **state) {
    (void)state;
    uint64_t random = 13;
    fill_with_noise(2, 256);
    for (int i = 0; i < 200; i++) {
        size_t size = random_below(&random, 100000), first = random_below(&random, size + 1);
        uint32_t whole = (uint32_t)crc32(0, plain, (unsigned)size);
        assert_int_equal(gt_crc_of(plain, size), whole);
        assert_int_equal(gt_crc_joined(gt_crc_of(plain, first), gt_crc_of(plain + first, size - first), size - first),
                         whole);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_of_any_writer),
        cmocka_unit_test(headers_of_any_writer),
        cmocka_unit_test(members_that_cannot_be_divided),
        cmocka_unit_test(packed_files_inside_packed_files),
        cmocka_unit_test(what_follows_the_member),
        cmocka_unit_test(damage_is_reported_as_without_threads),
        cmocka_unit_test(small_files_and_few_threads_are_not_divided),
        cmocka_unit_test(blocks_may_be_closed_at_any_time),
        cmocka_unit_test(who_waits_may_inflate),
        cmocka_unit_test(blocks_are_found),
        cmocka_unit_test(input_may_end_anywhere),
        cmocka_unit_test(input_may_come_in_parts),
        cmocka_unit_test(maps_find_the_window),
        cmocka_unit_test(checksums_of_parts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
