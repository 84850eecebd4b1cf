/* Rules on idle time: how much there is, and what the host has to do with it. */
#include "base/ns.h"
#include "measure/findings/findings.h"

/* "Causes: host 2.6 s, launch 7.6 ms." */
static void add_causes(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_idle_sums *sums) {
    const struct gt_idle_sum *causes = sums->causes;
    struct gt_str text = {"", 0};
    for (int cause = 0; cause < GT_IDLE_CAUSE_COUNT; cause++)
        if (causes[cause].gaps.count)
            text = gt_arena_printf(evidence->arena, "%s%s%s %s", text.ptr, text.len ? ", " : "",
                                   gt_idle_cause_names[cause], gt_say_ns(evidence, (double)causes[cause].gaps.sum));
    gt_finding_add_evidence(evidence, finding, "By cause: %s.", text.ptr);
}

/* The finding that covers most idle time after the warm-up, if what the host did makes up most of it. */
static const char *finding_on_idle(struct gt_evidence *evidence) {
    static const char *const ids[GT_HOST_GAP_COUNT] = {[GT_HOST_GAP_READBACK] = "readback",
                                                       [GT_HOST_GAP_SYNC] = "sync_waits",
                                                       [GT_HOST_GAP_STALL] = "host_stalls",
                                                       [GT_HOST_GAP_LATE] = "host_bound"};
    const struct gt_gap_sum *sums = gt_evidence_host_gaps(evidence)->sums;
    __int128 covered_ns = 0;
    int most = GT_HOST_GAP_NONE + 1;
    for (int class = most; class < GT_HOST_GAP_COUNT; class ++) {
        covered_ns += sums[class].total_ns;
        most = sums[class].total_ns > sums[most].total_ns ? class : most;
    }
    return covered_ns > sums[GT_HOST_GAP_NONE].total_ns ? ids[most] : NULL;
}

double gt_find_idle_gpu(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_view *view = evidence->view;
    const struct gt_idle *idle = gt_evidence_idle(evidence);
    double worst_share = GT_NOTHING_FOUND, worst_span_ns = 0;
    size_t worst = 0;
    for (size_t d = 0; d < idle->device_count; d++) {
        double span_ns = (double)gt_ns_between(view->devices[d].span_start_ns, view->devices[d].span_end_ns);
        double share = idle->devices[d].count ? (double)idle->devices[d].total_ns / span_ns : GT_NOTHING_FOUND;
        if (share > worst_share) {
            worst_share = share;
            worst_span_ns = span_ns;
            worst = d;
        }
    }
    if (worst_span_ns <= 0)
        return GT_NOTHING_FOUND;
    double idle_ns = (double)idle->devices[worst].total_ns;
    gt_finding_set_title(evidence, finding, "GPU %lld was idle for %s of its span", (long long)view->devices[worst].id,
                         gt_say_share(evidence, idle_ns, worst_span_ns));
    gt_finding_add_evidence(
        evidence, finding, "Idle for %s of %s, in %s.", gt_say_ns(evidence, idle_ns),
        gt_say_ns(evidence, worst_span_ns),
        gt_say_counted(evidence, idle->devices[worst].count - idle->devices[worst].late_starts, "gap"));
    struct gt_idle_sums sums = gt_idle_sums_of(idle, worst);
    add_causes(evidence, finding, &sums);
    if (gt_evidence_steady_ns(evidence) != INT64_MIN)
        gt_finding_add_evidence(evidence, finding,
                                "Warm-up included here; it is excluded from the findings on CPU-caused gaps.");
    finding->overlaps_id = finding_on_idle(evidence);
    return worst_share;
}

/* Says from when on a rule looked. */
static void note_warm_up(struct gt_evidence *evidence, struct gt_finding *finding) {
    int64_t steady_ns = gt_evidence_steady_ns(evidence);
    if (steady_ns != INT64_MIN)
        gt_finding_add_evidence(
            evidence, finding, "Warm-up excluded: the first %s of GPU work.",
            gt_say_ns(evidence, (double)gt_ns_between(evidence->view->store->origin_ns, steady_ns)));
}

