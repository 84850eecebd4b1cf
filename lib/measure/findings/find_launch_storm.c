/* Launch storm: many launches of short kernels. */
#include "measure/findings/waits.h"

bool gt_find_launch_storm(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_launch_rate all = gt_evidence_launch_rate(evidence), *rate = &all;
    /* The rate of a few launches means nothing, nor does that of kernels that graphs brought. */
    bool is_high = rate->is_storm || rate->per_second >= gt_thresholds.storm_rate;
    if (!is_high || (double)rate->count < gt_thresholds.storm_launches ||
        !gt_waits_has_launches(evidence, gt_thresholds.storm_single_share * (double)rate->count))
        return false;
    gt_finding_set_title(evidence, finding, "%s kernel launches per second, median kernel %s",
                         gt_say_count(evidence, (size_t)rate->per_second), gt_say_ns(evidence, rate->median_ns));
    gt_finding_add_evidence(evidence, finding, "%s in %s, excluding gaps of 10 ms or more.",
                            gt_say_counted(evidence, rate->count, "launch"),
                            gt_say_ns(evidence, (double)rate->window_ns));
    finding->simulation.change = "no:launch";
    return true;
}
