/* Fills one buffer with the next bytes of an input, again and again. */
#include "decode/json/json_window.h"

#include <string.h>

#include "base/mem.h"
#include "base/threads.h"

/* Bytes of the file between two calls of the progress callback. */
enum { PROGRESS_BYTES = 4 << 20 };

/* Where a byte of the file lies in the buffer, and where it lies in the page cache, is the same modulo this: some CPUs
   copy at a third of their speed to a place that is, within its page, a few bytes after the one copied from. */
enum { ALIGNMENT = 64 };

/* Where most of a file is looked at through a mapping, little is read between: this much at first, twice as much each
   time, and little again after so many times as much was not read. */
enum { MIN_FILL_BYTES = 16 << 10, SHOWN_PER_FILL = 16 };

static size_t buffer_bytes(size_t capacity) {
    return capacity + ALIGNMENT + GT_JSON_PADDING;
}

enum gt_status gt_json_window_init(struct gt_json_window *window, struct gt_source *source,
                                   const struct gt_json_sizes *sizes, const struct gt_decode_options *options,
                                   struct gt_error *err) {
    uint64_t size_bytes;
    memset(window, 0, sizeof *window);
    window->source = source;
    window->options = options;
    window->is_seekable = gt_source_is_seekable(source, &size_bytes);
    window->capacity = sizes->window_bytes;
    window->max_bytes = sizes->max_bytes;
    window->map_bytes = window->is_seekable ? sizes->map_bytes : 0;
    window->fill_bytes = window->map_bytes ? MIN_FILL_BYTES : 0;
    window->buffer = gt_mem_alloc(buffer_bytes(window->capacity));
    if (!window->buffer)
        return gt_fail_memory(err);
    gt_json_window_seek(window, 0);
    return GT_OK;
}

void gt_json_window_use_tape(struct gt_json_window *window, struct gt_tape *tape, size_t reader) {
    window->tape = tape;
    window->tape_reader = reader;
    window->map_bytes = 0;
    window->fill_bytes = MIN_FILL_BYTES;
}

void gt_json_window_release(struct gt_json_window *window) {
    gt_readahead_close(window->ahead);
    gt_mapping_free(window->mapping);
    gt_mem_free(window->buffer);
    memset(window, 0, sizeof *window);
}

void gt_json_window_seek(struct gt_json_window *window, uint64_t offset) {
    window->read_offset = offset;
    window->bytes = (struct gt_json_bytes){
        .p = window->buffer, .end = window->buffer, .offset = offset, .max_bytes = window->max_bytes};
    if (window->tape)
        gt_tape_keep(window->tape, window->tape_reader, offset, false);
}

static void report_progress(struct gt_json_window *window) {
    uint64_t done_bytes, total_bytes;
    if (!window->options || !window->options->progress)
        return;
    gt_source_progress(window->source, &done_bytes, &total_bytes);
    if (done_bytes - window->reported_bytes < PROGRESS_BYTES)
        return;
    window->reported_bytes = done_bytes;
    window->options->progress(window->options->progress_context, done_bytes, total_bytes);
}

static enum gt_status grow(struct gt_json_window *window, size_t capacity, struct gt_error *err) {
    size_t begin = (size_t)(window->bytes.p - window->buffer), left = (size_t)(window->bytes.end - window->bytes.p);
    char *grown = gt_mem_realloc(window->buffer, buffer_bytes(capacity));
    if (!grown)
        return gt_fail_memory(err);
    window->buffer = grown;
    window->capacity = capacity;
    window->bytes.p = grown + begin;
    window->bytes.end = window->bytes.p + left;
    return GT_OK;
}

/* Room after the current bytes: what was read is given up first, and only what fills the buffer makes it grow. */
static enum gt_status make_room(struct gt_json_window *window, struct gt_error *err) {
    size_t left = (size_t)(window->bytes.end - window->bytes.p);
    if (left == window->capacity && left < window->max_bytes &&
        grow(window, left > window->max_bytes / 2 ? window->max_bytes : left * 2, err) != GT_OK)
        return GT_ERR;
    char *begin = window->buffer + (window->bytes.offset - (uintptr_t)window->buffer) % ALIGNMENT;
    memmove(begin, window->bytes.p, left);
    window->bytes.p = begin;
    window->bytes.end = begin + left;
    return GT_OK;
}

/* Not before the first bytes are wanted: it begins to inflate. */
static enum gt_status start_reading(struct gt_json_window *window, struct gt_error *err) {
    size_t threads = window->options ? gt_threads_own(window->options->threads) : 1;
    window->is_started = true;
    return threads < 2 ? GT_OK : gt_readahead_open(window->source, threads, &window->ahead, err);
}

