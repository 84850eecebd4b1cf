/* CPU operators as trees: which one encloses which on its thread. */
#ifndef GT_MEASURE_EFFICIENCY_OPERATOR_TREE_H
#define GT_MEASURE_EFFICIENCY_OPERATOR_TREE_H

#include "events/store.h"

struct gt_operator_tree {
    uint32_t *order;  /* rows of operators with a thread: each after those around it */
    uint32_t *parent; /* by row: the innermost operator around it; GT_NO_ROW */
    size_t count;
};

/* false: memory was short. Linear. */
bool gt_operator_tree_init(struct gt_operator_tree *tree, const struct gt_store *store);
void gt_operator_tree_release(struct gt_operator_tree *tree);

#endif
