/* Claims gaps that the CPU made, directly and for lost lead, and says it. */
#include "measure/findings/waits.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/results/calls.h"
#include "measure/results/results.h"

/* ---- claims ---- */

/* Launching is slow where the CPU works through many operators. */
static bool is_slow_launching(const struct gt_chain *chain, int64_t gap_ns) {
    return (double)chain->pieces >= gt_thresholds.busy_pieces_per_ms * (double)gap_ns / 1e6;
}

bool gt_waits_is_stall(struct gt_evidence *evidence, size_t gap) {
    const struct gt_host_gaps *gaps = gt_evidence_host_gaps(evidence);
    if (!gaps->of || gaps->of[gap] != GT_HOST_GAP_STALL ||
        (double)gt_ledger_gap_left_ns(&evidence->ledger, gap) < gt_thresholds.stall_ns)
        return false;
    const struct gt_chain *chains = gt_evidence_chains(evidence);
    return chains && !is_slow_launching(&chains[gap], gt_idle_gap_ns(evidence->ledger.idle, gap));
}

int64_t gt_waits_claim_gap(struct gt_evidence *evidence, size_t device, size_t gap) {
    const struct gt_idle *idle = evidence->ledger.idle;
    return gt_ledger_claim_gap(&evidence->ledger, gap,
                               gt_idle_gap_twice_recoverable_ns(idle, gap, &idle->devices[device]) / 2);
}

static void claim_later(struct gt_evidence *evidence, const struct gt_lead_loss *losses, size_t count,
                        const int64_t *direct_ns, struct gt_waits_claim *claim) {
    const struct gt_host_gaps *gaps = gt_evidence_host_gaps(evidence);
    __int128 before_ns = evidence->ledger.claimed_ns;
    claim->direct_ns = gt_ns_of_sum(before_ns);
    if (gaps->of && direct_ns)
        gt_lead_claim(&evidence->ledger, gaps->of, losses, count, direct_ns);
    claim->later_ns = gt_ns_of_sum(evidence->ledger.claimed_ns - before_ns);
}

struct gt_waits_claim gt_waits_claim_activity(struct gt_evidence *evidence, const struct gt_activity_times *times) {
    struct gt_waits_claim claim = {0};
    for (size_t i = 0; i < evidence->ledger.idle->count && times->gap_ns; i++)
        claim.gaps += gt_ledger_claim_gap(&evidence->ledger, i, times->gap_ns[i]) > 0;
    claim_later(evidence, times->losses, times->loss_count, times->gap_ns, &claim);
    return claim;
}

