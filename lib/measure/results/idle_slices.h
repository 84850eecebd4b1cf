/* Slices of the ops of each device in which gaps are looked for. */
#ifndef GT_MEASURE_RESULTS_IDLE_SLICES_H
#define GT_MEASURE_RESULTS_IDLE_SLICES_H

#include "events/view.h"

/* Ops of a device one after the other. */
struct gt_idle_slice {
    size_t device, begin, end; /* positions */
    bool is_first, is_last;    /* of its device */
    int64_t reached_ns;        /* before it: the latest end of an op that has a length, or the start of the span */
    size_t most_gaps;          /* that end in it */
};

struct gt_idle_slices {
    struct gt_idle_slice *items; /* by device */
    size_t count;
    size_t *first; /* by device, and after the last */
};

/* Counts the gaps of each slice, unless one thread takes them one after the other: then nobody needs to know before it
   has found them. false: memory was short. Release in any case. */
bool gt_idle_slices_init(struct gt_idle_slices *slices, const struct gt_view *view, size_t threads);
void gt_idle_slices_release(struct gt_idle_slices *slices);

#endif
