/* Follows an item to its launch call, kernels, waits, neighbours and peers. Each link is found from the columns alone,
   so that nothing has to be kept for it. */
#include "explore/item_links.h"

#include "base/ns.h"
#include "events/comms.h"
#include "explore/waiting.h"
#include "write/json_timeline.h"

enum { LINKS_MAX = 64, STACK_MAX = 512, LOOKED_AT_MAX = 4096 };

static const struct gt_store *store_of(const struct gt_item *item) {
    return item->explore->trace.store;
}

/* ---- the stack ---- */

struct moment {
    uint32_t thread;
    int64_t start_ns, end_ns; /* since the first op */
};

static bool moment_of_call(const struct gt_item *item, uint32_t call, struct moment *moment) {
    const struct gt_calls *calls = &store_of(item)->calls;
    if (call == GT_NO_ROW || calls->thread[call] == GT_NO_TRACK)
        return false;
    *moment = (struct moment){calls->thread[call], gt_ns_between(store_of(item)->origin_ns, calls->start_ns[call]),
                              gt_ns_between(store_of(item)->origin_ns, calls->end_ns[call])};
    return true;
}

/* The launch call of an op, or of the op that ends a gap; GT_NO_ROW: there is none. */
static uint32_t call_of(const struct gt_item *item) {
    uint32_t op = item->row;
    if (item->kind == GT_TIMELINE_GAPS)
        op = gt_idle_lanes_gap(&item->explore->idle, item->span).next;
    return op == GT_NO_ROW ? GT_NO_ROW : item->explore->trace.labels->op_call[op];
}

static bool moment_of(const struct gt_item *item, struct moment *moment) {
    if (item->kind == GT_TIMELINE_OPS || item->kind == GT_TIMELINE_COLLECTIVES || item->kind == GT_TIMELINE_GAPS)
        return moment_of_call(item, call_of(item), moment);
    if (item->kind < GT_TIMELINE_HOST_RANGES)
        return false;
    *moment = (struct moment){item->explore->lanes[item->lane].track, item->times.start_ns, item->times.end_ns};
    return true;
}

static bool is_host_lane(const struct gt_model_lane *lane, uint32_t thread) {
    return lane->row.kind >= GT_TIMELINE_HOST_RANGES && lane->track == thread;
}

/* The span of a lane, none of which overlap, that lies around a moment. */
static bool around(const struct gt_item *item, uint32_t lane_number, const struct moment *moment,
                   struct gt_model_place *place) {
    const struct gt_model_lane *lane = &item->explore->lanes[lane_number];
    size_t next = gt_pyramid_find(&lane->pyramid, lane->spans, gt_ns_add(moment->start_ns, 1));
    if (next == 0)
        return false;
    *place = (struct gt_model_place){lane_number, lane->pyramid.row.first + next - 1};
    return gt_model_times(item->explore, lane->row.kind, place->span).end_ns >= moment->end_ns &&
           !(lane_number == item->lane && place->span == item->span);
}

void gt_item_links_write_stack(struct gt_item *item) {
    const struct gt_explore *explore = item->explore;
    struct gt_model_place stack[STACK_MAX];
    struct gt_interval times[STACK_MAX];
    size_t count = 0;
    struct moment moment;
    if (!moment_of(item, &moment))
        return;
    for (uint32_t i = 0; i < explore->lane_count && count < STACK_MAX; i++) {
        struct gt_model_place place;
        if (!is_host_lane(&explore->lanes[i], moment.thread) || explore->lanes[i].row.kind == GT_TIMELINE_CALLS ||
            !around(item, i, &moment, &place))
            continue;
        struct gt_interval time = gt_model_times(explore, explore->lanes[i].row.kind, place.span);
        size_t at = count++;
        for (; at > 0 && (times[at - 1].start_ns > time.start_ns ||
                          (times[at - 1].start_ns == time.start_ns && times[at - 1].end_ns < time.end_ns));
             at--) {
            stack[at] = stack[at - 1];
            times[at] = times[at - 1];
        }
        stack[at] = place;
        times[at] = time;
    }
    for (size_t i = 0; i < count; i++)
        gt_item_write_place(item, gt_json_timeline_kind(explore->lanes[stack[i].lane].row.kind), stack[i]);
}

/* ---- links ---- */

