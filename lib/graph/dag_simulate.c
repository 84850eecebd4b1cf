/* Simulation of a graph: one pass over the nodes in their order. */
#include "graph/dag_simulate.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/dag_build.h"
#include "graph/dag_skips.h"

int64_t gt_dag_simulate_scale(int64_t value, uint32_t ppm) {
    if (ppm == GT_DAG_WHOLE)
        return value;
    __int128 scaled = (__int128)value * ppm + GT_DAG_WHOLE / 2, whole = GT_DAG_WHOLE;
    __int128 quotient = scaled / whole - (scaled % whole < 0);
    return gt_ns_of_sum(quotient);
}

struct simulation {
    const struct gt_dag *dag;
    const struct gt_dag_change *change;
    uint32_t cpu_ppm;
    bool changes_edges; /* edges may have other lengths, or be gone */
    struct gt_dag_skips skips;
    int64_t *start_ns, *end_ns;
    uint32_t *last_op[2]; /* with overlap: by stream its last node that communicates, and the last that does not */
};

static inline uint32_t op_factor(const struct simulation *simulation, uint32_t op) {
    const struct gt_dag_change *change = simulation->change;
    const struct gt_dag *dag = simulation->dag;
    uint32_t ppm = change->name_ppm ? change->name_ppm[dag->store->ops.name[op]] : GT_DAG_NONE;
    if (ppm != GT_DAG_NONE)
        return ppm;
    return change->category_ppm ? change->category_ppm[dag->labels->op_category[op]] : GT_DAG_WHOLE;
}

static inline bool is_skipped(const struct simulation *simulation, uint32_t node) {
    return simulation->skips.is_skipped && simulation->skips.is_skipped[node];
}

static inline int64_t length_of(const struct simulation *simulation, uint32_t node) {
    const struct gt_dag *dag = simulation->dag;
    int64_t length_ns = gt_ns_between(dag->start_ns[node], dag->end_ns[node]);
    if (dag->kind[node] == GT_DAG_OP)
        return gt_dag_simulate_scale(length_ns, op_factor(simulation, dag->row[node]));
    if (dag->kind[node] != GT_DAG_CALL || is_skipped(simulation, node))
        return 0;
    if (simulation->change->no_launch && dag->role[node] & GT_DAG_LAUNCHES)
        return 0;
    return gt_dag_simulate_scale(length_ns, simulation->cpu_ppm);
}

/* ---- edges ---- */

static bool is_comm(const struct gt_dag *dag, uint32_t node) {
    return dag->kind[node] == GT_DAG_OP && gt_dag_op_class(dag, dag->row[node]) == GT_CLASS_COMM;
}

static bool is_dropped(const struct simulation *simulation, uint32_t node, const struct gt_dag_edge *edge) {
    const struct gt_dag_change *change = simulation->change;
    const struct gt_dag *dag = simulation->dag;
    if (change->no_sync && edge->kind == GT_DAG_SYNC && dag->role[node] & GT_DAG_SYNCS)
        return true;
    if ((edge->kind == GT_DAG_SYNC || edge->kind == GT_DAG_ROOM) && is_skipped(simulation, node))
        return true;
    if (change->overlap_comm && is_comm(dag, edge->from) && !is_comm(dag, node))
        return true;
    return change->no_weak_events && edge->kind == GT_DAG_EVENT && edge->flags & GT_DAG_INFERRED &&
           !(edge->flags & GT_DAG_BINDS);
}

/* The latency that such edges usually have, on those that bind too. */
static int64_t replayed_ns(const struct simulation *simulation, uint32_t node, const struct gt_dag_edge *edge) {
    const struct gt_dag *dag = simulation->dag;
    int64_t latency_ns = gt_dag_latency_ns(dag, node, edge), typical_ns = gt_dag_typical_ns(dag, edge);
    bool is_instant =
        edge->delay < GT_DAG_EDGE_KINDS || (edge->kind == GT_DAG_STREAM && edge->flags & GT_DAG_FROM_START);
    if (edge->kind == GT_DAG_OWN)
        return !(edge->flags & GT_DAG_UNEXPLAINED) ? latency_ns : typical_ns >= 0 ? typical_ns : GT_DAG_OWN_NS;
    if (latency_ns < 0 || !(edge->flags & GT_DAG_BINDS) || is_instant)
        return latency_ns < 0 || !is_instant ? latency_ns : 0;
    return typical_ns < 0 ? 0 : typical_ns;
}

/* From the anchor of an edge to when its node may start. */
static int64_t delay_of(const struct simulation *simulation, uint32_t node, const struct gt_dag_edge *edge) {
    const struct gt_dag_change *change = simulation->change;
    const struct gt_dag *dag = simulation->dag;
    int64_t cpu_ns = gt_dag_cpu_ns(edge), latency_ns;
    latency_ns = change->replays ? replayed_ns(simulation, node, edge) : gt_dag_latency_ns(dag, node, edge);
    switch (edge->kind) {
    case GT_DAG_THINK:
        cpu_ns = simulation->skips.think_ns ? simulation->skips.think_ns[node] : cpu_ns;
        return change->no_think ? 0 : gt_dag_simulate_scale(cpu_ns, simulation->cpu_ppm);
    case GT_DAG_OWN:
        if ((change->no_launch && dag->role[node] & GT_DAG_LAUNCHES) || is_skipped(simulation, node))
            return 0;
        return gt_dag_simulate_scale(latency_ns, simulation->cpu_ppm);
    case GT_DAG_LAUNCH:
        cpu_ns = is_skipped(simulation, edge->from) ? 0 : cpu_ns;
        return change->no_launch ? 0 : gt_ns_add(gt_dag_simulate_scale(cpu_ns, simulation->cpu_ppm), latency_ns);
    default:
        return gt_ns_add(gt_dag_simulate_scale(cpu_ns, simulation->cpu_ppm), latency_ns);
    }
}

