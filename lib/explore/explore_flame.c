/* Flame graphs: GPU time, or idle time, by the code around the launch. The time of an op belongs to the stack of its
   launch call, that of a gap to the stack of the launch of the op that ended it. */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/ns.h"
#include "base/radix.h"
#include "explore/model.h"
#include "write/escape.h"

/* Half of what an answer may have: each node that is kept may have another one for those below it that are not. */
enum { NODES_MAX = 10000, LEVELS_MAX = 256 };

struct node {
    gt_strid name;
    uint32_t parent;
    int64_t own_ns, total_ns;
    uint64_t count;    /* with all below */
    int64_t others_ns; /* of children that are not shown */
    uint64_t others;   /* ops or gaps of them */
    uint32_t number;   /* in the answer; UINT32_MAX: it is not shown */
};

/* Time of one op or gap. */
struct share {
    uint32_t call;
    int64_t ns;
};

/* Along the lane of one level of a thread. */
struct cursor {
    const struct gt_model_lane *lane;
    size_t next;    /* the first span that starts later */
    uint32_t node;  /* of the span before it under `under` */
    uint32_t under; /* UINT32_MAX: none is known */
    size_t node_of; /* which span that was */
};

struct burning {
    const struct gt_explore *explore;
    const struct gt_explore_flame *flame;
    enum gt_timeline_kind kind; /* of the code */
    struct share *shares;
    size_t share_count, share_capacity;
    struct node *nodes; /* each after its parent; the first is that of all */
    size_t node_count, node_capacity;
    struct gt_map ids; /* of nodes by parent and name */
    bool has_failed;
};

/* ---- what burns ---- */

static void add_share(struct burning *it, uint32_t call, int64_t ns) {
    struct share *grown = gt_mem_room(it->shares, it->share_count, &it->share_capacity, sizeof *grown);
    if (!grown) {
        it->has_failed = true;
        return;
    }
    it->shares = grown;
    it->shares[it->share_count++] = (struct share){call, ns};
}

static void add_span(struct burning *it, const struct gt_model_lane *lane, size_t span) {
    struct gt_interval times = gt_model_times(it->explore, lane->row.kind, span);
    int64_t start_ns = times.start_ns > it->flame->from_ns ? times.start_ns : it->flame->from_ns;
    int64_t end_ns = times.end_ns < it->flame->to_ns ? times.end_ns : it->flame->to_ns;
    uint32_t op = gt_model_row(it->explore, lane->row.kind, span);
    if (lane->row.kind == GT_TIMELINE_GAPS)
        op = gt_idle_lanes_gap(&it->explore->idle, span).next;
    if (end_ns > start_ns)
        add_share(it, op == GT_NO_ROW ? GT_NO_ROW : it->explore->trace.labels->op_call[op],
                  gt_ns_between(start_ns, end_ns));
}

static void add_lane(struct burning *it, const struct gt_model_lane *lane) {
    const struct gt_pyramid *pyramid = &lane->pyramid;
    size_t first = gt_pyramid_find(pyramid, lane->spans, it->flame->from_ns);
    size_t end = gt_pyramid_find(pyramid, lane->spans, it->flame->to_ns), open = first;
    while ((open = gt_pyramid_find_open(pyramid, lane->spans, open, it->flame->from_ns)) != SIZE_MAX)
        add_span(it, lane, pyramid->row.first + open);
    for (size_t i = first; i < end && !it->has_failed; i++)
        add_span(it, lane, pyramid->row.first + i);
}

/* ---- nodes ---- */

static uint32_t child_of(struct burning *it, uint32_t parent, gt_strid name) {
    uint32_t next = (uint32_t)it->node_count, found = gt_map_put_if_new(&it->ids, parent, name, next);
    if (it->ids.failed) {
        it->has_failed = true;
        return 0;
    }
    if (found != next)
        return found;
    struct node *grown = gt_mem_room(it->nodes, it->node_count, &it->node_capacity, sizeof *grown);
    if (!grown) {
        it->has_failed = true;
        return 0;
    }
    it->nodes = grown;
    it->nodes[it->node_count++] = (struct node){.name = name, .parent = parent, .number = UINT32_MAX};
    return found;
}

static void burn(struct burning *it, uint32_t node, int64_t ns) {
    it->nodes[node].own_ns = gt_ns_add(it->nodes[node].own_ns, ns);
    it->nodes[node].count++;
}

