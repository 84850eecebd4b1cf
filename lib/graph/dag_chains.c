/* The edges of every node: in come those that only some nodes have and the chains that most of a trace consists of
   (what a thread did between its nodes, ops of a stream one after the other, launches), out go all edges by the node
   that they lead to. Edges that the recorded times deny are left out and counted. */
#include "base/mem.h"
#include "base/radix.h"
#include "graph/dag_build.h"

/* ---- the list of edges ---- */

/* Nodes come in the order of their ids, each with its edges. */
struct listing {
    struct gt_dag_build *build;
    const struct gt_radix_item *more; /* those that only some nodes have, by the node they lead to: index into edges */
    size_t more_count, next;

    /* The node whose edges are being listed. */
    uint32_t id, class;
    int64_t start_ns;
    int64_t latest_ns; /* when the last of its edges so far lets go; INT64_MIN: it has none */
    struct gt_dag_last last;
};

static bool order_more(struct gt_dag_build *build, struct gt_radix_item **out) {
    struct gt_radix_item *items = gt_mem_uninitialised(build->edge_count + 1, sizeof *items);
    for (uint32_t i = 0; i < build->edge_count && items; i++)
        items[i] = (struct gt_radix_item){build->edges[i].to, i};
    *out = items;
    build->failed |= !items || !gt_radix_sort(items, build->edge_count);
    return !build->failed;
}

static bool is_denied(uint8_t kind, int64_t release_ns, int64_t start_ns) {
    if (kind == GT_DAG_STREAM)
        return false;
    return gt_ns_between(start_ns, release_ns) > (kind == GT_DAG_SYNC ? GT_DAG_SKEW_NS : 0);
}

/* An edge to the node, from a time of the node that it comes from. `value` is CPU time, if the edge has any. */
static void list_edge(struct listing *listing, int64_t anchor_ns, struct gt_dag_edge edge) {
    struct gt_dag_build *build = listing->build;
    int64_t release_ns = gt_ns_add(anchor_ns, edge.value);
    if (is_denied(edge.kind, release_ns, listing->start_ns)) {
        build->dag->contradicting_count++;
        return;
    }
    if (!gt_dag_has_cpu((enum gt_dag_edge_kind)edge.kind, edge.flags))
        edge.value = gt_ns_between(release_ns, listing->start_ns);
    struct gt_dag_edge *listed = &build->node_edges[build->node_edge_count++];
    *listed = edge;
    listing->latest_ns = release_ns > listing->latest_ns ? release_ns : listing->latest_ns;
    gt_dag_build_weigh(build, listing->id, listing->class, listed, release_ns, &listing->last);
}

/* What other files have added for the node. */
static void list_more(struct listing *listing) {
    const struct gt_dag_build *build = listing->build;
    for (; listing->next < listing->more_count && listing->more[listing->next].key <= listing->id; listing->next++) {
        const struct gt_dag_raw_edge *edge = &build->edges[listing->more[listing->next].value];
        if (edge->to == listing->id)
            list_edge(listing,
                      edge->flags & GT_DAG_FROM_START ? gt_dag_build_start_ns(build, edge->from)
                                                      : gt_dag_build_end_ns(build, edge->from),
                      (struct gt_dag_edge){
                          .from = edge->from, .kind = edge->kind, .flags = edge->flags, .value = edge->cpu_ns});
    }
}

static void begin_node(struct listing *listing, uint32_t id, uint32_t class, int64_t start_ns) {
    listing->id = id;
    listing->class = class;
    listing->start_ns = start_ns;
    listing->latest_ns = INT64_MIN;
    listing->last = (struct gt_dag_last){0};
    list_more(listing);
}

static void end_node(struct listing *listing) {
    if (listing->last.edge)
        listing->last.edge->flags |= GT_DAG_BINDS;
    listing->build->first_edge[listing->id + 1] = (uint32_t)listing->build->node_edge_count;
}

/* ---- streams ---- */

