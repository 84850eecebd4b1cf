/* Pieces of an XSpace dealt to several builders in every way, as threads may happen to take them: the store is the one
   of a single builder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../fuzz/same_store.h"
#include "base/mem.h"
#include "base/source.h"
#include "decode/xla/xplane_events.h"

enum { BUILDERS = 3, MAX_BYTES = 1 << 14, MOST_PIECES_IN_EVERY_WAY = 5, OTHER_WAYS = 60 };

/* ---- files ---- */

struct bytes {
    char at[MAX_BYTES + GT_PROTO_PADDING];
    size_t size;
};

static void put_varint(struct bytes *into, uint64_t value) {
    for (; value > 127; value >>= 7)
        into->at[into->size++] = (char)(value | 0x80);
    into->at[into->size++] = (char)value;
}

static void put_number(struct bytes *into, uint32_t field, uint64_t value) {
    put_varint(into, GT_PROTO_VARINT(field));
    put_varint(into, value);
}

static void put_bytes(struct bytes *into, uint32_t field, const char *bytes, size_t size) {
    put_varint(into, GT_PROTO_BYTES(field));
    put_varint(into, size);
    memcpy(into->at + into->size, bytes, size);
    into->size += size;
}

static void put_text(struct bytes *into, uint32_t field, const char *text) {
    put_bytes(into, field, text, strlen(text));
}

static void put_message(struct bytes *into, uint32_t field, const struct bytes *message) {
    put_bytes(into, field, message->at, message->size);
}

/* One event of 1 us; operation: with its scope, "" for none. */
static void put_event(struct bytes *line, uint64_t start_ns, const char *operation) {
    struct bytes event = {.size = 0}, stat = {.size = 0};
    put_number(&event, 1, 1);
    put_number(&event, 2, start_ns * 1000);
    put_number(&event, 3, 1000 * 1000);
    if (operation[0]) {
        put_number(&stat, 1, 1);
        put_text(&stat, 5, operation);
        put_message(&event, 4, &stat);
    }
    put_message(line, 4, &event);
}

/* The number of a word and what it stands for, for events or stats of a plane. */
static void put_word(struct bytes *plane, uint32_t field, const char *name) {
    struct bytes entry = {.size = 0}, value = {.size = 0};
    put_text(&value, 2, name);
    put_number(&entry, 1, 1);
    put_message(&entry, 2, &value);
    put_message(plane, field, &entry);
}

static void put_line(struct bytes *plane, uint64_t id, const char *name, const char *const *operations, size_t count) {
    struct bytes line = {.size = 0};
    put_number(&line, 1, id);
    put_text(&line, 2, name);
    for (size_t i = 0; i < count; i++)
        put_event(&line, 2000 * i, operations[i]);
    put_message(plane, 3, &line);
}

static void put_plane(struct bytes *space, const char *name, const char *event_name, struct bytes *plane) {
    put_text(plane, 2, name);
    put_word(plane, 4, event_name);
    put_word(plane, 5, "name");
    put_message(space, 1, plane);
}

static void load(const char *path, struct bytes *into) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    into->size = fread(into->at, 1, MAX_BYTES, file);
    assert_true(into->size > 0 && into->size < MAX_BYTES);
    fclose(file);
}

/* ---- reading ---- */

struct file {
    const struct bytes *bytes;
    struct gt_source *source;
    struct gt_xplane_window window;
    struct gt_xplane_space space;
    struct gt_xla_capture capture;
};

static void open_file(struct file *file, const struct bytes *bytes, size_t piece_bytes) {
    char path[64];
    uint64_t size;
    int fd = memfd_create("input", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, bytes->at, bytes->size) == (ssize_t)bytes->size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    *file = (struct file){.bytes = bytes};
    assert_int_equal(gt_source_open(path, &file->source, NULL), GT_OK);
    assert_true(gt_source_is_seekable(file->source, &size));
    assert_int_equal(gt_xplane_walk_window_init(&file->window, file->source, size, NULL), GT_OK);
    assert_int_equal(gt_xplane_space_init(&file->space, &file->window, piece_bytes, NULL), GT_OK);
    file->capture = (struct gt_xla_capture){.pid = file->space.pid, .facts = GT_FACTS_ALL};
    close(fd);
}

