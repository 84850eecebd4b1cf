/* What let each node begin: in come all edges, out go the edge of each node that let go last, and how long such edges
   usually take. Edges that the recorded times deny are left out and counted. */
#include "base/mem.h"
#include "base/radix.h"
#include "graph/dag_build.h"

/* ---- the binding edge ---- */

int64_t gt_dag_build_release_ns(const struct gt_dag_build *build, const struct gt_dag_raw_edge *edge) {
    int64_t anchor_ns = edge->flags & GT_DAG_FROM_START ? build->start_ns[edge->from] : build->end_ns[edge->from];
    return gt_ns_add(anchor_ns, edge->cpu_ns);
}

static bool is_denied(const struct gt_dag_build *build, const struct gt_dag_raw_edge *edge) {
    int64_t late_ns = gt_ns_between(build->start_ns[edge->to], gt_dag_build_release_ns(build, edge));
    if (edge->kind == GT_DAG_STREAM)
        return false;
    return late_ns > (edge->kind == GT_DAG_SYNC ? GT_DAG_SKEW_NS : 0);
}

static void drop_denied(struct gt_dag_build *build) {
    size_t kept = 0;
    for (size_t i = 0; i < build->edge_count; i++)
        if (!is_denied(build, &build->edges[i]))
            build->edges[kept++] = build->edges[i];
    build->dag->contradicting_count += build->edge_count - kept;
    build->edge_count = kept;
}

/* Of edges that let go at the same time, work on the GPU counts before work on the CPU. */
static int rank(uint8_t kind) {
    static const uint8_t ranks[GT_DAG_EDGE_KINDS] = {
        [GT_DAG_STREAM] = 3, [GT_DAG_SYNC] = 3,   [GT_DAG_EVENT] = 2,
        [GT_DAG_ROOM] = 2,   [GT_DAG_LAUNCH] = 1, [GT_DAG_HANDOVER] = 1,
    };
    return ranks[kind];
}

static bool can_bind(const struct gt_dag_build *build, const struct gt_dag_raw_edge *edge, int64_t release_ns) {
    bool is_op = edge->to < build->store->ops.count;
    return !is_op || release_ns <= build->start_ns[edge->to] || release_ns < build->end_ns[edge->to];
}

static bool is_later(const struct gt_dag_build *build, const struct gt_dag_raw_edge *edge, int64_t release_ns,
                     const struct gt_dag_raw_edge *than) {
    int64_t than_ns = gt_dag_build_release_ns(build, than);
    if (release_ns != than_ns)
        return release_ns > than_ns;
    if (rank(edge->kind) != rank(than->kind))
        return rank(edge->kind) > rank(than->kind);
    return build->start_ns[edge->from] > build->start_ns[than->from];
}

static void bind(struct gt_dag_build *build) {
    for (size_t i = 0; i < build->id_count; i++)
        build->bind[i] = GT_DAG_NONE;
    for (size_t i = 0; i < build->edge_count; i++) {
        const struct gt_dag_raw_edge *edge = &build->edges[i];
        int64_t release_ns = gt_dag_build_release_ns(build, edge);
        uint32_t *best = &build->bind[edge->to];
        if (can_bind(build, edge, release_ns) &&
            (*best == GT_DAG_NONE || is_later(build, edge, release_ns, &build->edges[*best])))
            *best = (uint32_t)i;
    }
}

/* ---- delays ---- */

enum op_class { CLASS_KERNEL, CLASS_MEMCPY, CLASS_MEMSET, CLASS_GRAPH, CLASS_NODE, OP_CLASSES };
static const struct gt_str op_class_names[OP_CLASSES] = {
    [CLASS_KERNEL] = GT_STR("kernel"), [CLASS_MEMCPY] = GT_STR("memcpy"), [CLASS_MEMSET] = GT_STR("memset"),
    [CLASS_GRAPH] = GT_STR("graph"),   [CLASS_NODE] = GT_STR("node"),
};

static bool has_delay(const struct gt_dag_build *build, const struct gt_dag_raw_edge *edge) {
    bool is_timed = edge->kind != GT_DAG_THINK && edge->kind != GT_DAG_ORDER && edge->kind != GT_DAG_HANDOVER;
    return is_timed && edge->to < build->store->ops.count + 2 * build->call_count;
}

/* The class of a node that edges with delays lead to: names of calls follow the classes of ops. */
static uint32_t class_of(const struct gt_dag_build *build, uint32_t id) {
    const struct gt_ops *ops = &build->store->ops;
    if (id >= ops->count) {
        const struct gt_dag_call *call = &build->calls[(id - ops->count) / 2];
        return OP_CLASSES + build->call_names[build->store->calls.name[call->row]].plain;
    }
    if (gt_dag_build_is_graph_node(build, id))
        return CLASS_NODE;
    return ops->kind[id] <= GT_OP_GRAPH ? ops->kind[id] : CLASS_KERNEL;
}

uint16_t gt_dag_build_delay(const struct gt_dag_build *build, const struct gt_dag_raw_edge *edge) {
    if (!has_delay(build, edge))
        return edge->kind;
    uint32_t found = build->delay_index[(size_t)edge->kind * build->class_count + class_of(build, edge->to)];
    return found ? (uint16_t)found : edge->kind;
}

static bool explains(const struct gt_dag_build *build, uint8_t kind, uint32_t id) {
    return kind != GT_DAG_OWN || build->calls[(id - build->store->ops.count) / 2].role & GT_DAG_SYNCS;
}

