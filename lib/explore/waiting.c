/* Finds what waited for what around single calls and ops, without a graph of all of the trace. */
#include "explore/waiting.h"

#include "base/ns.h"
#include "measure/results/calls.h"

/* How many spans are looked at, one by one, where many overlap. */
enum { LOOKED_AT_MAX = 256 };

/* ---- what a call waits for ---- */

struct scope {
    uint32_t process;       /* GT_NO_TRACK: any */
    int64_t device, stream; /* negative: any */
};

/* The synchronization of a call; GT_NO_ROW: none is recorded. */
static uint32_t sync_of(const struct gt_store *store, uint64_t correlation, uint32_t process) {
    for (uint32_t i = 0; i < store->syncs.count && correlation != GT_NO_CORRELATION; i++)
        if (store->syncs.correlation[i] == correlation &&
            (store->syncs.process[i] == process || store->syncs.process[i] == GT_NO_TRACK))
            return i;
    return GT_NO_ROW;
}

static struct scope scope_of(const struct gt_store *store, uint32_t call) {
    struct scope scope = {gt_labels_call_process(store, call), -1, -1};
    uint32_t sync = sync_of(store, store->calls.correlation[call], scope.process);
    if (sync == GT_NO_ROW)
        return scope;
    scope.device = store->syncs.device[sync];
    scope.stream = store->syncs.kind[sync] == GT_SYNC_EVENT    ? store->syncs.wait_stream[sync]
                   : store->syncs.kind[sync] == GT_SYNC_STREAM ? store->syncs.stream[sync]
                                                               : -1;
    return scope;
}

static bool has_lane(const struct gt_store *store, const struct scope *scope, uint32_t lane) {
    uint32_t process = store->lanes.process[lane];
    return (scope->process == GT_NO_TRACK || process == GT_NO_TRACK || process == scope->process) &&
           (scope->device < 0 || store->devices.id[store->lanes.device[lane]] == scope->device) &&
           (scope->stream < 0 || store->lanes.stream[lane] == scope->stream);
}

/* The op of a lane that ended last, from one time to another; SIZE_MAX: none did. */
static size_t last_ended(const struct gt_explore *explore, const struct gt_model_lane *lane, int64_t from_ns,
                         int64_t to_ns, int64_t *end_ns) {
    size_t first = lane->pyramid.row.first, best = SIZE_MAX;
    size_t place = gt_pyramid_find(&lane->pyramid, lane->spans, to_ns);
    for (size_t looked = 0; place > 0 && looked < LOOKED_AT_MAX; looked++) {
        struct gt_interval times = gt_model_times(explore, lane->row.kind, first + --place);
        if (times.end_ns > from_ns && times.end_ns <= to_ns && (best == SIZE_MAX || times.end_ns > *end_ns)) {
            best = first + place;
            *end_ns = times.end_ns;
        }
        /* Of one stream ops mostly follow each other: what began long before has ended before. */
        if (times.end_ns <= from_ns && looked >= 8)
            break;
    }
    return best;
}

static bool own_op(const struct gt_explore *explore, uint32_t call, struct gt_model_place *op) {
    const struct gt_labels *labels = explore->trace.labels;
    const struct gt_ops *ops = &explore->trace.store->ops;
    uint32_t last = GT_NO_ROW;
    for (uint32_t i = 0; i < ops->count; i++)
        if (labels->op_call[i] == call && (last == GT_NO_ROW || ops->end_ns[i] > ops->end_ns[last]))
            last = i;
    return last != GT_NO_ROW && gt_model_find(explore, GT_TIMELINE_OPS, ops->lane[last], last, op);
}

static bool is_blocking(const struct gt_store *store, uint32_t call) {
    return gt_call_is_blocking(gt_store_string(store, store->calls.name[call]));
}

static bool is_synchronize(const struct gt_store *store, uint32_t call) {
    return gt_str_find_nocase(gt_store_string(store, store->calls.name[call]), GT_STR("synchronize")) != NULL;
}

bool gt_waiting_of_call(const struct gt_explore *explore, uint32_t call, struct gt_model_place *op) {
    const struct gt_store *store = explore->trace.store;
    if (!is_blocking(store, call))
        return false;
    if (!is_synchronize(store, call))
        return own_op(explore, call, op);
    int64_t from_ns = gt_ns_between(store->origin_ns, store->calls.start_ns[call]);
    int64_t to_ns = gt_ns_between(store->origin_ns, store->calls.end_ns[call]);
    int64_t last_ns = INT64_MIN;
    struct scope scope = scope_of(store, call);
    bool found = false;
    for (uint32_t i = 0; i < explore->lane_count; i++) {
        const struct gt_model_lane *lane = &explore->lanes[i];
        int64_t end_ns = INT64_MIN;
        if (lane->row.kind != GT_TIMELINE_OPS || !has_lane(store, &scope, lane->track))
            continue;
        size_t span = last_ended(explore, lane, from_ns, to_ns, &end_ns);
        if (span == SIZE_MAX || (found && end_ns <= last_ns))
            continue;
        found = true;
        last_ns = end_ns;
        *op = (struct gt_model_place){i, span};
    }
    return found;
}