/* The CPU is late again and again, by microseconds each time. Pauses have reasons of their own. */
double gt_find_host_bound(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_host_gaps *gaps = gt_evidence_host_gaps(evidence);
    const struct gt_gap_sum *late = &gaps->sums[GT_HOST_GAP_LATE];
    double running_ns = (double)(gt_evidence_steady_span_ns(evidence) - gaps->pauses_ns);
    if (late->count == 0 || running_ns <= 0)
        return GT_NOTHING_FOUND;
    gt_finding_set_title(evidence, finding, "Host-bound: the GPU waits for launches %s of the time",
                         gt_say_share(evidence, (double)late->total_ns, running_ns));
    gt_finding_add_evidence(
        evidence, finding,
        "In %s the next op had not been launched or had not reached the GPU: %s of %s, %s each on average.",
        gt_say_counted(evidence, late->count, "gap"), gt_say_ns(evidence, (double)late->total_ns),
        gt_say_ns(evidence, running_ns), gt_say_ns(evidence, (double)late->total_ns / (double)late->count));
    note_warm_up(evidence, finding);
    finding->recoverable_ns = gt_host_gaps_sum_recoverable(late);
    return (double)late->total_ns / running_ns;
}

/* "launched by cudaLaunchKernel in the range 'decode'" */
static const char *launch_of(struct gt_evidence *evidence, const struct gt_idle_gap *gap) {
    const struct gt_store *store = evidence->view->store;
    uint32_t range = evidence->view->labels->op_range[evidence->view->row[gap->next]];
    const char *call = gt_say_call(evidence, store->calls.name[gap->call]);
    if (range == GT_NO_ROW)
        return gt_arena_printf(evidence->arena, "launched by %s", call).ptr;
    return gt_arena_printf(evidence->arena, "launched by %s in range %s", call,
                           gt_say_quoted(evidence, gt_store_string(store, store->ranges.name[range])))
        .ptr;
}

double gt_find_host_stalls(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_view *view = evidence->view;
    const struct gt_host_gaps *gaps = gt_evidence_host_gaps(evidence);
    const struct gt_gap_sum *stalls = &gaps->sums[GT_HOST_GAP_STALL];
    const struct gt_idle_gap *longest = gaps->longest_stall;
    double span_ns = (double)gt_evidence_steady_span_ns(evidence);
    if (!longest || span_ns <= 0)
        return GT_NOTHING_FOUND;
    gt_finding_set_title(evidence, finding, "Long CPU stalls (>= %s) starved the GPU: %s of the span",
                         gt_say_ns(evidence, GT_PAUSE_NS), gt_say_share(evidence, (double)stalls->total_ns, span_ns));
    gt_finding_add_evidence(evidence, finding, "%s of 1 ms or more, %s in total.",
                            gt_say_counted(evidence, stalls->count, "gap"),
                            gt_say_ns(evidence, (double)stalls->total_ns));
    gt_finding_add_evidence(evidence, finding, "Longest: %s at %s, before %s, %s; the thread was %s.",
                            gt_say_ns(evidence, (double)gt_idle_gap_ns(longest)),
                            gt_say_ns(evidence, (double)gt_ns_between(view->store->origin_ns, longest->start_ns)),
                            gt_say_kernel(evidence, view->name[longest->next]), launch_of(evidence, longest),
                            gt_host_activity_names[longest->activity]);
    note_warm_up(evidence, finding);
    finding->recoverable_ns = gt_host_gaps_sum_recoverable(stalls);
    return (double)stalls->total_ns / span_ns;
}

double gt_find_sync_waits(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_gap_sum *waits = &gt_evidence_host_gaps(evidence)->sums[GT_HOST_GAP_SYNC];
    double span_ns = (double)gt_evidence_steady_span_ns(evidence);
    if (waits->count == 0 || span_ns <= 0)
        return GT_NOTHING_FOUND;
    gt_finding_set_title(evidence, finding, "GPU idle during CPU synchronization: %s of the span",
                         gt_say_share(evidence, (double)waits->total_ns, span_ns));
    gt_finding_add_evidence(evidence, finding, "In %s (%s in total) the launching thread was in a synchronizing call.",
                            gt_say_counted(evidence, waits->count, "gap"),
                            gt_say_ns(evidence, (double)waits->total_ns));
    note_warm_up(evidence, finding);
    finding->recoverable_ns = gt_host_gaps_sum_recoverable(waits);
    return (double)waits->total_ns / span_ns;
}
