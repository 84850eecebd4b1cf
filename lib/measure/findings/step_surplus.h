/* What some steps run in addition to all that the others run, where no range names it. */
#ifndef GT_MEASURE_FINDINGS_STEP_SURPLUS_H
#define GT_MEASURE_FINDINGS_STEP_SURPLUS_H

#include "measure/findings/evidence.h"

enum { GT_STEP_SURPLUS_NAMES = 3 };

/* Kernels of one name that the steps have more of than the others. */
struct gt_step_surplus_name {
    gt_strid name;
    size_t count; /* over all these steps */
    int64_t ns;
};

struct gt_step_surplus {
    size_t runs;       /* steps with more; 0: there are none, or the others are not alike */
    uint8_t *has_it;   /* by item of the times */
    uint8_t *is_op;    /* by position: one of those in addition */
    int64_t *usual_ns; /* by device of the view: lower median of the other steps */
    size_t usual_ops;  /* of the others, on average */
    size_t more_ops;   /* in addition, on average of the steps that have them */
    double others_ns;  /* mean time of the others */
    struct gt_step_surplus_name names[GT_STEP_SURPLUS_NAMES]; /* the most time first; count 0: no more */
};

/* Only where the program trains and most steps have the same number of ops (thresholds usual_steps_share,
   usual_ops_spread) of the same names, and all others clearly more (more_ops_ratio), which take time. What they have in
   addition must not be communication or an optimizer, which some programs run once in several steps. Linear. */
void gt_step_surplus_find(struct gt_step_surplus *surplus, struct gt_evidence *evidence,
                          const struct gt_step_times *times);
void gt_step_surplus_release(struct gt_step_surplus *surplus);

#endif
