/* The outermost code of every CPU thread: the ranges and operators that no other encloses. */
#ifndef GT_MEASURE_OUTERS_H
#define GT_MEASURE_OUTERS_H

#include "events/view.h"

/* Columns by thread, then time; intervals of a thread do not overlap and cover the same time as all that are inside
   them. Steps and marks are no code. */
struct gt_outers {
    int64_t *start_ns, *end_ns;
    gt_strid *name;
    size_t count;
    size_t *first; /* by thread, one more than threads */
};

/* false: memory was short. Release in any case. Linear where the rows of a thread are in order, else a radix sort. */
bool gt_outers_init(struct gt_outers *outers, const struct gt_view *view);
void gt_outers_release(struct gt_outers *outers);

/* What a thread was in during [start, end). */
struct gt_outer_part {
    bool is_most;  /* code covers more than half of it */
    gt_strid name; /* of the code with the largest part, where it does; else GT_STRID_EMPTY */
};

/* Looks at all code of the thread in that time. *place: 0 at first, then as it was left, so that what comes next in
 * order of time is found at once. */
struct gt_outer_part gt_outers_during(const struct gt_outers *outers, uint32_t thread, int64_t start_ns, int64_t end_ns,
                                      size_t *place);

/* Such a name as people read it. */
struct gt_str gt_outers_text(const struct gt_view *view, gt_strid name);

#endif
