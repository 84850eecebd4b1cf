/* The rule pageable_copies: large copies to the GPU whose source is pageable memory, so that the driver stages them
   through a buffer of its own while the CPU waits. */
#include "measure/findings/findings.h"
#include "measure/findings/origins.h"

static bool is_pageable(const struct gt_bulk_copy *copy) {
    return copy->way == GT_COPY_TO_GPU && copy->memory == GT_MEMORY_PAGEABLE;
}

bool gt_find_pageable_copies(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_bulk_copies *copies = gt_evidence_bulk_copies(evidence);
    struct gt_bulk_copies_sum sum = gt_bulk_copies_claim(copies, evidence, is_pageable);
    if (gt_ledger_share(&evidence->ledger, (double)evidence->ledger.claimed_ns) >= gt_thresholds.low_share) {
        struct gt_origin origin = gt_origins_of_claims(evidence);
        double claimed_ns = (double)evidence->ledger.claimed_ns;
        const char *name = gt_origins_say(evidence, &origin, "");
        bool has_name = name[0];
        gt_finding_set_title(evidence, finding, "%s from pageable memory%s: %s of the time",
                             has_name ? gt_arena_printf(evidence->arena, "%s copies", name).ptr : "Copies",
                             has_name ? "" : " keep the GPU waiting",
                             gt_say_share(evidence, gt_ledger_share(&evidence->ledger, claimed_ns), 1));
        gt_bulk_copies_describe(copies, evidence, finding, &sum);
        if (sum.call_ns > 0)
            gt_finding_add_evidence(evidence, finding,
                                    "The calls block the CPU for %s: the driver copies pageable memory to a buffer "
                                    "of its own first.",
                                    gt_say_ns(evidence, (double)sum.call_ns));
        gt_bulk_copies_add_longest(evidence, finding, &sum);
    }
    return finding->evidence_count > 0;
}
