/* The chains that most of a trace consists of: what a thread did between its nodes, ops of a stream one after the
   other, and launches. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/dag_build.h"

/* ---- times of all nodes ---- */

static bool set_times(struct gt_dag_build *build) {
    const struct gt_ops *ops = &build->store->ops;
    build->id_count = ops->count + 2 * build->call_count + build->mark_count + build->point_count;
    build->start_ns = gt_dag_build_array(build, build->id_count, sizeof *build->start_ns);
    build->end_ns = gt_dag_build_array(build, build->id_count, sizeof *build->end_ns);
    build->bind = gt_dag_build_array(build, build->id_count, sizeof *build->bind);
    if (build->failed)
        return false;
    if (ops->count) {
        memcpy(build->start_ns, ops->start_ns, ops->count * sizeof *build->start_ns);
        memcpy(build->end_ns, ops->end_ns, ops->count * sizeof *build->end_ns);
    }
    for (uint32_t i = 0; i < build->call_count; i++) {
        const struct gt_dag_call *call = &build->calls[i];
        uint32_t id = gt_dag_build_begin_id(build, i);
        build->start_ns[id] = call->start_ns;
        build->end_ns[id] = call->waits ? call->start_ns : call->end_ns;
        build->start_ns[id + 1] = build->end_ns[id + 1] = call->end_ns;
    }
    for (uint32_t i = 0; i < build->mark_count; i++) {
        uint32_t id = gt_dag_build_mark_id(build, i);
        build->start_ns[id] = build->end_ns[id] = build->marks[i].time_ns;
    }
    for (uint32_t i = 0; i < build->point_count; i++) {
        uint32_t id = gt_dag_build_point_id(build, i);
        build->start_ns[id] = build->end_ns[id] = build->points[i].time_ns;
    }
    return true;
}

/* ---- threads ---- */

struct chain {
    struct gt_dag_build *build;
    uint32_t last; /* node; GT_DAG_NONE: none yet */
};

static void follow(struct chain *chain, uint32_t id, bool is_awaited) {
    struct gt_dag_build *build = chain->build;
    if (chain->last != GT_DAG_NONE) {
        int64_t gap_ns = gt_ns_between(build->end_ns[chain->last], build->start_ns[id]);
        gt_dag_build_edge(build, &(struct gt_dag_raw_edge){.from = chain->last,
                                                           .to = id,
                                                           .cpu_ns = is_awaited ? 0 : gap_ns,
                                                           .kind = is_awaited ? GT_DAG_ORDER : GT_DAG_THINK});
    }
    chain->last = id;
}

static void follow_call(struct chain *chain, uint32_t call) {
    struct gt_dag_build *build = chain->build;
    uint32_t begin = gt_dag_build_begin_id(build, call);
    follow(chain, begin, false);
    if (!build->calls[call].waits)
        return;
    gt_dag_build_edge(build, &(struct gt_dag_raw_edge){.from = begin, .to = begin + 1, .kind = GT_DAG_OWN});
    chain->last = begin + 1;
}

/* Marks by thread and time. */
static uint32_t *order_marks(struct gt_dag_build *build) {
    uint32_t *marks = gt_dag_build_array(build, build->mark_count, sizeof *marks);
    int64_t *time_ns = gt_dag_build_array(build, build->mark_count, sizeof *time_ns);
    uint32_t *thread = gt_dag_build_array(build, build->mark_count, sizeof *thread);
    for (uint32_t i = 0; i < build->mark_count && !build->failed; i++) {
        marks[i] = i;
        time_ns[i] = build->marks[i].time_ns;
        thread[i] = build->marks[i].thread;
    }
    bool ok = !build->failed && gt_dag_build_sort(build, marks, build->mark_count, time_ns) &&
              gt_dag_build_group(build, marks, build->mark_count, thread, build->thread_count);
    return ok ? marks : NULL;
}

static bool chain_threads(struct gt_dag_build *build) {
    const uint32_t *marks = order_marks(build);
    size_t next = 0;
    for (uint32_t t = 0; t < build->thread_count && marks; t++) {
        const struct gt_dag_thread *thread = &build->threads[t];
        struct chain chain = {.build = build, .last = GT_DAG_NONE};
        for (uint32_t i = thread->first_call; i <= thread->first_call + thread->call_count; i++) {
            bool is_end = i == thread->first_call + thread->call_count;
            for (; next < build->mark_count; next++) {
                const struct gt_dag_mark *mark = &build->marks[marks[next]];
                if (mark->thread != t || (!is_end && mark->time_ns > build->calls[i].start_ns))
                    break;
                follow(&chain, gt_dag_build_mark_id(build, marks[next]), mark->is_awaited);
            }
            if (!is_end)
                follow_call(&chain, i);
        }
    }
    return marks && !build->failed;
}

/* ---- streams ---- */

static void add_stream(struct gt_dag_build *build, uint32_t from, uint32_t to, uint8_t flags) {
    gt_dag_build_edge(build, &(struct gt_dag_raw_edge){.from = from, .to = to, .kind = GT_DAG_STREAM, .flags = flags});
}

static bool is_one_launch(const struct gt_dag_build *build, uint32_t a, uint32_t b) {
    return build->op_call[a] != GT_DAG_NONE && build->op_call[a] == build->op_call[b] &&
           gt_dag_build_is_graph_node(build, a) && gt_dag_build_is_graph_node(build, b);
}

