/* What let each node begin: in come the edges of nodes, out go the edge of each that lets go last, and how long such
   edges usually take. */
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

/* An op cannot have waited for what lets go only once it has ended. */
void gt_dag_build_weigh(struct gt_dag_build *build, uint32_t id, uint32_t class, struct gt_dag_edge *edge,
                        int64_t release_ns, struct gt_dag_last *last) {
    const struct gt_ops *ops = &build->store->ops;
    if (class != GT_DAG_NONE && gt_dag_build_is_timed(edge->kind))
        build->has_delay[edge->kind * build->class_count + class] = true;
    if (id < ops->count && release_ns > ops->start_ns[id] && release_ns >= ops->end_ns[id])
        return;
    if (!last->edge || release_ns > last->release_ns ||
        (release_ns == last->release_ns && is_before(build, edge, last->edge)))
        *last = (struct gt_dag_last){edge, release_ns};
}

void gt_dag_build_bind(struct gt_dag_build *build, uint32_t id) {
    struct gt_dag_last last = {0};
    uint32_t class = gt_dag_build_class(build, id);
    for (uint32_t i = build->first_edge[id]; i < build->first_edge[id + 1]; i++) {
        struct gt_dag_edge *edge = &build->node_edges[i];
        edge->flags &= (uint8_t)~GT_DAG_BINDS;
        gt_dag_build_weigh(build, id, class, edge, gt_dag_build_release_ns(build, edge), &last);
    }
    if (last.edge)
        last.edge->flags |= GT_DAG_BINDS;
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
    build->delay_index = gt_dag_build_array(build, GT_DAG_EDGE_KINDS * build->class_count, sizeof(uint16_t));
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
        build->delay_index[i] =
            (uint16_t)(build->has_delay[i] && count <= UINT16_MAX ? count++ : i / build->class_count);
    gt_mem_free(dag->delays);
    dag->delays = gt_mem_array(count, sizeof *dag->delays);
    dag->delay_count = count;
    build->failed |= !dag->delays;
    for (size_t k = 0; k < GT_DAG_EDGE_KINDS && dag->delays; k++)
        dag->delays[k] = (struct gt_dag_delay){.kind = (enum gt_dag_edge_kind)k};
    for (size_t i = 0; i < pairs && dag->delays; i++)
        if (build->delay_index[i] >= GT_DAG_EDGE_KINDS)
            dag->delays[build->delay_index[i]] =
                (struct gt_dag_delay){.kind = (enum gt_dag_edge_kind)(i / build->class_count),
                                      .class_name = class_name(build, (uint32_t)(i % build->class_count))};
    return !build->failed;
}

/* Lags of binding edges, cut where they are above every limit: those of a kind next to each other, first the ones
   without a delay of their own class, then class by class. */
struct lags {
    uint32_t *ns;
    size_t *first; /* by slot: see slot_of() */
    size_t kind_slot[GT_DAG_EDGE_KINDS + 1];
};
struct lag {
    uint32_t slot, ns;
};
enum { LAG_DIGIT_BITS = 9, LAG_DIGITS = 1 << LAG_DIGIT_BITS, LAG_MOST = LAG_DIGITS * LAG_DIGITS - 1 };
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

/* The lag of a node whose binding edge has a delay; returns how many that are. */
static size_t note_lag(const struct gt_dag_build *build, const struct lags *lags, uint32_t id, struct lag *noted) {
    const struct gt_dag_edge *edge = gt_dag_build_binding(build, id);
    if (!edge || !gt_dag_build_is_timed(edge->kind))
        return 0;
    size_t slot = slot_of(lags, edge->kind, gt_dag_build_delay(build, edge->kind, id));
    *noted = (struct lag){(uint32_t)slot, lag_of(build, id, edge)};
    return 1;
}

