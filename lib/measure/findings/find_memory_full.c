/* The rule memory_full: at the peak nearly all memory of a GPU is taken. */
#include "base/ns.h"
#include "measure/findings/findings.h"
#include "measure/memory_use/memory_words.h"

/* What other programs, or this one's other allocators, cannot have. */
static int64_t taken_of(const struct gt_memory_device *device) {
    return device->reserved_max > device->peak ? device->reserved_max : device->peak;
}

static double taken_share(const struct gt_view *view, const struct gt_memory_device *device) {
    uint64_t capacity = gt_memory_words_capacity(view, device);
    return capacity ? (double)taken_of(device) / (double)capacity : 0;
}

static void add_parts(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_memory_device *device) {
    int64_t reserved = device->reserved_at_peak, unused = gt_ns_between(device->peak, reserved);
    gt_finding_add_evidence(evidence, finding, "%s",
                            gt_memory_words_peak(evidence->arena, evidence->view, device, false).ptr);
    if (reserved <= 0 || (double)unused < gt_thresholds.fragmented_share * (double)reserved)
        return;
    gt_finding_add_evidence(evidence, finding, "%s of what is reserved is not used: the memory is fragmented.",
                            gt_say_bytes(evidence, (uint64_t)unused));
    if ((evidence->context & GT_CONTEXT_TORCH) && (evidence->context & GT_CONTEXT_CUDA))
        gt_finding_add_advice(evidence, finding,
                              "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True keeps memory from fragmenting.");
}

bool gt_find_memory_full(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_view *view = evidence->view;
    if (!gt_measure_asks(view, GT_FACT_MEMORY))
        return false;
    const struct gt_memory_set *set = gt_results_memory_use(view, evidence->err);
    const struct gt_memory_device *fullest = NULL;
    if (!set) {
        evidence->status = evidence->err->code;
        return false;
    }
    for (size_t d = 0; d < set->device_count; d++)
        if (!fullest || taken_share(view, &set->devices[d]) > taken_share(view, fullest))
            fullest = &set->devices[d];
    if (!fullest || taken_share(view, fullest) < gt_thresholds.full_share)
        return false;
    uint64_t capacity = gt_memory_words_capacity(view, fullest);
    gt_finding_set_title(evidence, finding, "Memory nearly full: GPU %lld has %s of %s taken", (long long)fullest->id,
                         gt_say_bytes(evidence, (uint64_t)taken_of(fullest)), gt_say_bytes(evidence, capacity));
    add_parts(evidence, finding, fullest);
    return true;
}
