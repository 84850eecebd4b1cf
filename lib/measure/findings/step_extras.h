/* What only some steps do: ranges that launch work in them and in no other step. */
#ifndef GT_MEASURE_FINDINGS_STEP_EXTRAS_H
#define GT_MEASURE_FINDINGS_STEP_EXTRAS_H

#include "measure/findings/evidence.h"

struct gt_step_extra {
    gt_strid name;      /* the first of its names; GT_STRID_EMPTY: there is none */
    struct gt_str text; /* its name; of several that differ in digits: "layer N" */
    uint8_t *has_it;    /* by item of the times: the step runs it */
    uint8_t *is_inside; /* by row of ranges: one of it, or inside one */
    double others_ns;   /* mean time of the items without it */
    int64_t *usual_ns;  /* by device of the view: lower median of the items without it */
    bool has_failed;    /* memory was short */
};

/* The range whose steps take longer than all others, with the most work of its own. Names that differ in digits alone
   count as one. Parts of a usual step (forward, optimizer, prefill ...) are none: that some steps have more of them is
   the work itself. Linear in ops and ranges. */
void gt_step_extras_find(struct gt_step_extra *extra, struct gt_evidence *evidence, const struct gt_step_times *times);
void gt_step_extras_release(struct gt_step_extra *extra);

/* Whether an op of the view was launched in it. */
static inline bool gt_step_extras_has_op(const struct gt_step_extra *extra, const struct gt_view *view,
                                         uint32_t position) {
    uint32_t range = view->labels->op_range[view->row[position]];
    return range != GT_NO_ROW && extra->is_inside[range];
}

#endif
