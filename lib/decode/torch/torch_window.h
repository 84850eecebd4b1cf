/* A sliding window over an input: one reused buffer, filled from a place in a file or from a stream. */
#ifndef GT_DECODE_TORCH_TORCH_WINDOW_H
#define GT_DECODE_TORCH_TORCH_WINDOW_H

#include "base/readahead.h"
#include "decode/decoder.h"
#include "decode/torch/torch_region.h"

/* How a file is read. Tests use other values than usual. */
struct gt_torch_sizes {
    size_t chunk_bytes;  /* of the file, for one thread at a time */
    size_t window_bytes; /* of the buffer at first */
    size_t max_bytes;    /* ... and at most: an event that needs more is damaged */
    enum gt_torch_mode mode;
};

struct gt_torch_window {
    struct gt_source *source;
    struct gt_readahead *ahead;              /* reads the source where that is not seekable; NULL: nobody does */
    const struct gt_decode_options *options; /* NULL: this thread gives no progress */
    bool is_seekable;
    char *buffer; /* GT_TORCH_PADDING bytes larger than its capacity */
    size_t capacity, max_bytes;
    uint64_t read_offset;        /* of the input, after the current bytes */
    uint64_t reported_bytes;     /* progress at the last call of its callback */
    struct gt_torch_bytes bytes; /* available */
};

enum gt_status gt_torch_window_init(struct gt_torch_window *window, struct gt_source *source,
                                    const struct gt_torch_sizes *sizes, const struct gt_decode_options *options,
                                    struct gt_error *err);
void gt_torch_window_release(struct gt_torch_window *window);

/* Empties the window and goes to a place of a seekable input. */
void gt_torch_window_seek(struct gt_torch_window *window, uint64_t offset);

/* Appends to the current bytes, of which those before bytes.p are given up. At the end of the input bytes.is_all. */
enum gt_status gt_torch_window_fill(struct gt_torch_window *window, struct gt_error *err);

/* Reads what is left of a packed stream, unseen: whether it is damaged is known at its end alone. */
void gt_torch_window_drain(struct gt_torch_window *window);

#endif
