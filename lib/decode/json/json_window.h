/* A sliding window over an input: one reused buffer, filled from a place in a file or from a stream. */
#ifndef GT_DECODE_JSON_JSON_WINDOW_H
#define GT_DECODE_JSON_JSON_WINDOW_H

#include "base/mapping.h"
#include "base/readahead.h"
#include "base/tape.h"
#include "decode/decoder.h"

/* Zero bytes after all text, which may be read with it. */
#define GT_JSON_PADDING 64

/* Bytes of the current input: [p, end), p at `offset` of the input. GT_JSON_PADDING zero bytes are after end. */
struct gt_json_bytes {
    const char *p, *end;
    uint64_t offset;
    bool is_all;      /* the input ends at end */
    size_t max_bytes; /* the most that will be had from any p on: what needs more is damaged */
    /* Of bytes that are mapped: any of them may change between two looks, and all be zeros once this is true. NULL:
       they are a copy, which stays as it is. */
    const atomic_bool *is_cut;
};

static inline void gt_json_window_move(struct gt_json_bytes *bytes, const char *p) {
    bytes->offset += (uint64_t)(p - bytes->p);
    bytes->p = p;
}

/* Whether no call with more bytes from p on can come. */
static inline bool gt_json_window_is_final(const struct gt_json_bytes *bytes, const char *p) {
    return bytes->is_all || (size_t)(bytes->end - p) >= bytes->max_bytes;
}

/* Sizes of the buffer. Tests use other values than usual. */
struct gt_json_sizes {
    size_t window_bytes; /* at first */
    size_t max_bytes;    /* ... and at most: an object that needs more is damaged */
    size_t map_bytes;    /* of what gt_json_window_show() maps; 0: nothing */
};

struct gt_json_window {
    struct gt_source *source;
    struct gt_readahead *ahead; /* reads the source where that is not seekable; NULL: nobody does */
    bool is_started;            /* `ahead` was opened, if it can be */
    struct gt_tape *tape;       /* where the bytes come from instead; NULL: from the source */
    size_t tape_reader;
    const struct gt_decode_options *options; /* NULL: this thread gives no progress */
    bool is_seekable;
    char *buffer; /* larger than its capacity: bytes need not begin at its first one, and padding follows them */
    size_t capacity, max_bytes;
    struct gt_mapping *mapping; /* NULL: nothing is mapped, yet or at all */
    size_t map_bytes;           /* of it; 0: nothing will be */
    size_t fill_bytes;          /* read at once at most, next time; 0: as much as there is room for */
    size_t shown_bytes;         /* used of the mapping since something was read */
    uint64_t read_offset;       /* of the input, after the current bytes */
    uint64_t reported_bytes;    /* progress at the last call of its callback */
    struct gt_json_bytes bytes; /* available */
};

enum gt_status gt_json_window_init(struct gt_json_window *window, struct gt_source *source,
                                   const struct gt_json_sizes *sizes, const struct gt_decode_options *options,
                                   struct gt_error *err);
void gt_json_window_release(struct gt_json_window *window);

/* Before the first bytes: they come from a tape, which is the caller's, as one of its readers. */
void gt_json_window_use_tape(struct gt_json_window *window, struct gt_tape *tape, size_t reader);

/* Empties the window and goes to a place of a seekable input, or of a tape. */
void gt_json_window_seek(struct gt_json_window *window, uint64_t offset);

/* Appends to the current bytes, of which those before bytes.p are given up. At the end of the input bytes.is_all. */
enum gt_status gt_json_window_fill(struct gt_json_window *window, struct gt_error *err);

/* Bytes of a plain file as they are mapped, or of a tape, from window->bytes.offset on; false: there are none, and the
   window is to be filled. After some were used the window goes on after them, empty. */
bool gt_json_window_show(struct gt_json_window *window, struct gt_json_bytes *shown);
void gt_json_window_use(struct gt_json_window *window, const struct gt_json_bytes *shown);

/* Reads what is left of a packed stream, unseen: whether it is damaged is known at its end alone. */
void gt_json_window_drain(struct gt_json_window *window);

#endif
