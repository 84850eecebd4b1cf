/* Lists of steps for sentences. */
#ifndef GT_MEASURE_FINDINGS_STEP_LIST_H
#define GT_MEASURE_FINDINGS_STEP_LIST_H

#include <stdbool.h>

#include "measure/findings/evidence.h"

struct gt_step_list {
    struct gt_evidence *evidence;
    const char *text; /* "3, 7, 9 ..." */
    size_t count;
    bool *has; /* by step */
    int64_t first_number, last_number;
    int64_t distance; /* between neighbours; 0: not the same everywhere, or only one step */
};

/* Adds a step, in any order and any number of times: of several GPUs each has it. */
void gt_step_list_add(struct gt_step_list *list, uint32_t step);

/* Writes those that were added, each once, in their order. */
void gt_step_list_end(struct gt_step_list *list);

/* Writes a step at once, where they come in their order and each once. */
void gt_step_list_write(struct gt_step_list *list, uint32_t step);

#endif
