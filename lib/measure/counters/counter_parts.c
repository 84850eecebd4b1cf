/* Writes the parts of a GPU's span that its samples give. */
#include "measure/counters/counter_parts.h"

#include <string.h>

#include "base/mem.h"
#include "measure/efficiency/waterfall_rows.h"

void gt_counter_parts_add(struct gt_table *table, int64_t device_id, const struct gt_counter_device *device) {
    const struct gt_waterfall_rows rows = {table, device_id, "counter", device->span_ns};
    const struct gt_counter_roof *roof = &device->roof;
    struct gt_waterfall_part ideal[] = {{"ideal", "memory", roof->memory_ns}, {"ideal", "tensor", roof->tensor_ns}};
    struct gt_waterfall_part lost[] = {{"inefficiency", "below_roof", roof->below_ns},
                                       {"inefficiency", "clock", roof->clock_ns}};
    struct gt_waterfall_rest rest = {.span_ns = device->span_ns,
                                     .exposed_comm_ns = device->class_ns[GT_CLASS_COMM],
                                     .exposed_memory_ns = device->class_ns[GT_CLASS_MEMORY]};
    if (!device->has_roof)
        return;
    memcpy(rest.idle_ns, device->cause_ns, sizeof rest.idle_ns);
    gt_waterfall_rows_add_sorted(&rows, ideal, GT_ARRAY_COUNT(ideal));
    gt_waterfall_rows_add_sorted(&rows, lost, GT_ARRAY_COUNT(lost));
    gt_waterfall_rows_add(&rows, "unmodelled", "unsampled", roof->unsampled_ns);
    gt_waterfall_rows_add_rest(&rows, &rest);
}
