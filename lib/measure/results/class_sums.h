/* Kernel time by class, communication by operation and copies by kind: what the class statistics are made of. */
#ifndef GT_MEASURE_RESULTS_CLASS_SUMS_H
#define GT_MEASURE_RESULTS_CLASS_SUMS_H

#include "base/strtab.h"
#include "events/view.h"

struct gt_tally {
    int64_t instances, total_ns;
};

/* Sums by name, in order of first mention. The empty name is the first, with or without sums. */
struct gt_tallies {
    struct gt_strtab names;
    struct gt_tally *items; /* by string id below capacity */
    size_t capacity;
};

struct gt_class_sums {
    struct gt_tallies classes;    /* of kernels that do not communicate; with a user's rules first all that these name,
                                     with or without kernels. In lower case */
    struct gt_tallies operations; /* of communication: "AllReduce" ... */
    struct gt_tallies copies;     /* and fills, as the trace calls them */
    struct gt_str shorter,
        longer; /* keys of a user's map, one in the other, of which a kernel matched both; else empty */
};

enum gt_status gt_class_sums_init(struct gt_class_sums *sums, const struct gt_view *view, struct gt_error *err);
void gt_class_sums_release(struct gt_class_sums *sums);

struct gt_tally gt_class_sums_of_tallies(const struct gt_tallies *tallies);

#endif
