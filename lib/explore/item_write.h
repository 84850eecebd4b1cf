/* An item on its way out as JSON: lines of what is known about it, and links to others. */
#ifndef GT_EXPLORE_ITEM_WRITE_H
#define GT_EXPLORE_ITEM_WRITE_H

#include "explore/model.h"

/* The item that is described. */
struct gt_item {
    const struct gt_explore *explore;
    struct gt_out *out;
    enum gt_timeline_kind kind;
    uint32_t lane;
    size_t span;
    uint32_t row;             /* as gt_model_row has it */
    struct gt_interval times; /* since the first op */
    size_t line_count, link_count;
};

void gt_item_write_text(struct gt_item *item, const char *key, const char *title, struct gt_str value); /* if any */
void gt_item_write_int(struct gt_item *item, const char *key, const char *title, int64_t value, const char *unit);
void gt_item_write_real(struct gt_item *item, const char *key, const char *title, double value, const char *unit);
/* Three numbers, if the first is known: "128 x 1 x 1". */
void gt_item_write_dims(struct gt_item *item, const char *key, const char *title, uint32_t x, uint32_t y, uint32_t z);

/* An element of the stack or of the links: a span by its place. */
void gt_item_write_place(struct gt_item *item, const char *kind, struct gt_model_place place);

#endif