static void close_file(struct file *file) {
    gt_xplane_space_release(&file->space);
    gt_xplane_walk_window_release(&file->window);
    gt_source_close(file->source);
}

static void take_piece(const struct file *file, struct gt_xplane_events *events, size_t number) {
    struct gt_xplane_span span = file->space.pieces[number].span;
    char *copy = gt_mem_alloc((size_t)span.size + GT_PROTO_PADDING);
    assert_non_null(copy);
    memcpy(copy, file->bytes->at + span.offset, (size_t)span.size);
    memset(copy + span.size, 0, GT_PROTO_PADDING);
    gt_xplane_events_take(events, number, (struct gt_str){copy, (size_t)span.size});
    gt_mem_free(copy);
}

/* Piece i goes to builder taker_of[i]. */
static struct gt_store *decode(const struct file *file, const uint8_t *taker_of, size_t builder_count) {
    struct gt_builder builders[BUILDERS];
    struct gt_xplane_events events[BUILDERS];
    struct gt_xla_rows *rows[BUILDERS];
    struct gt_store *store;
    for (size_t b = 0; b < builder_count; b++) {
        assert_int_equal(gt_builder_init(&builders[b], "test", NULL), GT_OK);
        assert_int_equal(gt_xplane_events_init(&events[b], &file->space, &builders[b], &file->capture, 0, NULL), GT_OK);
        rows[b] = &events[b].rows;
    }
    for (size_t i = 0; i < file->space.piece_count; i++) {
        gt_builder_begin(&builders[taker_of[i]], i);
        take_piece(file, &events[taker_of[i]], i);
    }
    gt_builder_begin(&builders[0], file->space.piece_count);
    assert_true(gt_xla_rows_join(rows, builder_count));
    assert_int_equal(gt_store_seal(builders, builder_count, &store, NULL), GT_OK);
    for (size_t b = 0; b < builder_count; b++)
        gt_xplane_events_release(&events[b]);
    return store;
}

/* The next way to deal so many pieces; false: that was the last. */
static bool deal_on(uint8_t *taker_of, size_t count) {
    for (size_t i = 0; i < count; i++) {
        taker_of[i] = (uint8_t)((taker_of[i] + 1) % BUILDERS);
        if (taker_of[i])
            return true;
    }
    return false;
}

/* Every way where they are few, else some that the same numbers give every time. */
static struct gt_store *decode_in_every_way(const struct bytes *bytes, size_t piece_bytes) {
    struct file file;
    open_file(&file, bytes, piece_bytes);
    size_t count = file.space.piece_count;
    uint8_t *taker_of = gt_mem_array(count + 1, 1);
    assert_non_null(taker_of);
    struct gt_store *one = decode(&file, taker_of, 1);
    uint32_t random = 1;
    for (size_t way = 0; count <= MOST_PIECES_IN_EVERY_WAY || way < OTHER_WAYS; way++) {
        struct gt_store *dealt = decode(&file, taker_of, BUILDERS);
        fuzz_same_store(dealt, one);
        gt_store_free(dealt);
        if (count <= MOST_PIECES_IN_EVERY_WAY && !deal_on(taker_of, count))
            break;
        for (size_t i = 0; count > MOST_PIECES_IN_EVERY_WAY && i < count; i++) {
            random = random * 1664525 + 1013904223;
            taker_of[i] = (uint8_t)((random >> 16) % BUILDERS);
        }
    }
    gt_mem_free(taker_of);
    close_file(&file);
    return one;
}

/* ---- tests ---- */

