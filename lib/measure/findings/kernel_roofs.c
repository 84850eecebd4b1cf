/* Looks up how near kernels came to their roofs. */
#include "measure/findings/kernel_roofs.h"

#include <math.h>

#include "base/mem.h"
#include "measure/findings/thresholds.h"
#include "measure/results/measure.h"

bool gt_kernel_roofs_init(struct gt_kernel_roofs *roofs, struct gt_evidence *evidence) {
    const struct gt_view *view = evidence->view;
    *roofs = (struct gt_kernel_roofs){.view = view, .device = SIZE_MAX};
    if (!gt_measure_asks(view, GT_FACT_ARGUMENTS))
        return false;
    bool has_counters = gt_measure_asks(view, GT_FACT_METRICS) && (view->store->facts & GT_FACT_METRICS);
    roofs->set = gt_results_work(view, evidence->err);
    roofs->counters = roofs->set && has_counters ? gt_results_counters(view, evidence->err) : NULL;
    bool ok = roofs->set && (roofs->counters || !has_counters);
    if (!ok)
        evidence->status = evidence->err->code;
    roofs->items = ok && has_counters ? gt_mem_array(gt_view_name_count(view), sizeof *roofs->items) : NULL;
    if (ok && has_counters && !roofs->items) {
        gt_evidence_fail(evidence);
        ok = false;
    }
    return ok;
}

void gt_kernel_roofs_release(struct gt_kernel_roofs *roofs) {
    gt_mem_free(roofs->items);
    *roofs = (struct gt_kernel_roofs){0};
}

/* Puts the device's items in their places, or takes them out. */
static void place_items(struct gt_kernel_roofs *roofs, bool is_in) {
    const struct gt_counter_device *device = &roofs->counters->devices[roofs->device];
    for (size_t i = 0; i < device->item_count; i++)
        if (device->items[i].scope == GT_COUNTER_OF_KERNEL)
            roofs->items[device->items[i].name_id] = is_in ? &device->items[i] : NULL;
}

void gt_kernel_roofs_choose(struct gt_kernel_roofs *roofs, size_t device) {
    if (roofs->counters && roofs->device != SIZE_MAX)
        place_items(roofs, false);
    roofs->device = device;
    if (roofs->counters)
        place_items(roofs, true);
}

static const struct gt_kernel_roof unknown = {-1, GT_BOUND_UNKNOWN, GT_PROVENANCE_UNKNOWN, GT_FAMILY_COUNT,
                                              GT_PEAK_NONE};

/* All kernels of an instance share its roof: those that only help make the others possible. */
static struct gt_kernel_roof modelled(const struct gt_work_set *set, const struct gt_work_instance *instance) {
    const struct gt_work_kind *kind = gt_work_set_kind(set, instance);
    if (instance->roofline_ns < 0 || instance->total_ns <= 0)
        return unknown;
    double share = (double)instance->roofline_ns / (double)instance->total_ns;
    return (struct gt_kernel_roof){share, instance->bound, kind->provenance, kind->family, kind->unit};
}

/* Samples have no vector units: a kernel that issues instructions all the time is at a roof, too. */
static struct gt_kernel_roof sampled(const struct gt_counter_device *device, const struct gt_counter_item *item) {
    if (!item || item->method == GT_COUNTER_UNSAMPLED)
        return unknown;
    struct gt_counter_nearness near = gt_counter_set_nearness(device, item);
    double issue = gt_counter_set_mean(item, GT_METRIC_SM_ISSUE) / 100;
    if (isnan(near.share) || isnan(issue))
        return unknown;
    return (struct gt_kernel_roof){fmax(near.share, issue),
                                   near.is_memory && near.share >= issue ? GT_BOUND_MEMORY : GT_BOUND_COMPUTE,
                                   GT_PROVENANCE_COUNTER, GT_FAMILY_COUNT, GT_PEAK_NONE};
}

const struct gt_work_instance *gt_kernel_roofs_instance(const struct gt_kernel_roofs *roofs, size_t position) {
    uint32_t instance = roofs->set->parts[roofs->view->row[position]].instance;
    return instance == GT_NO_ROW ? NULL : &roofs->set->instances[instance];
}

struct gt_kernel_roof gt_kernel_roofs_of(const struct gt_kernel_roofs *roofs, size_t position) {
    const struct gt_work_instance *instance = gt_kernel_roofs_instance(roofs, position);
    struct gt_kernel_roof roof = instance ? modelled(roofs->set, instance) : unknown;
    if (roof.share >= 0 || !roofs->counters)
        return roof;
    return sampled(&roofs->counters->devices[roofs->device], roofs->items[gt_view_op_name_id(roofs->view, position)]);
}

double gt_kernel_roofs_good(const struct gt_kernel_roof *roof) {
    switch (roof->family) {
    case GT_FAMILY_ATTENTION:
        return gt_thresholds.good_attention;
    case GT_FAMILY_GEMM:
    case GT_FAMILY_CONV:
        return gt_thresholds.good_products;
    case GT_FAMILY_COUNT: /* samples know only what the kernel is near to */
        return roof->bound == GT_BOUND_COMPUTE ? gt_thresholds.good_products : gt_thresholds.good_vectors;
    default:
        return gt_thresholds.good_vectors;
    }
}

struct gt_launch_facts gt_kernel_roofs_launch(const struct gt_kernel_roofs *roofs, size_t position) {
    const struct gt_view *view = roofs->view;
    return gt_launch_facts_of(&view->store->kernel_configs, gt_work_set_config(roofs->set, view->row[position]),
                              &roofs->set->peaks[view->devices[roofs->device].device]);
}
