/* Which step a call is in: the innermost one of its process that encloses it, found in logarithmic time however steps
   nest. */
#ifndef GT_LABEL_STEP_TREE_H
#define GT_LABEL_STEP_TREE_H

#include "label/label.h"

/* A step as calls look it up: sorted by process, start, longer first, place in labels->steps. */
struct gt_step_span {
    int64_t end_ns;
    uint32_t step;
    uint32_t longer; /* the last span of its process before it that ends later; UINT32_MAX: none */
};

/* So many spans of its process have begun when a call begins at from_ns or later and before to_ns. Zeroed: nothing is
   known. */
struct gt_step_cursor {
    int64_t from_ns, to_ns;
    size_t begun;
    uint32_t step;               /* of the last of them, if there is one */
    int64_t first_ns, latest_ns; /* when that one ends; by when all of them have */
};

/* The spans, with the latest end of each subtree: node n has children 2n and 2n + 1, span i is leaf leaf_count + i. */
struct gt_step_tree {
    const struct gt_step *steps; /* labels->steps */
    struct gt_step_span *spans;
    size_t *bounds; /* the spans of process p are those from bounds[p] to bounds[p + 1]; the last is for GT_NO_TRACK */
    size_t count, leaf_count;
    int64_t *latest_end_ns;         /* NULL: no step is so deep that the tree would be asked */
    struct gt_step_cursor *cursors; /* by process, the last for GT_NO_TRACK; each slice of ops has its own */
};

/* Of all steps, in the arena. false: memory was short. */
bool gt_step_tree_init(struct gt_step_tree *tree, const struct gt_store *store, const struct gt_labels *labels,
                       struct gt_arena *arena, size_t threads);

/* How many cursors a slice of ops has. */
static inline size_t gt_step_tree_cursor_count(const struct gt_store *store) {
    return store->processes.count + 1;
}

/* The step of a call, GT_NO_ROW: it is in none. The same holds for all calls of the process that begin at from_ns or
   later and before to_ns, and end after over_ns and no later than reach_ns. */
struct gt_step_found {
    int64_t from_ns, to_ns, over_ns, reach_ns;
    uint32_t step;
};
struct gt_step_found gt_step_tree_find(struct gt_step_tree *tree, const struct gt_store *store, uint32_t call);

#endif
