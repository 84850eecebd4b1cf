/* Ops that waited for ops of other streams: in come calls that record events and make streams wait for them, out go
   edges between ops where only the order of calls speaks. Waits that the trace describes go to dag_points.c. */
#include "base/mem.h"
#include "graph/dag_build.h"

/* A wait until the op that it holds back is launched. */
struct wait {
    uint32_t stream; /* that waits; GT_DAG_NONE: the trace does not say */
    uint32_t before; /* last op that the thread launched before; GT_DAG_NONE */
    int64_t time_ns, record_ns;
    bool has_record; /* the thread recorded an event since it last launched */
};

struct order {
    struct gt_dag_build *build;
    uint32_t *rows; /* calls that record or wait, by thread and start */
    size_t count;
    struct wait *pending;
    size_t pending_count, pending_capacity;
    uint32_t *stream_op;   /* by stream: first op of the call that last launched there while waits were pending */
    uint32_t *stream_call; /* by stream: that call plus 1 */
    bool has_record_rows;
};

/* ---- ranges of NCCL, which joins streams of its own ---- */

/* By thread and start: ranges named nccl:*. */
struct skipped {
    uint32_t *ranges;
    size_t *first;     /* by thread */
    int64_t *reach_ns; /* latest end up to there */
};

static bool is_nccl_range(const struct gt_store *store, size_t range) {
    return store->ranges.thread[range] < store->threads.count &&
           gt_str_starts(gt_store_string(store, store->ranges.name[range]), GT_STR("nccl:"));
}

static bool find_skipped(struct gt_dag_build *build, struct skipped *skipped) {
    const struct gt_ranges *ranges = &build->store->ranges;
    size_t threads = build->store->threads.count, count = 0;
    for (size_t i = 0; i < ranges->count; i++)
        count += is_nccl_range(build->store, i);
    skipped->ranges = gt_dag_build_array(build, count, sizeof *skipped->ranges);
    skipped->reach_ns = gt_dag_build_array(build, count, sizeof *skipped->reach_ns);
    skipped->first = gt_dag_build_array(build, threads + 1, sizeof *skipped->first);
    if (build->failed)
        return false;
    count = 0;
    for (uint32_t i = 0; i < ranges->count; i++)
        if (is_nccl_range(build->store, i)) {
            skipped->ranges[count++] = i;
            skipped->first[ranges->thread[i] + 1]++;
        }
    for (size_t i = 0; i < threads; i++)
        skipped->first[i + 1] += skipped->first[i];
    if (!gt_dag_build_sort(build, skipped->ranges, count, ranges->start_ns) ||
        !gt_dag_build_group(build, skipped->ranges, count, ranges->thread, threads))
        return false;
    for (size_t i = 0; i < count; i++) {
        int64_t end_ns = ranges->end_ns[skipped->ranges[i]];
        bool is_first = !i || ranges->thread[skipped->ranges[i]] != ranges->thread[skipped->ranges[i - 1]];
        skipped->reach_ns[i] = is_first || skipped->reach_ns[i - 1] < end_ns ? end_ns : skipped->reach_ns[i - 1];
    }
    return true;
}

static bool is_skipped(const struct gt_dag_build *build, const struct skipped *skipped, uint32_t row) {
    const struct gt_calls *calls = &build->store->calls;
    size_t low = skipped->first[calls->thread[row]], high = skipped->first[calls->thread[row] + 1], first = low;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (build->store->ranges.start_ns[skipped->ranges[middle]] <= calls->start_ns[row])
            low = middle + 1;
        else
            high = middle;
    }
    return low > first && skipped->reach_ns[low - 1] >= calls->end_ns[row];
}

/* ---- which calls ---- */

