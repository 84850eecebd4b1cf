/* Rules on kernels: one that takes most of the time. */
#include "measure/findings/findings.h"

/* The longest by name that is no graph traced as a whole; NULL: there is none. */
static const struct gt_named *longest_kernel(struct gt_evidence *evidence) {
    const struct gt_named_set *kernels = gt_evidence_kernels(evidence);
    for (size_t i = 0; i < kernels->count; i++)
        if (!gt_say_name_is_lost(evidence, kernels->items[i].full_name) &&
            (evidence->view->is_summed || gt_view_op_kind(evidence->view, kernels->items[i].first) == GT_OP_KERNEL))
            return &kernels->items[i];
    return NULL;
}

bool gt_find_dominant_kernel(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_named *top = longest_kernel(evidence);
    double all_ns = (double)gt_evidence_kernels(evidence)->total_ns;
    if (!top || all_ns <= 0)
        return false;
    const char *name = gt_say_kernel(evidence, top->full_name);
    double total_ns = (double)top->total_ns;
    gt_finding_set_title(evidence, finding, "One kernel takes %s of kernel time: %s",
                         gt_say_share(evidence, total_ns, all_ns), name);
    gt_finding_add_evidence(evidence, finding, "%s: %s in %s, %s each on average.", name, gt_say_ns(evidence, total_ns),
                            gt_say_counted(evidence, top->count, "launch"), gt_say_ns(evidence, top->mean_ns));
    return total_ns / all_ns >= gt_thresholds.dominant_share;
}
