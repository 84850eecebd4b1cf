/* Python calls: how many the trace has. Asking for them makes findings name Python functions: reading call stacks is
   too slow to do it in every report. */
#include "measure/results/measure.h"

enum gt_status gt_python_calls_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    (void)err;
    struct gt_measure_fact_group data = {.section = section, .audience = GT_FOR_DATA};
    if (view->store->facts & GT_FACT_STACKS)
        gt_measure_fact_group_add(&data, "python_calls", "Python calls", GT_UNIT_COUNT,
                                  gt_cell_count(view->store->python_calls.count));
    return GT_OK;
}
