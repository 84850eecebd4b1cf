/* Rules on the trace itself: what it does not show, and what the profiler did to it. */
#include "base/intervals.h"
#include "base/mem.h"
#include "base/ns.h"
#include "base/num.h"
#include "base/radix.h"
#include "measure/findings/findings.h"

/* Kernels inside graphs that were traced as a whole, or whose launch is not there, belong to nothing. */
bool gt_find_graph_time(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_view *view = evidence->view;
    int64_t graph_ns = 0;
    size_t graphs = 0, nodes = 0;
    if (evidence->context & GT_CONTEXT_NO_GRAPHS)
        return false;
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
        return false;
    gt_finding_set_title(evidence, finding, "%s of op time is in %ss that are not fully traced",
                         gt_say_share(evidence, (double)graph_ns, sum_ns), gt_say_graph(evidence));
    if (graphs)
        gt_finding_add_evidence(evidence, finding, "%s traced as a whole, %s: their kernels are not in the trace.",
                                gt_say_counted(evidence, graphs, "graph launch"),
                                gt_say_ns(evidence, (double)graph_ns));
    if (nodes)
        gt_finding_add_evidence(evidence, finding,
                                "%s of graphs whose launch is not in the trace belong to no step or range.",
                                gt_say_counted(evidence, nodes, "node"));
    return (double)graph_ns / sum_ns >= gt_thresholds.graph_share;
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

bool gt_find_profiler_overhead(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_view *view = evidence->view;
    if (view->device_count == 0 || view->store->overheads.count == 0)
        return false;
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
        return false;
    gt_finding_set_title(evidence, finding, "Profiler overhead: %s of the span",
                         gt_say_share(evidence, (double)overhead_ns, span_ns));
    gt_finding_add_evidence(evidence, finding, "%s of %s, in %s; launches are delayed during these.",
                            gt_say_ns(evidence, (double)overhead_ns), gt_say_ns(evidence, span_ns),
                            gt_say_counted(evidence, view->store->overheads.count, "interval"));
    return (double)overhead_ns / span_ns >= gt_thresholds.overhead_share;
}

bool gt_find_dropped_events(struct gt_evidence *evidence, struct gt_finding *finding) {
    uint64_t count =
        gt_store_issue(evidence->view->store, GT_ISSUE_EVENTS_DROPPED, evidence->view->request->facts).count;
    if (count == 0)
        return false;
    gt_finding_set_title(evidence, finding, "The profiler may have dropped events");
    gt_finding_add_evidence(evidence, finding, "It reports this %s; times and counts may be too low.",
                            gt_say_counted(evidence, (size_t)count, "time"));
    return true;
}
