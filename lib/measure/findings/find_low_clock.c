/* The rule low_clock: samples say that a busy GPU runs far below the clock of its peak. */
#include "measure/findings/findings.h"

struct slow {
    size_t device;
    double ratio, clock_hz;
};

/* While busy, as a part of the clock of the peak; 1: not known, or too few samples. */
static double ratio_of(const struct gt_counter_device *device, double *clock_hz) {
    const struct gt_counter_sum *sum = &device->busy_clock;
    double least_ns = gt_thresholds.clock_samples * (double)device->period_ns;
    if (!device->has_samples || !device->matrix_clock_hz || sum->weight_ns <= 0 || (double)sum->weight_ns < least_ns)
        return 1;
    *clock_hz = gt_counter_set_busy_hz(device);
    return *clock_hz / (double)device->matrix_clock_hz;
}

/* The part of the span that matrix units lose; 1: the samples do not say. */
static double lost_share(const struct gt_counter_device *device) {
    return device->has_roof && device->span_ns > 0 ? (double)device->roof.clock_ns / (double)device->span_ns : 1;
}

static struct slow slowest(const struct gt_counter_set *set) {
    struct slow slow = {.ratio = 1};
    for (size_t d = 0; d < set->device_count; d++) {
        double clock_hz = 0, ratio = ratio_of(&set->devices[d], &clock_hz);
        if (ratio < slow.ratio && lost_share(&set->devices[d]) >= gt_thresholds.low_clock_share)
            slow = (struct slow){d, ratio, clock_hz};
    }
    return slow;
}

bool gt_find_low_clock(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_view *view = evidence->view;
    if (!gt_measure_asks(view, GT_FACT_METRICS))
        return false;
    const struct gt_counter_set *set = gt_results_counters(view, evidence->err);
    if (!set) {
        evidence->status = evidence->err->code;
        return false;
    }
    struct slow slow = slowest(set);
    if (slow.ratio >= gt_thresholds.low_clock_ratio)
        return false;
    const struct gt_counter_device *device = &set->devices[slow.device];
    gt_finding_set_title(evidence, finding,
                         "Low clock: GPU %lld runs at %.0f MHz while busy, %s of the %.0f MHz of its peak",
                         (long long)view->devices[slow.device].id, slow.clock_hz / 1e6,
                         gt_say_share(evidence, slow.ratio, 1), (double)device->matrix_clock_hz / 1e6);
    gt_finding_add_evidence(evidence, finding, "%s, one every %s.", gt_say_counted(evidence, device->samples, "sample"),
                            gt_say_ns(evidence, (double)device->period_ns));
    if (device->has_roof)
        gt_finding_add_evidence(evidence, finding,
                                "At the clock of the peak its matrix units would need %s less: %s of the span.",
                                gt_say_ns(evidence, (double)device->roof.clock_ns),
                                gt_say_share(evidence, (double)device->roof.clock_ns, (double)device->span_ns));
    return true;
}
