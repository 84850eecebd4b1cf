/* Waterfall by counters: the span of each GPU, from time at the limit of its matrix units or memory down to idle time,
   as the samples say it. */
#include "measure/counters/counter_parts.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"

static const struct gt_report_column columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"basis", "Basis", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL | GT_COLUMN_KEY},
    {"part", "Part", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"key", "Of", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"ns", "Time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"share", "Share", GT_UNIT_SHARE, "span", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
};

enum gt_status gt_counter_waterfall_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_counter_set *set = gt_results_counters(view, err);
    if (!set)
        return err->code;
    struct gt_table *table =
        gt_section_table(section, "counter_waterfall", "Span by hardware counters", columns, GT_ARRAY_COUNT(columns));
    table->keeps_order = true;
    table->empty = "The trace lacks tensor, DRAM or clock samples, or the GPU is not known.";
    for (size_t d = 0; d < set->device_count; d++)
        gt_counter_parts_put(table, view->devices[d].id, &set->devices[d]);
    return GT_OK;
}
