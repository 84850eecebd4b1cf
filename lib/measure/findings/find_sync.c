/* Rules on synchronisation: calls that wait for the GPU, and copies and fills that make the CPU wait. */
#include "base/mem.h"
#include "base/ns.h"
#include "measure/findings/findings.h"
#include "measure/results/calls.h"

/* ---- calls that wait ---- */

/* By name: how often and how long. */
struct call_sum {
    size_t count;
    int64_t total_ns;
};

static void sum_blocking(struct gt_evidence *evidence, struct call_sum *sums, const uint8_t *blocks,
                         const bool *processes) {
    const struct gt_store *store = evidence->view->store;
    for (size_t i = 0; i < store->calls.count; i++) {
        if (!blocks[i] ||
            !gt_view_has_moment(evidence->view, processes, store->calls.start_ns[i], store->calls.thread[i]))
            continue;
        struct call_sum *sum = &sums[store->calls.name[i]];
        sum->count++;
        sum->total_ns = gt_ns_add(sum->total_ns, gt_ns_between(store->calls.start_ns[i], store->calls.end_ns[i]));
    }
}

double gt_find_sync_calls(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_store *store = evidence->view->store;
    struct call_sum *sums = gt_mem_array(store->strings.count, sizeof *sums), all = {0};
    bool *processes = gt_view_processes(evidence->view);
    const uint8_t *blocks = gt_evidence_blocking_calls(evidence);
    gt_strid top = GT_STRID_EMPTY;
    if (!sums || !processes)
        gt_evidence_fail(evidence);
    else if (blocks)
        sum_blocking(evidence, sums, blocks, processes);
    for (gt_strid name = 0; name < store->strings.count && sums; name++) {
        if (sums[name].count == 0)
            continue;
        all.count += sums[name].count;
        all.total_ns = gt_ns_add(all.total_ns, sums[name].total_ns);
        top = top == GT_STRID_EMPTY || sums[name].total_ns > sums[top].total_ns ? name : top;
    }
    if (all.count) {
        gt_finding_set_title(evidence, finding, "CPU blocked in synchronizing calls for %s",
                             gt_say_ns(evidence, (double)all.total_ns));
        gt_finding_add_evidence(evidence, finding, "%s: %s, %s; all synchronizing calls: %s, %s.",
                                gt_say_call(evidence, top), gt_say_counted(evidence, sums[top].count, "call"),
                                gt_say_ns(evidence, (double)sums[top].total_ns),
                                gt_say_counted(evidence, all.count, "call"), gt_say_ns(evidence, (double)all.total_ns));
    }
    gt_mem_free(sums);
    gt_mem_free(processes);
    return all.count ? (double)all.total_ns : GT_NOTHING_FOUND;
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

/* The token that ends a step, the loss that is printed: the GPU is idle until the CPU has read it and launched
 * more.
 */
double gt_find_readback(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_host_gaps *gaps = gt_evidence_host_gaps(evidence);
    const struct gt_gap_sum *after = &gaps->sums[GT_HOST_GAP_READBACK];
    double span_ns = (double)gt_evidence_steady_span_ns(evidence);
    if (gaps->readback.count == 0 || gt_evidence_idle(evidence)->device_count == 0 || span_ns <= 0)
        return GT_NOTHING_FOUND;
    describe_readback(evidence, finding, &gaps->readback);
    gt_finding_add_evidence(evidence, finding,
                            "The GPU was idle for %s after these copies, until the next op was launched.",
                            gt_say_ns(evidence, (double)after->total_ns));
    finding->recoverable_ns = gt_host_gaps_sum_recoverable(after);
    return (double)after->total_ns / span_ns;
}
