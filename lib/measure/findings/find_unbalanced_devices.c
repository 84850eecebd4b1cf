/* The rule unbalanced_devices: a GPU that computes less than the others of the trace waits for them. */
#include "measure/findings/findings.h"

bool gt_find_unbalanced_devices(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_view *view = evidence->view;
    const struct gt_account *accounts = gt_evidence_accounts(evidence);
    size_t most = 0, least = 0;
    if (view->device_count < 2 || !accounts)
        return false;
    for (size_t d = 1; d < view->device_count; d++) {
        int64_t compute_ns = accounts[d].ns[GT_AMOUNT_COMPUTE];
        most = compute_ns > accounts[most].ns[GT_AMOUNT_COMPUTE] ? d : most;
        least = compute_ns < accounts[least].ns[GT_AMOUNT_COMPUTE] ? d : least;
    }
    double most_ns = (double)accounts[most].ns[GT_AMOUNT_COMPUTE];
    double least_ns = (double)accounts[least].ns[GT_AMOUNT_COMPUTE];
    double mean_ns = (double)gt_evidence_amount(evidence, GT_AMOUNT_COMPUTE) / (double)view->device_count;
    if (most_ns <= 0)
        return false;
    gt_finding_set_title(evidence, finding, "Load imbalance: GPU %lld computes %s less than GPU %lld",
                         (long long)view->devices[least].id, gt_say_share(evidence, most_ns - least_ns, most_ns),
                         (long long)view->devices[most].id);
    gt_finding_add_evidence(evidence, finding, "Compute time: GPU %lld %s, GPU %lld %s, mean %s.",
                            (long long)view->devices[most].id, gt_say_ns(evidence, most_ns),
                            (long long)view->devices[least].id, gt_say_ns(evidence, least_ns),
                            gt_say_ns(evidence, mean_ns));
    return (most_ns - least_ns) / most_ns >= gt_thresholds.unbalanced_share;
}