static void list_stream(struct listing *listing, uint32_t from, uint8_t flags) {
    const struct gt_ops *ops = &listing->build->store->ops;
    list_edge(listing, flags & GT_DAG_FROM_START ? ops->start_ns[from] : ops->end_ns[from],
              (struct gt_dag_edge){.from = from, .kind = GT_DAG_STREAM, .flags = flags});
}

static bool is_one_launch(const struct gt_dag_build *build, uint32_t a, uint32_t b) {
    return build->op_call[a] != GT_DAG_NONE && build->op_call[a] == build->op_call[b] &&
           gt_dag_build_is_graph_node(build, a) && gt_dag_build_is_graph_node(build, b);
}

/* Nodes of a graph that ran side by side on one stream: the one before that ended last. */
static void list_graph_stream(struct listing *listing, const uint32_t *ops, size_t at) {
    const int64_t *start_ns = listing->build->store->ops.start_ns, *end_ns = listing->build->store->ops.end_ns;
    uint32_t found = GT_DAG_NONE;
    for (size_t back = 1; back <= GT_DAG_GRAPH_OPS && back <= at; back++) {
        uint32_t op = ops[at - back];
        if (end_ns[op] <= start_ns[ops[at]] && (found == GT_DAG_NONE || end_ns[op] > end_ns[found]))
            found = op;
    }
    if (found != GT_DAG_NONE)
        list_stream(listing, found, 0);
}

/* What an op waits for but for its launch. */
static void begin_op(struct listing *listing, uint32_t op) {
    const struct gt_dag_build *build = listing->build;
    const int64_t *start_ns = build->store->ops.start_ns, *end_ns = build->store->ops.end_ns;
    const struct gt_dag_stream *stream = &build->streams[build->op_stream[op]];
    const uint32_t *ops = build->stream_ops + stream->first;
    size_t at = build->op_place[op] - stream->first;
    begin_node(listing, op, build->op_class[op], start_ns[op]);
    if (!at)
        return;
    uint32_t from = ops[at - 1];
    if (end_ns[from] <= start_ns[op]) {
        list_stream(listing, from, 0);
    } else if (is_one_launch(build, from, op)) {
        list_graph_stream(listing, ops, at);
    } else { /* launched before the one before it had ended */
        list_stream(listing, from, GT_DAG_FROM_START);
        if (end_ns[from] < end_ns[op])
            list_stream(listing, from, 0);
    }
}

/* ---- launches ---- */

static gt_strid call_name(const struct gt_dag_build *build, const struct gt_dag_call *call) {
    return build->call_names[build->store->calls.name[call->row]].plain;
}

static bool starts_inside_call(const struct gt_dag_build *build, uint32_t op) {
    const struct gt_dag_call *call = build->op_call[op] == GT_DAG_NONE ? NULL : &build->calls[build->op_call[op]];
    int64_t start_ns = build->store->ops.start_ns[op];
    return call && start_ns < call->end_ns && start_ns >= call->start_ns;
}

/* Of an op that started inside its call: whether nothing but the call held it back. */
static bool is_free(const struct listing *listing, const struct gt_dag_call *call) {
    return listing->latest_ns <= call->start_ns;
}

/* Offsets of ops that started inside their calls with nothing else to hold them back, with the name of the call. */
static bool find_free(struct gt_dag_build *build, const struct listing *all, struct gt_radix_item **out,
                      size_t *count) {
    struct listing listing = *all;
    size_t inside = 0, denied = build->dag->contradicting_count;
    for (uint32_t op = 0; op < build->store->ops.count; op++)
        inside += starts_inside_call(build, op);
    *out = gt_mem_uninitialised(inside + 1, sizeof **out);
    *count = 0;
    for (uint32_t op = 0; op < build->store->ops.count && *out && inside; op++) {
        if (!starts_inside_call(build, op))
            continue;
        const struct gt_dag_call *call = &build->calls[build->op_call[op]];
        begin_op(&listing, op);
        build->node_edge_count = 0; /* they are listed again with the launch */
        if (is_free(&listing, call))
            (*out)[(*count)++] =
                (struct gt_radix_item){(uint64_t)(listing.start_ns - call->start_ns), call_name(build, call)};
    }
    build->dag->contradicting_count = denied;
    build->failed |= !*out;
    return !build->failed;
}

