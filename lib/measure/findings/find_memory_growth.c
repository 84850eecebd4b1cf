/* The rule memory_growth: every step leaves more memory allocated than the one before. */
#include "measure/findings/findings.h"
#include "measure/memory_use/memory_words.h"

static bool grows(const struct gt_memory_device *device) {
    return (double)device->changes >= gt_thresholds.growth_changes && device->least_change > 0 &&
           device->growth >= gt_thresholds.growth_bytes;
}

/* How long it can go on. */
static void add_outlook(struct gt_evidence *evidence, struct gt_finding *finding,
                        const struct gt_memory_device *device) {
    uint64_t capacity = gt_memory_words_capacity(evidence->view, device);
    double left = (double)capacity - (double)device->peak;
    if (capacity && left > 0)
        gt_finding_add_evidence(evidence, finding, "%s left at the peak: enough for about %s.",
                                gt_say_bytes(evidence, (uint64_t)left),
                                gt_say_counted(evidence, (size_t)(left / device->growth), "step"));
}

static void add_kept(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_memory_step *step) {
    if (step->has_blocks)
        gt_finding_add_evidence(evidence, finding, "The last step allocates %s with %s that it does not free.",
                                gt_say_counted(evidence, step->kept_blocks, "block"),
                                gt_say_bytes(evidence, (uint64_t)step->kept_bytes));
}

bool gt_find_memory_growth(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_view *view = evidence->view;
    if (!gt_measure_asks(view, GT_FACT_MEMORY))
        return false;
    const struct gt_memory_set *set = gt_results_memory_use(view, evidence->err);
    const struct gt_memory_device *most = NULL;
    if (!set) {
        evidence->status = evidence->err->code;
        return false;
    }
    for (size_t d = 0; d < set->device_count; d++)
        if (grows(&set->devices[d]) && (!most || set->devices[d].growth > most->growth))
            most = &set->devices[d];
    if (!most)
        return false;
    const struct gt_memory_step *first = &most->steps[most->growth_first], *last = &most->steps[most->growth_last];
    gt_finding_set_title(evidence, finding, "Memory grows by %s a step on GPU %lld",
                         gt_say_bytes(evidence, (uint64_t)most->growth), (long long)most->id);
    gt_finding_add_evidence(
        evidence, finding,
        "%s allocated after step %lld, %s after step %lld; no step in between frees more than it allocates.",
        gt_say_bytes(evidence, (uint64_t)(first->last > 0 ? first->last : 0)),
        (long long)view->labels->steps[first->step].number,
        gt_say_bytes(evidence, (uint64_t)(last->last > 0 ? last->last : 0)),
        (long long)view->labels->steps[last->step].number);
    add_kept(evidence, finding, last);
    add_outlook(evidence, finding, most);
    return true;
}
