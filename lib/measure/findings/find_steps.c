/* Rules on steps: some that take long, and warm-up inside the capture. */
#include "measure/findings/findings.h"

/* The steps of a state that have ops in the view, or that launched none: lengths on the CPU, and the first numbers. */
struct step_sum {
    size_t count;
    __int128 total_ns;
    int64_t longest_ns, first_number, last_number;
    const char *list; /* "3, 7, 9 ..." */
};

/* "3", or "3 of process 4711" where others have steps as well */
static const char *step_text(struct gt_evidence *evidence, const struct gt_step *step) {
    struct gt_cell pid = gt_measure_pid_cell(evidence->view, step->process);
    if (pid.type == GPUTIME_CELL_NULL || !gt_step_set_is_of_several(evidence->view))
        return gt_arena_printf(evidence->arena, "%lld", (long long)step->number).ptr;
    return gt_arena_printf(evidence->arena, "%lld of process %lld", (long long)step->number, (long long)pid.integer)
        .ptr;
}

static struct step_sum sum_steps(struct gt_evidence *evidence, enum gt_step_state state) {
    enum { LISTED = 5 };
    const struct gt_step_set *steps = gt_evidence_steps(evidence);
    struct step_sum sum = {.list = ""};
    for (size_t i = 0; i < steps->count; i++) {
        uint32_t index = steps->parts[i].step;
        if (steps->states[index] != state || (i > 0 && steps->parts[i - 1].step == index))
            continue;
        const struct gt_step *step = &evidence->view->labels->steps[index];
        int64_t length_ns = gt_step_set_cpu_ns(step);
        if (sum.count < LISTED)
            sum.list =
                gt_arena_printf(evidence->arena, "%s%s%s", sum.list, sum.count ? ", " : "", step_text(evidence, step))
                    .ptr;
        else if (sum.count == LISTED)
            sum.list = gt_arena_printf(evidence->arena, "%s ...", sum.list).ptr;
        sum.first_number = sum.count++ ? sum.first_number : step->number;
        sum.last_number = step->number;
        sum.total_ns += length_ns;
        sum.longest_ns = length_ns > sum.longest_ns ? length_ns : sum.longest_ns;
    }
    return sum;
}

bool gt_find_step_outliers(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_step_set *steps = gt_evidence_steps(evidence);
    struct step_sum outliers = sum_steps(evidence, GT_STEP_OUTLIER), steady = sum_steps(evidence, GT_STEP_STEADY);
    double all_ns = (double)(outliers.total_ns + steady.total_ns);
    if (outliers.count == 0 || all_ns <= 0)
        return false;
    double excess_ns = (double)outliers.total_ns - (double)outliers.count * steps->median_ns;
    gt_finding_set_title(evidence, finding, "%s took more than 1.5 times the median",
                         gt_say_counted(evidence, outliers.count, "step"));
    gt_finding_add_evidence(evidence, finding, "Step %s: up to %s; the median is %s (MAD %s).", outliers.list,
                            gt_say_ns(evidence, (double)outliers.longest_ns), gt_say_ns(evidence, steps->median_ns),
                            gt_say_ns(evidence, steps->mad_ns));
    return excess_ns > 0;
}

bool gt_find_warm_up(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_step_set *steps = gt_evidence_steps(evidence);
    struct step_sum warm = sum_steps(evidence, GT_STEP_WARM_UP), steady = sum_steps(evidence, GT_STEP_STEADY);
    struct step_sum outliers = sum_steps(evidence, GT_STEP_OUTLIER);
    double all_ns = (double)(warm.total_ns + steady.total_ns + outliers.total_ns);
    if (warm.count == 0 || steady.count == 0 || all_ns <= 0)
        return false;
    gt_finding_set_title(evidence, finding, "Warm-up in the capture: %s of step time",
                         gt_say_share(evidence, (double)warm.total_ns, all_ns));
    gt_finding_add_evidence(evidence, finding, "Step %s: up to %s; the median is %s.", warm.list,
                            gt_say_ns(evidence, (double)warm.longest_ns), gt_say_ns(evidence, steps->median_ns));
    if (steady.first_number == steady.last_number)
        gt_finding_add_evidence(evidence, finding, "--step %lld selects the step after it.",
                                (long long)steady.first_number);
    else if (steady.first_number < steady.last_number)
        gt_finding_add_evidence(evidence, finding, "--step %lld-%lld selects the steps after it.",
                                (long long)steady.first_number, (long long)steady.last_number);
    return true;
}
