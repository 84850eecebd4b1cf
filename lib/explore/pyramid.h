/* The spans of one lane at every level of detail: blocks of 32 spans, of 4 such blocks and so on, each with its busy
   time by category, last end and longest span. Any window at any grain gives the items that gt_tiles_make gives for all
   of the lane, at the cost of what is shown. Const once made. */
#ifndef GT_EXPLORE_PYRAMID_H
#define GT_EXPLORE_PYRAMID_H

#include "measure/results/span_mix.h"
#include "measure/results/tiles.h"

enum { GT_PYRAMID_LEVELS = 14, GT_PYRAMID_BLOCK = 32, GT_PYRAMID_FAN = 4 };

/* Times count from zero_ns of the spans. */
struct gt_pyramid_block {
    int64_t start_ns;   /* of its first span */
    int64_t reached_ns; /* last end of all spans of the lane before it */
    int64_t end_ns;     /* last end in it */
    int64_t longest_ns;
    uint32_t first_part;
};

struct gt_pyramid_level {
    struct gt_pyramid_block *blocks; /* count + 1 of them: the last one ends the parts */
    struct gt_span_mix_part *parts;
    size_t count, part_capacity;
};

struct gt_pyramid {
    struct gt_span_row row;
    struct gt_pyramid_level levels[GT_PYRAMID_LEVELS];
    size_t level_count;
    int64_t busy_ns, start_ns, end_ns, longest_ns; /* of all */
};

/* false: memory was short. Release in any case. */
bool gt_pyramid_init(struct gt_pyramid *pyramid, const struct gt_spans *spans, struct gt_span_row row);
void gt_pyramid_release(struct gt_pyramid *pyramid);
size_t gt_pyramid_bytes(const struct gt_pyramid *pyramid);

/* The first span that starts at a time or later: its place in the row, or their number. */
size_t gt_pyramid_find(const struct gt_pyramid *pyramid, const struct gt_spans *spans, int64_t time_ns);

/* The last span before a place that ends after a time; SIZE_MAX: none does. */
size_t gt_pyramid_find_open(const struct gt_pyramid *pyramid, const struct gt_spans *spans, size_t before,
                            int64_t time_ns);

/* A growing list of items; name is the number of the span that represents one. Zero-initialise. */
struct gt_pyramid_items {
    struct gt_timeline_item *items;
    size_t count, capacity;
    bool failed;
};

struct gt_pyramid_window {
    int64_t from_ns, to_ns;
    size_t most; /* where more spans start in it, they are joined */
    int64_t grain_ns;
};

/* Adds the items that touch the window in order of start; gives the grain, 0 where all are single. Of those that begin
   before the grain in which the window begins at most `most` are added, the last ones; *is_cut says if there were
   more. */
int64_t gt_pyramid_window(const struct gt_pyramid *pyramid, const struct gt_spans *spans,
                          const struct gt_pyramid_window *window, struct gt_pyramid_items *out, bool *is_cut);

#endif
