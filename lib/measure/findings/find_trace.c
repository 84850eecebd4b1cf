/* Rules on the trace itself: what it does not show, what the profiler did to it, and what its ranges show. */
#include "base/intervals.h"
#include "base/mem.h"
#include "base/ns.h"
#include "base/num.h"
#include "base/radix.h"
#include "measure/findings/findings.h"

/* Kernels inside graphs that were traced as a whole, or whose launch is not there, belong to nothing. */
double gt_find_graph_time(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_view *view = evidence->view;
    int64_t graph_ns = 0;
    size_t graphs = 0, nodes = 0;
    for (size_t i = 0; i < view->op_count; i++) {
        uint32_t op = view->row[i];
        bool is_graph = view->store->ops.kind[op] == GT_OP_GRAPH;
        bool is_lost_node = (view->store->ops.flags[op] & GT_OP_IN_GRAPH) && view->labels->op_call[op] == GT_NO_ROW;
        graphs += is_graph;
        nodes += is_lost_node;
        if (is_graph || is_lost_node)
            graph_ns = gt_ns_add(graph_ns, gt_view_op_ns(view, i));
    }
    double sum_ns = (double)gt_evidence_amount(evidence, GT_AMOUNT_SUM);
    if ((graphs == 0 && nodes == 0) || sum_ns <= 0)
        return GT_NOTHING_FOUND;
    gt_finding_set_title(evidence, finding, "%s of op time is in CUDA graphs that are not fully traced",
                         gt_say_share(evidence, (double)graph_ns, sum_ns));
    if (graphs)
        gt_finding_add_evidence(evidence, finding, "%s traced as a whole, %s: their kernels are not in the trace.",
                                gt_say_counted(evidence, graphs, "graph launch"),
                                gt_say_ns(evidence, (double)graph_ns));
    if (nodes)
        gt_finding_add_evidence(evidence, finding,
                                "%s of graphs whose launch is not in the trace belong to no step or range.",
                                gt_say_counted(evidence, nodes, "node"));
    return (double)graph_ns / sum_ns;
}

/* ---- ranges and phases ---- */

double gt_find_range_coverage(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_phase_set *phases = gt_evidence_phases(evidence);
    double sum_ns = (double)gt_evidence_amount(evidence, GT_AMOUNT_SUM), covered_ns = (double)phases->covered_ns;
    double threshold = gt_option_real(evidence->view, GT_OPTION_coverage_threshold);
    bool can_know = covered_ns > 0 || evidence->view->store->facts & GT_FACT_CORRELATION;
    if (phases->count == 0 || sum_ns <= 0 || covered_ns >= threshold * sum_ns || !can_know)
        return GT_NOTHING_FOUND;
    gt_finding_set_title(evidence, finding, "%s of op time was launched inside ranges",
                         gt_say_share(evidence, covered_ns, sum_ns));
    gt_finding_add_evidence(evidence, finding, "%s of %s; times by range and phase exclude the rest.",
                            gt_say_ns(evidence, covered_ns), gt_say_ns(evidence, sum_ns));
    return 1 - covered_ns / sum_ns;
}

double gt_find_has_ranges(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_store *store = evidence->view->store;
    uint8_t *seen = gt_mem_array(store->strings.count, 1);
    size_t names = 0;
    if (!seen)
        gt_evidence_fail(evidence);
    for (size_t i = 0; i < store->ranges.count && seen; i++) {
        bool is_on_thread = store->ranges.kind[i] == GT_RANGE_NESTED || store->ranges.kind[i] == GT_RANGE_START_END;
        names += is_on_thread && !seen[store->ranges.name[i]];
        seen[store->ranges.name[i]] |= is_on_thread;
    }
    gt_mem_free(seen);
    if (names == 0)
        return GT_NOTHING_FOUND;
    gt_finding_set_title(evidence, finding, "%s found",
                         gt_say_counted(evidence, names, "distinct NVTX/annotation range"));
    gt_finding_add_evidence(evidence, finding, "'gputime ranges' shows times by range and phase.");
    return (double)names;
}

/* Describes a phase that takes a large part of the time in ranges, on the GPU or the CPU. */
static double describe_phase(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_phase *phase,
                             const char *side, double part_ns, double all_ns) {
    gt_finding_set_title(evidence, finding, "Phase %s takes %s of %s time in ranges",
                         gt_say_quoted(evidence, phase->name), gt_say_share(evidence, part_ns, all_ns), side);
    gt_finding_add_evidence(evidence, finding, "%s of %s in ranges, in %s%s.", gt_say_ns(evidence, part_ns),
                            gt_say_ns(evidence, all_ns), gt_say_counted(evidence, phase->instances, "range"),
                            gt_evidence_phases(evidence)->map.is_guessed ? " (phase guessed from range names)" : "");
    return part_ns / all_ns;
}