static struct gt_str class_name(const struct gt_dag_build *build, uint32_t class) {
    return class < OP_CLASSES ? op_class_names[class] : gt_strtab_get(&build->dag->names, class - OP_CLASSES);
}

/* A delay for each kind, and for each kind and class that some edge has. */
static bool list_delays(struct gt_dag_build *build) {
    struct gt_dag *dag = build->dag;
    size_t count = GT_DAG_EDGE_KINDS;
    build->class_count = OP_CLASSES + dag->names.count;
    uint32_t *index = build->delay_index =
        gt_dag_build_array(build, GT_DAG_EDGE_KINDS * build->class_count, sizeof *index);
    if (!index)
        return false;
    for (size_t i = 0; i < build->edge_count; i++) {
        const struct gt_dag_raw_edge *edge = &build->edges[i];
        if (!has_delay(build, edge))
            continue;
        uint32_t *own = &index[(size_t)edge->kind * build->class_count + class_of(build, edge->to)];
        if (!*own && count <= UINT16_MAX)
            *own = (uint32_t)count++;
    }
    gt_mem_free(dag->delays);
    dag->delays = gt_mem_array(count, sizeof *dag->delays);
    dag->delay_count = count;
    for (size_t k = 0; k < GT_DAG_EDGE_KINDS && dag->delays; k++) {
        dag->delays[k].kind = (enum gt_dag_edge_kind)k;
        dag->delays[k].explains = k != GT_DAG_OWN;
        for (uint32_t c = 0; c < build->class_count; c++)
            if (index[k * build->class_count + c])
                dag->delays[index[k * build->class_count + c]] = (struct gt_dag_delay){
                    .kind = (enum gt_dag_edge_kind)k, .class_name = class_name(build, c), .explains = true};
    }
    build->failed |= !dag->delays;
    return !build->failed;
}

/* Lags of one delay, sorted. */
static void summarize(struct gt_dag_delay *delay, const struct gt_radix_item *items, size_t count, uint64_t mask) {
    int64_t median_ns = (int64_t)(items[(count - 1) / 2].key & mask);
    int64_t limit_ns = median_ns > GT_DAG_LATEST_NS ? GT_DAG_LATEST_NS : 4 * median_ns;
    limit_ns = limit_ns < GT_DAG_LATE_NS ? GT_DAG_LATE_NS : limit_ns;
    limit_ns = limit_ns > GT_DAG_LATEST_NS ? GT_DAG_LATEST_NS : limit_ns;
    int64_t sum_ns = 0, within = 0;
    while ((size_t)within < count && (int64_t)(items[within].key & mask) <= limit_ns)
        sum_ns += (int64_t)(items[within++].key & mask);
    delay->count = count;
    delay->limit_ns = limit_ns;
    delay->typical_ns = within ? sum_ns / within : 0;
}

enum { LAG_BITS = 40 }; /* longer ones are far above every limit */

static int64_t lag_of(const struct gt_dag_build *build, uint32_t id) {
    return gt_ns_between(gt_dag_build_release_ns(build, &build->edges[build->bind[id]]), build->start_ns[id]);
}

/* Lags of binding edges, sorted by delay or by kind; then a summary of each run. */
static bool summarize_all(struct gt_dag_build *build, struct gt_radix_item *items, size_t count, bool by_kind) {
    const uint64_t mask = ((uint64_t)1 << LAG_BITS) - 1;
    for (size_t i = 0; i < count; i++) {
        const struct gt_dag_raw_edge *edge = &build->edges[build->bind[items[i].value]];
        int64_t lag_ns = lag_of(build, items[i].value);
        uint64_t lag = lag_ns < 0 ? 0 : (uint64_t)lag_ns > mask ? mask : (uint64_t)lag_ns;
        uint64_t group = by_kind ? edge->kind : gt_dag_build_delay(build, edge);
        items[i].key = group << LAG_BITS | lag;
    }
    if (!gt_radix_sort(items, count))
        return false;
    for (size_t first = 0, last; first < count; first = last) {
        uint64_t group = items[first].key >> LAG_BITS;
        for (last = first; last < count && items[last].key >> LAG_BITS == group;)
            last++;
        summarize(&build->dag->delays[group], items + first, last - first, mask);
    }
    return true;
}

static bool find_delays(struct gt_dag_build *build) {
    size_t count = 0;
    struct gt_radix_item *items = gt_mem_uninitialised(build->id_count + 1, sizeof *items);
    for (uint32_t id = 0; id < build->id_count && items; id++)
        if (build->bind[id] != GT_DAG_NONE && has_delay(build, &build->edges[build->bind[id]]))
            items[count++] = (struct gt_radix_item){0, id};
    bool ok = items && summarize_all(build, items, count, false) && summarize_all(build, items, count, true);
    gt_mem_free(items);
    build->failed |= !ok;
    return ok;
}

bool gt_dag_build_is_unexplained(const struct gt_dag_build *build, uint32_t id) {
    if (build->bind[id] == GT_DAG_NONE)
        return false;
    const struct gt_dag_raw_edge *edge = &build->edges[build->bind[id]];
    return has_delay(build, edge) && explains(build, edge->kind, id) &&
           lag_of(build, id) > build->dag->delays[gt_dag_build_delay(build, edge)].limit_ns;
}

bool gt_dag_build_bind(struct gt_dag_build *build) {
    drop_denied(build);
    bind(build);
    return list_delays(build) && find_delays(build);
}
