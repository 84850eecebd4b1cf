/* Which operator's work each compute kernel does: by its launch call, or by the number that kernel and operator share.
 */
#ifndef GT_MEASURE_EFFICIENCY_WORK_LINKS_H
#define GT_MEASURE_EFFICIENCY_WORK_LINKS_H

#include "events/view.h"
#include "measure/efficiency/operator_tree.h"
#include "measure/efficiency/work_entries.h"

enum gt_no_work {
    GT_WORK_KNOWN,
#define GT_NO_WORK(key, name, words) GT_NO_WORK_##key,
#include "measure/efficiency/no_work.def"
#undef GT_NO_WORK
    GT_NO_WORK_COUNT,
};

/* By row of ops: the operator whose work it is, GT_NO_ROW if there is none, and then why. */
struct gt_work_links {
    uint32_t *operator_of;
    uint8_t *reason;
    /* By row of operators, of those that kernels belong to: */
    uint32_t *entry_of; /* their work, of a backward node that of its forward operator */
    uint8_t *flags;     /* enum gt_work_flag */
};

enum gt_work_flag {
    GT_WORK_RECOMPUTED = 1,  /* run once more in the backward pass, to save memory */
    GT_WORK_BY_SEQUENCE = 2, /* its work is that of the forward operator with its sequence number, twice */
};

/* Of the whole trace, whatever the view selects. false: memory was short. Linear but for sorting. */
bool gt_work_links_init(struct gt_work_links *links, const struct gt_view *view, struct gt_work_entries *entries);
void gt_work_links_release(struct gt_work_links *links);

#endif
