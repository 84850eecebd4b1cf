/* Kernel roofs: how near each kernel came to the limit of its GPU, by the model of its work or, where that is not
   known, by hardware counters. */
#ifndef GT_MEASURE_FINDINGS_KERNEL_ROOFS_H
#define GT_MEASURE_FINDINGS_KERNEL_ROOFS_H

#include "measure/efficiency/launch_facts.h"
#include "measure/efficiency/work_set.h"
#include "measure/findings/evidence.h"

struct gt_kernel_roof {
    double share;              /* of the roof; < 0: not known */
    uint8_t bound, provenance; /* enum gt_work_bound, gt_provenance */
    uint8_t family, unit;      /* enum gt_family, gt_peak_unit; GT_FAMILY_COUNT, GT_PEAK_NONE: not known */
};

struct gt_kernel_roofs {
    const struct gt_view *view;
    const struct gt_work_set *set;
    const struct gt_counter_set *counters; /* NULL: the report does not read them */
    const struct gt_counter_item **items;  /* by name of the device's kernels */
    size_t device;                         /* whose ops are asked for */
};

/* false: the report does not read arguments of operators, or there was a failure. Release in any case. */
bool gt_kernel_roofs_init(struct gt_kernel_roofs *roofs, struct gt_evidence *evidence);
void gt_kernel_roofs_release(struct gt_kernel_roofs *roofs);

/* The following is about ops of this device of the view. */
void gt_kernel_roofs_choose(struct gt_kernel_roofs *roofs, size_t device);
struct gt_kernel_roof gt_kernel_roofs_of(const struct gt_kernel_roofs *roofs, size_t position);
/* The share of their roof that good kernels for such work reach. */
double gt_kernel_roofs_good(const struct gt_kernel_roof *roof);
/* What the model knows about the work of the op; NULL: nothing. */
const struct gt_work_instance *gt_kernel_roofs_instance(const struct gt_kernel_roofs *roofs, size_t position);
struct gt_launch_facts gt_kernel_roofs_launch(const struct gt_kernel_roofs *roofs, size_t position);

#endif
