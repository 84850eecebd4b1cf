/* The rule warm_up: steps before the first one of usual length. */
#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/findings/findings.h"
#include "measure/findings/step_list.h"

/* The steps of a state that have ops in the view, or that launched none. */
struct sum {
    size_t count;
    int64_t first_number, last_number;
    __int128 cpu_ns;
    int64_t longest_ns; /* on the CPU */
};

struct summing {
    const struct gt_step_set *steps;
    const struct gt_labels *labels;
    struct sum (*sums)[GT_STEP_STATE_COUNT]; /* by slice of the parts */
};

static bool is_of_step_before(const struct gt_step_set *steps, size_t part) {
    return part > 0 && steps->parts[part - 1].step == steps->parts[part].step;
}

/* By state. Parts come by step. */
static void sum_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct summing *it = context;
    const struct gt_step_set *steps = it->steps;
    struct sum sums[GT_STEP_STATE_COUNT] = {0};
    for (size_t i = begin; i < end; i++) {
        uint32_t index = steps->parts[i].step;
        if (is_of_step_before(steps, i))
            continue;
        const struct gt_step *step = &it->labels->steps[index];
        struct sum *sum = &sums[steps->states[index]];
        int64_t length_ns = gt_ns_between(step->start_ns, step->end_ns);
        sum->first_number = sum->count++ ? sum->first_number : step->number;
        sum->last_number = step->number;
        sum->cpu_ns += length_ns;
        sum->longest_ns = length_ns > sum->longest_ns ? length_ns : sum->longest_ns;
    }
    memcpy(it->sums[slice], sums, sizeof sums);
}

static void add_sum(struct sum *all, const struct sum *sum) {
    if (sum->count == 0)
        return;
    all->first_number = all->count ? all->first_number : sum->first_number;
    all->last_number = sum->last_number;
    all->count += sum->count;
    all->cpu_ns += sum->cpu_ns;
    all->longest_ns = sum->longest_ns > all->longest_ns ? sum->longest_ns : all->longest_ns;
}

static void sum_steps(struct gt_evidence *evidence, const struct gt_step_set *steps, struct sum *sums) {
    size_t slices = gt_threads_slices(gt_threads_count(evidence->view->request->threads), steps->count, 0);
    struct summing it = {steps, evidence->view->labels, gt_mem_array(slices, sizeof *it.sums)};
    if (it.sums)
        gt_threads_rows(slices, steps->count, sum_slice, &it);
    else
        gt_evidence_fail(evidence);
    for (size_t i = 0; i < slices && it.sums; i++)
        for (size_t state = 0; state < GT_STEP_STATE_COUNT; state++)
            add_sum(&sums[state], &it.sums[i][state]);
    gt_mem_free(it.sums);
}

/* Those of the warm-up, which are the first ones. */
static void list_warm(const struct gt_step_set *steps, struct gt_step_list *list) {
    for (size_t i = 0; i < steps->count && steps->parts[i].step < steps->state_counts[GT_STEP_WARM_UP]; i++)
        if (!is_of_step_before(steps, i))
            gt_step_list_write(list, steps->parts[i].step);
}

bool gt_find_warm_up(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_step_set *steps = gt_evidence_steps(evidence);
    if (steps->state_counts[GT_STEP_WARM_UP] == 0)
        return false;
    struct sum sums[GT_STEP_STATE_COUNT] = {0};
    struct gt_step_list list = {.evidence = evidence};
    sum_steps(evidence, steps, sums);
    list_warm(steps, &list);
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
