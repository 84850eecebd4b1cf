/* Traces in gzip that several threads inflate and several read: the same store as in one go, whatever is in the file
   and however it ends. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <zlib.h>

#include "base/tape.h"
#include "base/threads.h"
#include "decode/torch/torch_packed.h"
#include "torch_text.h"

#include "random.h"

enum { ROOM = 24 << 20, EVENTS = 30000, MIN_THREADS = 4, THREADS = 8 }; /* three inflate at least, and one parses */

static char *text, *packed;
static atomic_int threads_left = INT_MAX;    /* so many may start */
static atomic_int threads_now, threads_most; /* besides the first one */

struct start {
    void *(*function)(void *);
    void *argument;
};

static void *count_thread(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    void *result = start.function(start.argument);
    atomic_fetch_sub(&threads_now, 1);
    return result;
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    if (atomic_fetch_sub(&threads_left, 1) <= 0)
        return EAGAIN;
    struct start *counted = malloc(sizeof *counted);
    assert_non_null(counted);
    *counted = (struct start){start, argument};
    int now = atomic_fetch_add(&threads_now, 1) + 1;
    if (now > atomic_load(&threads_most))
        atomic_store(&threads_most, now);
    return __real_pthread_create(thread, attributes, count_thread, counted);
}

static size_t text_size, packed_size;
static char path[64];

static int set_up(void **state) {
    (void)state;
    text = malloc(ROOM);
    packed = malloc(ROOM);
    return text && packed ? 0 : 1;
}

static int tear_down(void **state) {
    (void)state;
    free(text);
    free(packed);
    return 0;
}

/* A name that packs badly, so that a small trace has many pieces. */
static void put_event(uint64_t *random, unsigned i, const char *extra) {
    char noise[97];
    for (size_t k = 0; k < sizeof noise - 1; k++)
        noise[k] = (char)('A' + random_below(random, 26));
    noise[sizeof noise - 1] = 0;
    text_size += (size_t)snprintf(text + text_size, ROOM - text_size,
                                  "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": 0, \"tid\": %u, "
                                  "\"ts\": %u.%03u, \"dur\": 1.5, \"args\": {\"stream\": %u, \"note\": \"%s\"}}\n",
                                  i ? "," : "", noise, 7 + i % 3, 10 * i, i % 1000, 7 + i % 3, extra);
}

/* A document of so many events; the odd one has this text in it. */
static void write_text(unsigned events, const char *odd, const char *tail) {
    uint64_t random = 11;
    text_size = (size_t)snprintf(text, ROOM, "{\"schemaVersion\": 1, \"traceEvents\": [\n");
    for (unsigned i = 0; i < events; i++)
        put_event(&random, i, i == events / 2 ? odd : "");
    text_size += (size_t)snprintf(text + text_size, ROOM - text_size, "%s", tail);
}

static void pack_text(void) {
    z_stream stream = {.next_in = (unsigned char *)text, .avail_in = (unsigned)text_size};
    stream.next_out = (unsigned char *)packed;
    stream.avail_out = ROOM;
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed_size = stream.total_out;
    deflateEnd(&stream);
    assert_true(packed_size > 8 * 128 * 1024); /* else one thread inflates it */
}

enum outcome {
    TOGETHER, /* threads inflate while others parse */
    ODD,      /* that was in vain, and the file is read in one go */
    EITHER,   /* it depends on who is first */
};

/* How a file is read, and on how many threads. */
static void expect_outcome(enum outcome expected, size_t threads, const struct gt_torch_sizes *sizes) {
    struct gt_decode_options options = {.threads = threads};
    struct gt_error error = {0};
    struct gt_source *source;
    struct gt_store *store = NULL;
    enum gt_status status = GT_ERR;
    assert_int_equal(gt_source_open(path, &source, &error), GT_OK);
    atomic_store(&threads_most, 0);
    bool is_together = gt_torch_packed_decode(source, &options, sizes, &store, &status, &error);
    assert_true(atomic_load(&threads_most) < (int)threads);
    if (expected != EITHER)
        assert_int_equal(is_together, expected == TOGETHER);
    assert_int_equal(is_together && status == GT_OK, store != NULL);
    gt_store_free(store);
    gt_source_close(source);
}

