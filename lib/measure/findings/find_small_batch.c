/* Small batch: a host-bound program whose matrix products are shorter than the time that the CPU takes to launch one
   kernel. More work per launch costs no time then. */
#include "measure/findings/small_products.h"
#include "measure/findings/training.h"
#include "measure/findings/waits.h"

/* Idle time that the CPU made by launching late, as part of the steady spans; whoever claimed it. */
static double late_share(struct gt_evidence *evidence) {
    return gt_ledger_share(&evidence->ledger, (double)gt_evidence_host_gaps(evidence)->late_ns);
}

bool gt_find_small_batch(struct gt_evidence *evidence, struct gt_finding *finding) {
    if (!gt_evidence_may_blame_host(evidence) || late_share(evidence) < gt_thresholds.small_batch_late_share)
        return false;
    struct gt_small_products products = gt_small_products_of(evidence);
    if (!products.are_usual)
        return false;
    gt_finding_set_title(evidence, finding, "Small batch: %s of the matrix products are shorter than a launch takes",
                         gt_say_share(evidence, (double)products.small, (double)products.count));
    gt_finding_add_evidence(
        evidence, finding, "%s take %s on average; the CPU launches one kernel every %s, so larger ones would be free.",
        gt_say_counted(evidence, products.count, "matrix product"), gt_say_ns(evidence, products.mean_ns),
        gt_say_ns(evidence, products.launch_ns));
    if (!gt_training_is_seen(evidence))
        gt_finding_add_advice(evidence, finding,
                              "For inference: continuous batching or speculative decoding brings more tokens per "
                              "launch.");
    finding->overlaps_id = "host_bound"; /* whose gaps these are */
    return true;
}