static void link_op(struct gt_item *item, const char *kind, uint32_t op) {
    struct gt_model_place place;
    if (op != GT_NO_ROW && gt_model_find(item->explore, GT_TIMELINE_OPS, store_of(item)->ops.lane[op], op, &place))
        gt_item_write_place(item, kind, place);
}

static void link_call(struct gt_item *item, uint32_t call) {
    struct gt_model_place place;
    if (call != GT_NO_ROW && store_of(item)->calls.thread[call] != GT_NO_TRACK &&
        gt_model_find(item->explore, GT_TIMELINE_CALLS, store_of(item)->calls.thread[call], call, &place))
        gt_item_write_place(item, "launch", place);
}

/* The idle time that an op ended: it ends where the op starts. */
static void link_gap(struct gt_item *item) {
    const struct gt_explore *explore = item->explore;
    int64_t device = explore->lanes[item->lane].row.device;
    for (uint32_t i = 0; i < explore->lane_count; i++) {
        const struct gt_model_lane *lane = &explore->lanes[i];
        if (lane->row.kind != GT_TIMELINE_GAPS || lane->row.device != device)
            continue;
        size_t place = gt_pyramid_find(&lane->pyramid, lane->spans, item->times.start_ns);
        size_t span = lane->pyramid.row.first + place - 1;
        if (place > 0 && gt_idle_lanes_gap(&explore->idle, span).next == item->row)
            gt_item_write_place(item, "gap", (struct gt_model_place){i, span});
    }
}

/* Kernels of the same collective in this trace: of other ranks, or others of the same launch. */
static void link_peers(struct gt_item *item) {
    const struct gt_store *store = store_of(item);
    const struct gt_comm_labels *comms = &item->explore->trace.labels->comms;
    const struct gt_comm_launch *own = gt_comms_of_op(item->explore->trace.labels, item->row);
    if (!own || own->count == 0)
        return;
    const struct gt_collective *collective = &comms->collectives[own->first];
    struct gt_comms_row record = gt_comms_merged(store, collective);
    for (size_t i = 0, found = 0; i < comms->launch_count && found < LINKS_MAX; i++) {
        const struct gt_comm_launch *launch = &comms->launches[i];
        const struct gt_collective *other = launch->count ? &comms->collectives[launch->first] : NULL;
        if (!other || other->group != collective->group || other->op != collective->op ||
            (launch != own && collective->group == GT_NO_ROW))
            continue;
        struct gt_comms_row others = gt_comms_merged(store, other);
        bool is_same = launch == own || (record.sequence != INT64_MIN && others.sequence == record.sequence) ||
                       (record.comms_id != UINT64_MAX && others.comms_id == record.comms_id);
        for (uint32_t k = 0; is_same && k < launch->op_count && found < LINKS_MAX; k++)
            if (comms->ops[launch->first_op + k] != item->row) {
                link_op(item, "collective", comms->ops[launch->first_op + k]);
                found++;
            }
    }
}

static void write_op_links(struct gt_item *item) {
    struct gt_model_place waiting[8], other;
    link_call(item, call_of(item));
    size_t count = gt_waiting_for_op(item->explore, item->row, waiting, 8);
    for (size_t i = 0; i < count; i++)
        gt_item_write_place(item, "sync", waiting[i]);
    if (item->kind == GT_TIMELINE_OPS &&
        gt_waiting_of_stream(item->explore, (struct gt_model_place){item->lane, item->span}, &other))
        gt_item_write_place(item, "waits_for", other);
    if (item->kind == GT_TIMELINE_OPS)
        link_gap(item);
    link_peers(item);
}

static void write_call_links(struct gt_item *item) {
    const uint32_t *op_call = item->explore->trace.labels->op_call;
    struct gt_model_place op;
    size_t found = 0;
    for (uint32_t i = 0; i < store_of(item)->ops.count && found < LINKS_MAX; i++)
        if (op_call[i] == item->row) {
            link_op(item, "kernel", i);
            found++;
        }
    if (gt_waiting_of_call(item->explore, item->row, &op))
        gt_item_write_place(item, "waits_for", op);
}

/* ---- what the CPU did in a gap ---- */