/* Edges with delays lead to ops and to returns. */
static size_t note_lags(const struct gt_dag_build *build, const struct lags *lags, struct lag *noted) {
    size_t count = 0;
    for (uint32_t op = 0; op < build->store->ops.count; op++)
        count += note_lag(build, lags, op, noted + count);
    for (uint32_t call = 0; call < build->call_count; call++)
        if (build->calls[call].waits)
            count += note_lag(build, lags, gt_dag_build_return_id(build, call), noted + count);
    return count;
}

static void group_lags(struct lags *lags, size_t slots, const struct lag *noted, size_t count) {
    size_t *next = lags->first + 1;
    for (size_t i = 0; i < count; i++)
        next[noted[i].slot + 1]++;
    for (size_t i = 0; i < slots; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < count; i++)
        lags->ns[next[noted[i].slot]++] = noted[i].ns;
}

static bool collect_lags(const struct gt_dag_build *build, struct lags *lags) {
    size_t slots = build->dag->delay_count, most = build->store->ops.count + build->call_count;
    number_slots(build->dag, lags);
    struct lag *noted = gt_mem_uninitialised(most + 1, sizeof *noted);
    lags->ns = gt_mem_uninitialised(most + 1, sizeof *lags->ns);
    lags->first = gt_mem_array(slots + 2, sizeof *lags->first);
    bool ok = noted && lags->ns && lags->first;
    if (ok)
        group_lags(lags, slots, noted, note_lags(build, lags, noted));
    gt_mem_free(noted);
    return ok;
}

/* The digit of the lag with a rank, and its rank among those with the same digit. */
static uint32_t find_digit(const size_t counts[LAG_DIGITS], size_t *rank) {
    uint32_t digit = 0;
    while (*rank >= counts[digit])
        *rank -= counts[digit++];
    return digit;
}

/* The lower median, digit by digit. */
static uint32_t find_median(const uint32_t *ns, size_t count) {
    size_t upper[LAG_DIGITS] = {0}, lower[LAG_DIGITS] = {0}, rank = (count - 1) / 2;
    for (size_t i = 0; i < count; i++)
        upper[ns[i] >> LAG_DIGIT_BITS]++;
    uint32_t digit = find_digit(upper, &rank);
    for (size_t i = 0; i < count; i++)
        lower[ns[i] & (LAG_DIGITS - 1)] += ns[i] >> LAG_DIGIT_BITS == digit;
    return digit << LAG_DIGIT_BITS | find_digit(lower, &rank);
}

static void summarize(struct gt_dag_delay *delay, const uint32_t *ns, size_t count) {
    if (!count)
        return;
    int64_t limit_ns = 4 * (int64_t)find_median(ns, count), within = 0, sum_ns = 0;
    limit_ns = limit_ns < GT_DAG_LATE_NS ? GT_DAG_LATE_NS : limit_ns;
    limit_ns = limit_ns > GT_DAG_LATEST_NS ? GT_DAG_LATEST_NS : limit_ns;
    for (size_t i = 0; i < count; i++) {
        bool is_within = ns[i] <= limit_ns;
        within += is_within;
        sum_ns += is_within ? ns[i] : 0;
    }
    delay->count = count;
    delay->limit_ns = limit_ns;
    delay->typical_ns = within ? sum_ns / within : 0;
}

bool gt_dag_build_delays(struct gt_dag_build *build) {
    struct lags lags = {0};
    struct gt_dag *dag = build->dag;
    bool ok = list_delays(build) && collect_lags(build, &lags);
    for (size_t i = 0; i < dag->delay_count && ok; i++) {
        size_t slot = slot_of(&lags, (uint8_t)dag->delays[i].kind, (uint16_t)i);
        size_t end = i < GT_DAG_EDGE_KINDS ? lags.kind_slot[i + 1] : slot + 1;
        summarize(&dag->delays[i], lags.ns + lags.first[slot], lags.first[end] - lags.first[slot]);
    }
    gt_mem_free(lags.first);
    gt_mem_free(lags.ns);
    build->failed |= !ok;
    return ok;
}
