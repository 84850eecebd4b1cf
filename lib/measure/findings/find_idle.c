/* Rules on idle time that the CPU caused: by what the launching thread did, and what is left. */
#include "base/ns.h"
#include "measure/findings/findings.h"

/* Says from when on a rule looked. */
static void note_warm_up(struct gt_evidence *evidence, struct gt_finding *finding) {
    int64_t steady_ns = evidence->ledger.steady_ns;
    if (steady_ns != INT64_MIN)
        gt_finding_add_evidence(
            evidence, finding, "Warm-up excluded: the first %s of GPU work.",
            gt_say_ns(evidence, (double)gt_ns_between(evidence->view->store->origin_ns, steady_ns)));
}

/* Claims what an activity has of the gaps. The number of gaps that it has a part of. */
static size_t claim_activity(struct gt_evidence *evidence, const struct gt_activity_times *times) {
    size_t count = 0;
    for (size_t i = 0; i < evidence->ledger.idle->count && times->gap_ns; i++)
        count += gt_ledger_claim_gap(&evidence->ledger, i, times->gap_ns[i]) > 0;
    return count;
}

/* "3 gaps, 120 ms: the CPU was in 'enumerate(DataLoader)'..." */
static bool describe_activity(struct gt_evidence *evidence, struct gt_finding *finding, enum gt_activity activity,
                              const char *verb) {
    const struct gt_activity_times *times = gt_evidence_activity(evidence, activity);
    size_t gaps = claim_activity(evidence, times);
    double claimed_ns = (double)evidence->ledger.claimed_ns;
    if (gaps == 0)
        return false;
    const char *name = gt_say_quoted(evidence, gt_store_string(evidence->view->store, times->longest));
    gt_finding_set_title(evidence, finding, "%s: %s of the time, in %s", verb,
                         gt_say_share(evidence, gt_ledger_share(&evidence->ledger, claimed_ns), 1), name);
    gt_finding_add_evidence(evidence, finding, "The GPU was idle for %s in %s while the CPU was at it.",
                            gt_say_ns(evidence, claimed_ns), gt_say_counted(evidence, gaps, "gap"));
    gt_finding_add_evidence(evidence, finding, "On the CPU it took %s in all, %s of it %s (%s).",
                            gt_say_ns(evidence, (double)times->thread_ns),
                            gt_say_ns(evidence, (double)times->longest_ns), name,
                            gt_say_counted(evidence, times->longest_count, "time"));
    note_warm_up(evidence, finding);
    return true;
}

bool gt_find_compilation(struct gt_evidence *evidence, struct gt_finding *finding) {
    return describe_activity(evidence, finding, GT_ACTIVITY_COMPILATION, "The GPU waits for compilation");
}

bool gt_find_data_loading(struct gt_evidence *evidence, struct gt_finding *finding) {
    return describe_activity(evidence, finding, GT_ACTIVITY_DATA_LOADING, "The GPU waits for data");
}

bool gt_find_allocator(struct gt_evidence *evidence, struct gt_finding *finding) {
    return describe_activity(evidence, finding, GT_ACTIVITY_ALLOCATION, "The GPU waits for memory allocation");
}

/* Claims what could be saved of all gaps of one class. The number of gaps. */
static size_t claim_class(struct gt_evidence *evidence, enum gt_host_gap class, int64_t *total_ns) {
    const struct gt_host_gaps *gaps = gt_evidence_host_gaps(evidence);
    const struct gt_idle *idle = evidence->ledger.idle;
    size_t count = 0;
    *total_ns = 0;
    for (size_t d = 0; d < idle->device_count && gaps->of; d++) {
        const struct gt_idle_device *device = &idle->devices[d];
        for (size_t i = device->first; i < device->first + device->count; i++) {
            if (gaps->of[i] != class)
                continue;
            int64_t recoverable_ns = gt_idle_gap_twice_recoverable_ns(&idle->gaps[i], device) / 2;
            count++;
            *total_ns = gt_ns_add(*total_ns, gt_idle_gap_ns(&idle->gaps[i]));
            gt_ledger_claim_gap(&evidence->ledger, i, recoverable_ns);
        }
    }
    return count;
}

bool gt_find_host_bound(struct gt_evidence *evidence, struct gt_finding *finding) {
    int64_t total_ns;
    size_t count = claim_class(evidence, GT_HOST_GAP_LATE, &total_ns);
    double span_ns = (double)evidence->ledger.span_ns;
    if (count == 0 || span_ns <= 0)
        return false;
    gt_finding_set_title(evidence, finding, "Host-bound: the GPU waits for launches %s of the time",
                         gt_say_share(evidence, (double)total_ns, span_ns));
    gt_finding_add_evidence(
        evidence, finding,
        "In %s the next op had not been launched or had not reached the GPU: %s of %s, %s each on average.",
        gt_say_counted(evidence, count, "gap"), gt_say_ns(evidence, (double)total_ns), gt_say_ns(evidence, span_ns),
        gt_say_ns(evidence, (double)total_ns / (double)count));
    note_warm_up(evidence, finding);
    return true;
}

