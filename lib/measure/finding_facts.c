/* Facts of findings: asking for this makes findings look at hardware counters and memory, which are too much to read in
   every report. */
#include "measure/results/measure.h"

enum gt_status gt_finding_facts_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    (void)err;
    struct gt_measure_fact_group data = {.section = section, .audience = GT_FOR_DATA};
    if (view->store->facts & GT_FACT_MEMORY)
        gt_measure_fact_group_add(&data, "memory_events", "Memory events", GT_UNIT_COUNT,
                                  gt_cell_count(view->store->memory_events.count));
    return GT_OK;
}
