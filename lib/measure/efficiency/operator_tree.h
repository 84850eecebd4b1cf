/* CPU operators as trees: which one encloses which on its thread. */
#ifndef GT_MEASURE_EFFICIENCY_OPERATOR_TREE_H
#define GT_MEASURE_EFFICIENCY_OPERATOR_TREE_H

#include "events/store.h"

struct gt_operator_tree {
    uint32_t *order;  /* rows of operators with a thread: each after those around it */
    uint32_t *parent; /* by row, of those: the innermost operator around it; GT_NO_ROW */
    size_t count;
};

/* Of all operators. false: memory was short; release in any case. Linear. */
bool gt_operator_tree_init(struct gt_operator_tree *tree, const struct gt_store *store);
/* Of operators in which launch calls start, as gt_operator_set_around_calls has them; takes the rows. Those around them
   are such operators, too, and no other one changes who their parents are: it would hold the same call. */
bool gt_operator_tree_init_around(struct gt_operator_tree *tree, const struct gt_store *store, uint32_t *rows,
                                  size_t count);
void gt_operator_tree_release(struct gt_operator_tree *tree);

#endif
