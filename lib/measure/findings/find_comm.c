/* Rules on communication and on several devices: what is not hidden by compute, and who waits for whom. */
#include "base/ns.h"
#include "measure/findings/findings.h"

/* The device with the largest share of an amount of its span. */
static size_t worst_device(struct gt_evidence *evidence, enum gt_amount amount, double *worst_share) {
    const struct gt_account *accounts = gt_evidence_accounts(evidence);
    size_t worst = SIZE_MAX;
    *worst_share = 0;
    for (size_t d = 0; d < evidence->view->device_count && accounts; d++) {
        double span_ns = (double)accounts[d].ns[GT_AMOUNT_SPAN];
        double share = span_ns > 0 ? (double)accounts[d].ns[amount] / span_ns : 0;
        if (share > *worst_share) {
            *worst_share = share;
            worst = d;
        }
    }
    return worst;
}

/* Claims the exposed communication of each device that its own compute could have hidden. */
static void claim_hideable(struct gt_evidence *evidence) {
    const struct gt_view *view = evidence->view;
    const struct gt_account *accounts = gt_evidence_accounts(evidence);
    for (size_t d = 0; d < view->device_count && accounts; d++) {
        const int64_t *ns = accounts[d].ns;
        int64_t free_ns = gt_ns_between(ns[GT_AMOUNT_OVERLAP], ns[GT_AMOUNT_COMPUTE]);
        const struct gt_view_device *device = &view->devices[d];
        for (size_t i = device->first; i < device->first + device->count && free_ns > 0; i++)
            if (gt_view_op_class(view, i) == GT_CLASS_COMM)
                free_ns -= gt_ledger_claim_op(&evidence->ledger, (uint32_t)i, free_ns);
    }
}

bool gt_find_exposed_comm(struct gt_evidence *evidence, struct gt_finding *finding) {
    double share;
    size_t worst = worst_device(evidence, GT_AMOUNT_EXPOSED_COMM, &share);
    if (worst == SIZE_MAX)
        return false;
    const int64_t *ns = gt_evidence_accounts(evidence)[worst].ns;
    gt_finding_set_title(evidence, finding, "Exposed communication: %s of the span of GPU %lld",
                         gt_say_share(evidence, (double)ns[GT_AMOUNT_EXPOSED_COMM], (double)ns[GT_AMOUNT_SPAN]),
                         (long long)evidence->view->devices[worst].id);
    gt_finding_add_evidence(evidence, finding, "%s of its %s of communication did not overlap compute.",
                            gt_say_ns(evidence, (double)ns[GT_AMOUNT_EXPOSED_COMM]),
                            gt_say_ns(evidence, (double)ns[GT_AMOUNT_COMM]));
    claim_hideable(evidence);
    return true;
}

/* There is both, and yet they run one after the other. */
bool gt_find_poor_overlap(struct gt_evidence *evidence, struct gt_finding *finding) {
    double comm_ns = (double)gt_evidence_amount(evidence, GT_AMOUNT_COMM);
    double overlap_ns = (double)gt_evidence_amount(evidence, GT_AMOUNT_OVERLAP);
    double compute_ns = (double)gt_evidence_amount(evidence, GT_AMOUNT_COMPUTE);
    double span_ns = (double)gt_evidence_amount(evidence, GT_AMOUNT_SPAN);
    if (comm_ns < 0.05 * span_ns || comm_ns <= 0)
        return false;
    gt_finding_set_title(evidence, finding, "%s of communication overlaps compute",
                         gt_say_share(evidence, overlap_ns, comm_ns));
    gt_finding_add_evidence(evidence, finding, "%s of communication and %s of compute, with %s of overlap.",
                            gt_say_ns(evidence, comm_ns), gt_say_ns(evidence, compute_ns),
                            gt_say_ns(evidence, overlap_ns));
    finding->overlaps_id = "exposed_comm";
    return 1 - overlap_ns / comm_ns >= gt_thresholds.poor_overlap_share;
}

/* A device that computes less than the others waits for them. */
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