static void an_op_without_a_scope_ends_the_range_whoever_reads_it(void **state) {
    (void)state;
    static const char *const operations[] = {"f/a/dot", "", "f/a/add", "f/a/mul", "f/b/mul"};
    static const int64_t starts[] = {0, 4000, 8000}, ends[] = {1000, 7000, 9000};
    struct bytes plane = {.size = 0}, space = {.size = 0};
    put_line(&plane, 7, "Stream #7(Compute)", operations, GT_ARRAY_COUNT(operations));
    put_plane(&space, "/device:GPU:0", "fusion", &plane);
    struct gt_store *store = decode_in_every_way(&space, 1);
    assert_int_equal(store->ops.count, GT_ARRAY_COUNT(operations));
    assert_int_equal(store->ranges.count, GT_ARRAY_COUNT(starts));
    for (size_t i = 0; i < GT_ARRAY_COUNT(starts); i++)
        assert_true(store->ranges.start_ns[i] == starts[i] && store->ranges.end_ns[i] == ends[i]);
    gt_store_free(store);
}

static void ops_without_scopes_give_no_ranges(void **state) {
    (void)state;
    static const char *const operations[] = {"", "alone"};
    struct bytes plane = {.size = 0}, space = {.size = 0};
    put_line(&plane, 7, "Stream #7", operations, GT_ARRAY_COUNT(operations));
    put_line(&plane, 8, "Stream #8", operations, GT_ARRAY_COUNT(operations));
    put_plane(&space, "/device:GPU:0", "fusion", &plane);
    struct gt_store *store = decode_in_every_way(&space, 1);
    assert_int_equal(store->ops.count, 4);
    assert_int_equal(store->ranges.count, 0);
    gt_store_free(store);
}

static void the_first_name_of_a_thread_stays_whoever_reads_it(void **state) {
    (void)state;
    static const char *const names[] = {"", "first", "second", "third"}, *const operations[] = {""};
    struct bytes plane = {.size = 0}, space = {.size = 0};
    for (size_t i = 0; i < GT_ARRAY_COUNT(names); i++)
        put_line(&plane, 5, names[i], operations, GT_ARRAY_COUNT(operations));
    put_line(&plane, 6, "third", operations, GT_ARRAY_COUNT(operations));
    put_plane(&space, "/host:CPU", "step", &plane);
    struct gt_store *store = decode_in_every_way(&space, 1);
    assert_int_equal(store->ranges.count, 5);
    assert_int_equal(store->threads.count, 2);
    assert_true(gt_str_eq(gt_store_string(store, store->threads.name[0]), GT_STR("first")));
    assert_true(gt_str_eq(gt_store_string(store, store->threads.name[1]), GT_STR("third")));
    gt_store_free(store);
}

static void files_are_the_same_whoever_reads_what(void **state) {
    (void)state;
    static const char *const paths[] = {
        "tests/fuzz/seeds/fuzz_xla/small.xplane.pb", "tests/fuzz/seeds/fuzz_xla/words.xplane.pb",
        "tests/fuzz/seeds/fuzz_xla/dealt_names.xplane.pb", "tests/fuzz/seeds/fuzz_xla/dealt_runs.xplane.pb",
        "tests/fuzz/seeds/fuzz_xla/dealt_scopes.xplane.pb"};
    for (size_t i = 0; i < GT_ARRAY_COUNT(paths); i++) {
        struct bytes bytes = {.size = 0};
        load(paths[i], &bytes);
        gt_store_free(decode_in_every_way(&bytes, 100));
        gt_store_free(decode_in_every_way(&bytes, 1));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_op_without_a_scope_ends_the_range_whoever_reads_it),
        cmocka_unit_test(ops_without_scopes_give_no_ranges),
        cmocka_unit_test(the_first_name_of_a_thread_stays_whoever_reads_it),
        cmocka_unit_test(files_are_the_same_whoever_reads_what),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
