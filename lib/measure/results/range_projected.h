/* Ranges that the profiler projected on the GPU: used where an input has no ranges. */
#ifndef GT_MEASURE_RESULTS_RANGE_PROJECTED_H
#define GT_MEASURE_RESULTS_RANGE_PROJECTED_H

#include "events/view.h"
#include "report/report.h"

static inline bool gt_range_projected_applies(const struct gt_view *view) {
    return view->store->ranges.count == 0 && (view->store->facts & GT_FACT_PROJECTIONS);
}

/* Whether only a part of the ops is selected, which projections do not cover. */
static inline bool gt_range_projected_is_part(const struct gt_view *view) {
    return !view->is_whole || view->request->selection.name || view->request->selection.category_count;
}

/* The tables of gt_ranges_run and gt_range_instances_run. What needs single ops is null in them. A projection
   cannot be cut to a part of its ops, so that with a selection the tables are empty and say why. */
enum gt_status gt_range_projected_names(const struct gt_view *view, struct gt_section *section, struct gt_error *err);
enum gt_status gt_range_projected_instances(const struct gt_view *view, struct gt_section *section,
                                            struct gt_error *err);

#endif
