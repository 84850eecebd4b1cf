/* Rules on kernels: one that takes most of the time. */
#include "measure/findings.h"

double gt_find_dominant_kernel(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_named_set *kernels = gt_evidence_kernels(evidence);
    if (kernels->count == 0 || kernels->total_ns <= 0)
        return GT_NOTHING_FOUND;
    const struct gt_named *top = &kernels->items[0];
    const char *name = gt_told_kernel(evidence, top->full_name);
    double total_ns = (double)top->stats.total_ns, all_ns = (double)kernels->total_ns;
    gt_finding_title(evidence, finding, "One kernel takes %s of the kernel time: %s",
                     gt_told_share(evidence, total_ns, all_ns), name);
    gt_finding_tell(evidence, finding, "%s took %s in %s, %s each on average.", name, gt_told_ns(evidence, total_ns),
                    gt_told_counted(evidence, top->stats.count, "launch"), gt_told_ns(evidence, top->stats.mean_ns));
    return total_ns / all_ns;
}
