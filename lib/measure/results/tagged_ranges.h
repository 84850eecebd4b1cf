/* The ranges that bear a tag: how many there are and how long their work took on the GPU. */
#ifndef GT_MEASURE_RESULTS_TAGGED_RANGES_H
#define GT_MEASURE_RESULTS_TAGGED_RANGES_H

#include "events/view.h"

enum gt_tagged_state {
    GT_TAGGED_FOUND,
    GT_TAGGED_NONE,    /* the input has no ranges at all */
    GT_TAGGED_IDLE,    /* none of them launched work that is selected */
    GT_TAGGED_UNKNOWN, /* the input has projections alone, which do not cover a selection */
};

struct gt_tagged_ranges {
    enum gt_tagged_state state;
    int64_t count;        /* with work on the GPU */
    int64_t most;         /* of one thread: the iterations, when every thread runs the same ones */
    int64_t projected_ns; /* last end - first start of the work of each, summed */

    int64_t total_ns, inside_ns; /* time of all selected ops and of theirs; 0 if only projections describe ranges */
};

/* The tag is a name, or "domain:name". A tag that no range bears is a usage error that lists the most similar names. */
enum gt_status gt_tagged_ranges_find(const struct gt_view *view, const char *tag, struct gt_tagged_ranges *found,
                                     struct gt_error *err);

#endif