/* The phase that takes most, of those with a known name: they are ordered by it. */
double gt_find_dominant_phase(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_phase_set *phases = gt_evidence_phases(evidence);
    if (phases->mapped_count == 0 || phases->covered_ns <= 0)
        return GT_NOTHING_FOUND;
    const struct gt_phase *top = &phases->phases[0];
    return describe_phase(evidence, finding, top, "GPU", (double)top->exclusive_ns, (double)phases->covered_ns);
}

double gt_find_dominant_phase_cpu(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_phase_set *phases = gt_evidence_phases(evidence);
    const struct gt_phase *top = NULL;
    for (size_t i = 0; i < phases->mapped_count; i++)
        top = !top || phases->phases[i].cpu_ns > top->cpu_ns ? &phases->phases[i] : top;
    if (!top || phases->cpu_ns <= 0)
        return GT_NOTHING_FOUND;
    return describe_phase(evidence, finding, top, "CPU", (double)top->cpu_ns, (double)phases->cpu_ns);
}

/* ---- the profiler ---- */

/* Union of the profiler's work inside a time span; negative: memory was short. */
static int64_t overhead_inside(const struct gt_store *store, int64_t start_ns, int64_t end_ns) {
    const struct gt_overheads *rows = &store->overheads;
    struct gt_radix_item *order = gt_mem_array(rows->count, sizeof *order);
    int64_t total_ns = 0, reached_ns = start_ns;
    for (uint32_t i = 0; i < rows->count && order; i++)
        order[i] = (struct gt_radix_item){gt_radix_key(rows->start_ns[i]), i};
    bool ok = order && gt_radix_sort(order, rows->count);
    for (size_t i = 0; i < rows->count && ok; i++) {
        uint32_t row = order[i].value;
        int64_t from_ns = rows->start_ns[row] > reached_ns ? rows->start_ns[row] : reached_ns;
        int64_t to_ns = rows->end_ns[row] < end_ns ? rows->end_ns[row] : end_ns;
        if (to_ns > from_ns) {
            total_ns = gt_ns_add(total_ns, gt_ns_between(from_ns, to_ns));
            reached_ns = to_ns;
        }
    }
    gt_mem_free(order);
    return ok ? total_ns : -1;
}

double gt_find_profiler_overhead(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_view *view = evidence->view;
    if (view->device_count == 0 || view->store->overheads.count == 0)
        return GT_NOTHING_FOUND;
    int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
    for (size_t d = 0; d < view->device_count; d++) {
        start_ns = view->devices[d].span_start_ns < start_ns ? view->devices[d].span_start_ns : start_ns;
        end_ns = view->devices[d].span_end_ns > end_ns ? view->devices[d].span_end_ns : end_ns;
    }
    int64_t overhead_ns = overhead_inside(view->store, start_ns, end_ns);
    double span_ns = (double)gt_ns_between(start_ns, end_ns);
    if (overhead_ns < 0)
        gt_evidence_fail(evidence);
    if (overhead_ns <= 0 || span_ns <= 0)
        return GT_NOTHING_FOUND;
    gt_finding_set_title(evidence, finding, "Profiler overhead: %s of the span",
                         gt_say_share(evidence, (double)overhead_ns, span_ns));
    gt_finding_add_evidence(evidence, finding, "%s of %s, in %s; launches are delayed during these.",
                            gt_say_ns(evidence, (double)overhead_ns), gt_say_ns(evidence, span_ns),
                            gt_say_counted(evidence, view->store->overheads.count, "interval"));
    return (double)overhead_ns / span_ns;
}

double gt_find_dropped_events(struct gt_evidence *evidence, struct gt_finding *finding) {
    uint64_t count =
        gt_store_issue(evidence->view->store, GT_ISSUE_EVENTS_DROPPED, evidence->view->request->facts).count;
    if (count == 0)
        return GT_NOTHING_FOUND;
    gt_finding_set_title(evidence, finding, "The profiler may have dropped events");
    gt_finding_add_evidence(evidence, finding, "It reports this %s; times and counts may be too low.",
                            gt_say_counted(evidence, (size_t)count, "time"));
    return (double)count;
}
