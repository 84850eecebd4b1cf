/* Compilation: the launching thread compiled or loaded code while the GPU was idle. */
#include "measure/findings/waits.h"

static void add_names(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_activity_times *times) {
    enum { LISTED = 2 };
    for (size_t i = 0; i < times->names.count && i < LISTED; i++) {
        const struct gt_name_sum *sum = &times->names.items[i];
        gt_finding_add_evidence(
            evidence, finding, "%s took the CPU %s, %s.",
            gt_say_quoted(evidence, gt_name_sums_plain(gt_store_string(evidence->view->store, sum->name))),
            gt_say_ns(evidence, (double)sum->ns), gt_waits_say_often(evidence, sum->count, "time"));
    }
}

bool gt_find_compilation(struct gt_evidence *evidence, struct gt_finding *finding) {
    if (!gt_evidence_may_blame_host(evidence))
        return false;
    const struct gt_activity_times *times = gt_evidence_activity(evidence, GT_ACTIVITY_COMPILATION);
    struct gt_waits_claim claim = gt_waits_claim_activity(evidence, times);
    if (claim.gaps == 0 || times->names.count == 0)
        return false;
    const char *words = gt_activities_words(gt_store_string(evidence->view->store, times->names.items[0].name));
    gt_finding_set_title(evidence, finding, "Compilation stalls the GPU: %s of the time, most of it %s",
                         gt_waits_say_claimed(evidence), words ? words : "loading code");
    add_names(evidence, finding, times);
    gt_waits_add_claim(evidence, finding, &claim);
    gt_waits_add_warm_up(evidence, finding);
    return true;
}
