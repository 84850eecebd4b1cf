/* Inside of lib/frame: how columns are described and made. */
#ifndef GT_FRAME_FRAME_MAKE_H
#define GT_FRAME_FRAME_MAKE_H

#include "base/arena.h"
#include "events/view.h"
#include "frame/frame.h"

/* Where the values of a column are from. */
enum gt_frame_how {
    GT_FRAME_STORED, /* `from` is a column of the frame's table in the store, which it is as it stands */
    GT_FRAME_MOMENT, /* the same, a time: counted from the first op */
    GT_FRAME_LENGTH, /* end_ns - start_ns of the frame's table */
    GT_FRAME_LOOKUP, /* `from` is a column of the frame itself with rows of the frame `other`, whose column is `what` */
    GT_FRAME_SPARSE, /* `from` is a column of the table `other`, which has rows for some of the frame's: `what` says
                        which */
    GT_FRAME_ROW,    /* the number of the row */
    GT_FRAME_MADE,   /* by a function */
};

struct gt_frame_slot;
struct gt_frame_spec;

/* Fills the slot: data and texts of all rows. */
typedef enum gt_status gt_frame_make_fn(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                        struct gt_frame_slot *slot, struct gt_error *err);

struct gt_frame_spec {
    const char *key;
    enum gt_frame_how how;
    const char *from, *other, *what;
    enum gputime_field_type type; /* of what is made, like the next ones; else they follow */
    enum gputime_null null;
    bool is_text;
    const char *refers_to;
    gt_frame_make_fn *make;
    uint32_t facts;
    const char *unit, *help;
};

struct gt_frame_info {
    const char *key, *help;
    int table;          /* enum gt_table_id whose rows it has; -1: `rows` counts them */
    uint32_t facts;     /* that a row needs which something refers to */
    uint32_t row_facts; /* that all its rows need */
    enum gt_status (*rows)(struct gt_frames *frames, size_t *count, struct gt_error *err);
    const struct gt_frame_spec *specs;
    size_t spec_count;
};

extern const struct gt_frame_info gt_frame_infos[];
extern const size_t gt_frame_info_count;

/* A column of one trace. */
struct gt_frame_slot {
    bool is_made;
    bool is_being_made; /* a column that needs itself is a mistake in the table */
    size_t count;
    const void *data;
    const struct gt_str *texts;
    size_t text_count;
    void *owned;             /* what data points at; NULL: it is borrowed */
    struct gt_strtab *words; /* likewise, for texts */
};

struct gt_frames {
    struct gt_frame_trace trace;
    struct gt_request request;
    const struct gt_view *view; /* of all ops; NULL: nobody has asked for it yet */
    struct gt_view *own_view;   /* the same, where it was made for these frames */
    struct gt_arena arena;
    struct gt_frame_slot **slots;       /* by frame, then column; NULL: the frame was not asked for */
    const struct gt_frame_names *names; /* in the arena; NULL: nobody has asked for them yet */
};

/* The column of the store that a stored or sparse one is. */
const struct gt_column_info *gt_frame_make_stored(size_t frame, const struct gt_frame_spec *spec);

/* Fills the slot as the column's description says. */
enum gt_status gt_frame_make_fill(struct gt_frames *frames, size_t frame, const struct gt_frame_spec *spec,
                                  struct gt_frame_slot *slot, struct gt_error *err);

/* All ops in the order of sweeps, for the results that analyses share. NULL: err says why. */
const struct gt_view *gt_frame_make_view(struct gt_frames *frames, struct gt_error *err);

/* An array for the slot, with an element for each row. NULL: memory was short, err says so. */
void *gt_frame_make_array(struct gt_frame_slot *slot, size_t elem_bytes, struct gt_error *err);

/* Words for the numbers of the slot: constant ones, borrowed; 0 of them: it has none. */
enum gt_status gt_frame_make_choices(struct gt_frames *frames, struct gt_frame_slot *slot, const char *const *words,
                                     size_t count, struct gt_error *err);
/* A table of texts that become the slot's. NULL: memory was short. gt_frame_make_end_words() ends it. */
struct gt_strtab *gt_frame_make_words(struct gt_frame_slot *slot, struct gt_error *err);
enum gt_status gt_frame_make_end_words(struct gt_frame_slot *slot, struct gt_error *err);

/* Another column that this one is made from, by keys. */
enum gt_status gt_frame_make_sibling(struct gt_frames *frames, const char *frame, const char *column,
                                     struct gt_frame_values *out, struct gt_error *err);

#endif
