/* Sync waits: the launching thread waited in a synchronizing call, and the GPU was idle then or right after. */
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "measure/findings/readers.h"
#include "measure/findings/saving.h"
#include "measure/findings/waits.h"

/* Waits for copies from the GPU belong to another rule. */
static void leave_out_readbacks(struct gt_evidence *evidence, uint8_t *is_wait) {
    const struct gt_readback *readback = &gt_evidence_host_gaps(evidence)->readback;
    for (size_t i = 0; i < readback->count && readback->waits; i++)
        is_wait[readback->waits[i]] = 0;
}

/* The next that is marked, this one or after it; count: there is none. */
static uint32_t next_mark(const uint8_t *marks, uint32_t from, size_t count) {
    const uint8_t *at = from < count ? memchr(marks + from, 1, count - from) : NULL;
    return (uint32_t)(at ? (size_t)(at - marks) : count);
}

static size_t list_losses(struct gt_evidence *evidence, const uint8_t *is_wait, struct gt_lead_loss *losses,
                          struct gt_name_sums *names, uint32_t *longest) {
    const struct gt_calls *calls = &evidence->view->store->calls;
    size_t count = 0;
    int64_t longest_ns = 0;
    for (uint32_t i = 0; (i = next_mark(is_wait, i, calls->count)) < calls->count; i++) {
        int64_t length_ns = gt_ns_between(calls->start_ns[i], calls->end_ns[i]);
        *longest = length_ns > longest_ns ? i : *longest;
        longest_ns = length_ns > longest_ns ? length_ns : longest_ns;
        losses[count++] = (struct gt_lead_loss){calls->start_ns[i], calls->end_ns[i], calls->thread[i]};
        gt_name_sums_add(names, evidence->view->store, calls->name[i], length_ns);
    }
    gt_name_sums_sort(names);
    return count;
}

static size_t count_marks(const uint8_t *marks, size_t count) {
    size_t marked = 0;
    for (uint32_t i = 0; (i = next_mark(marks, i, count)) < count; i++)
        marked++;
    return marked;
}

/* NULL: there are none. */
static uint8_t *synchronizing_calls(struct gt_evidence *evidence) {
    uint8_t *is_wait = gt_evidence_sync_marks(evidence);
    if (is_wait)
        leave_out_readbacks(evidence, is_wait);
    return is_wait;
}

static struct gt_waits_claim claim_waits(struct gt_evidence *evidence, struct gt_name_sums *names, uint32_t *longest) {
    size_t call_count = evidence->view->store->calls.count;
    struct gt_waits_claim claim = {0};
    uint8_t *is_wait = synchronizing_calls(evidence);
    size_t most = is_wait ? count_marks(is_wait, call_count) : 0;
    struct gt_lead_loss *losses = gt_mem_uninitialised(most, sizeof *losses);
    if (losses && evidence->status == GT_OK)
        claim = gt_waits_claim_class(evidence, GT_HOST_GAP_SYNC, losses,
                                     is_wait ? list_losses(evidence, is_wait, losses, names, longest) : 0);
    if (!losses || names->has_failed)
        gt_evidence_fail(evidence);
    gt_mem_free(losses);
    return claim;
}

/* The operator that the program called, else the innermost range; GT_STRID_EMPTY: there is none. */
static gt_strid code_around(struct gt_evidence *evidence, uint32_t call) {
    const struct gt_store *store = evidence->view->store;
    const struct gt_ranges *ranges = &store->ranges;
    uint32_t outermost = gt_readers_outermost_operator(evidence->view, call), innermost = GT_NO_ROW;
    if (outermost != GT_NO_ROW)
        return store->cpu_ops.name[outermost];
    uint8_t *is_step = gt_chains_step_ranges_new(evidence->view);
    if (!is_step)
        gt_evidence_fail(evidence);
    for (uint32_t i = 0; i < ranges->count && is_step; i++)
        if (!is_step[i] &&
            gt_readers_is_around(ranges->start_ns[i], ranges->end_ns[i], ranges->thread[i], &store->calls, call) &&
            (innermost == GT_NO_ROW || ranges->start_ns[i] >= ranges->start_ns[innermost]))
            innermost = i;
    gt_mem_free(is_step);
    return innermost == GT_NO_ROW ? GT_STRID_EMPTY : ranges->name[innermost];
}

/* PyTorch's copies between CPU and GPU wait unless they are asked not to. */
static bool is_copy(struct gt_str name) {
    return gt_str_eq(name, GT_STR("aten::to")) || gt_str_eq(name, GT_STR("aten::_to_copy")) ||
           gt_str_eq(name, GT_STR("aten::copy_"));
}

static void add_code(struct gt_evidence *evidence, struct gt_finding *finding, uint32_t longest) {
    gt_strid id = longest == GT_NO_ROW ? GT_STRID_EMPTY : code_around(evidence, longest);
    if (id == GT_STRID_EMPTY)
        return;
    struct gt_str name = gt_name_sums_plain(gt_store_string(evidence->view->store, id));
    gt_finding_add_evidence(evidence, finding, "The longest wait is in %s.", gt_say_quoted(evidence, name));
    if (is_copy(name))
        gt_finding_add_advice(
            evidence, finding,
            "A copy between CPU and GPU waits there: create the tensor on the GPU, or pin it and copy "
            "with non_blocking=True.");
}

static void describe(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_waits_claim *claim,
                     const struct gt_name_sums *names, uint32_t longest) {
    const char *call = names->count ? gt_say_call(evidence, names->items[0].name) : "a synchronizing call";
    gt_finding_set_title(evidence, finding, "The CPU waits in %s while the GPU runs dry: %s of the time", call,
                         gt_waits_say_claimed(evidence));
    if (names->count)
        gt_finding_add_evidence(evidence, finding, "%s: %s, %s on the CPU.", call,
                                gt_waits_say_often(evidence, names->items[0].count, "call"),
                                gt_say_ns(evidence, (double)names->items[0].ns));
    add_code(evidence, finding, longest);
    gt_waits_add_claim(evidence, finding, claim);
    gt_waits_add_warm_up(evidence, finding);
    finding->causes_id = "host_bound";
}

bool gt_find_sync_waits(struct gt_evidence *evidence, struct gt_finding *finding) {
    if (!gt_evidence_may_blame_host(evidence))
        return false;
    struct gt_name_sums names = {0};
    uint32_t longest = GT_NO_ROW;
    struct gt_waits_claim claim = claim_waits(evidence, &names, &longest);
    gt_saving_settle_gaps(evidence, finding, "no:sync", GT_HOST_GAP_SYNC);
    bool found = (claim.direct_ns > 0 || claim.later_ns > 0) && gt_evidence_is_worth_reporting(evidence);
    if (found)
        describe(evidence, finding, &claim, &names, longest);
    gt_name_sums_release(&names);
    return found;
}
