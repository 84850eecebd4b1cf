/* Trees of ranges as intervals of places, so that sums over all that is inside a range are differences of running sums.
   Where ranges overlap without nesting, an op has ranges that are not in one line of its tree. */
#ifndef GT_MEASURE_RESULTS_RANGE_TREES_H
#define GT_MEASURE_RESULTS_RANGE_TREES_H

#include "measure/results/range_set.h"

struct gt_range_trees {
    const struct gt_view *view;
    const struct gt_range_set *ranges;
    size_t count;    /* of places: each range is in front of all that is inside it, as labels->range_order has them */
    uint32_t *place; /* by range; GT_NO_ROW: it is in no tree */
    /* By place: */
    uint32_t *end;      /* one after the last place inside it */
    bool *is_outermost; /* it has a name, which no range around it has */
    /* Where ranges overlap, else NULL: */
    uint32_t *knee; /* by range: the nearest of it and those around it that has one next to it */
    uint32_t *seen; /* by name: the last walk that came to it */
    uint32_t walks;
};

/* false: memory was short. */
bool gt_range_trees_init(struct gt_range_trees *trees, const struct gt_view *view, const struct gt_range_set *ranges);
void gt_range_trees_release(struct gt_range_trees *trees);

/* Place of the innermost range around the launch of an op of the view; GT_NO_ROW: it has none. */
static inline uint32_t gt_range_trees_place(const struct gt_range_trees *trees, size_t position) {
    uint32_t range = trees->view->labels->op_range[trees->view->row[position]];
    return range == GT_NO_ROW ? GT_NO_ROW : trees->place[range];
}

/* Place of the range around that at a place; GT_NO_ROW: there is none. */
static inline uint32_t gt_range_trees_around(const struct gt_range_trees *trees, uint32_t place) {
    uint32_t parent = trees->view->labels->range_parent[trees->view->labels->range_order[place]];
    return parent == GT_NO_ROW ? GT_NO_ROW : trees->place[parent];
}

static inline uint32_t gt_range_trees_name(const struct gt_range_trees *trees, size_t place) {
    return trees->ranges->name_of[trees->view->labels->range_order[place]];
}

/* is_new: no range before it, and none around the innermost one, has its name. */
typedef void gt_range_trees_fn(void *context, uint32_t range, bool is_new);

/* The ranges of an op that are not around its innermost one; none where ranges nest. */
void gt_range_trees_others(struct gt_range_trees *trees, size_t position, gt_range_trees_fn *take, void *context);

#endif
