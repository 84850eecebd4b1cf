/* A part of an input for one of several threads: it guesses where the first event of its part begins, and who puts the
   parts together sees whether that was right. */
#ifndef GT_DECODE_TORCH_TORCH_CHUNK_H
#define GT_DECODE_TORCH_TORCH_CHUNK_H

#include "decode/json/json_window.h"
#include "decode/torch/torch_region.h"

/* Bytes before a chunk's nominal start that show what is before its first brace. */
enum { GT_TORCH_LOOK_BACK_BYTES = 64 };

#define GT_TORCH_NOWHERE UINT64_MAX

/* A part of the file as one thread read it. begin and end say which bytes that were, or GT_TORCH_NOWHERE. */
struct gt_torch_chunk {
    uint64_t nominal, limit; /* events that begin in [nominal, limit) */
    uint64_t begin, end;
    bool ends_array; /* end is after the array */
    bool is_spoilt;  /* nowhere, but events of it may be in the sink: it ended at damage */
    uint64_t element_count, event_count;
    size_t worker, segment;
};

struct gt_torch_worker {
    struct gt_torch_sink *sink;
    struct gt_json_window window;
    enum gt_status status;
    struct gt_error error;
};

/* Reads the events of a chunk; the first one begins at its nominal start. What needs mending is left to the reader. */
void gt_torch_chunk_read(struct gt_torch_worker *worker, struct gt_torch_chunk *chunk, bool is_first);

#endif
