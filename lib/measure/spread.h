/* How much amounts vary from step to step: what a comparison takes for noise. */
#ifndef GT_MEASURE_SPREAD_H
#define GT_MEASURE_SPREAD_H

#include "events/view.h"
#include "report/report.h"

/* Something that belongs to a step and adds to one of several sums. */
struct gt_spread_item {
    uint32_t step; /* index into labels->steps; GT_NO_ROW: none */
    size_t set;
    int64_t ns;
};

/* What is to be summed: item number `index` of `item_count`, in any order. */
struct gt_spread_source {
    size_t item_count, set_count;
    struct gt_spread_item (*item)(const void *context, size_t index);
    const void *context;
};

/* stddev_ns[set] = sample standard deviation of the set's sums over the steps that have ops (a step without an item of
   the set counts as 0; NAN if none has one); *step_count of them. Too few steps to tell: *step_count is 0, nothing is
   written. Linear. */
bool gt_spread_measure(const struct gt_view *view, const struct gt_spread_source *source, double *stddev_ns,
                       size_t *step_count); /* false: memory was short */

/* Writes down the spread of a row of another table, in the table `spreads` that only comparisons read. */
void gt_spread_add(struct gt_section *section, const char *table, struct gt_str name, size_t step_count,
                   double stddev_ns);

#endif
