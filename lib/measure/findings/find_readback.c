/* Readback: copies from the GPU that the CPU waits for: the token that ends a step, the loss that is printed. The GPU
   is idle until the CPU has read it and launched more, and often in the gaps right after, for the queue is empty. */
#include "base/mem.h"
#include "measure/findings/python_code.h"
#include "measure/findings/readers.h"
#include "measure/findings/saving.h"
#include "measure/findings/waits.h"

/* The innermost Python function of the program itself; GT_NO_ROW: there is none. */
static uint32_t innermost_python(const struct gt_view *view, uint32_t call) {
    const struct gt_store *store = view->store;
    const struct gt_python_calls *python = gt_measure_python_calls(view);
    uint32_t found = GT_NO_ROW;
    for (uint32_t i = 0; i < python->count; i++)
        if (gt_readers_is_around(python->start_ns[i], python->end_ns[i], python->thread[i], &store->calls, call) &&
            (found == GT_NO_ROW || python->start_ns[i] >= python->start_ns[found]) &&
            gt_python_code_is_own(gt_store_string(store, python->name[i])))
            found = i;
    return found;
}

static void add_code(struct gt_evidence *evidence, struct gt_finding *finding, uint32_t call) {
    const struct gt_store *store = evidence->view->store;
    uint32_t python = innermost_python(evidence->view, call);
    if (python != GT_NO_ROW)
        gt_finding_add_evidence(evidence, finding, "The longest gap follows one in %s.",
                                gt_say_quoted(evidence, gt_store_string(store, store->python_calls.name[python])));
}

static void add_range(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_readback *copies) {
    const struct gt_view *view = evidence->view;
    uint8_t *is_step = gt_chains_step_ranges_new(view);
    if (!is_step)
        gt_evidence_fail(evidence);
    gt_strid range = is_step ? gt_waits_range_of_op(view, is_step, view->row[copies->longest]) : GT_STRID_EMPTY;
    gt_mem_free(is_step);
    if (range != GT_STRID_EMPTY)
        gt_finding_add_evidence(evidence, finding, "The longest gap follows one in range %s.",
                                gt_say_quoted(evidence, gt_store_string(view->store, range)));
}

static void add_copies(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_readback *copies) {
    const char *copy = gt_say_quoted(evidence, gt_store_string(evidence->view->store, copies->copy));
    const char *often = gt_waits_say_often(evidence, copies->count, "copy");
    const char *call = gt_say_call(evidence, copies->call);
    if (copies->wait == GT_STRID_EMPTY)
        gt_finding_add_evidence(evidence, finding, "%s by %s (%s), which blocks until the data has arrived.", often,
                                call, copy);
    else
        gt_finding_add_evidence(evidence, finding, "%s by %s (%s), each immediately followed by %s.", often, call, copy,
                                gt_say_call(evidence, copies->wait));
}

static struct gt_waits_claim claim_copies(struct gt_evidence *evidence, const struct gt_readback *copies) {
    const struct gt_calls *calls = &evidence->view->store->calls;
    struct gt_waits_claim claim = {0};
    struct gt_lead_loss *losses = gt_mem_uninitialised(copies->count, sizeof *losses);
    size_t count = 0;
    if (!losses)
        gt_evidence_fail(evidence);
    for (size_t i = 0; i < copies->count && losses; i++) {
        uint32_t wait = copies->waits[i];
        if (calls->thread[wait] != GT_NO_TRACK)
            losses[count++] = (struct gt_lead_loss){calls->start_ns[wait], calls->end_ns[wait], calls->thread[wait]};
    }
    if (losses)
        claim = gt_waits_claim_class(evidence, GT_HOST_GAP_READBACK, losses, count);
    gt_mem_free(losses);
    return claim;
}

bool gt_find_readback(struct gt_evidence *evidence, struct gt_finding *finding) {
    if (!gt_evidence_may_blame_host(evidence))
        return false;
    const struct gt_readback *copies = &gt_evidence_host_gaps(evidence)->readback;
    if (copies->count == 0 || !copies->waits)
        return false;
    struct gt_waits_claim claim = claim_copies(evidence, copies);
    if (claim.direct_ns == 0 || !gt_evidence_is_worth_reporting(evidence))
        return false;
    gt_saving_settle_gaps(evidence, finding, gt_readers_change(evidence, copies), GT_HOST_GAP_READBACK);
    gt_finding_set_title(evidence, finding, "%s makes the CPU wait for a copy from the GPU %s: %s of the time",
                         gt_readers_say(evidence, copies), gt_waits_say_often(evidence, copies->count, "time"),
                         gt_waits_say_claimed(evidence));
    finding->causes_id = "host_bound";
    add_copies(evidence, finding, copies);
    gt_finding_add_evidence(evidence, finding,
                            "The GPU was idle for %s after these copies, until the next op was launched.",
                            gt_say_ns(evidence, (double)claim.direct_ns));
    if (claim.later_ns)
        gt_finding_add_evidence(
            evidence, finding, "It was idle for another %s in later gaps: the waits had emptied the queue of launches.",
            gt_say_ns(evidence, (double)claim.later_ns));
    add_range(evidence, finding, copies);
    add_code(evidence, finding, evidence->view->labels->op_call[evidence->view->row[copies->longest]]);
    return true;
}