bool gt_find_host_stalls(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_host_gaps *gaps = gt_evidence_host_gaps(evidence);
    const struct gt_idle_gap *longest = gaps->longest_stall;
    const struct gt_chain *chains = gt_evidence_chains(evidence);
    int64_t total_ns;
    size_t count = claim_class(evidence, GT_HOST_GAP_STALL, &total_ns);
    if (!longest || !chains)
        return false;
    struct gt_str code = gt_store_string(evidence->view->store, chains[longest - evidence->ledger.idle->gaps].code);
    gt_finding_set_title(evidence, finding, "CPU stalls starve the GPU: %s of the time, in %s",
                         gt_say_share(evidence, gt_ledger_share(&evidence->ledger, (double)total_ns), 1),
                         code.len ? gt_say_quoted(evidence, code) : "code that the trace does not show");
    gt_finding_add_evidence(evidence, finding, "%s of %s or more, %s in total.", gt_say_counted(evidence, count, "gap"),
                            gt_say_ns(evidence, gt_thresholds.stall_ns), gt_say_ns(evidence, (double)total_ns));
    note_warm_up(evidence, finding);
    return true;
}

bool gt_find_sync_waits(struct gt_evidence *evidence, struct gt_finding *finding) {
    int64_t total_ns;
    size_t count = claim_class(evidence, GT_HOST_GAP_SYNC, &total_ns);
    if (count == 0)
        return false;
    gt_finding_set_title(evidence, finding, "GPU idle during CPU synchronization: %s of the span",
                         gt_say_share(evidence, gt_ledger_share(&evidence->ledger, (double)total_ns), 1));
    gt_finding_add_evidence(evidence, finding, "In %s (%s in total) the launching thread was in a synchronizing call.",
                            gt_say_counted(evidence, count, "gap"), gt_say_ns(evidence, (double)total_ns));
    note_warm_up(evidence, finding);
    return true;
}

/* ---- copies that make the CPU wait ---- */

static void describe_readback(struct gt_evidence *evidence, struct gt_finding *finding,
                              const struct gt_readback *copies) {
    const struct gt_store *store = evidence->view->store;
    const char *copy = gt_say_quoted(evidence, gt_store_string(store, copies->copy));
    const char *call = gt_say_call(evidence, copies->call), *count = gt_say_count(evidence, copies->count);
    gt_finding_set_title(evidence, finding, "The CPU waits for copies from the GPU %s times: %s by %s", count, copy,
                         call);
    if (copies->wait == GT_STRID_EMPTY)
        gt_finding_add_evidence(evidence, finding, "%s copies %s %s times and blocks until the data has arrived.", call,
                                copy, count);
    else
        gt_finding_add_evidence(evidence, finding, "%s copies %s %s times, each immediately followed by %s.", call,
                                copy, count, gt_say_call(evidence, copies->wait));
    if (copies->range != GT_NO_ROW)
        gt_finding_add_evidence(evidence, finding, "%s of them are in range %s.",
                                gt_say_count(evidence, copies->in_range),
                                gt_say_quoted(evidence, gt_store_string(store, store->ranges.name[copies->range])));
}

/* The token that ends a step, the loss that is printed: the GPU is idle until the CPU has read it and launched more. */
bool gt_find_readback(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_host_gaps *gaps = gt_evidence_host_gaps(evidence);
    int64_t total_ns;
    if (gaps->readback.count == 0 || claim_class(evidence, GT_HOST_GAP_READBACK, &total_ns) == 0)
        return false;
    describe_readback(evidence, finding, &gaps->readback);
    gt_finding_add_evidence(evidence, finding,
                            "The GPU was idle for %s after these copies, until the next op was launched.",
                            gt_say_ns(evidence, (double)total_ns));
    return true;
}

/* ---- what has no cause ---- */

bool gt_find_idle_gpu(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_ledger *ledger = &evidence->ledger;
    __int128 left_ns = 0;
    for (size_t i = 0; i < ledger->idle->count; i++)
        left_ns += ledger->gap_left_ns[i];
    double share = gt_ledger_share(ledger, (double)left_ns);
    if (share < gt_thresholds.idle_share)
        return false;
    gt_finding_set_title(evidence, finding, "The GPU was idle %s of the time for reasons that the trace does not show",
                         gt_say_share(evidence, share, 1));
    gt_finding_add_evidence(evidence, finding, "%s of idle time is in no other finding.",
                            gt_say_ns(evidence, (double)left_ns));
    return true;
}
