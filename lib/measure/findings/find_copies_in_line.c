/* The rule copies_in_line: large copies between host and GPU that compute has to wait for, because they are on its
   stream or because their call blocks the CPU: checkpoints, offloading, inputs. */
#include "measure/findings/findings.h"
#include "measure/findings/origins.h"

/* Copies from pageable memory have a rule of their own. */
static bool is_in_line(const struct gt_bulk_copy *copy) {
    bool is_pageable_input = copy->way == GT_COPY_TO_GPU && copy->memory == GT_MEMORY_PAGEABLE;
    return !is_pageable_input && (copy->is_on_compute_stream || copy->blocks);
}

bool gt_find_copies_in_line(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_bulk_copies *copies = gt_evidence_bulk_copies(evidence);
    struct gt_bulk_copies_sum sum = gt_bulk_copies_claim(copies, evidence, is_in_line);
    if (gt_ledger_share(&evidence->ledger, (double)evidence->ledger.claimed_ns) >= gt_thresholds.low_share) {
        struct gt_origin origin = gt_origins_of_claims(evidence);
        double claimed_ns = (double)evidence->ledger.claimed_ns;
        const char *name = gt_origins_say(evidence, &origin, "");
        gt_finding_set_title(evidence, finding, "%s %s to the %s while nothing computes: %s of the time",
                             name[0] ? gt_arena_printf(evidence->arena, "%s moves", name).ptr : "Copies move",
                             gt_say_bytes(evidence, sum.bytes), sum.way == GT_COPY_TO_HOST ? "CPU" : "GPU",
                             gt_say_share(evidence, gt_ledger_share(&evidence->ledger, claimed_ns), 1));
        gt_bulk_copies_describe(copies, evidence, finding, &sum);
        gt_bulk_copies_add_longest(evidence, finding, &sum);
        if (sum.way == GT_COPY_TO_HOST)
            gt_finding_add_advice(evidence, finding,
                                  "Copy to pinned buffers on a separate stream and let another thread write them; do "
                                  "it less often.");
        else
            gt_finding_add_advice(evidence, finding,
                                  "Copy on a separate stream, one step ahead of the compute that needs the data.");
    }
    return finding->evidence_count > 0;
}