static int by_thread_and_end(const void *a, const void *b) {
    const struct gt_lead_loss *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

size_t gt_waits_next_of(const struct gt_host_gaps *gaps, enum gt_host_gap class, size_t from, size_t end) {
    const uint8_t *at = from < end ? memchr(gaps->of + from, (int)class, end - from) : NULL;
    return at ? (size_t)(at - gaps->of) : end;
}

struct gt_waits_claim gt_waits_claim_class(struct gt_evidence *evidence, enum gt_host_gap class,
                                           struct gt_lead_loss *losses, size_t loss_count) {
    const struct gt_host_gaps *gaps = gt_evidence_host_gaps(evidence);
    const struct gt_idle *idle = evidence->ledger.idle;
    struct gt_waits_claim claim = {0};
    int64_t *direct_ns = loss_count ? gt_mem_array(idle->count, sizeof *direct_ns) : NULL;
    if (loss_count && !direct_ns) {
        gt_evidence_fail(evidence);
        return claim;
    }
    for (size_t d = 0; d < idle->device_count && gaps->counts[class]; d++) {
        const struct gt_idle_device *device = &idle->devices[d];
        for (size_t i = device->first, end = i + device->count; (i = gt_waits_next_of(gaps, class, i, end)) < end;
             i++) {
            int64_t claimed_ns = gt_waits_claim_gap(evidence, d, i);
            claim.gaps += claimed_ns > 0;
            if (direct_ns)
                direct_ns[i] = claimed_ns;
        }
    }
    if (loss_count)
        qsort(losses, loss_count, sizeof *losses, by_thread_and_end);
    claim_later(evidence, losses, loss_count, direct_ns, &claim);
    gt_mem_free(direct_ns);
    return claim;
}

/* ---- names and counts ---- */

/* What torch.compile puts around each piece of its code has no name that anyone knows. */
static bool is_generic(const struct gt_store *store, uint32_t range) {
    return gt_str_starts(gt_store_string(store, store->ranges.name[range]), GT_STR("## Call CompiledFxGraph"));
}

gt_strid gt_waits_range_of_op(const struct gt_view *view, const uint8_t *is_step, uint32_t op) {
    int64_t reach_ns = gt_labels_op_reach(view->labels, view->store, op);
    uint32_t range = view->labels->op_range[op];
    while (range != GT_NO_ROW && (is_step[range] || is_generic(view->store, range)))
        range = gt_labels_next_range(view->labels, view->store, range, reach_ns);
    return range == GT_NO_ROW ? GT_STRID_EMPTY : view->store->ranges.name[range];
}

/* Whether nobody asked for it before. A bit each is a fraction of what a trace with as many calls as ops needs else. */
static bool is_first_of_call(uint64_t *seen, uint32_t call) {
    uint64_t bit = UINT64_C(1) << call % 64;
    bool is_first = !(seen[call / 64] & bit);
    seen[call / 64] |= bit;
    return is_first;
}

/* Stops at so many. */
static size_t count_launches(struct gt_evidence *evidence, size_t most) {
    const struct gt_view *view = evidence->view;
    uint64_t *seen = gt_mem_array(view->store->calls.count / 64 + 1, sizeof *seen);
    size_t count = 0;
    if (!seen)
        gt_evidence_fail(evidence);
    const uint32_t *op_call = view->labels->op_call, *row = view->row;
    const uint8_t *flags = evidence->context & GT_CONTEXT_NO_GRAPHS ? NULL : view->store->ops.flags;
    int64_t steady_ns = evidence->ledger.steady_ns;
    for (size_t i = 0, end = seen ? view->op_count : 0; i < end && count < most; i++) {
        uint32_t call = op_call[row[i]];
        if (call != GT_NO_ROW && !is_first_of_call(seen, call))
            continue;
        count += view->start_ns[i] >= steady_ns && gt_store_kind_is_kernel(view->kind[i]) &&
                 !(flags && (flags[row[i]] & GT_OP_IN_GRAPH));
    }
    gt_mem_free(seen);
    return count;
}

struct counting {
    const struct gt_view *view;
    const uint8_t *flags; /* of ops; NULL: none is of a graph */
    int64_t steady_ns;
    atomic_size_t count;
};

static void count_in_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct counting *it = context;
    const struct gt_view *view = it->view;
    size_t count = 0;
    (void)slice;
    for (size_t i = begin; i < end; i++)
        count += view->start_ns[i] >= it->steady_ns && gt_store_kind_is_kernel(view->kind[i]) &&
                 !(it->flags && (it->flags[view->row[i]] & GT_OP_IN_GRAPH));
    atomic_fetch_add(&it->count, count);
}

/* Where no two ops have the same call it does not matter which op comes first. */
static size_t count_in_slices(struct gt_evidence *evidence, size_t slices) {
    const struct gt_view *view = evidence->view;
    const struct gt_launch_marks *marks = gt_results_launch_marks(view, evidence->err);
    if (!marks) {
        gt_evidence_fail(evidence);
        return 0;
    }
    if (marks->shared_count)
        return count_launches(evidence, SIZE_MAX);
    struct counting it = {.view = view, .steady_ns = evidence->ledger.steady_ns};
    it.flags = evidence->context & GT_CONTEXT_NO_GRAPHS ? NULL : view->store->ops.flags;
    gt_threads_rows(slices, view->op_count, count_in_slice, &it);
    return it.count;
}

