/* Rule tail: kernels whose blocks do not fill the GPU, in their last wave or at all, so that multiprocessors are idle.
 */
#include "measure/findings/lost_kernels.h"

enum { LISTED = 3 };

/* As far as the kernel is below what good ones reach, and only where that is most of the reason. */
static double part_of(const struct gt_kernel_roofs *roofs, size_t position, const struct gt_kernel_roof *roof) {
    double lost = 1 - roof->share / gt_kernel_roofs_good(roof);
    if (lost <= 0 || roof->bound == GT_BOUND_LATENCY || roof->provenance == GT_PROVENANCE_BOUND)
        return 0;
    double tail = gt_kernel_roofs_launch(roofs, position).tail;
    if (tail < gt_thresholds.tail_share || tail < gt_thresholds.tail_reason * lost)
        return 0;
    return tail < lost ? tail : lost;
}

static void add_kernel(struct gt_evidence *evidence, struct gt_finding *finding, struct gt_kernel_roofs *roofs,
                       const struct gt_lost_kernel *kernel) {
    size_t device = 0;
    while (kernel->position >= evidence->view->devices[device].first + evidence->view->devices[device].count)
        device++;
    gt_kernel_roofs_choose(roofs, device);
    struct gt_launch_facts facts = gt_kernel_roofs_launch(roofs, kernel->position);
    gt_finding_add_evidence(evidence, finding, "%s: %s in %.2f waves leave %s of the SMs idle on average; at %s.",
                            gt_say_kernel(evidence, kernel->name),
                            gt_say_counted(evidence, (size_t)facts.blocks, "block"), facts.waves,
                            gt_say_share(evidence, facts.tail, 1), gt_lost_kernels_say_roof(evidence, kernel));
}

static void describe(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_lost_kernels *lost) {
    struct gt_kernel_roofs roofs;
    gt_finding_set_title(evidence, finding, "Grids that do not fill the GPU leave SMs idle: %s of the time, most in %s",
                         gt_say_share(evidence, (double)evidence->ledger.claimed_ns, (double)evidence->ledger.span_ns),
                         gt_say_kernel(evidence, lost->items[0].name));
    if (gt_kernel_roofs_init(&roofs, evidence))
        for (size_t i = 0; i < lost->count && i < LISTED; i++)
            add_kernel(evidence, finding, &roofs, &lost->items[i]);
    gt_kernel_roofs_release(&roofs);
}

/* For the kernel that loses most. */
static void advise(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_lost_kernel *kernel) {
    bool is_torch = evidence->context & GT_CONTEXT_TORCH;
    if (kernel->roof.family == GT_FAMILY_OPTIMIZER && is_torch)
        gt_finding_add_advice(evidence, finding,
                              "PyTorch's multi-tensor kernels have at most 320 blocks; torch.compile(optimizer.step) "
                              "makes kernels of its own.");
    else
        gt_finding_add_advice(evidence, finding,
                              "Change the number of blocks: another batch or sequence length, another tile size%s, "
                              "split-K or a persistent kernel.",
                              is_torch ? " (torch.compile(mode='max-autotune') tries some)" : "");
}

bool gt_find_tail(struct gt_evidence *evidence, struct gt_finding *finding) {
    static const struct gt_lost_kernels_finding how = {part_of, describe, advise};
    return gt_lost_kernels_find(evidence, finding, &how);
}