/* The span of a lane that covers more than half of some time; false: none does. */
static bool covers_most(const struct gt_item *item, uint32_t lane_number, int64_t from_ns, int64_t to_ns,
                        struct gt_model_place *place) {
    const struct gt_model_lane *lane = &item->explore->lanes[lane_number];
    size_t next = gt_pyramid_find(&lane->pyramid, lane->spans, from_ns);
    next = next ? next - 1 : 0;
    for (size_t i = next; i < lane->pyramid.row.count && i < next + LOOKED_AT_MAX; i++) {
        struct gt_interval times = gt_model_times(item->explore, lane->row.kind, lane->pyramid.row.first + i);
        if (times.start_ns >= to_ns)
            break;
        int64_t start_ns = times.start_ns > from_ns ? times.start_ns : from_ns;
        int64_t end_ns = times.end_ns < to_ns ? times.end_ns : to_ns;
        if (end_ns > start_ns && gt_ns_between(start_ns, end_ns) > gt_ns_between(from_ns, to_ns) / 2) {
            *place = (struct gt_model_place){lane_number, lane->pyramid.row.first + i};
            return true;
        }
    }
    return false;
}

/* Of each kind the innermost that covers most of the time from the start of the gap to the launch that ended it. */
static void write_meanwhile(struct gt_item *item) {
    const struct gt_explore *explore = item->explore;
    struct gt_model_place found[GT_TIMELINE_KIND_COUNT];
    bool has[GT_TIMELINE_KIND_COUNT] = {false};
    struct moment launch;
    if (!moment_of_call(item, call_of(item), &launch))
        return;
    int64_t to_ns = launch.start_ns < item->times.end_ns ? launch.start_ns : item->times.end_ns;
    if (to_ns <= item->times.start_ns)
        return;
    for (uint32_t i = 0; i < explore->lane_count; i++) {
        enum gt_timeline_kind kind = explore->lanes[i].row.kind;
        struct gt_model_place place;
        if (is_host_lane(&explore->lanes[i], launch.thread) &&
            covers_most(item, i, item->times.start_ns, to_ns, &place)) {
            found[kind] = place;
            has[kind] = true;
        }
    }
    for (size_t k = 0; k < GT_TIMELINE_KIND_COUNT; k++)
        if (has[k])
            gt_item_write_place(item, "meanwhile", found[k]);
}

static void write_gap_links(struct gt_item *item) {
    struct gt_idle_lanes_gap gap = gt_idle_lanes_gap(&item->explore->idle, item->span);
    link_op(item, "previous", gap.previous);
    link_op(item, "next", gap.next);
    link_call(item, call_of(item));
    write_meanwhile(item);
}

/* ---- ranges on the CPU and on the GPU ---- */

static void write_range_links(struct gt_item *item) {
    const struct gt_explore *explore = item->explore;
    const struct gt_store *store = store_of(item);
    struct gt_model_place place;
    if (store->ranges.count == 0)
        return;
    if (item->kind == GT_TIMELINE_RANGES) {
        uint32_t thread = store->ranges.thread[item->row];
        if (thread != GT_NO_TRACK && gt_model_find(explore, GT_TIMELINE_HOST_RANGES, thread, item->row, &place))
            gt_item_write_place(item, "cpu", place);
        return;
    }
    const struct gt_lane_set *set = &explore->sets[GT_TIMELINE_RANGES];
    const uint32_t *rows = set->owned[GT_LANE_SET_ROWS];
    for (uint32_t i = 0; i < set->count; i++)
        if (rows[i] == item->row) {
            for (uint32_t l = 0; l < explore->lane_count; l++) {
                const struct gt_model_lane *lane = &explore->lanes[l];
                if (lane->row.kind == GT_TIMELINE_RANGES && i - lane->pyramid.row.first < lane->pyramid.row.count)
                    gt_item_write_place(item, "gpu", (struct gt_model_place){l, i});
            }
            return;
        }
}

void gt_item_links_write(struct gt_item *item) {
    switch (item->kind) {
    case GT_TIMELINE_OPS:
    case GT_TIMELINE_COLLECTIVES:
        write_op_links(item);
        break;
    case GT_TIMELINE_GAPS:
        write_gap_links(item);
        break;
    case GT_TIMELINE_CALLS:
        write_call_links(item);
        break;
    case GT_TIMELINE_RANGES:
    case GT_TIMELINE_HOST_RANGES:
        write_range_links(item);
        break;
    default:
        break;
    }
}
