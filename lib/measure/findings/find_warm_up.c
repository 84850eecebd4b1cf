/* The rule warm_up: steps before the first one of usual length. */
#include "base/ns.h"
#include "measure/findings/findings.h"
#include "measure/findings/step_list.h"

/* The steps of a state that have ops in the view, or that launched none. */
struct sum {
    size_t count;
    int64_t first_number, last_number;
    __int128 cpu_ns;
    int64_t longest_ns; /* on the CPU */
};

/* By state, in one pass; those of the warm-up are listed. Parts come by step. */
static void sum_steps(struct gt_evidence *evidence, struct sum *sums, struct gt_step_list *warm) {
    const struct gt_step_set *steps = gt_evidence_steps(evidence);
    for (size_t i = 0; i < steps->count; i++) {
        uint32_t index = steps->parts[i].step;
        if (i > 0 && steps->parts[i - 1].step == index)
            continue;
        const struct gt_step *step = &evidence->view->labels->steps[index];
        struct sum *sum = &sums[steps->states[index]];
        int64_t length_ns = gt_ns_between(step->start_ns, step->end_ns);
        if (steps->states[index] == GT_STEP_WARM_UP)
            gt_step_list_write(warm, index);
        sum->first_number = sum->count++ ? sum->first_number : step->number;
        sum->last_number = step->number;
        sum->cpu_ns += length_ns;
        sum->longest_ns = length_ns > sum->longest_ns ? length_ns : sum->longest_ns;
    }
}

bool gt_find_warm_up(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_step_set *steps = gt_evidence_steps(evidence);
    if (steps->state_counts[GT_STEP_WARM_UP] == 0)
        return false;
    struct sum sums[GT_STEP_STATE_COUNT] = {0};
    struct gt_step_list list = {.evidence = evidence};
    sum_steps(evidence, sums, &list);
    struct sum warm = sums[GT_STEP_WARM_UP], steady = sums[GT_STEP_STEADY];
    double all_ns = (double)(warm.cpu_ns + steady.cpu_ns + sums[GT_STEP_OUTLIER].cpu_ns);
    bool is_left_out = gt_evidence_steady_ns(evidence) != INT64_MIN; /* not where steps after it launched nothing */
    if (warm.count == 0 || steady.count == 0 || all_ns <= 0 || !is_left_out)
        return false;
    gt_finding_set_title(evidence, finding, "Warm-up in the capture: %s of step time",
                         gt_say_share(evidence, (double)warm.cpu_ns, all_ns));
    gt_finding_add_evidence(evidence, finding,
                            "Step %s: up to %s on the CPU; the median is %s. Other findings leave it out.", list.text,
                            gt_say_ns(evidence, (double)warm.longest_ns), gt_say_ns(evidence, steps->median_ns));
    if (steady.first_number == steady.last_number)
        gt_finding_add_evidence(evidence, finding, "--step %lld selects the step after it.",
                                (long long)steady.first_number);
    else if (steady.first_number < steady.last_number)
        gt_finding_add_evidence(evidence, finding, "--step %lld-%lld selects the steps after it.",
                                (long long)steady.first_number, (long long)steady.last_number);
    return true;
}
