/* Writes the parts of a GPU's span that the samples give: ideal time at a limit, time below it, everything else. */
#include "measure/counters/counter_parts.h"

#include <stdlib.h>

#include "base/mem.h"
#include "report/row.h"

struct part {
    const char *part, *key;
    int64_t ns;
};

static void put_part(struct gt_table *table, int64_t device_id, const struct gt_counter_device *device,
                     const struct part *part) {
    struct gt_row row = gt_row_begin(table);
    gt_row_int(&row, "device", device_id);
    gt_row_text(&row, "basis", GT_STR("counter"));
    gt_row_text(&row, "part", gt_str_of(part->part));
    gt_row_text(&row, "key", gt_str_of(part->key));
    gt_row_int(&row, "ns", part->ns);
    gt_row_share(&row, "share", (double)part->ns, (double)device->span_ns);
    gt_row_end(&row);
}

static int by_time(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return gt_str_cmp(gt_str_of(x->key), gt_str_of(y->key));
}

/* Parts of one kind, the longest first. */
static void put_parts(struct gt_table *table, int64_t device_id, const struct gt_counter_device *device,
                      struct part *parts, size_t count) {
    if (count > 1)
        qsort(parts, count, sizeof *parts, by_time);
    for (size_t i = 0; i < count; i++)
        put_part(table, device_id, device, &parts[i]);
}

void gt_counter_parts_put(struct gt_table *table, int64_t device_id, const struct gt_counter_device *device) {
    const struct gt_counter_roof *roof = &device->roof;
    struct part ideal[] = {{"ideal", "memory", roof->memory_ns}, {"ideal", "tensor", roof->tensor_ns}};
    struct part lost[] = {{"inefficiency", "below_roof", roof->below_ns}, {"inefficiency", "clock", roof->clock_ns}};
    struct part rest[] = {{"unmodelled", "unsampled", roof->unsampled_ns},
                          {"exposed_comm", "", device->class_ns[GT_CLASS_COMM]},
                          {"exposed_memory", "", device->class_ns[GT_CLASS_MEMORY]}};
    struct part idle[GT_IDLE_CAUSE_COUNT];
    size_t causes = 0;
    if (!device->has_roof)
        return;
    for (size_t cause = 0; cause < GT_IDLE_CAUSE_COUNT; cause++)
        if (device->cause_ns[cause] > 0)
            idle[causes++] = (struct part){"idle", gt_idle_cause_names[cause], device->cause_ns[cause]};
    put_parts(table, device_id, device, ideal, GT_ARRAY_COUNT(ideal));
    put_parts(table, device_id, device, lost, GT_ARRAY_COUNT(lost));
    for (size_t i = 0; i < GT_ARRAY_COUNT(rest); i++)
        put_part(table, device_id, device, &rest[i]);
    put_parts(table, device_id, device, idle, causes);
}