/* Nodes of a graph that ran side by side on one stream: the one before that ended last. */
static void add_graph_stream(struct gt_dag_build *build, const uint32_t *ops, size_t at) {
    const int64_t *start_ns = build->start_ns, *end_ns = build->end_ns;
    uint32_t found = GT_DAG_NONE;
    for (size_t back = 1; back <= GT_DAG_GRAPH_OPS && back <= at; back++) {
        uint32_t op = ops[at - back];
        if (end_ns[op] <= start_ns[ops[at]] && (found == GT_DAG_NONE || end_ns[op] > end_ns[found]))
            found = op;
    }
    if (found != GT_DAG_NONE)
        add_stream(build, found, ops[at], 0);
}

static void chain_streams(struct gt_dag_build *build) {
    const int64_t *start_ns = build->start_ns, *end_ns = build->end_ns;
    for (size_t s = 0; s < build->stream_count; s++) {
        const uint32_t *ops = build->stream_ops + build->streams[s].first;
        for (size_t i = 1; i < build->streams[s].count; i++) {
            uint32_t from = ops[i - 1], to = ops[i];
            if (end_ns[from] <= start_ns[to]) {
                add_stream(build, from, to, 0);
            } else if (is_one_launch(build, from, to)) {
                add_graph_stream(build, ops, i);
            } else { /* launched before the one before it had ended */
                add_stream(build, from, to, GT_DAG_FROM_START);
                if (end_ns[from] < end_ns[to])
                    add_stream(build, from, to, 0);
            }
        }
    }
}

/* ---- launches ---- */

struct offset {
    gt_strid name;
    int64_t ns;
};

static int by_name(const void *a, const void *b) {
    const struct offset *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

static gt_strid call_name(const struct gt_dag_build *build, const struct gt_dag_call *call) {
    return build->call_names[build->store->calls.name[call->row]].plain;
}

/* Whether the op started inside its call and nothing but the call held it back. */
static bool is_free(const struct gt_dag_build *build, uint32_t op, const int64_t *release_ns) {
    const struct gt_dag_call *call = &build->calls[build->op_call[op]];
    return build->start_ns[op] < call->end_ns && build->start_ns[op] >= call->start_ns &&
           release_ns[op] <= call->start_ns;
}

/* By op: when the last of its edges so far lets go. */
static int64_t *find_releases(struct gt_dag_build *build) {
    size_t count = build->store->ops.count;
    int64_t *release_ns = gt_dag_build_array(build, count, sizeof *release_ns);
    for (size_t i = 0; i < count && release_ns; i++)
        release_ns[i] = INT64_MIN;
    for (size_t i = 0; i < build->edge_count && release_ns; i++) {
        const struct gt_dag_raw_edge *edge = &build->edges[i];
        if (edge->to >= count)
            continue;
        int64_t at_ns = edge->flags & GT_DAG_FROM_START ? build->start_ns[edge->from] : build->end_ns[edge->from];
        bool is_denied = edge->kind != GT_DAG_STREAM && at_ns > build->start_ns[edge->to];
        if (!is_denied && at_ns > release_ns[edge->to])
            release_ns[edge->to] = at_ns;
    }
    return release_ns;
}

/* How long after the start of a call its op starts, by name of the call: lower medians, -1 where no op shows it. */
static int64_t *find_offsets(struct gt_dag_build *build, const int64_t *release_ns) {
    size_t ops = build->store->ops.count, count = 0;
    int64_t *usual_ns = gt_dag_build_array(build, build->dag->names.count, sizeof *usual_ns);
    for (uint32_t op = 0; op < ops; op++)
        count += build->op_call[op] != GT_DAG_NONE && is_free(build, op, release_ns);
    struct offset *offsets = gt_mem_uninitialised(count + 1, sizeof *offsets);
    build->failed |= !offsets;
    if (build->failed) {
        gt_mem_free(offsets);
        return NULL;
    }
    count = 0;
    for (uint32_t op = 0; op < ops; op++)
        if (build->op_call[op] != GT_DAG_NONE && is_free(build, op, release_ns)) {
            const struct gt_dag_call *call = &build->calls[build->op_call[op]];
            offsets[count++] = (struct offset){call_name(build, call), build->start_ns[op] - call->start_ns};
        }
    qsort(offsets, count, sizeof *offsets, by_name);
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && offsets[last].name == offsets[first].name;)
            last++;
        usual_ns[offsets[first].name] = offsets[first + (last - first - 1) / 2].ns;
    }
    gt_mem_free(offsets);
    return usual_ns;
}

static bool chain_launches(struct gt_dag_build *build) {
    const int64_t *release_ns = find_releases(build);
    const int64_t *usual_ns = release_ns ? find_offsets(build, release_ns) : NULL;
    for (uint32_t op = 0; op < build->store->ops.count && usual_ns; op++) {
        uint32_t index = build->op_call[op];
        if (index == GT_DAG_NONE)
            continue;
        const struct gt_dag_call *call = &build->calls[index];
        struct gt_dag_raw_edge edge = {.from = gt_dag_build_return_id(build, index), .to = op, .kind = GT_DAG_LAUNCH};
        if (build->start_ns[op] < call->end_ns) {
            int64_t offset_ns = gt_ns_between(call->start_ns, build->start_ns[op]);
            if (!is_free(build, op, release_ns) && usual_ns[call_name(build, call)] < offset_ns)
                offset_ns = usual_ns[call_name(build, call)];
            edge.from = gt_dag_build_begin_id(build, index);
            edge.cpu_ns = offset_ns > 0 ? offset_ns : 0;
            edge.flags = GT_DAG_FROM_START | GT_DAG_HAS_OFFSET;
        }
        gt_dag_build_edge(build, &edge);
    }
    return usual_ns && !build->failed;
}

bool gt_dag_build_chains(struct gt_dag_build *build) {
    if (!set_times(build) || !chain_threads(build))
        return false;
    chain_streams(build);
    return chain_launches(build);
}
