/* Allocator: the launching thread took memory from the driver or gave it back while the GPU was idle. */
#include "measure/findings/saving.h"
#include "measure/findings/waits.h"
#include "measure/memory_use/memory_words.h"
#include "measure/results/calls.h"

enum { LISTED = 3 };

static bool frees(struct gt_evidence *evidence, const struct gt_name_sum *sum) {
    return gt_str_find_nocase(gt_store_string(evidence->view->store, sum->name), GT_STR("Free")) != NULL;
}

/* A third or more of the calls free, once per step or more: the cache is emptied again and again. */
static bool empties_cache(struct gt_evidence *evidence, const struct gt_name_sums *names) {
    size_t freed = 0, all = 0, steps = gt_evidence_step_count(evidence);
    for (size_t i = 0; i < names->count; i++) {
        freed += frees(evidence, &names->items[i]) ? names->items[i].count : 0;
        all += names->items[i].count;
    }
    return gt_thresholds.calls_per_free * (double)freed >= (double)all && freed > 1 && freed >= steps;
}

/* "cudaFree and cudaMalloc" */
static const char *say_calls(struct gt_evidence *evidence, const struct gt_name_sums *names) {
    const char *first = gt_say_call(evidence, names->items[0].name);
    if (names->count == 1)
        return first;
    return gt_arena_printf(evidence->arena, "%s and %s", first, gt_say_call(evidence, names->items[1].name)).ptr;
}

/* ---- what memory events say ---- */

/* The GPU on which the allocator gave most memory back, or took most; NULL: the report has no such events. */
static const struct gt_memory_device *busiest_heap(struct gt_evidence *evidence) {
    const struct gt_memory_device *busiest = NULL;
    if (!gt_measure_asks(evidence->view, GT_FACT_MEMORY))
        return NULL;
    const struct gt_memory_set *set = gt_results_memory_use(evidence->view, evidence->err);
    if (!set) {
        evidence->status = evidence->err->code;
        return NULL;
    }
    for (size_t d = 0; d < set->device_count; d++) {
        const struct gt_memory_device *device = &set->devices[d];
        bool is_more = busiest && (device->falls > busiest->falls ||
                                   (device->falls == busiest->falls && device->rises > busiest->rises));
        if (device->rises + device->falls > 0 && (!busiest || is_more))
            busiest = device;
    }
    return busiest;
}

/* An allocator that gives memory back does so to try again, if the GPU is full, or because the program says so. */
static void add_heap(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_memory_device *heap) {
    uint64_t capacity = gt_memory_words_capacity(evidence->view, heap);
    bool is_full = capacity && (double)heap->reserved_max >= gt_thresholds.full_share * (double)capacity;
    if (!heap->falls) {
        gt_finding_add_evidence(evidence, finding,
                                "Reserved memory grows %s, by %s in all, and none is given back: the cache of the "
                                "allocator is still filling.",
                                gt_say_counted(evidence, heap->rises, "time"),
                                gt_say_bytes(evidence, (uint64_t)heap->risen_bytes));
        return;
    }
    gt_finding_add_evidence(
        evidence, finding, "The cache is flushed %s: %s of reserved memory go back to the driver, %s are taken again.",
        gt_say_counted(evidence, heap->falls, "time"), gt_say_bytes(evidence, (uint64_t)heap->fallen_bytes),
        gt_say_bytes(evidence, (uint64_t)heap->risen_bytes));
    if (capacity)
        gt_finding_add_evidence(evidence, finding, "At most %s of %s are reserved: %s.",
                                gt_say_bytes(evidence, (uint64_t)(heap->reserved_max > 0 ? heap->reserved_max : 0)),
                                gt_say_bytes(evidence, capacity),
                                is_full ? "the GPU is full, and the allocator frees its cache to try again"
                                        : "the GPU is not full, so the program itself empties the cache");
}

bool gt_find_allocator(struct gt_evidence *evidence, struct gt_finding *finding) {
    if (!gt_evidence_may_blame_host(evidence))
        return false;
    const struct gt_activity_times *times = gt_evidence_activity(evidence, GT_ACTIVITY_ALLOCATION);
    const struct gt_name_sums *names = &times->names;
    struct gt_waits_claim claim = gt_waits_claim_activity(evidence, times);
    if (claim.gaps == 0 || names->count == 0)
        return false;
    gt_saving_settle(evidence, finding, gt_saving_without(evidence, names));
    gt_finding_set_title(evidence, finding, "%s keep%s the GPU waiting: %s of the time", say_calls(evidence, names),
                         names->count == 1 ? "s" : "", gt_waits_say_claimed(evidence));
    for (size_t i = 0; i < names->count && i < LISTED; i++)
        gt_finding_add_evidence(evidence, finding, "%s: %s, %s on the CPU.",
                                gt_say_call(evidence, names->items[i].name),
                                gt_waits_say_often(evidence, names->items[i].count, "call"),
                                gt_say_ns(evidence, (double)names->items[i].ns));
    finding->causes_id = "host_bound";
    gt_waits_add_claim(evidence, finding, &claim);
    const struct gt_memory_device *heap = busiest_heap(evidence);
    if (heap)
        add_heap(evidence, finding, heap);
    if (empties_cache(evidence, names) && (evidence->context & GT_CONTEXT_TORCH))
        gt_finding_add_advice(evidence, finding,
                              "Memory is freed and allocated again: look for %sempty_cache() in the loop, or "
                              "for retries because the GPU's memory is nearly full.",
                              evidence->context & GT_CONTEXT_CUDA ? "torch.cuda." : "");
    return true;
}