/* The node of the spans around a call: one of each level, as far as they enclose it. */
static uint32_t node_at(struct burning *it, struct cursor *cursors, size_t count, uint32_t call) {
    const struct gt_store *store = it->explore->trace.store;
    int64_t start_ns = gt_ns_between(store->origin_ns, store->calls.start_ns[call]);
    int64_t end_ns = gt_ns_between(store->origin_ns, store->calls.end_ns[call]);
    const struct gt_lane_set *set = &it->explore->sets[it->kind];
    uint32_t node = 0;
    for (size_t i = 0; i < count && !it->has_failed; i++) {
        struct cursor *cursor = &cursors[i];
        size_t first = cursor->lane->pyramid.row.first, all = cursor->lane->pyramid.row.count;
        while (cursor->next < all && gt_model_times(it->explore, it->kind, first + cursor->next).start_ns <= start_ns)
            cursor->next++;
        if (cursor->next == 0 || gt_model_times(it->explore, it->kind, first + cursor->next - 1).end_ns < end_ns)
            continue;
        if (cursor->under != node || cursor->node_of != cursor->next) {
            cursor->node = child_of(it, node, set->name[set->ids[first + cursor->next - 1]]);
            cursor->under = node;
            cursor->node_of = cursor->next;
        }
        node = cursor->node;
    }
    return node;
}

/* ---- threads ---- */

static size_t begin_cursors(const struct burning *it, uint32_t thread, int64_t from_ns, struct cursor *cursors) {
    size_t count = 0;
    for (size_t i = gt_model_first_lane(it->explore, it->kind, thread);
         i < it->explore->lane_count && count < LEVELS_MAX; i++) {
        const struct gt_model_lane *lane = &it->explore->lanes[i];
        if (lane->row.kind != it->kind || lane->track != thread)
            break;
        cursors[count++] = (struct cursor){
            .lane = lane, .next = gt_pyramid_find(&lane->pyramid, lane->spans, from_ns), .under = UINT32_MAX};
    }
    return count;
}

static void burn_thread(struct burning *it, uint32_t thread, const struct gt_radix_item *order, size_t count) {
    struct cursor cursors[LEVELS_MAX];
    const struct gt_store *store = it->explore->trace.store;
    uint32_t first_call = it->shares[order[0].value].call;
    size_t levels =
        begin_cursors(it, thread, gt_ns_between(store->origin_ns, store->calls.start_ns[first_call]), cursors);
    for (size_t i = 0; i < count && !it->has_failed; i++) {
        const struct share *share = &it->shares[order[i].value];
        burn(it, node_at(it, cursors, levels, share->call), share->ns);
    }
}

/* Puts the shares in order of thread and of the start of their calls, and goes along each thread. */
static bool burn_all(struct burning *it) {
    const struct gt_calls *calls = &it->explore->trace.store->calls;
    size_t threads = it->explore->trace.store->threads.count;
    size_t *first = gt_mem_array(threads + 2, sizeof *first);
    struct gt_radix_item *order = gt_mem_uninitialised(it->share_count, sizeof *order);
    bool ok = first && order;
    size_t *next = ok ? first + 1 : NULL;
    for (size_t i = 0; i < it->share_count && ok; i++) {
        uint32_t call = it->shares[i].call, thread = call == GT_NO_ROW ? GT_NO_TRACK : calls->thread[call];
        if (thread == GT_NO_TRACK)
            burn(it, 0, it->shares[i].ns);
        else
            next[thread + 1]++;
    }
    for (size_t t = 0; t < threads && ok; t++)
        next[t + 1] += next[t];
    for (size_t i = 0; i < it->share_count && ok; i++) {
        uint32_t call = it->shares[i].call, thread = call == GT_NO_ROW ? GT_NO_TRACK : calls->thread[call];
        if (thread != GT_NO_TRACK)
            order[next[thread]++] = (struct gt_radix_item){gt_radix_key(calls->start_ns[call]), (uint32_t)i};
    }
    for (uint32_t t = 0; t < threads && ok && !it->has_failed; t++) {
        size_t count = first[t + 1] - first[t];
        ok = count == 0 || gt_radix_sort(order + first[t], count);
        if (count && ok)
            burn_thread(it, t, order + first[t], count);
    }
    gt_mem_free(first);
    gt_mem_free(order);
    return ok && !it->has_failed;
}

/* ---- the answer ---- */

static void sum_up(struct burning *it) {
    for (size_t i = 0; i < it->node_count; i++)
        it->nodes[i].total_ns = it->nodes[i].own_ns;
    for (size_t i = it->node_count; i-- > 1;) {
        struct node *parent = &it->nodes[it->nodes[i].parent];
        parent->total_ns = gt_ns_add(parent->total_ns, it->nodes[i].total_ns);
        parent->count += it->nodes[i].count;
    }
}

