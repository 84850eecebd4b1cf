/* The rule poor_overlap: there is both communication and compute, and yet they run one after the other. */
#include "measure/findings/findings.h"

bool gt_find_poor_overlap(struct gt_evidence *evidence, struct gt_finding *finding) {
    double comm_ns = (double)gt_evidence_amount(evidence, GT_AMOUNT_COMM);
    double overlap_ns = (double)gt_evidence_amount(evidence, GT_AMOUNT_OVERLAP);
    double compute_ns = (double)gt_evidence_amount(evidence, GT_AMOUNT_COMPUTE);
    double span_ns = (double)gt_evidence_amount(evidence, GT_AMOUNT_SPAN);
    if (comm_ns <= 0 || comm_ns < gt_thresholds.comm_share * span_ns)
        return false;
    gt_finding_set_title(evidence, finding, "%s of communication overlaps compute",
                         gt_say_share(evidence, overlap_ns, comm_ns));
    gt_finding_add_evidence(evidence, finding, "%s of communication and %s of compute, with %s of overlap.",
                            gt_say_ns(evidence, comm_ns), gt_say_ns(evidence, compute_ns),
                            gt_say_ns(evidence, overlap_ns));
    finding->simulation.change = "overlap:comm";
    finding->overlaps_id = "exposed_comm";
    return 1 - overlap_ns / comm_ns >= gt_thresholds.poor_overlap_share;
}
