/* Frames: the events of one trace as wide typed tables, with the joins already made: an op has the name of its launch
   call, its range, its step, its idle gap. Definitions are those of the analyses, to the nanosecond. Columns are the
   store's own arrays where these say the same, else made when somebody asks for them, once. */
#ifndef GT_FRAME_FRAME_H
#define GT_FRAME_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/str.h"
#include "events/labels.h"
#include "events/trace_rank.h"
#include "events/view.h"
#include "gputime.h"

/* ---- what there is: constant, the same for every trace ---- */

/* A column. Times are ns since the start of the first op of the trace, as in reports; `inputs` has the absolute one. */
struct gt_frame_column {
    const char *key;
    const char *unit;             /* "ns", "bytes", "count", "%" or "" */
    const char *help;             /* one line, no full stop */
    enum gputime_field_type type; /* of the elements; never GPUTIME_FIELD_TEXT */
    enum gputime_null null;
    bool is_text;          /* elements (U8 or U32) are numbers of texts */
    const char *refers_to; /* elements are rows of this frame, as its column `id` has them; NULL: plain */
    uint32_t facts;        /* enum gt_fact: what must be read for it, with gt_frame_facts() */
};

/* A frame by its number. */
size_t gt_frame_count(void);
size_t gt_frame_find(struct gt_str key); /* SIZE_MAX: there is none */
const char *gt_frame_key(size_t frame);  /* "ops" */
const char *gt_frame_help(size_t frame); /* one line, no full stop */
uint32_t gt_frame_facts(size_t frame);   /* what its rows need, as far as columns of other frames refer to them */
/* What all its rows need: threads, streams and the like are those of everything that a file has, whatever else was to
   be read. */
uint32_t gt_frame_row_facts(size_t frame);

size_t gt_frame_column_count(size_t frame);
struct gt_frame_column gt_frame_column(size_t frame, size_t column);
size_t gt_frame_find_column(size_t frame, struct gt_str key); /* SIZE_MAX: there is none */

/* ---- the frames of a trace ---- */

struct gt_frames;

/* What they are made from, all borrowed as long as they live. */
struct gt_frame_trace {
    const struct gt_store *store; /* read with the facts of the columns that will be asked for */
    const struct gt_labels *labels;
    struct gt_trace_rank rank;
    struct gt_str path;
    const struct gt_view *view; /* of all ops, for no other frames; NULL: made when one is needed */
};

/* Costs nothing: everything is made when it is asked for. Frames are for one thread at a time; several frames of one
   trace are independent of each other. NULL: memory was short. */
struct gt_frames *gt_frame_new(const struct gt_frame_trace *trace);
void gt_frame_free(struct gt_frames *frames); /* NULL is fine */

/* The rank that the trace is of; -1: not known. */
int64_t gt_frame_rank(const struct gt_frames *frames);

/* How many rows a frame has. */
enum gt_status gt_frame_rows(struct gt_frames *frames, size_t frame, size_t *count, struct gt_error *err);

/* A column's values, as many as the frame has rows. They live as long as the frames and the trace. */
struct gt_frame_values {
    const void *data; /* may be NULL without rows */
    size_t count;
    enum gputime_field_type type;
    enum gputime_null null;
    const struct gt_str *texts; /* by element; NULL: the values are no texts. Any bytes */
    size_t text_count;
};
enum gt_status gt_frame_values(struct gt_frames *frames, size_t frame, size_t column, struct gt_frame_values *out,
                               struct gt_error *err);

/* The rows in ascending order of these columns, the first counting most: null before numbers, texts by bytes, equal
   rows in their order. *order is the caller's (gt_mem_free); NULL: they are in this order already. Linear. */
enum gt_status gt_frame_sort(struct gt_frames *frames, size_t frame, const size_t *columns, size_t column_count,
                             uint32_t **order, struct gt_error *err);

/* By text of a column: its place among all texts of the column in order of bytes; equal texts have the same. Those that
   no row has are UINT32_MAX. The caller's (gt_mem_free). */
enum gt_status gt_frame_ranks(struct gt_frames *frames, size_t frame, size_t column, uint32_t **ranks,
                              struct gt_error *err);

/* ---- one value ---- */

static inline bool gt_frame_is_null(const struct gt_frame_values *values, size_t row) {
    switch (values->type) {
    case GPUTIME_FIELD_U8:
        return values->null == GPUTIME_NULL_MAX && ((const uint8_t *)values->data)[row] == UINT8_MAX;
    case GPUTIME_FIELD_U16:
        return values->null == GPUTIME_NULL_MAX && ((const uint16_t *)values->data)[row] == UINT16_MAX;
    case GPUTIME_FIELD_U32:
        return values->null == GPUTIME_NULL_MAX && ((const uint32_t *)values->data)[row] == UINT32_MAX;
    case GPUTIME_FIELD_U64:
        return values->null == GPUTIME_NULL_MAX && ((const uint64_t *)values->data)[row] == UINT64_MAX;
    case GPUTIME_FIELD_I64: {
        int64_t value = ((const int64_t *)values->data)[row];
        return values->null == GPUTIME_NULL_MIN ? value == INT64_MIN
                                                : values->null == GPUTIME_NULL_NEGATIVE && value < 0;
    }
    default:
        return values->null == GPUTIME_NULL_NEGATIVE && ((const double *)values->data)[row] < 0;
    }
}

/* Whole numbers; those of 64 bits without a sign keep their bits. */
static inline int64_t gt_frame_int(const struct gt_frame_values *values, size_t row) {
    switch (values->type) {
    case GPUTIME_FIELD_U8:
        return ((const uint8_t *)values->data)[row];
    case GPUTIME_FIELD_U16:
        return ((const uint16_t *)values->data)[row];
    case GPUTIME_FIELD_U32:
        return ((const uint32_t *)values->data)[row];
    case GPUTIME_FIELD_U64:
        return (int64_t)((const uint64_t *)values->data)[row];
    case GPUTIME_FIELD_I64:
        return ((const int64_t *)values->data)[row];
    default:
        return 0;
    }
}

static inline double gt_frame_real(const struct gt_frame_values *values, size_t row) {
    return values->type == GPUTIME_FIELD_F64 ? ((const double *)values->data)[row] : (double)gt_frame_int(values, row);
}

/* The text of a column of texts; empty where it is null. */
static inline struct gt_str gt_frame_text(const struct gt_frame_values *values, size_t row) {
    size_t id = (size_t)gt_frame_int(values, row);
    return id < values->text_count ? values->texts[id] : (struct gt_str){"", 0};
}

#endif