/* Largest first, of equal ones that which was made first: a parent is never behind its children. */
static int by_total(const void *a, const void *b, void *context) {
    const struct node *nodes = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (nodes[x].total_ns != nodes[y].total_ns)
        return nodes[x].total_ns > nodes[y].total_ns ? -1 : 1;
    return (x > y) - (x < y);
}

/* Says which nodes are shown, and puts the others together under their parents. */
static void choose(struct burning *it, uint32_t *shown, size_t *shown_count) {
    for (uint32_t i = 0; i < it->node_count; i++)
        shown[i] = i;
    qsort_r(shown, it->node_count, sizeof *shown, by_total, it->nodes);
    *shown_count = it->node_count < NODES_MAX ? it->node_count : NODES_MAX;
    for (uint32_t i = 0; i < *shown_count; i++)
        it->nodes[shown[i]].number = i;
    for (size_t i = *shown_count; i < it->node_count; i++) {
        const struct node *node = &it->nodes[shown[i]];
        struct node *parent = &it->nodes[node->parent];
        if (parent->number == UINT32_MAX)
            continue;
        parent->others_ns = gt_ns_add(parent->others_ns, node->total_ns);
        parent->others += node->count;
    }
}

static void write_node(struct gt_out *out, struct gt_str name, const char *separator) {
    gt_out_text(out, separator);
    gt_out_text(out, "\n  {\"name\": ");
    gt_escape_json(out, name);
}

static void write_nodes(const struct burning *it, const uint32_t *shown, size_t count, struct gt_out *out) {
    const struct gt_store *store = it->explore->trace.store;
    gt_out_text(out, "{\"nodes\": [");
    for (size_t i = 0; i < count; i++) {
        const struct node *node = &it->nodes[shown[i]];
        write_node(out, shown[i] ? gt_store_string(store, node->name) : GT_STR("(all)"), i ? "," : "");
        gt_out_text(out, ", \"parent\": ");
        if (shown[i])
            gt_out_printf(out, "%u", it->nodes[node->parent].number);
        else
            gt_out_text(out, "null");
        gt_out_printf(out, ", \"ns\": %jd, \"own_ns\": %jd, \"count\": %ju}", (intmax_t)node->total_ns,
                      (intmax_t)node->own_ns, (uintmax_t)node->count);
    }
    for (size_t i = 0; i < count; i++) {
        const struct node *node = &it->nodes[shown[i]];
        if (node->others == 0)
            continue;
        write_node(out, GT_STR("(others)"), ",");
        gt_out_printf(out, ", \"parent\": %zu, \"ns\": %jd, \"own_ns\": %jd, \"count\": %ju}", i,
                      (intmax_t)node->others_ns, (intmax_t)node->others_ns, (uintmax_t)node->others);
    }
    gt_out_text(out, "]}");
}

static bool answer(struct burning *it, struct gt_out *out) {
    sum_up(it);
    uint32_t *shown = gt_mem_uninitialised(it->node_count, sizeof *shown);
    size_t count;
    if (!shown)
        return false;
    choose(it, shown, &count);
    write_nodes(it, shown, count, out);
    gt_mem_free(shown);
    return true;
}

enum gt_status gt_explore_flame(const struct gt_explore *explore, const struct gt_explore_flame *flame,
                                struct gt_out *out, struct gt_error *err) {
    static const enum gt_timeline_kind kinds[] = {[GT_EXPLORE_OPERATORS] = GT_TIMELINE_OPERATORS,
                                                  [GT_EXPLORE_PYTHON] = GT_TIMELINE_PYTHON,
                                                  [GT_EXPLORE_RANGES] = GT_TIMELINE_HOST_RANGES};
    struct burning it = {.explore = explore, .flame = flame, .kind = kinds[flame->of]};
    if (flame->from_ns >= flame->to_ns)
        return gt_fail_usage(err, "the window ends before it begins");
    child_of(&it, UINT32_MAX, GT_STRID_EMPTY);
    enum gt_timeline_kind burnt = flame->by == GT_EXPLORE_IDLE ? GT_TIMELINE_GAPS : GT_TIMELINE_OPS;
    for (size_t i = 0; i < explore->lane_count && !it.has_failed; i++)
        if (explore->lanes[i].row.kind == burnt)
            add_lane(&it, &explore->lanes[i]);
    bool ok = !it.has_failed && burn_all(&it) && answer(&it, out);
    gt_mem_free(it.shares);
    gt_mem_free(it.nodes);
    gt_map_release(&it.ids);
    return ok ? GT_OK : gt_fail_memory(err);
}
