/* Tiny kernels: the GPU waits for the launches of kernels that run for 5 us or less. */
#include "measure/findings/findings.h"
#include "measure/results/tiny.h"

static bool is_tiny(const struct gt_view *view, uint32_t position) {
    return position != GT_NO_ROW && gt_view_op_kind(view, position) == GT_OP_KERNEL &&
           gt_view_op_ns(view, position) <= GT_TINY_NS;
}

/* The tiny kernels of one name. */
struct tiny_name {
    gt_strid full_name;
    struct gt_tally lengths;
};

enum { LISTED_NAMES = 3 };

/* Puts it among those with the most, the most first. */
static void keep_most(struct tiny_name most[LISTED_NAMES], struct tiny_name name) {
    for (size_t m = 0; m < LISTED_NAMES; m++)
        if (name.lengths.count > most[m].lengths.count) {
            struct tiny_name next = most[m];
            most[m] = name;
            name = next;
        }
}

static void add_tiny_names(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_op_lengths *lengths = gt_evidence_op_lengths(evidence);
    const struct gt_op_groups *groups = lengths->groups;
    struct tiny_name most[LISTED_NAMES] = {0}, name = {0};
    for (size_t i = 0; i < groups->kernel_count; i++) {
        const struct gt_op_group *group = &groups->items[i];
        if (i == 0 || group->name != groups->items[i - 1].name) {
            keep_most(most, name);
            name = (struct tiny_name){.full_name = evidence->view->name[group->first]};
        }
        if (group->kind != GT_OP_KERNEL || gt_say_name_is_lost(evidence, name.full_name))
            continue;
        struct gt_tally tiny = gt_tiny_tally(gt_op_lengths_of(lengths, i, i + 1));
        name.lengths.count += tiny.count;
        name.lengths.sum += tiny.sum;
    }
    keep_most(most, name);
    for (size_t m = 0; m < LISTED_NAMES && most[m].lengths.count; m++)
        gt_finding_add_evidence(evidence, finding, "%s: %s of 5 us or less, %s on average.",
                                gt_say_kernel(evidence, most[m].full_name),
                                gt_say_counted(evidence, most[m].lengths.count, "launch"),
                                gt_say_ns(evidence, gt_keyed_tally_mean(&most[m].lengths)));
}

/* What is lost is the time in which the GPU waited for the launch of a tiny kernel. */
bool gt_find_tiny_kernels(struct gt_evidence *evidence, struct gt_finding *finding) {
    if (!gt_evidence_may_blame_host(evidence))
        return false;
    const struct gt_view *view = evidence->view;
    const struct gt_idle *idle = gt_evidence_idle(evidence);
    const struct gt_host_gaps *gaps = gt_evidence_host_gaps(evidence);
    size_t tiny = 0, kernels = 0;
    double span_ns = (double)gt_evidence_steady_span_ns(evidence);
    /* No more is lost than all late launches cost. */
    if (span_ns <= 0 || (double)gaps->late_ns / span_ns < gt_thresholds.tiny_wait_share)
        return false;
    for (size_t i = 0; i < view->op_count; i++) {
        bool is_kernel = gt_view_op_kind(view, i) == GT_OP_KERNEL;
        kernels += is_kernel;
        tiny += is_kernel && gt_view_op_ns(view, i) <= GT_TINY_NS;
    }
    if ((double)tiny < gt_thresholds.tiny_count || (double)tiny < gt_thresholds.tiny_share * (double)kernels)
        return false;
    __int128 waits_ns = 0;
    for (size_t i = 0; i < idle->count && gaps->of; i++)
        if (gaps->of[i] == GT_HOST_GAP_LATE && is_tiny(view, idle->next[i]))
            waits_ns += gt_idle_gap_ns(idle, i);
    if ((double)waits_ns / span_ns < gt_thresholds.tiny_wait_share)
        return false;
    gt_finding_set_title(evidence, finding, "%s of kernels run for 5 us or less: candidates for fusion or a %s",
                         gt_say_share(evidence, (double)tiny, (double)kernels), gt_say_graph(evidence));
    gt_finding_add_evidence(evidence, finding, "%s of %s; the GPU waited %s for their launches.",
                            gt_say_count(evidence, tiny), gt_say_counted(evidence, kernels, "kernel"),
                            gt_say_ns(evidence, (double)waits_ns));
    add_tiny_names(evidence, finding);
    finding->simulation.change = "no:launch";
    finding->overlaps_id = "host_bound"; /* whose gaps these are */
    return true;
}
