/* What sealing shares between its parts: which rows of which builder go where in the merged store. */
#ifndef GT_EVENTS_SEAL_H
#define GT_EVENTS_SEAL_H

#include "events/builder.h"
#include "events/store.h"

/* A segment and where its rows are. */
struct gt_piece {
    struct gt_builder *builder;
    size_t builder_index;
    struct gt_segment *segment;
    size_t place[GT_TABLE_COUNT]; /* its first row in the merged store */
};

/* From a builder's own numbers to the merged store's, for everything a column can refer to. */
struct gt_renumbering {
    uint32_t *maps[GT_REFERS_OP];    /* by enum gt_refers; NULL for PLAIN */
    size_t same_below[GT_REFERS_OP]; /* numbers that stay what they are */
};

static inline uint32_t gt_seal_renumber(const struct gt_renumbering *numbers, enum gt_refers refers, uint32_t value) {
    return value == GT_NO_TRACK ? value : numbers->maps[refers][value];
}

#define GT_SEAL_NONE SIZE_MAX

struct gt_merge {
    struct gt_piece *pieces; /* in the order of the file */
    size_t piece_count;
    struct gt_renumbering *renumberings; /* by builder */
    struct gt_builder target;            /* its track maps find tracks that several builders know */
    size_t kept[GT_TABLE_COUNT];         /* the builder whose columns become the store's; GT_SEAL_NONE */
};

/* Moves the rows of all pieces into the target, whose tracks and strings are merged already, with as many threads as
   there are builders. false: memory is short. */
bool gt_seal_merge_rows(struct gt_merge *merge, struct gt_builder *builders, size_t count);

/* Puts the values of each counter track in one run, sorted by time. false: memory is short. */
bool gt_seal_group_counters(struct gt_store *store);

#endif
