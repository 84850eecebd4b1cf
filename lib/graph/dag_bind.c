/* What let each node begin: in come the edges of nodes, out go the edge of each that lets go last, and how long such
   edges usually take. */
#include <string.h>

#include "base/mem.h"
#include "graph/dag_build.h"

/* ---- the binding edge ---- */

/* Of edges that let go at the same time, work on the GPU counts before work on the CPU. */
static int rank(uint8_t kind) {
    static const uint8_t ranks[GT_DAG_EDGE_KINDS] = {
        [GT_DAG_STREAM] = 3, [GT_DAG_SYNC] = 3,   [GT_DAG_EVENT] = 2,
        [GT_DAG_ROOM] = 2,   [GT_DAG_LAUNCH] = 1, [GT_DAG_HANDOVER] = 1,
    };
    return ranks[kind];
}

/* Whether an edge counts before another one that lets go at the same time. */
static bool is_before(const struct gt_dag_build *build, const struct gt_dag_edge *edge,
                      const struct gt_dag_edge *other) {
    if (rank(edge->kind) != rank(other->kind))
        return rank(edge->kind) > rank(other->kind);
    return gt_dag_build_start_ns(build, edge->from) > gt_dag_build_start_ns(build, other->from);
}

void gt_dag_build_bind(struct gt_dag_build *build, uint32_t id) {
    struct gt_dag_edge *edges = build->node_edges + build->first_edge[id], *best = NULL;
    size_t count = build->first_edge[id + 1] - build->first_edge[id];
    bool is_op = id < build->store->ops.count;
    int64_t best_ns = INT64_MIN;
    if (count == 1 && !gt_dag_build_is_timed(edges->kind)) {
        edges->flags |= GT_DAG_BINDS;
        return;
    }
    uint32_t class = count ? gt_dag_build_class(build, id) : GT_DAG_NONE;
    for (struct gt_dag_edge *edge = edges; edge < edges + count; edge++) {
        int64_t release_ns = gt_dag_build_release_ns(build, edge);
        edge->flags &= (uint8_t)~GT_DAG_BINDS;
        if (class != GT_DAG_NONE && gt_dag_build_is_timed(edge->kind))
            build->has_delay[edge->kind * build->class_count + class] = true;
        if (is_op && release_ns > build->store->ops.start_ns[id] && release_ns >= build->store->ops.end_ns[id])
            continue;
        if (!best || release_ns > best_ns || (release_ns == best_ns && is_before(build, edge, best))) {
            best = edge;
            best_ns = release_ns;
        }
    }
    if (best)
        best->flags |= GT_DAG_BINDS;
}

/* ---- classes ---- */

static const struct gt_str op_class_names[GT_DAG_OP_CLASSES] = {
    [GT_DAG_CLASS_KERNEL] = GT_STR("kernel"), [GT_DAG_CLASS_MEMCPY] = GT_STR("memcpy"),
    [GT_DAG_CLASS_MEMSET] = GT_STR("memset"), [GT_DAG_CLASS_GRAPH] = GT_STR("graph"),
    [GT_DAG_CLASS_NODE] = GT_STR("node"),
};

bool gt_dag_build_classes(struct gt_dag_build *build) {
    const struct gt_ops *ops = &build->store->ops;
    build->class_count = GT_DAG_OP_CLASSES + build->dag->names.count;
    build->op_class = gt_dag_build_array(build, ops->count, sizeof *build->op_class);
    build->has_delay = gt_dag_build_array(build, GT_DAG_EDGE_KINDS * build->class_count, sizeof *build->has_delay);
    build->delay_index = gt_dag_build_array(build, GT_DAG_EDGE_KINDS * build->class_count, sizeof(uint32_t));
    for (uint32_t op = 0; op < ops->count && !build->failed; op++)
        build->op_class[op] = gt_dag_build_is_graph_node(build, op) ? GT_DAG_CLASS_NODE
                              : ops->kind[op] <= GT_OP_GRAPH        ? ops->kind[op]
                                                                    : GT_DAG_CLASS_KERNEL;
    return !build->failed;
}

