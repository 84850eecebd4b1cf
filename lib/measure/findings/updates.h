/* Updates: the element-wise kernels with which an optimizer changes one parameter after the other. */
#ifndef GT_MEASURE_FINDINGS_UPDATES_H
#define GT_MEASURE_FINDINGS_UPDATES_H

#include "measure/findings/traits.h"

struct gt_updates {
    uint8_t *is_update; /* by position; NULL: there are none, or memory was short */
    size_t count;
    size_t parameters; /* how often a parameter was updated, as far as names of kernels say; 0: they do not */
    gt_strid range;    /* the name of the optimizer's range with the most of them; GT_STRID_EMPTY: none has one */
};

/* Whether the name of a range is that of an optimizer's step. */
bool gt_updates_is_step_name(struct gt_str name);

/* Kernels in a range of an optimizer that launches no matrix product, and runs of element-wise kernels on a stream that
   hold such as only optimizers use. Linear in ops and ranges. */
enum gt_status gt_updates_init(struct gt_updates *updates, const struct gt_view *view, const struct gt_traits *traits,
                               struct gt_error *err);
void gt_updates_release(struct gt_updates *updates);

#endif
