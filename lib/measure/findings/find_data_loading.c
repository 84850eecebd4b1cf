/* Data loading: the launching thread waited for the next batch while the GPU was idle. */
#include "measure/findings/saving.h"
#include "measure/findings/waits.h"

/* So many workers load a batch in the time that the rest of a step takes. */
static void add_workers(struct gt_evidence *evidence, struct gt_finding *finding, double loading_ns, double lost_ns) {
    double step_ns = gt_evidence_steps(evidence)->median_ns, rest_ns = step_ns - lost_ns;
    if (rest_ns <= 0 || loading_ns <= 0 || loading_ns / rest_ns > 1000)
        return;
    gt_finding_add_evidence(
        evidence, finding, "The rest of a step takes %s, so %s in the background would hide the loading.",
        gt_say_ns(evidence, rest_ns), gt_say_counted(evidence, (size_t)ceil(loading_ns / rest_ns), "worker"));
}

static void add_steps(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_activity_times *times,
                      const struct gt_waits_claim *claim) {
    size_t steps = gt_evidence_step_count(evidence), devices = evidence->view->device_count;
    if (steps == 0 || devices == 0)
        return;
    double loading_ns = (double)times->thread_ns / (double)steps;
    double lost_ns = ((double)claim->direct_ns + (double)claim->later_ns) / (double)(steps * devices);
    gt_finding_add_evidence(evidence, finding, "Per step: %s in the loader, %s of it hidden by GPU work.",
                            gt_say_ns(evidence, loading_ns),
                            gt_say_share(evidence, lost_ns < loading_ns ? loading_ns - lost_ns : 0, loading_ns));
    add_workers(evidence, finding, loading_ns, lost_ns);
}

bool gt_find_data_loading(struct gt_evidence *evidence, struct gt_finding *finding) {
    if (!gt_evidence_may_blame_host(evidence))
        return false;
    const struct gt_activity_times *times = gt_evidence_activity(evidence, GT_ACTIVITY_DATA_LOADING);
    struct gt_waits_claim claim = gt_waits_claim_activity(evidence, times);
    if (claim.gaps == 0 || times->names.count == 0)
        return false;
    gt_saving_settle(evidence, finding, gt_saving_without(evidence, &times->names));
    const struct gt_name_sum *most = &times->names.items[0];
    struct gt_str name = gt_name_sums_plain(gt_store_string(evidence->view->store, most->name));
    gt_finding_set_title(evidence, finding, "%s starves the GPU: %s of the time", gt_say_quoted(evidence, name),
                         gt_waits_say_claimed(evidence));
    gt_finding_add_evidence(evidence, finding, "%s took the CPU %s, %s.", gt_say_quoted(evidence, name),
                            gt_say_ns(evidence, (double)most->ns), gt_waits_say_often(evidence, most->count, "time"));
    add_steps(evidence, finding, times, &claim);
    gt_waits_add_claim(evidence, finding, &claim);
    gt_waits_add_warm_up(evidence, finding);
    if (gt_str_find_nocase(name, GT_STR("SingleProcessDataLoaderIter")))
        gt_finding_add_advice(evidence, finding, "This DataLoader has no workers: it loads in the training loop.");
    return true;
}
