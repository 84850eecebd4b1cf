/* Takes the time of skips off think edges, and marks the calls in them. */
#include "graph/dag_skips.h"

#include "base/mem.h"

/* The first skip of a thread that ends after a moment, or the first of a later thread. */
static size_t first_after(const struct gt_dag_change *change, uint32_t thread, int64_t time_ns) {
    size_t low = 0, high = change->skip_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct gt_dag_skip *skip = &change->skips[middle];
        if (skip->thread < thread || (skip->thread == thread && skip->end_ns <= time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What of a span of a thread no skip covers. */
static int64_t left_of(const struct gt_dag_change *change, uint32_t thread, int64_t start_ns, int64_t end_ns) {
    int64_t left_ns = gt_ns_between(start_ns, end_ns);
    for (size_t i = first_after(change, thread, start_ns); i < change->skip_count; i++) {
        const struct gt_dag_skip *skip = &change->skips[i];
        if (skip->thread != thread || skip->start_ns >= end_ns)
            break;
        left_ns -= gt_ns_between(skip->start_ns > start_ns ? skip->start_ns : start_ns,
                                 skip->end_ns < end_ns ? skip->end_ns : end_ns);
    }
    return left_ns;
}

static bool is_call(const struct gt_dag *dag, uint32_t node) {
    return dag->kind[node] == GT_DAG_CALL || dag->kind[node] == GT_DAG_BEGIN || dag->kind[node] == GT_DAG_RETURN;
}

static bool is_inside(const struct gt_dag *dag, const struct gt_dag_change *change, uint32_t node) {
    uint32_t call = dag->row[node], thread = dag->store->calls.thread[call];
    int64_t start_ns = dag->store->calls.start_ns[call];
    size_t i = first_after(change, thread, start_ns);
    return i < change->skip_count && change->skips[i].thread == thread && change->skips[i].start_ns <= start_ns;
}

bool gt_dag_skips_init(struct gt_dag_skips *skips, const struct gt_dag *dag, const struct gt_dag_change *change) {
    *skips = (struct gt_dag_skips){0};
    if (!change->skip_count)
        return true;
    skips->think_ns = gt_mem_array(dag->node_count + 1, sizeof *skips->think_ns);
    skips->is_skipped = gt_mem_array(dag->node_count + 1, 1);
    if (!skips->think_ns || !skips->is_skipped)
        return false;
    for (uint32_t node = 0; node < dag->node_count; node++) {
        if (!is_call(dag, node) && dag->kind[node] != GT_DAG_MARK)
            continue;
        uint32_t thread = dag->kind[node] == GT_DAG_MARK ? dag->row[node] : dag->store->calls.thread[dag->row[node]];
        skips->is_skipped[node] = is_call(dag, node) && is_inside(dag, change, node);
        for (uint32_t e = dag->first_edge[node]; e < dag->first_edge[node + 1]; e++)
            if (dag->edges[e].kind == GT_DAG_THINK)
                skips->think_ns[node] = left_of(change, thread, dag->end_ns[dag->edges[e].from], dag->start_ns[node]);
    }
    return true;
}

void gt_dag_skips_release(struct gt_dag_skips *skips) {
    gt_mem_free(skips->think_ns);
    gt_mem_free(skips->is_skipped);
    *skips = (struct gt_dag_skips){0};
}