/* The stream that a wait holds back, and whether points say all about it. */
static bool is_told(const struct order *order, uint32_t row, uint32_t *stream) {
    const struct gt_dag_build *build = order->build;
    const struct gt_calls *calls = &build->store->calls;
    uint32_t process = gt_labels_call_process(build->store, row);
    uint32_t sync = gt_dag_build_sync_row(build, process, calls->correlation[row]);
    *stream = GT_DAG_NONE;
    if (sync == GT_NO_ROW || build->store->syncs.stream[sync] < 0)
        return false;
    *stream = gt_dag_build_stream(build, process, build->store->syncs.device[sync], build->store->syncs.stream[sync]);
    return order->has_record_rows || build->store->syncs.wait_stream[sync] >= 0;
}

static bool list_calls(struct order *order) {
    struct gt_dag_build *build = order->build;
    const struct gt_calls *calls = &build->store->calls;
    struct skipped skipped = {0};
    uint32_t stream;
    order->rows = gt_dag_build_array(build, calls->count, sizeof *order->rows);
    if (build->failed || !find_skipped(build, &skipped))
        return false;
    for (uint32_t i = 0; i < calls->count; i++) {
        uint8_t detail = build->call_names[calls->name[i]].detail;
        if ((detail != GT_DAG_WAIT_EVENT && detail != GT_DAG_RECORD_EVENT) ||
            calls->thread[i] >= build->store->threads.count || is_skipped(build, &skipped, i))
            continue;
        if (detail == GT_DAG_RECORD_EVENT || !is_told(order, i, &stream))
            order->rows[order->count++] = i;
    }
    return gt_dag_build_sort(build, order->rows, order->count, calls->start_ns) &&
           gt_dag_build_group(build, order->rows, order->count, calls->thread, build->store->threads.count);
}

/* ---- what was waited for ---- */

static void add_event(struct gt_dag_build *build, uint32_t from, uint32_t to) {
    gt_dag_build_edge(
        build, &(struct gt_dag_raw_edge){.from = from, .to = to, .kind = GT_DAG_EVENT, .flags = GT_DAG_INFERRED});
}

/* Of the other streams of the op's process and device the op that ended last before it. */
static uint32_t find_ended(struct gt_dag_build *build, const struct wait *wait, uint32_t op) {
    const struct gt_store *store = build->store;
    uint32_t own = build->op_stream[op], found = GT_DAG_NONE;
    uint32_t device = store->lanes.device[build->streams[own].lane];
    size_t slot = gt_dag_build_process_slot(build, build->streams[own].process);
    for (size_t i = build->process_first_stream[slot]; i < build->process_first_stream[slot + 1]; i++) {
        uint32_t stream = build->process_streams[i];
        if (stream == own || store->lanes.device[build->streams[stream].lane] != device)
            continue;
        size_t count = gt_dag_build_launched(build, stream, wait->time_ns);
        if (!gt_dag_build_work(build, 1 + (count < GT_DAG_BACK_OPS ? count : GT_DAG_BACK_OPS)))
            return found;
        const uint32_t *ops = build->launch_ops + build->streams[stream].first;
        for (size_t back = 0; back < GT_DAG_BACK_OPS && back < count; back++) {
            uint32_t other = ops[count - 1 - back];
            if (store->ops.end_ns[other] <= store->ops.start_ns[op] &&
                (found == GT_DAG_NONE || store->ops.end_ns[other] > store->ops.end_ns[found]))
                found = other;
        }
    }
    return found;
}

static void resolve(struct gt_dag_build *build, const struct wait *wait, uint32_t op) {
    const struct gt_ops *ops = &build->store->ops;
    uint32_t from = GT_DAG_NONE;
    if (wait->has_record && wait->before != GT_DAG_NONE && build->op_stream[wait->before] != build->op_stream[op]) {
        from = gt_dag_build_last_op(build, build->op_stream[wait->before], wait->record_ns);
        if (from != GT_DAG_NONE && ops->end_ns[from] > ops->start_ns[op])
            from = find_ended(build, wait, op);
    } else {
        from = find_ended(build, wait, op);
    }
    if (from != GT_DAG_NONE)
        add_event(build, from, op);
}

