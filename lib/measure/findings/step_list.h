/* Lists of steps for sentences. */
#ifndef GT_MEASURE_FINDINGS_STEP_LIST_H
#define GT_MEASURE_FINDINGS_STEP_LIST_H

#include "measure/findings/evidence.h"

struct gt_step_list {
    struct gt_evidence *evidence;
    const char *text; /* "3, 7, 9 ..." */
    size_t count;
    uint32_t latest;
    int64_t first_number, last_number;
    int64_t distance; /* between neighbours; 0: not the same everywhere, or only one step */
};

/* Adds a step, unless it is the one that was added last. */
void gt_step_list_add(struct gt_step_list *list, uint32_t step);

#endif