/* What is in `packed`, with one thread and with several. */
static void decodes_alike(enum outcome outcome) {
    write_file(path, packed, packed_size);
    char *expected = decode_file(path, 1, &usual_sizes);
    assert_true(strlen(expected) > 20);
    for (size_t threads = 4; threads <= THREADS; threads += 2) {
        char *found = decode_file(path, threads, &usual_sizes);
        assert_string_equal(found, expected);
        free(found);
        expect_outcome(threads < MIN_THREADS ? ODD : outcome, threads, &usual_sizes);
    }
    const struct gt_torch_sizes small = {100000, 4096, 64 << 20, GT_TORCH_USUAL, 0};
    expect_outcome(outcome, THREADS, &small);
    char *found = decode_file(path, THREADS, &small);
    assert_string_equal(found, expected);
    free(found);
    free(expected);
    unlink(path);
}

static void whole_documents(void **state) {
    (void)state;
    write_text(EVENTS, "", "], \"traceName\": \"x.json\"}\n");
    pack_text();
    decodes_alike(TOGETHER);
}

/* What looks like an event inside one: a chunk that begins there is wrong. */
static void texts_like_events(void **state) {
    (void)state;
    static char odd[3 << 20];
    size_t size = 0;
    while (size + 100 < sizeof odd)
        size += (size_t)sprintf(odd + size, "\\n,{\\\"ph\\\": \\\"X\\\"},\\n  {\"\": {\"ph\": \"X\", \"name\": \"%zu",
                                size);
    write_text(
        EVENTS,
        "\", \"deep\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"no\", \"ts\": 1, \"dur\": 1}], \"x\": \"",
        "]}\n");
    pack_text();
    decodes_alike(TOGETHER);
    odd[size] = 0;
    for (char *p = odd; *p; p++)
        *p = *p == '"' && (p == odd || p[-1] != '\\') ? '\'' : *p;
    write_text(EVENTS / 2, odd, "]}\n"); /* longer than a chunk */
    pack_text();
    decodes_alike(EITHER);
}

static void long_tails(void **state) {
    (void)state;
    static char tail[4 << 20];
    memset(tail, ' ', sizeof tail - 1);
    memcpy(tail, "], \"more\": \"", 12);
    memcpy(tail + sizeof tail - 40, "\", \"traceName\": \"after\"}", 25);
    write_text(EVENTS, "", tail);
    pack_text();
    decodes_alike(TOGETHER);
}

/* What comes after the array looks like events, some of which are damaged: chunks that begin there are in vain. */
static void tails_like_events(void **state) {
    (void)state;
    uint64_t random = 5;
    write_text(EVENTS, "", "], \"more\": [\n");
    for (unsigned i = 0; i < EVENTS / 2; i++) {
        size_t begin = text_size;
        put_event(&random, i, "");
        char *damaged = i % 900 == 899 ? strstr(text + begin, "\"dur\":") : NULL;
        if (damaged)
            damaged[5] = ' ';
    }
    text_size += (size_t)snprintf(text + text_size, ROOM - text_size, "]}\n");
    pack_text();
    decodes_alike(EITHER);
}

/* However many threads can be started: nobody waits for one that was not. */
static void threads_that_do_not_start(void **state) {
    (void)state;
    write_text(EVENTS, "", "]}\n");
    pack_text();
    write_file(path, packed, packed_size);
    char *expected = decode_file(path, 1, &usual_sizes);
    alarm(300);
    for (int count = 0; count < 2 * THREADS; count++) {
        atomic_store(&threads_left, count);
        char *found = decode_file(path, THREADS, &usual_sizes);
        atomic_store(&threads_left, INT_MAX);
        assert_string_equal(found, expected);
        free(found);
    }
    alarm(0);
    free(expected);
    unlink(path);
}

static void damaged_files(void **state) {
    (void)state;
    write_text(EVENTS, "", "]}\n");
    pack_text();
    size_t whole = packed_size;
    packed_size = whole / 2; /* cut */
    decodes_alike(ODD);
    packed_size = whole;
    packed[whole - 6] ^= 1; /* checksum */
    decodes_alike(ODD);
    packed[whole - 6] ^= 1;
    packed[whole / 2] ^= 0x55;
    decodes_alike(ODD);
    packed[whole / 2] ^= 0x55;
    memcpy(packed + whole, packed, whole); /* a second member */
    packed_size = 2 * whole;
    decodes_alike(ODD);
}

static void cut_documents(void **state) {
    (void)state;
    write_text(EVENTS, "", "");
    text_size -= 20;
    pack_text();
    decodes_alike(ODD);
    write_text(
        EVENTS, "",
        "], \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"again\", \"ts\": 1, \"dur\": 2}]}");
    pack_text();
    decodes_alike(TOGETHER);
}

