/* The outermost code of every CPU thread: the ranges and operators that no other encloses. */
#ifndef GT_MEASURE_OUTERS_H
#define GT_MEASURE_OUTERS_H

#include "events/view.h"

/* Columns by thread, then time; intervals of a thread do not overlap and cover the same time as all that are inside
   them. Steps and marks are no code. */
struct gt_outers {
    int64_t *start_ns, *end_ns;
    uint32_t *thread;
    gt_strid *name;
    size_t count;
    size_t *first; /* by thread, one more than threads */
};

/* false: memory was short. Release in any case. Linear where the rows of a thread are in order, else a radix sort. */
bool gt_outers_init(struct gt_outers *outers, const struct gt_view *view);
void gt_outers_release(struct gt_outers *outers);

#endif