/* How long after the start of a call its op starts, by name of the call: lower medians, 0 where no op shows it. */
static int64_t *find_offsets(struct gt_dag_build *build, const struct listing *all) {
    struct gt_radix_item *offsets = NULL;
    size_t names = build->dag->names.count, count = 0;
    int64_t *usual_ns = gt_dag_build_array(build, names, sizeof *usual_ns);
    uint32_t *left = gt_dag_build_array(build, names, sizeof *left); /* up to the median, with it */
    if (!build->failed && find_free(build, all, &offsets, &count))
        build->failed |= !gt_radix_sort(offsets, count);
    for (size_t i = 0; i < count && !build->failed; i++)
        left[offsets[i].value]++;
    for (size_t i = 0; i < names && !build->failed; i++)
        left[i] = (left[i] + 1) / 2;
    for (size_t i = 0; i < count && !build->failed; i++) {
        gt_strid name = offsets[i].value;
        if (left[name] && !--left[name])
            usual_ns[name] = (int64_t)offsets[i].key;
    }
    gt_mem_free(offsets);
    return build->failed ? NULL : usual_ns;
}

static void list_launch(struct listing *listing, uint32_t op, const int64_t *usual_ns) {
    const struct gt_dag_build *build = listing->build;
    uint32_t index = build->op_call[op];
    if (index == GT_DAG_NONE)
        return;
    const struct gt_dag_call *call = &build->calls[index];
    if (listing->start_ns >= call->end_ns) {
        list_edge(listing, call->end_ns,
                  (struct gt_dag_edge){.from = gt_dag_build_return_id(build, index), .kind = GT_DAG_LAUNCH});
        return;
    }
    int64_t offset_ns = gt_ns_between(call->start_ns, listing->start_ns);
    bool is_own = starts_inside_call(build, op) && is_free(listing, call);
    if (!is_own && usual_ns[call_name(build, call)] < offset_ns)
        offset_ns = usual_ns[call_name(build, call)];
    list_edge(listing, call->start_ns,
              (struct gt_dag_edge){.from = gt_dag_build_begin_id(build, index),
                                   .kind = GT_DAG_LAUNCH,
                                   .flags = GT_DAG_FROM_START | GT_DAG_HAS_OFFSET,
                                   .value = offset_ns > 0 ? offset_ns : 0});
}

static bool list_ops(struct listing *listing) {
    const int64_t *usual_ns = find_offsets(listing->build, listing);
    for (uint32_t op = 0; op < listing->build->store->ops.count && usual_ns; op++) {
        begin_op(listing, op);
        list_launch(listing, op, usual_ns);
        end_node(listing);
    }
    return usual_ns;
}

/* ---- threads ---- */

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

/* What a thread did before the node; from: the node before it, which ends then; GT_DAG_NONE: there is none. */
static void list_think(struct listing *listing, uint32_t from, int64_t from_ns, bool is_awaited) {
    if (from == GT_DAG_NONE)
        return;
    list_edge(listing, from_ns,
              (struct gt_dag_edge){.from = from,
                                   .kind = is_awaited ? GT_DAG_ORDER : GT_DAG_THINK,
                                   .value = is_awaited ? 0 : gt_ns_between(from_ns, listing->start_ns)});
}

