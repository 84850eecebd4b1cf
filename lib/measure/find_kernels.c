/* Rules on kernels and their launches: one that takes most of the time, too many launches, too short kernels. */
#include "base/mem.h"
#include "base/quantile.h"
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

/* Kernels behind the warm-up: how many, and the median of their lengths. */
struct kernel_sample {
    size_t count;
    double median_ns;
};

static struct kernel_sample sample_kernels(struct gt_evidence *evidence) {
    const struct gt_view *view = evidence->view;
    int64_t steady_ns = gt_evidence_steady_ns(evidence);
    struct kernel_sample sample = {0};
    int64_t *lengths = gt_alloc_array(view->op_count, sizeof *lengths);
    if (!lengths)
        gt_evidence_fail(evidence);
    for (size_t i = 0; i < view->op_count && lengths; i++)
        if (gt_kind_is_kernel(gt_op_kind(view, i)) && view->start_ns[i] >= steady_ns)
            lengths[sample.count++] = gt_op_ns(view, i);
    if (lengths)
        sample.median_ns = gt_quantile(lengths, sample.count, 0.5);
    gt_free(lengths);
    return sample;
}

/* Launches for each second of a device's time, pauses left out: loading a model launches nothing. */
double gt_find_launch_storm(struct gt_evidence *evidence, struct gt_finding *finding) {
    enum { NO_STORM, MANY_LAUNCHES, STORM };
    const struct gt_idle *idle = gt_evidence_idle(evidence);
    int64_t steady_ns = gt_evidence_steady_ns(evidence);
    __int128 running_ns = gt_evidence_steady_span_ns(evidence);
    for (size_t i = 0; i < idle->count; i++)
        if (idle->gaps[i].gap_ns >= GT_PAUSE_NS && idle->gaps[i].start_ns >= steady_ns)
            running_ns -= idle->gaps[i].gap_ns;
    struct kernel_sample kernels = sample_kernels(evidence);
    if (kernels.count < 1000 || running_ns <= 0) /* a rate of a few launches means nothing */
        return GT_NOTHING_FOUND;
    double per_second = (double)kernels.count / ((double)running_ns / 1e9);
    bool is_storm =
        (per_second >= 50000 && kernels.median_ns <= 10000) || (per_second >= 100000 && kernels.median_ns <= 20000);
    gt_finding_title(evidence, finding, "%s kernel launches a second, half of the kernels within %s",
                     gt_told_count(evidence, (size_t)per_second), gt_told_ns(evidence, kernels.median_ns));
    gt_finding_tell(evidence, finding, "%s in %s of GPU time; gaps of 1 ms or more are left out.",
                    gt_told_counted(evidence, kernels.count, "launch"), gt_told_ns(evidence, (double)running_ns));
    return is_storm ? STORM : per_second >= 100000 ? MANY_LAUNCHES : NO_STORM;
}

enum { TINY_NS = 5000 };

static bool is_tiny(const struct gt_view *view, uint32_t position) {
    return position != GT_NO_ROW && gt_op_kind(view, position) == GT_OP_KERNEL && gt_op_ns(view, position) <= TINY_NS;
}

/* The names with the most tiny kernels on average, the most launched first. */
static void tell_tiny_names(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_named_set *kernels = gt_evidence_kernels(evidence);
    const struct gt_named *most[3] = {NULL};
    for (size_t i = 0; i < kernels->count; i++) {
        const struct gt_named *kernel = &kernels->items[i];
        for (size_t m = 0; m < GT_ARRAY_COUNT(most) && kernel && kernel->stats.mean_ns <= TINY_NS; m++)
            if (!most[m] || kernel->stats.count > most[m]->stats.count) {
                const struct gt_named *next = most[m];
                most[m] = kernel;
                kernel = next;
            }
    }
    for (size_t m = 0; m < GT_ARRAY_COUNT(most) && most[m]; m++)
        gt_finding_tell(evidence, finding, "%s: %s, %s on average.", gt_told_kernel(evidence, most[m]->full_name),
                        gt_told_counted(evidence, most[m]->stats.count, "launch"),
                        gt_told_ns(evidence, most[m]->stats.mean_ns));
}

/* What is lost is the time in which the GPU waited for the launch of a tiny kernel. */
double gt_find_tiny_kernels(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_view *view = evidence->view;
    const struct gt_idle *idle = gt_evidence_idle(evidence);
    int64_t steady_ns = gt_evidence_steady_ns(evidence);
    size_t tiny = 0, kernels = 0;
    for (uint32_t i = 0; i < view->op_count; i++) {
        kernels += gt_op_kind(view, i) == GT_OP_KERNEL;
        tiny += is_tiny(view, i);
    }
    struct gt_gap_sum waits = {0};
    for (size_t i = 0; i < idle->count; i++) {
        const struct gt_idle_gap *gap = &idle->gaps[i];
        bool is_launch = gap->cause == GT_IDLE_HOST || gap->cause == GT_IDLE_LAUNCH;
        if (is_launch && gap->gap_ns < GT_PAUSE_NS && gap->start_ns >= steady_ns && is_tiny(view, gap->next))
            gt_gap_sum_add(&waits, gap);
    }
    double span_ns = (double)gt_evidence_steady_span_ns(evidence);
    if (tiny < 100 || (double)tiny < 0.3 * (double)kernels || span_ns <= 0)
        return GT_NOTHING_FOUND;
    gt_finding_title(evidence, finding, "%s of the kernels last 5 us or less: worth fusing or a CUDA graph",
                     gt_told_share(evidence, (double)tiny, (double)kernels));
    gt_finding_tell(evidence, finding, "%s of %s; the GPU waited %s for the launches of such kernels.",
                    gt_told_count(evidence, tiny), gt_told_counted(evidence, kernels, "kernel"),
                    gt_told_ns(evidence, (double)waits.total_ns));
    tell_tiny_names(evidence, finding);
    finding->recoverable_ns = gt_gap_sum_recoverable(&waits);
    return (double)waits.total_ns / span_ns;
}