static struct gt_str class_name(const struct gt_dag_build *build, uint32_t class) {
    return class < GT_DAG_OP_CLASSES ? op_class_names[class]
                                     : gt_strtab_get(&build->dag->names, class - GT_DAG_OP_CLASSES);
}

/* ---- delays ---- */

/* A delay for each kind, then for each kind and class that some edge has, those of a kind next to each other. */
static bool list_delays(struct gt_dag_build *build) {
    struct gt_dag *dag = build->dag;
    size_t pairs = GT_DAG_EDGE_KINDS * build->class_count, count = GT_DAG_EDGE_KINDS;
    for (size_t i = 0; i < pairs; i++)
        build->delay_index[i] = build->has_delay[i] && count <= UINT16_MAX ? (uint32_t)count++ : 0;
    gt_mem_free(dag->delays);
    dag->delays = gt_mem_array(count, sizeof *dag->delays);
    dag->delay_count = count;
    build->failed |= !dag->delays;
    for (size_t k = 0; k < GT_DAG_EDGE_KINDS && dag->delays; k++)
        dag->delays[k] = (struct gt_dag_delay){.kind = (enum gt_dag_edge_kind)k, .explains = k != GT_DAG_OWN};
    for (size_t i = 0; i < pairs && dag->delays; i++)
        if (build->delay_index[i])
            dag->delays[build->delay_index[i]] =
                (struct gt_dag_delay){.kind = (enum gt_dag_edge_kind)(i / build->class_count),
                                      .class_name = class_name(build, (uint32_t)(i % build->class_count)),
                                      .explains = true};
    return !build->failed;
}

/* Lags of binding edges, cut where they are above every limit: those of a kind next to each other, first the ones
   without a delay of their own class, then class by class. */
struct lags {
    uint32_t *ns, *spare;
    size_t *first; /* by slot: see slot_of() */
    size_t kind_slot[GT_DAG_EDGE_KINDS + 1];
};
enum { LAG_DIGIT_BITS = 9, LAG_DIGITS = 1 << LAG_DIGIT_BITS, LAG_MOST = LAG_DIGITS * LAG_DIGITS - 1, FEW_LAGS = 64 };
_Static_assert((int)LAG_MOST > (int)GT_DAG_LATEST_NS, "what is cut is above every limit");

static size_t slot_of(const struct lags *lags, uint8_t kind, uint16_t delay) {
    return delay < GT_DAG_EDGE_KINDS ? lags->kind_slot[kind] : (size_t)delay - GT_DAG_EDGE_KINDS + kind + 1;
}

static void number_slots(const struct gt_dag *dag, struct lags *lags) {
    for (size_t i = GT_DAG_EDGE_KINDS; i < dag->delay_count; i++)
        lags->kind_slot[dag->delays[i].kind + 1]++;
    for (size_t k = 0; k < GT_DAG_EDGE_KINDS; k++)
        lags->kind_slot[k + 1] += lags->kind_slot[k] + 1;
}

static uint32_t lag_of(const struct gt_dag_build *build, uint32_t id, const struct gt_dag_edge *edge) {
    int64_t lag_ns = gt_dag_build_lag_ns(build, id, edge);
    return lag_ns < 0 ? 0 : lag_ns > LAG_MOST ? LAG_MOST : (uint32_t)lag_ns;
}

/* The binding edge of a node if it has a delay, and the slot of that; NULL. */
static const struct gt_dag_edge *timed_binding(const struct gt_dag_build *build, const struct lags *lags, uint32_t id,
                                               size_t *slot) {
    const struct gt_dag_edge *edge = gt_dag_build_binding(build, id);
    if (!edge || !gt_dag_build_is_timed(edge->kind))
        return NULL;
    *slot = slot_of(lags, edge->kind, gt_dag_build_delay(build, edge->kind, gt_dag_build_class(build, id)));
    return edge;
}

/* Nodes that edges with delays lead to: ops, then returns. Gives the next one; false: there is none. */
static bool next_timed(const struct gt_dag_build *build, uint32_t *id) {
    size_t ops = build->store->ops.count, returns = ops + build->call_count;
    if (*id == ops)
        *id = (uint32_t)returns;
    while (*id >= returns && *id - returns < build->call_count && !build->calls[*id - returns].waits)
        ++*id;
    return *id < returns + build->call_count;
}