#define NEVER INT64_MIN /* when a point is reached whose edges are all dropped: it holds nothing up */

static inline int64_t start_of(const struct simulation *simulation, uint32_t node) {
    const struct gt_dag *dag = simulation->dag;
    uint32_t last = dag->first_edge[node + 1];
    int64_t latest_ns = NEVER;
    for (uint32_t e = dag->first_edge[node]; e < last; e++) {
        const struct gt_dag_edge *edge = &dag->edges[e];
        if (simulation->changes_edges && is_dropped(simulation, node, edge))
            continue;
        int64_t from_ns =
            edge->flags & GT_DAG_FROM_START ? simulation->start_ns[edge->from] : simulation->end_ns[edge->from];
        if (from_ns == NEVER)
            continue;
        int64_t delay_ns =
            simulation->changes_edges ? delay_of(simulation, node, edge) : gt_dag_delay_ns(dag, node, edge);
        int64_t start_ns = gt_ns_add(from_ns, delay_ns);
        if (edge->kind == GT_DAG_STREAM && start_ns < simulation->start_ns[edge->from])
            start_ns = simulation->start_ns[edge->from];
        latest_ns = start_ns > latest_ns ? start_ns : latest_ns;
    }
    if (latest_ns != NEVER)
        return latest_ns;
    bool is_open = dag->kind[node] == GT_DAG_POINT && dag->first_edge[node] < last;
    return is_open ? NEVER : dag->start_ns[node];
}

/* Communication and other work of a stream no longer wait for each other, but each still does for its own kind: what
   was between two ops only handed their order on. */
static int64_t keep_order(const struct simulation *simulation, uint32_t node, int64_t start_ns) {
    const struct gt_dag *dag = simulation->dag;
    uint32_t *last = &simulation->last_op[is_comm(dag, node)][dag->store->ops.lane[dag->row[node]]];
    uint32_t before = *last;
    *last = node;
    if (before == GT_DAG_NONE || dag->end_ns[before] > dag->start_ns[node])
        return start_ns;
    return start_ns > simulation->end_ns[before] ? start_ns : simulation->end_ns[before];
}

static bool begin_order(struct simulation *simulation) {
    size_t count = simulation->change->overlap_comm ? simulation->dag->store->lanes.count : 0;
    for (size_t i = 0; i < 2 && count; i++) {
        simulation->last_op[i] = gt_mem_uninitialised(count, sizeof(uint32_t));
        if (!simulation->last_op[i])
            return false;
        memset(simulation->last_op[i], 0xFF, count * sizeof(uint32_t)); /* GT_DAG_NONE */
    }
    return true;
}

static int by_op(const void *a, const void *b) {
    const struct gt_dag_meeting *x = a, *y = b;
    return (x->op > y->op) - (x->op < y->op);
}

/* When an op ends that waits for other ranks. */
static int64_t end_of(const struct simulation *simulation, uint32_t node, int64_t start_ns) {
    const struct gt_dag_change *change = simulation->change;
    const struct gt_dag *dag = simulation->dag;
    const struct gt_dag_meeting wanted = {.op = dag->row[node]}, *met = NULL;
    if (change->meeting_count && dag->kind[node] == GT_DAG_OP)
        met = bsearch(&wanted, change->meetings, change->meeting_count, sizeof wanted, by_op);
    if (!met)
        return gt_ns_add(start_ns, length_of(simulation, node));
    int64_t begin_ns = start_ns > met->others_start_ns ? start_ns : met->others_start_ns;
    return gt_ns_add(begin_ns, gt_dag_simulate_scale(met->transfer_ns, op_factor(simulation, dag->row[node])));
}

bool gt_dag_simulate(const struct gt_dag *dag, const struct gt_dag_change *change, struct gt_dag_times *times) {
    struct simulation simulation = {.dag = dag, .change = change};
    simulation.cpu_ppm = change->cpu_ppm ? change->cpu_ppm : GT_DAG_WHOLE;
    simulation.changes_edges = simulation.cpu_ppm != GT_DAG_WHOLE || change->no_launch || change->no_think ||
                               change->no_sync || change->overlap_comm || change->no_weak_events || change->replays ||
                               change->skip_count;
    times->start_ns = simulation.start_ns = gt_mem_uninitialised(dag->node_count + 1, sizeof *times->start_ns);
    times->end_ns = simulation.end_ns = gt_mem_uninitialised(dag->node_count + 1, sizeof *times->end_ns);
    bool ok = gt_dag_skips_init(&simulation.skips, dag, change) && begin_order(&simulation) && times->start_ns &&
              times->end_ns;
    for (uint32_t node = 0; node < dag->node_count && ok; node++) {
        times->start_ns[node] = start_of(&simulation, node);
        if (simulation.last_op[0] && dag->kind[node] == GT_DAG_OP)
            times->start_ns[node] = keep_order(&simulation, node, times->start_ns[node]);
        times->end_ns[node] = end_of(&simulation, node, times->start_ns[node]);
    }
    gt_dag_skips_release(&simulation.skips);
    gt_mem_free(simulation.last_op[0]);
    gt_mem_free(simulation.last_op[1]);
    if (!ok)
        gt_dag_simulate_release(times);
    return ok;
}

void gt_dag_simulate_release(struct gt_dag_times *times) {
    gt_mem_free(times->start_ns);
    gt_mem_free(times->end_ns);
    *times = (struct gt_dag_times){0};
}