/* What the window still has is kept, too: from the end of the array on another reader needs it. */
static size_t read_tape(struct gt_json_window *window, char *to, size_t room) {
    gt_tape_keep(window->tape, window->tape_reader, window->bytes.offset, false);
    return gt_tape_read(window->tape, window->tape_reader, to, room, window->read_offset);
}

static enum gt_status read_input(struct gt_json_window *window, char *to, size_t room, size_t *got,
                                 struct gt_error *err) {
    if (window->tape) {
        *got = read_tape(window, to, room);
        return GT_OK;
    }
    if (window->is_seekable)
        return gt_source_pread(window->source, to, room, window->read_offset, got, err);
    if (!window->is_started && start_reading(window, err) != GT_OK)
        return GT_ERR;
    if (window->ahead)
        return gt_readahead_read(window->ahead, to, room, got, err);
    return gt_source_read(window->source, to, room, got, err);
}

/* What there is room for, or less where the rest will most likely be mapped. */
static size_t bytes_to_read(struct gt_json_window *window) {
    size_t room = window->capacity - (size_t)(window->bytes.end - window->bytes.p), wanted = window->fill_bytes;
    window->shown_bytes = 0;
    if (wanted == 0)
        return room;
    window->fill_bytes = wanted < window->capacity / 2 ? wanted * 2 : window->capacity;
    return wanted < room ? wanted : room;
}

enum gt_status gt_json_window_fill(struct gt_json_window *window, struct gt_error *err) {
    if (make_room(window, err) != GT_OK)
        return GT_ERR;
    char *to = window->buffer + (window->bytes.end - window->buffer);
    size_t room = bytes_to_read(window), got = 0;
    if (room && read_input(window, to, room, &got, err) != GT_OK)
        return GT_ERR;
    window->bytes.end += got;
    memset(to + got, 0, GT_JSON_PADDING);
    window->read_offset += got;
    window->bytes.is_all = room > 0 && got == 0;
    report_progress(window);
    return GT_OK;
}

static bool has_mapping(struct gt_json_window *window) {
    if (window->mapping || window->map_bytes == 0)
        return window->mapping;
    window->mapping = gt_mapping_new(window->map_bytes);
    window->map_bytes = 0; /* no second try */
    window->fill_bytes = window->mapping ? window->fill_bytes : 0;
    return window->mapping;
}

_Static_assert(GT_TAPE_SHOWN_ZEROS >= GT_JSON_PADDING, "padding follows what is shown");

bool gt_json_window_show(struct gt_json_window *window, struct gt_json_bytes *shown) {
    struct gt_str bytes = {"", 0};
    if (window->tape)
        bytes = gt_tape_show(window->tape, window->tape_reader, window->bytes.offset);
    else if (has_mapping(window))
        bytes = gt_source_show(window->source, window->mapping, window->bytes.offset);
    if (bytes.len == 0)
        return false;
    *shown = (struct gt_json_bytes){.p = bytes.ptr,
                                    .end = bytes.ptr + bytes.len,
                                    .offset = window->bytes.offset,
                                    .max_bytes = window->max_bytes,
                                    .is_cut = window->tape ? NULL : gt_mapping_is_cut(window->mapping)};
    return true;
}

void gt_json_window_use(struct gt_json_window *window, const struct gt_json_bytes *shown) {
    size_t used = (size_t)(shown->offset - window->bytes.offset);
    window->shown_bytes += used;
    if (window->shown_bytes >= SHOWN_PER_FILL * MIN_FILL_BYTES)
        window->fill_bytes = MIN_FILL_BYTES;
    if (!window->tape) /* who inflates counts what it reads */
        gt_source_count(window->source, used);
    gt_json_window_seek(window, shown->offset);
    report_progress(window);
}

static void drain_tape(struct gt_json_window *window) {
    for (size_t got = 1; got > 0; window->read_offset += got) {
        gt_tape_keep(window->tape, window->tape_reader, window->read_offset, false);
        got = gt_tape_read(window->tape, window->tape_reader, window->buffer, window->capacity, window->read_offset);
    }
    gt_tape_keep(window->tape, window->tape_reader, GT_TAPE_NOWHERE, true);
}

void gt_json_window_drain(struct gt_json_window *window) {
    if (window->tape) {
        drain_tape(window);
        return;
    }
    size_t got = gt_source_packing(window->source) != GT_PACKING_NONE;
    while (got > 0)
        if (read_input(window, window->buffer, window->capacity, &got, NULL) != GT_OK)
            return;
}