/* Finds the first op of a launch call on each stream. */
static void note_streams(struct order *order, uint32_t call) {
    const struct gt_dag_build *build = order->build;
    for (uint32_t i = 0; i < build->calls[call].op_count; i++) {
        uint32_t op = build->call_ops[build->calls[call].first_op + i], stream = build->op_stream[op];
        if (order->stream_call[stream] != call + 1)
            order->stream_op[stream] = op;
        order->stream_call[stream] = call + 1;
    }
}

/* The op of a launch call that a wait holds back: the first, or the first on the stream that waits. */
static uint32_t held_op(const struct order *order, uint32_t call, const struct wait *wait) {
    if (wait->stream == GT_DAG_NONE)
        return order->build->call_ops[order->build->calls[call].first_op];
    return order->stream_call[wait->stream] == call + 1 ? order->stream_op[wait->stream] : GT_DAG_NONE;
}

static void resolve_pending(struct order *order, uint32_t call) {
    size_t kept = 0;
    if (order->pending_count && !gt_dag_build_work(order->build, order->pending_count))
        order->pending_count = 0;
    if (order->pending_count)
        note_streams(order, call);
    for (size_t i = 0; i < order->pending_count; i++) {
        uint32_t op = held_op(order, call, &order->pending[i]);
        if (op == GT_DAG_NONE)
            order->pending[kept++] = order->pending[i];
        else
            resolve(order->build, &order->pending[i], op);
    }
    order->pending_count = kept;
}

static void add_pending(struct order *order, const struct wait *wait) {
    struct wait *room = gt_mem_room(order->pending, order->pending_count, &order->pending_capacity, sizeof *room);
    order->build->failed |= !room;
    if (!room)
        return;
    order->pending = room;
    order->pending[order->pending_count++] = *wait;
}

/* Goes through the launches, records and waits of a thread in their order. */
static void follow_thread(struct order *order, const struct gt_dag_thread *thread, const uint32_t *rows, size_t count) {
    struct gt_dag_build *build = order->build;
    const struct gt_calls *calls = &build->store->calls;
    struct wait state = {.stream = GT_DAG_NONE, .before = GT_DAG_NONE};
    size_t next = 0;
    order->pending_count = 0;
    for (uint32_t i = thread->first_call; i <= thread->first_call + thread->call_count; i++) {
        bool is_end = i == thread->first_call + thread->call_count;
        for (; next < count && (is_end || calls->start_ns[rows[next]] < build->calls[i].start_ns); next++) {
            struct wait wait = state;
            wait.time_ns = calls->start_ns[rows[next]];
            if (build->call_names[calls->name[rows[next]]].detail == GT_DAG_RECORD_EVENT) {
                state.has_record = true;
                state.record_ns = wait.time_ns;
            } else if (!is_told(order, rows[next], &wait.stream)) {
                add_pending(order, &wait);
            }
        }
        if (is_end || !build->calls[i].op_count)
            continue;
        resolve_pending(order, i);
        state.has_record = false;
        state.before = build->call_ops[build->calls[i].first_op + build->calls[i].op_count - 1];
    }
}

bool gt_dag_build_events(struct gt_dag_build *build) {
    const struct gt_calls *calls = &build->store->calls;
    struct order order = {.build = build, .has_record_rows = build->store->event_records.count > 0};
    order.stream_op = gt_dag_build_array(build, build->stream_count, sizeof *order.stream_op);
    order.stream_call = gt_dag_build_array(build, build->stream_count, sizeof *order.stream_call);
    if (build->failed || !list_calls(&order))
        return false;
    for (size_t first = 0, last; first < order.count && !build->failed; first = last) {
        uint32_t thread = calls->thread[order.rows[first]];
        for (last = first; last < order.count && calls->thread[order.rows[last]] == thread;)
            last++;
        if (build->thread_index[thread] != GT_DAG_NONE)
            follow_thread(&order, &build->threads[build->thread_index[thread]], order.rows + first, last - first);
    }
    gt_mem_free(order.pending);
    return !build->failed && gt_dag_build_points(build);
}