/* ---- what waits for an op ---- */

size_t gt_waiting_for_op(const struct gt_explore *explore, uint32_t op, struct gt_model_place *calls, size_t most) {
    const struct gt_store *store = explore->trace.store;
    int64_t end_ns = gt_ns_between(store->origin_ns, store->ops.end_ns[op]);
    uint32_t process = gt_labels_op_process(explore->trace.labels, store, op);
    size_t count = 0;
    for (uint32_t i = 0; i < explore->lane_count && count < most; i++) {
        const struct gt_model_lane *lane = &explore->lanes[i];
        if (lane->row.kind != GT_TIMELINE_CALLS || lane->row.level > 1 ||
            (process != GT_NO_TRACK && store->threads.process[lane->track] != process))
            continue;
        size_t place = gt_pyramid_find(&lane->pyramid, lane->spans, end_ns);
        if (place == 0)
            continue;
        size_t span = lane->pyramid.row.first + place - 1;
        uint32_t call = gt_model_row(explore, GT_TIMELINE_CALLS, span);
        struct gt_model_place waited_for;
        if (gt_model_times(explore, GT_TIMELINE_CALLS, span).end_ns >= end_ns && is_blocking(store, call) &&
            gt_waiting_of_call(explore, call, &waited_for) &&
            gt_model_row(explore, GT_TIMELINE_OPS, waited_for.span) == op)
            calls[count++] = (struct gt_model_place){i, span};
    }
    return count;
}

/* ---- streams that wait for events of others ---- */

/* When the CPU asked for an op. */
static int64_t asked_ns(const struct gt_explore *explore, uint32_t op) {
    uint32_t call = explore->trace.labels->op_call[op];
    return call == GT_NO_ROW ? GT_NO_TIME : explore->trace.store->calls.start_ns[call];
}

/* The call that recorded the event, else the time of the wait itself. */
static int64_t recorded_ns(const struct gt_store *store, uint32_t sync) {
    uint64_t correlation = store->syncs.wait_correlation[sync];
    for (size_t i = 0; i < store->calls.count && correlation != GT_NO_CORRELATION; i++)
        if (store->calls.correlation[i] == correlation)
            return store->calls.start_ns[i];
    return store->syncs.start_ns[sync];
}

/* The last wait of a stream between two times of the CPU; GT_NO_ROW: there is none. */
static uint32_t wait_between(const struct gt_store *store, uint32_t lane, int64_t from_ns, int64_t to_ns) {
    uint32_t best = GT_NO_ROW;
    for (uint32_t i = 0; i < store->syncs.count; i++) {
        int64_t time_ns = store->syncs.start_ns[i];
        if (store->syncs.kind[i] == GT_SYNC_STREAM_WAIT && store->syncs.stream[i] == store->lanes.stream[lane] &&
            (store->syncs.device[i] < 0 || store->syncs.device[i] == store->devices.id[store->lanes.device[lane]]) &&
            time_ns > from_ns && time_ns <= to_ns && store->syncs.wait_stream[i] >= 0 &&
            (best == GT_NO_ROW || time_ns >= store->syncs.start_ns[best]))
            best = i;
    }
    return best;
}

bool gt_waiting_of_stream(const struct gt_explore *explore, struct gt_model_place op,
                          struct gt_model_place *waited_for) {
    const struct gt_store *store = explore->trace.store;
    const struct gt_model_lane *own = &explore->lanes[op.lane];
    uint32_t row = gt_model_row(explore, own->row.kind, op.span);
    int64_t to_ns = asked_ns(explore, row), from_ns = INT64_MIN;
    if (to_ns == GT_NO_TIME || own->row.kind != GT_TIMELINE_OPS)
        return false;
    if (op.span > own->pyramid.row.first)
        from_ns = asked_ns(explore, gt_model_row(explore, GT_TIMELINE_OPS, op.span - 1));
    uint32_t wait = wait_between(store, own->track, from_ns, to_ns);
    if (wait == GT_NO_ROW)
        return false;
    int64_t before_ns = recorded_ns(store, wait);
    struct scope scope = {gt_labels_op_process(explore->trace.labels, store, row), store->syncs.device[wait],
                          store->syncs.wait_stream[wait]};
    int64_t start_ns = gt_model_times(explore, GT_TIMELINE_OPS, op.span).start_ns;
    for (uint32_t i = 0; i < explore->lane_count; i++) {
        const struct gt_model_lane *lane = &explore->lanes[i];
        if (lane->row.kind != GT_TIMELINE_OPS || i == op.lane || !has_lane(store, &scope, lane->track))
            continue;
        size_t place = gt_pyramid_find(&lane->pyramid, lane->spans, start_ns);
        for (size_t looked = 0; place > 0 && looked < LOOKED_AT_MAX; looked++) {
            size_t span = lane->pyramid.row.first + --place;
            int64_t launch_ns = asked_ns(explore, gt_model_row(explore, GT_TIMELINE_OPS, span));
            if (launch_ns != GT_NO_TIME && launch_ns < before_ns) {
                *waited_for = (struct gt_model_place){i, span};
                return true;
            }
        }
    }
    return false;
}
