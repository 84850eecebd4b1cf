/* A region of the events array: bytes come in, the events in them go to a sink, and it says where it stopped. The same
   reader serves whole files, streams and chunks of files; torch_fast.h is next to it and answers alike for all
   bytes. */
#ifndef GT_DECODE_TORCH_TORCH_REGION_H
#define GT_DECODE_TORCH_TORCH_REGION_H

#include "decode/torch/torch_sink.h"

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

/* Zero bytes after all text, which may be read with it. */
#define GT_TORCH_PADDING 64

void gt_torch_region_init(struct gt_torch_region *region, struct gt_torch_sink *sink);

/* Bytes of the current input: [p, end), p at `offset` of the input. GT_TORCH_PADDING zero bytes are after end. */
struct gt_torch_bytes {
    const char *p, *end;
    uint64_t offset;
    bool is_all;      /* the input ends at end */
    size_t max_bytes; /* the most that will be had from any p on: what needs more is damaged */
};

static inline void gt_torch_region_bytes_move(struct gt_torch_bytes *bytes, const char *p) {
    bytes->offset += (uint64_t)(p - bytes->p);
    bytes->p = p;
}

/* Whether no call with more bytes from p on can come. */
static inline bool gt_torch_region_bytes_are_final(const struct gt_torch_bytes *bytes, const char *p) {
    return bytes->is_all || (size_t)(bytes->end - p) >= bytes->max_bytes;
}

enum gt_torch_stop {
    GT_TORCH_STOP_NOT,   /* it goes on; never an answer */
    GT_TORCH_STOP_MORE,  /* call again with more bytes from bytes->p on; at the end of the input this is the end */
    GT_TORCH_STOP_LIMIT, /* an element begins at or after the limit, and nothing is being repaired */
    GT_TORCH_STOP_END,   /* after the ] of the array */
};

/* Reads elements of the array from bytes->p on, which is at one or between two, and moves bytes->p and offset. */
enum gt_torch_stop gt_torch_region_run(struct gt_torch_region *region, struct gt_torch_bytes *bytes, uint64_t limit);

/* Moves to the next place that looks like the start of an event: OK; MORE: none in these bytes. *before: the last byte
   but white space before bytes->p, 0 if unknown; updated on the way. A colon before the brace means that it opens some
   event's args. BAD: at a place that looks like the end of the array instead; asked for with finds_end. */
enum gt_json_status gt_torch_region_find_event(struct gt_torch_bytes *bytes, char *before, bool finds_end);

#endif