size_t gt_waits_launch_count(struct gt_evidence *evidence) {
    size_t slices = gt_threads_slices(gt_threads_count(evidence->view->request->threads), evidence->view->op_count, 0);
    if (!evidence->has_launch_count)
        evidence->launch_count = slices > 1 ? count_in_slices(evidence, slices) : count_launches(evidence, SIZE_MAX);
    evidence->has_launch_count = true;
    return evidence->launch_count;
}

/* How many ops of a device start before a time. */
static size_t count_before(const struct gt_view *view, const struct gt_view_device *device, int64_t time_ns) {
    size_t low = device->first, high = low + device->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool is_before = view->start_ns[middle] < time_ns;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low - device->first;
}

/* So many are there surely: kernels that start after the warm-up and no graph brought, and nearly all have a call of
   their own. */
static size_t count_sure_launches(struct gt_evidence *evidence) {
    const struct gt_view *view = evidence->view;
    const struct gt_op_groups *groups = gt_results_op_groups(view, evidence->err);
    const struct gt_launch_marks *marks = groups ? gt_results_launch_marks(view, evidence->err) : NULL;
    const uint8_t *flags = view->store->ops.flags;
    if (!marks) {
        gt_evidence_fail(evidence);
        return 0;
    }
    size_t count = gt_op_groups_tally(groups, 0, groups->kernel_count).count, others = marks->shared_count;
    for (size_t i = 0; i < view->store->ops.count; i++)
        others += (flags[i] & GT_OP_IN_GRAPH) != 0;
    for (size_t d = 0; d < view->device_count; d++)
        others += count_before(view, &view->devices[d], evidence->ledger.steady_ns);
    return count > others ? count - others : 0;
}

bool gt_waits_has_launches(struct gt_evidence *evidence, double least) {
    if (evidence->has_launch_count)
        return (double)evidence->launch_count >= least;
    if ((double)count_sure_launches(evidence) >= least)
        return true;
    return (double)count_launches(evidence, least < 0 ? 0 : (size_t)ceil(least)) >= least;
}

/* ---- sentences ---- */

const char *gt_waits_say_often(struct gt_evidence *evidence, size_t count, const char *noun) {
    const char *counted = gt_say_counted(evidence, count, noun);
    size_t steps = gt_evidence_step_count(evidence);
    if (steps == 0 || count < steps)
        return counted;
    double each = (double)count / (double)steps;
    if (each < 10 && count % steps)
        return gt_arena_printf(evidence->arena, "%s (%.1f per step)", counted, each).ptr;
    return gt_arena_printf(evidence->arena, "%s (%s per step)", counted, gt_say_count(evidence, (size_t)round(each)))
        .ptr;
}

const char *gt_waits_say_claimed(struct gt_evidence *evidence) {
    return gt_say_share(evidence, gt_ledger_share(&evidence->ledger, (double)evidence->ledger.claimed_ns), 1);
}

void gt_waits_add_claim(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_waits_claim *claim) {
    bool is_direct = claim->direct_ns > 0;
    if (is_direct)
        gt_finding_add_evidence(evidence, finding, "The GPU was idle for %s in %s meanwhile.",
                                gt_say_ns(evidence, (double)claim->direct_ns),
                                gt_say_counted(evidence, claim->gaps, "gap"));
    if (claim->later_ns)
        gt_finding_add_evidence(evidence, finding, "%s was idle for %s%s in later gaps, because the CPU had %s.",
                                is_direct ? "It" : "The GPU", is_direct ? "another " : "",
                                gt_say_ns(evidence, (double)claim->later_ns),
                                is_direct ? "fallen behind" : "launched nothing ahead");
}

void gt_waits_add_warm_up(struct gt_evidence *evidence, struct gt_finding *finding) {
    int64_t steady_ns = evidence->ledger.steady_ns;
    if (steady_ns != INT64_MIN)
        gt_finding_add_evidence(
            evidence, finding, "Warm-up excluded: the first %s of GPU work.",
            gt_say_ns(evidence, (double)gt_ns_between(evidence->view->store->origin_ns, steady_ns)));
}