static bool collect_lags(const struct gt_dag_build *build, struct lags *lags) {
    size_t slots = build->dag->delay_count, slot, *next;
    const struct gt_dag_edge *edge;
    number_slots(build->dag, lags);
    lags->first = gt_mem_array(slots + 2, sizeof *lags->first);
    if (!lags->first)
        return false;
    next = lags->first + 1;
    for (uint32_t id = 0; next_timed(build, &id); id++)
        if ((edge = timed_binding(build, lags, id, &slot)))
            next[slot + 1]++;
    for (size_t i = 0; i < slots; i++)
        next[i + 1] += next[i];
    lags->ns = gt_mem_uninitialised(next[slots] + 1, sizeof *lags->ns);
    lags->spare = gt_mem_uninitialised(next[slots] + 1, sizeof *lags->spare);
    if (!lags->ns || !lags->spare)
        return false;
    for (uint32_t id = 0; next_timed(build, &id); id++)
        if ((edge = timed_binding(build, lags, id, &slot)))
            lags->ns[next[slot]++] = lag_of(build, id, edge);
    return true;
}

static void sort_few(uint32_t *ns, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint32_t own = ns[i];
        size_t at = i;
        for (; at > 0 && ns[at - 1] > own; at--)
            ns[at] = ns[at - 1];
        ns[at] = own;
    }
}

/* Two passes of a radix sort. */
static void sort_lags(uint32_t *ns, uint32_t *spare, size_t count) {
    uint32_t *from = ns, *to = spare;
    if (count <= FEW_LAGS) {
        sort_few(ns, count);
        return;
    }
    for (unsigned shift = 0; shift < 2 * LAG_DIGIT_BITS; shift += LAG_DIGIT_BITS) {
        size_t next[LAG_DIGITS + 1] = {0};
        for (size_t i = 0; i < count; i++)
            next[(from[i] >> shift & (LAG_DIGITS - 1)) + 1]++;
        for (size_t i = 1; i < LAG_DIGITS; i++)
            next[i] += next[i - 1];
        for (size_t i = 0; i < count; i++)
            to[next[from[i] >> shift & (LAG_DIGITS - 1)]++] = from[i];
        uint32_t *other = from;
        from = to;
        to = other;
    }
}

static void summarize(struct gt_dag_delay *delay, const struct lags *lags, size_t first, size_t last) {
    size_t count = last - first, within = 0;
    const uint32_t *ns = lags->ns + first;
    if (!count)
        return;
    sort_lags(lags->ns + first, lags->spare + first, count);
    int64_t median_ns = ns[(count - 1) / 2], sum_ns = 0;
    int64_t limit_ns = median_ns > GT_DAG_LATEST_NS ? GT_DAG_LATEST_NS : 4 * median_ns;
    limit_ns = limit_ns < GT_DAG_LATE_NS ? GT_DAG_LATE_NS : limit_ns;
    limit_ns = limit_ns > GT_DAG_LATEST_NS ? GT_DAG_LATEST_NS : limit_ns;
    while (within < count && ns[within] <= limit_ns)
        sum_ns += ns[within++];
    delay->count = count;
    delay->limit_ns = limit_ns;
    delay->typical_ns = within ? sum_ns / (int64_t)within : 0;
}

bool gt_dag_build_delays(struct gt_dag_build *build) {
    struct lags lags = {0};
    struct gt_dag *dag = build->dag;
    bool ok = list_delays(build) && collect_lags(build, &lags);
    for (size_t i = GT_DAG_EDGE_KINDS; i < dag->delay_count && ok; i++) {
        const size_t *first = &lags.first[slot_of(&lags, (uint8_t)dag->delays[i].kind, (uint16_t)i)];
        summarize(&dag->delays[i], &lags, first[0], first[1]);
    }
    for (size_t k = 0; k < GT_DAG_EDGE_KINDS && ok; k++)
        summarize(&dag->delays[k], &lags, lags.first[lags.kind_slot[k]], lags.first[lags.kind_slot[k + 1]]);
    gt_mem_free(lags.first);
    gt_mem_free(lags.ns);
    gt_mem_free(lags.spare);
    build->failed |= !ok;
    return ok;
}