/* The calls of all threads, which have their ids in this order; what comes before each mark is kept for later. */
static void list_calls(struct listing *listing, const uint32_t *marks, uint32_t *before_mark) {
    const struct gt_dag_build *build = listing->build;
    size_t next = 0;
    for (uint32_t t = 0; t < build->thread_count; t++) {
        const struct gt_dag_thread *thread = &build->threads[t];
        uint32_t end = thread->first_call + thread->call_count, last = GT_DAG_NONE;
        int64_t last_ns = 0;
        for (uint32_t i = thread->first_call; i <= end; i++) {
            for (; next < build->mark_count && build->marks[marks[next]].thread == t; next++) {
                if (i < end && build->marks[marks[next]].time_ns > build->calls[i].start_ns)
                    break;
                before_mark[marks[next]] = last;
                last = gt_dag_build_mark_id(build, marks[next]);
                last_ns = build->marks[marks[next]].time_ns;
            }
            if (i == end)
                break;
            begin_node(listing, gt_dag_build_begin_id(build, i), GT_DAG_NONE, build->calls[i].start_ns);
            list_think(listing, last, last_ns, false);
            end_node(listing);
            last = gt_dag_build_return_id(build, i);
            last_ns = build->calls[i].end_ns;
        }
    }
}

static void list_returns(struct listing *listing) {
    struct gt_dag_build *build = listing->build;
    uint32_t first = (uint32_t)(build->store->ops.count + build->call_count);
    for (uint32_t i = 0; i < build->call_count; i++) {
        const struct gt_dag_call *call = &build->calls[i];
        build->first_edge[first + i + 1] = (uint32_t)build->node_edge_count;
        if (!call->waits)
            continue;
        begin_node(listing, first + i, gt_dag_build_class(build, first + i), call->end_ns);
        list_edge(listing, call->start_ns,
                  (struct gt_dag_edge){.from = gt_dag_build_begin_id(build, i), .kind = GT_DAG_OWN});
        end_node(listing);
    }
}

static void list_marks(struct listing *listing, const uint32_t *before_mark) {
    const struct gt_dag_build *build = listing->build;
    for (uint32_t i = 0; i < build->mark_count; i++) {
        uint32_t before = before_mark[i];
        begin_node(listing, gt_dag_build_mark_id(build, i), GT_DAG_NONE, build->marks[i].time_ns);
        list_think(listing, before, before == GT_DAG_NONE ? 0 : gt_dag_build_end_ns(build, before),
                   build->marks[i].is_awaited);
        end_node(listing);
    }
}

static void list_points(struct listing *listing) {
    const struct gt_dag_build *build = listing->build;
    for (uint32_t i = 0; i < build->point_count; i++) {
        begin_node(listing, gt_dag_build_point_id(build, i), GT_DAG_NONE, build->points[i].time_ns);
        end_node(listing);
    }
}

/* ---- all of them ---- */

/* Room for as many as there can be. What is not used costs nothing: nobody touches it. */
static bool make_room(struct gt_dag_build *build) {
    build->id_count = build->store->ops.count + 2 * build->call_count + build->mark_count + build->point_count;
    size_t most = build->edge_count + 3 * build->store->ops.count + 2 * build->call_count + build->mark_count;
    if (most >= GT_DAG_NONE - 1)
        return false;
    build->node_edges = gt_mem_uninitialised(most + 1, sizeof *build->node_edges);
    build->first_edge = gt_dag_build_array(build, build->id_count + 1, sizeof *build->first_edge);
    return build->node_edges && !build->failed;
}

bool gt_dag_build_chains(struct gt_dag_build *build) {
    struct listing listing = {.build = build, .more_count = build->edge_count};
    struct gt_radix_item *more = NULL;
    uint32_t *before_mark = gt_dag_build_array(build, build->mark_count, sizeof *before_mark);
    const uint32_t *marks = order_marks(build);
    bool ok = marks && gt_dag_build_classes(build) && make_room(build) && order_more(build, &more);
    listing.more = more;
    ok = ok && list_ops(&listing);
    if (ok) {
        list_calls(&listing, marks, before_mark);
        list_returns(&listing);
        list_marks(&listing, before_mark);
        list_points(&listing);
    }
    gt_mem_free(more);
    build->failed |= !ok;
    return ok;
}
