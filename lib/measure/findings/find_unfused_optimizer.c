/* Rule unfused_optimizer: a kernel for each parameter and each operation of the update, instead of one for many. */
#include "base/ns.h"
#include "measure/findings/findings.h"

/* Kernels that another rule on compute may claim. */
enum { CONTESTED = GT_TRAIT_ELEMENTWISE | GT_TRAIT_SOFTMAX | GT_TRAIT_BETWEEN | GT_TRAIT_ORDINARY };

/* What of the gaps of a device may be claimed, so that no rules on compute together promise more than there is compute.
 */
static int64_t gap_limit_of(const struct gt_evidence *evidence, const struct gt_traits *traits, size_t device) {
    const struct gt_view *view = evidence->view;
    const struct gt_view_device *of = &view->devices[device];
    int64_t sum_ns = 0;
    for (size_t i = of->first; i < of->first + of->count; i++)
        if (gt_view_op_class(view, i) == GT_CLASS_COMPUTE && !(gt_traits_of_op(traits, view, i) & CONTESTED))
            sum_ns = gt_ns_add(sum_ns, gt_ledger_op_left_ns(&evidence->ledger, i));
    return sum_ns;
}

/* The part of a gap between two updates that the launch of the second caused. Stalls have another cause. */
static int64_t launch_wait_of(const struct gt_evidence *evidence, const struct gt_updates *updates, size_t gap,
                              const struct gt_idle_device *device) {
    const struct gt_idle *idle = evidence->ledger.idle;
    enum gt_idle_cause cause = gt_idle_gap_cause(idle, gap);
    if (cause != GT_IDLE_HOST && cause != GT_IDLE_LAUNCH)
        return 0;
    uint32_t previous = gt_idle_gap_previous(idle, gap), next = idle->next[gap];
    bool is_between =
        previous != GT_NO_ROW && next != GT_NO_ROW && updates->is_update[previous] && updates->is_update[next];
    if (!is_between || (double)gt_idle_gap_ns(idle, gap) >= gt_thresholds.stall_ns)
        return 0;
    double part = evidence->view->store->facts & GT_FACT_CPU_OPS ? gt_thresholds.launch_wait_part : 1;
    int64_t recoverable_ns = gt_idle_gap_twice_recoverable_ns(idle, gap, device) / 2;
    return (int64_t)((double)recoverable_ns * part);
}

static int64_t claim_gaps(struct gt_evidence *evidence, const struct gt_updates *updates) {
    const struct gt_idle *idle = evidence->ledger.idle;
    const struct gt_traits *traits = gt_evidence_traits(evidence);
    int64_t sum_ns = 0;
    for (size_t d = 0; d < idle->device_count; d++) {
        const struct gt_idle_device *device = &idle->devices[d];
        int64_t limit_ns = gap_limit_of(evidence, traits, d);
        for (size_t i = device->first; i < device->first + device->count && limit_ns > 0; i++) {
            int64_t wait_ns = launch_wait_of(evidence, updates, i, device);
            int64_t claimed_ns = gt_ledger_claim_gap(&evidence->ledger, i, wait_ns < limit_ns ? wait_ns : limit_ns);
            limit_ns -= claimed_ns;
            sum_ns = gt_ns_add(sum_ns, claimed_ns);
        }
    }
    return sum_ns;
}

/* The time of the kernels; a part of it is claimed. */
static int64_t claim_kernels(struct gt_evidence *evidence, const struct gt_updates *updates) {
    int64_t sum_ns = 0;
    for (size_t i = 0; i < evidence->view->op_count; i++) {
        if (!updates->is_update[i])
            continue;
        int64_t left_ns = gt_ledger_op_left_ns(&evidence->ledger, i);
        sum_ns = gt_ns_add(sum_ns, left_ns);
        gt_ledger_claim_op(&evidence->ledger, (uint32_t)i, (int64_t)((double)left_ns * gt_thresholds.optimizer_part));
    }
    return sum_ns;
}

static void describe(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_updates *updates,
                     double steps, int64_t kernels_ns, int64_t gaps_ns) {
    struct gt_str range = gt_store_string(evidence->view->store, updates->range);
    gt_finding_set_title(evidence, finding, "%s launches a kernel for each parameter and operation: %s of the time",
                         range.len ? gt_say_quoted(evidence, range) : "The optimizer",
                         gt_say_share(evidence, (double)evidence->ledger.claimed_ns, (double)evidence->ledger.span_ns));
    const char *per_step = steps > 1 ? " per step" : "";
    if (updates->parameters)
        gt_finding_add_evidence(
            evidence, finding, "The optimizer launches %s%s, %.1f for each of about %s.",
            gt_say_counted(evidence, (size_t)((double)updates->count / steps), "element-wise kernel"), per_step,
            (double)updates->count / (double)updates->parameters,
            gt_say_counted(evidence, (size_t)((double)updates->parameters / steps), "parameter"));
    else
        gt_finding_add_evidence(
            evidence, finding, "The optimizer launches %s%s.",
            gt_say_counted(evidence, (size_t)((double)updates->count / steps), "element-wise kernel"), per_step);
    gt_finding_add_evidence(
        evidence, finding,
        "They take %s%s on the GPU; %s of its waits for their launches are counted here, the rest in host_bound.",
        gt_say_ns(evidence, (double)kernels_ns / steps), per_step, gt_say_ns(evidence, (double)gaps_ns / steps));
    if (evidence->view->store->facts & GT_FACT_CPU_OPS)
        gt_finding_add_evidence(
            evidence, finding,
            "The profiler makes each launch slower: at most %.0f%% of the waits are counted, without it they are "
            "shorter.",
            100 * gt_thresholds.launch_wait_part);
}

bool gt_find_unfused_optimizer(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_updates *updates = gt_evidence_updates(evidence);
    size_t steps = gt_evidence_step_count(evidence);
    double divisor = steps ? (double)steps : 1;
    if (!updates->is_update || (double)updates->count < divisor * gt_thresholds.optimizer_kernels)
        return false;
    int64_t kernels_ns = claim_kernels(evidence, updates), gaps_ns = claim_gaps(evidence, updates);
    describe(evidence, finding, updates, divisor, kernels_ns, gaps_ns);
    return true;
}