/* ---- the tape ---- */

struct reading {
    struct gt_tape *tape;
    bool is_right[4];
};

static void read_tape(void *context, size_t reader) {
    struct reading *reading = context;
    static const size_t steps[] = {1 << 20, 70001, 300000, 4096};
    char *bytes = malloc(steps[reader]);
    size_t got = 1, offset = 0;
    reading->is_right[reader] = bytes;
    for (; got > 0 && bytes; offset += got) {
        gt_tape_keep(reading->tape, reader, offset, false);
        got = gt_tape_read(reading->tape, reader, bytes, steps[reader], offset);
        reading->is_right[reader] &= offset + got <= text_size && memcmp(bytes, text + offset, got) == 0;
    }
    reading->is_right[reader] &= offset == text_size;
    gt_tape_keep(reading->tape, reader, GT_TAPE_NOWHERE, true);
    free(bytes);
}

/* Some of the readers look at pieces, and read what is between two of them. */
static void look_at_tape(void *context, size_t reader) {
    enum { BETWEEN = 1000 };
    struct reading *reading = context;
    const char zeros[GT_TAPE_SHOWN_ZEROS] = {0};
    size_t got = 1, offset = 0;
    char *bytes = malloc(BETWEEN);
    reading->is_right[reader] = bytes;
    for (; got > 0 && bytes; offset += got) {
        struct gt_str shown = gt_tape_show(reading->tape, reader, offset);
        size_t used = shown.len > BETWEEN * reader ? shown.len - BETWEEN * reader : 0;
        reading->is_right[reader] &= offset + shown.len <= text_size && memcmp(shown.ptr, text + offset, used) == 0 &&
                                     (shown.len == 0 || memcmp(shown.ptr + shown.len, zeros, sizeof zeros) == 0);
        offset += used;
        gt_tape_keep(reading->tape, reader, offset, false);
        got = gt_tape_read(reading->tape, reader, bytes, BETWEEN, offset);
        reading->is_right[reader] &= offset + got <= text_size && memcmp(bytes, text + offset, got) == 0;
    }
    reading->is_right[reader] &= offset == text_size;
    gt_tape_keep(reading->tape, reader, GT_TAPE_NOWHERE, true);
    free(bytes);
}

static struct gt_source *open_packed(void) {
    struct gt_source *source;
    write_file(path, packed, packed_size);
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    return source;
}

static void readers_apart(void **state) {
    (void)state;
    write_text(EVENTS, "", "]}\n");
    pack_text();
    void (*const tasks[])(void *, size_t) = {read_tape, look_at_tape};
    for (size_t i = 0; i < 4; i++) {
        struct gt_source *source = open_packed();
        /* Readers help few threads, and not many. */
        struct reading reading = {.tape = gt_tape_open(source, i < 2 ? THREADS : 3, 4)};
        assert_non_null(reading.tape);
        gt_threads_run(4, tasks[i % 2], &reading);
        for (size_t k = 0; k < 4; k++)
            assert_true(reading.is_right[k]);
        assert_false(gt_tape_is_odd(reading.tape));
        gt_tape_close(reading.tape);
        gt_source_close(source);
        unlink(path);
    }
}

/* Who stays behind and does not read keeps everything: in the end there is no room, and nobody waits for ever. */
static void marks_left_behind(void **state) {
    (void)state;
    write_text(2 * EVENTS, "", "]}\n");
    pack_text();
    struct gt_source *source = open_packed();
    struct gt_tape *tape = gt_tape_open(source, 4, 2);
    assert_non_null(tape);
    gt_tape_keep(tape, 1, 0, true);
    static char bytes[1 << 16];
    uint64_t offset = 0;
    for (size_t got = 1; got > 0; offset += got) {
        gt_tape_keep(tape, 0, offset, false);
        got = gt_tape_read(tape, 0, bytes, sizeof bytes, offset);
    }
    assert_true(offset < text_size);
    assert_true(gt_tape_is_odd(tape));
    gt_tape_close(tape);
    gt_source_close(source);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_documents),
                                       cmocka_unit_test(texts_like_events),
                                       cmocka_unit_test(long_tails),
                                       cmocka_unit_test(damaged_files),
                                       cmocka_unit_test(cut_documents),
                                       cmocka_unit_test(readers_apart),
                                       cmocka_unit_test(marks_left_behind),
                                       cmocka_unit_test(tails_like_events),
                                       cmocka_unit_test(threads_that_do_not_start)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
