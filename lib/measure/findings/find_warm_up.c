/* The rule warm_up: steps before the first one of usual length. */
#include "measure/findings/findings.h"
#include "measure/findings/step_list.h"

/* The steps of a state that have ops in the view, or that launched none. */
struct sum {
    struct gt_step_list list;
    __int128 cpu_ns;
    int64_t longest_ns; /* on the CPU */
};

static struct sum sum_steps(struct gt_evidence *evidence, enum gt_step_state state) {
    const struct gt_step_set *steps = gt_evidence_steps(evidence);
    struct sum sum = {.list = {.evidence = evidence}};
    for (size_t i = 0; i < steps->count; i++) {
        uint32_t index = steps->parts[i].step;
        if (steps->states[index] != state || (i > 0 && steps->parts[i - 1].step == index))
            continue;
        int64_t length_ns = gt_step_set_cpu_ns(&evidence->view->labels->steps[index]);
        gt_step_list_add(&sum.list, index);
        sum.cpu_ns += length_ns;
        sum.longest_ns = length_ns > sum.longest_ns ? length_ns : sum.longest_ns;
    }
    gt_step_list_end(&sum.list);
    return sum;
}

bool gt_find_warm_up(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_step_set *steps = gt_evidence_steps(evidence);
    if (steps->state_counts[GT_STEP_WARM_UP] == 0)
        return false;
    struct sum warm = sum_steps(evidence, GT_STEP_WARM_UP), steady = sum_steps(evidence, GT_STEP_STEADY);
    struct sum outliers = sum_steps(evidence, GT_STEP_OUTLIER);
    double all_ns = (double)(warm.cpu_ns + steady.cpu_ns + outliers.cpu_ns);
    bool is_left_out = gt_evidence_steady_ns(evidence) != INT64_MIN; /* not where steps after it launched nothing */
    if (warm.list.count == 0 || steady.list.count == 0 || all_ns <= 0 || !is_left_out)
        return false;
    gt_finding_set_title(evidence, finding, "Warm-up in the capture: %s of step time",
                         gt_say_share(evidence, (double)warm.cpu_ns, all_ns));
    gt_finding_add_evidence(
        evidence, finding, "Step %s: up to %s on the CPU; the median is %s. Other findings leave it out.",
        warm.list.text, gt_say_ns(evidence, (double)warm.longest_ns), gt_say_ns(evidence, steps->median_ns));
    if (steady.list.first_number == steady.list.last_number)
        gt_finding_add_evidence(evidence, finding, "--step %lld selects the step after it.",
                                (long long)steady.list.first_number);
    else if (steady.list.first_number < steady.list.last_number)
        gt_finding_add_evidence(evidence, finding, "--step %lld-%lld selects the steps after it.",
                                (long long)steady.list.first_number, (long long)steady.list.last_number);
    return true;
}
