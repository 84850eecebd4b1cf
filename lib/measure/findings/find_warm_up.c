/* The rule warm_up: steps before the first one of usual length. */
#include "measure/findings/findings.h"
#include "measure/findings/step_list.h"

/* The steps of a state that have ops in the view, or that launched none. */
struct sum {
    struct gt_step_list list;
    __int128 cpu_ns;
    int64_t longest_ns; /* on the CPU */
};

/* By state, in one pass. Parts come by step. */
static void sum_steps(struct gt_evidence *evidence, struct sum *sums) {
    const struct gt_step_set *steps = gt_evidence_steps(evidence);
    for (size_t state = 0; state < GT_STEP_STATE_COUNT; state++)
        sums[state] = (struct sum){.list = {.evidence = evidence}};
    for (size_t i = 0; i < steps->count; i++) {
        uint32_t index = steps->parts[i].step;
        if (i > 0 && steps->parts[i - 1].step == index)
            continue;
        struct sum *sum = &sums[steps->states[index]];
        int64_t length_ns = gt_step_set_cpu_ns(&evidence->view->labels->steps[index]);
        gt_step_list_write(&sum->list, index);
        sum->cpu_ns += length_ns;
        sum->longest_ns = length_ns > sum->longest_ns ? length_ns : sum->longest_ns;
    }
}

bool gt_find_warm_up(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_step_set *steps = gt_evidence_steps(evidence);
    if (steps->state_counts[GT_STEP_WARM_UP] == 0)
        return false;
    struct sum sums[GT_STEP_STATE_COUNT];
    sum_steps(evidence, sums);
    struct sum warm = sums[GT_STEP_WARM_UP], steady = sums[GT_STEP_STEADY];
    double all_ns = (double)(warm.cpu_ns + steady.cpu_ns + sums[GT_STEP_OUTLIER].cpu_ns);
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
