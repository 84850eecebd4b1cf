/* Rules on idle time: how much there is, and what the host has to do with it. */
#include "measure/findings.h"

/* Gaps that a rule counts. */
struct gap_sum {
    size_t count;
    __int128 total_ns, twice_recoverable_ns;
};

static void sum_gap(struct gap_sum *sum, const struct gt_idle_gap *gap) {
    sum->count++;
    sum->total_ns += gap->gap_ns;
    sum->twice_recoverable_ns += gap->twice_recoverable_ns;
}

static int64_t recoverable_ns(const struct gap_sum *sum) {
    return gt_ns_of_sum(sum->twice_recoverable_ns / 2);
}

double gt_find_idle_gpu(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_view *view = evidence->view;
    const struct gt_idle *idle = gt_evidence_idle(evidence);
    struct gap_sum worst = {0};
    const struct gt_view_device *worst_device = NULL;
    double worst_share = GT_NOTHING_FOUND;
    for (size_t i = 0; i < idle->count;) {
        struct gap_sum sum = {0};
        uint32_t d = idle->gaps[i].device;
        for (; i < idle->count && idle->gaps[i].device == d; i++)
            sum_gap(&sum, &idle->gaps[i]);
        const struct gt_view_device *device = &view->devices[d];
        double share = (double)sum.total_ns / (double)gt_ns_between(device->span_start_ns, device->span_end_ns);
        if (share > worst_share) {
            worst_share = share;
            worst_device = device;
            worst = sum;
        }
    }
    if (!worst_device)
        return GT_NOTHING_FOUND;
    double span_ns = (double)gt_ns_between(worst_device->span_start_ns, worst_device->span_end_ns);
    gt_finding_title(evidence, finding, "GPU %lld was idle for %s of its span", (long long)worst_device->id,
                     gt_told_share(evidence, (double)worst.total_ns, span_ns));
    gt_finding_tell(evidence, finding, "It did nothing for %s of %s, in %s.",
                    gt_told_ns(evidence, (double)worst.total_ns), gt_told_ns(evidence, span_ns),
                    gt_told_counted(evidence, worst.count, "gap"));
    finding->recoverable_ns = recoverable_ns(&worst);
    return worst_share;
}

/* The CPU is late again and again, by microseconds each time. Pauses have reasons of their own. */
double gt_find_host_bound(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_idle *idle = gt_evidence_idle(evidence);
    struct gap_sum late = {0};
    __int128 pauses_ns = 0;
    for (size_t i = 0; i < idle->count; i++) {
        const struct gt_idle_gap *gap = &idle->gaps[i];
        if (gap->gap_ns >= GT_PAUSE_NS)
            pauses_ns += gap->gap_ns;
        else if (gap->cause == GT_IDLE_HOST || gap->cause == GT_IDLE_LAUNCH)
            sum_gap(&late, gap);
    }
    double running_ns = (double)(gt_evidence_span_ns(evidence) - pauses_ns);
    if (late.count == 0 || running_ns <= 0)
        return GT_NOTHING_FOUND;
    gt_finding_title(evidence, finding, "The GPU waits for the CPU to launch: %s of the time",
                     gt_told_share(evidence, (double)late.total_ns, running_ns));
    gt_finding_tell(evidence, finding, "In %s the next op was not launched yet or still on its way: %s of %s.",
                    gt_told_counted(evidence, late.count, "gap"), gt_told_ns(evidence, (double)late.total_ns),
                    gt_told_ns(evidence, running_ns));
    finding->recoverable_ns = recoverable_ns(&late);
    return (double)late.total_ns / running_ns;
}
