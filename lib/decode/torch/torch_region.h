/* A region of the events array: bytes come in, the events in them go to a sink, and it says where it stopped. The same
   reader serves whole files, streams and chunks of files; torch_fast.h is next to it and answers alike for all
   bytes. */
#ifndef GT_DECODE_TORCH_TORCH_REGION_H
#define GT_DECODE_TORCH_TORCH_REGION_H

#include "decode/json/json_window.h"
#include "decode/torch/torch_sink.h"

/* How a file is read. Tests use other values than usual. */
struct gt_torch_sizes {
    size_t chunk_bytes;  /* of the file, for one thread at a time */
    size_t window_bytes; /* of the buffer at first */
    size_t max_bytes;    /* ... and at most: an event that needs more is damaged */
    enum gt_torch_mode mode;
    size_t map_bytes; /* of a file, mapped at once for the fast reader; 0: none is */
};

struct gt_torch_region {
    struct gt_torch_sink *sink;
    struct gt_torch_event event;
    bool is_mended;       /* the event was not read at the first try */
    bool stops_at_damage; /* chunks: what has to be repaired is read again from the chunk's start, alone */
    bool is_damaged;      /* it stopped for that */
    bool is_cut;          /* the input ends inside the event at cut_offset */
    uint64_t cut_offset;
    uint64_t element_count; /* of the array, whatever they are */
    bool is_outside;        /* set by the caller: no array is open, the current object may be the document itself */
    bool has_opened;        /* it was, and its array is being read */

    /* After an event that cannot be read, the next event start is looked for. */
    bool is_searching;
    char before; /* the last byte but white space before the place of the search; 0 if unknown */

    /* Bytes before `furthest` were read by an attempt that failed, and are being read again from a later start. How
       much is read again is bounded, else input made for it would take quadratic time. */
    uint64_t retry_start, furthest, retry_work;
};

void gt_torch_region_init(struct gt_torch_region *region, struct gt_torch_sink *sink);

enum gt_torch_stop {
    GT_TORCH_STOP_NOT,   /* it goes on; never an answer */
    GT_TORCH_STOP_MORE,  /* call again with more bytes from bytes->p on; at the end of the input this is the end */
    GT_TORCH_STOP_LIMIT, /* an element begins at or after the limit, and nothing is being repaired */
    GT_TORCH_STOP_END,   /* after the ] of the array */
};

/* Reads elements of the array from bytes->p on, which is at one or between two, and moves bytes->p and offset. */
enum gt_torch_stop gt_torch_region_run(struct gt_torch_region *region, struct gt_json_bytes *bytes, uint64_t limit);

/* After GT_TORCH_STOP_MORE: more bytes for the window. What the fast reader knows is read on the way, from a mapping of
   the file; everything else comes as a copy that nobody can change. */
enum gt_status gt_torch_region_go_on(struct gt_torch_region *region, struct gt_json_window *window, uint64_t limit,
                                     struct gt_error *err);

/* Moves to the next place that looks like the start of an event: OK; MORE: none in these bytes. *before: the last byte
   but white space before bytes->p, 0 if unknown; updated on the way. A colon before the brace means that it opens some
   event's args. BAD: at a place that looks like the end of the array instead; asked for with finds_end. */
enum gt_json_status gt_torch_region_find_event(struct gt_json_bytes *bytes, char *before, bool finds_end);

#endif
