/* Calls that waited for the GPU: in come node calls and sync records, out go edges from ops to the calls' returns. */
#include <string.h>

#include "graph/dag_build.h"

static void add_sync(struct gt_dag_build *build, uint32_t call, uint32_t op, uint8_t flags) {
    struct gt_dag_call *waiting = &build->calls[call];
    if (build->store->ops.end_ns[op] > gt_ns_add(waiting->end_ns, GT_DAG_SKEW_NS)) {
        build->dag->contradicting_count++;
        return;
    }
    waiting->waits = true;
    gt_dag_build_edge(build,
                      &(struct gt_dag_raw_edge){
                          .from = op, .to = gt_dag_build_return_id(build, call), .kind = GT_DAG_SYNC, .flags = flags});
}

/* Of the ops launched before the call the one that ended last, shortly before it returned; GT_DAG_NONE. */
static uint32_t near_op(const struct gt_dag_build *build, const struct gt_dag_call *call) {
    const int64_t *end_ns = build->store->ops.end_ns;
    int64_t after_ns = gt_ns_add(call->end_ns, -GT_DAG_NEAR_NS);
    after_ns = after_ns > call->start_ns ? after_ns : call->start_ns;
    uint32_t process = gt_dag_build_call_process(build, call);
    size_t first = build->process_ends[gt_dag_build_process_slot(build, process)];
    size_t at = gt_dag_build_ended(build, process, call->end_ns);
    for (size_t seen = 0; at > first && seen < GT_DAG_NEAR_OPS; seen++) {
        uint32_t op = build->end_ops[--at];
        if (end_ns[op] <= after_ns)
            break;
        if (build->op_launch_ns[op] < call->start_ns)
            return op;
    }
    return GT_DAG_NONE;
}

static void add_near(struct gt_dag_build *build, uint32_t call) {
    uint32_t op = gt_dag_build_ends(build) ? near_op(build, &build->calls[call]) : GT_DAG_NONE;
    if (op != GT_DAG_NONE)
        add_sync(build, call, op, GT_DAG_INFERRED);
}

/* ---- by kind of call ---- */

/* A wait for the device has an edge from each stream: the number of all edges stays in proportion to the trace. */
static bool has_room(const struct gt_dag_build *build, size_t streams) {
    size_t most = 8 * (build->store->ops.count + build->store->calls.count) + (1 << 16);
    return build->edge_count + streams <= most;
}

static void sync_device(struct gt_dag_build *build, uint32_t index, uint32_t sync) {
    const struct gt_store *store = build->store;
    const struct gt_dag_call *call = &build->calls[index];
    uint32_t process = gt_dag_build_call_process(build, call);
    int64_t device = sync == GT_NO_ROW ? -1 : gt_dag_build_device(build, process, store->syncs.device[sync]);
    size_t slot = gt_dag_build_process_slot(build, process);
    size_t first = build->process_first_stream[slot], last = build->process_first_stream[slot + 1];
    if (!has_room(build, last - first) || !gt_dag_build_work(build, last - first)) {
        build->dag->is_cut_short = true;
        add_near(build, index);
        return;
    }
    for (size_t i = first; i < last; i++) {
        uint32_t stream = build->process_streams[i], track = store->lanes.device[build->streams[stream].lane];
        if (device >= 0 && track < store->devices.count && store->devices.id[track] != device)
            continue;
        uint32_t op = gt_dag_build_last_op(build, stream, call->start_ns);
        if (op != GT_DAG_NONE)
            add_sync(build, index, op, 0);
    }
}

/* previous: the stream of the last op that the thread launched; GT_DAG_NONE. */
static void sync_stream(struct gt_dag_build *build, uint32_t index, uint32_t sync, uint32_t previous) {
    const struct gt_store *store = build->store;
    const struct gt_dag_call *call = &build->calls[index];
    bool is_told = sync != GT_NO_ROW && store->syncs.stream[sync] >= 0;
    uint32_t stream = previous;
    if (is_told)
        stream = gt_dag_build_stream(build, gt_dag_build_call_process(build, call), store->syncs.device[sync],
                                     store->syncs.stream[sync]);
    uint32_t op = stream == GT_DAG_NONE ? GT_DAG_NONE : gt_dag_build_last_op(build, stream, call->start_ns);
    if (op == GT_DAG_NONE)
        return;
    if (!is_told && store->ops.end_ns[op] > gt_ns_add(call->end_ns, GT_DAG_SKEW_NS))
        add_near(build, index);
    else
        add_sync(build, index, op, is_told ? 0 : GT_DAG_INFERRED);
}

static void sync_event(struct gt_dag_build *build, uint32_t index, uint32_t sync) {
    const struct gt_dag_call *call = &build->calls[index];
    struct gt_dag_recording recording = {.stream = GT_DAG_NONE};
    if (sync != GT_NO_ROW)
        recording = gt_dag_build_recording(build, gt_dag_build_call_process(build, call), sync, call->start_ns);
    if (!recording.is_known) {
        if (gt_ns_between(call->start_ns, call->end_ns) >= GT_DAG_BLOCKED_NS)
            add_near(build, index);
        return;
    }
    uint32_t op = recording.stream == GT_DAG_NONE ? GT_DAG_NONE
                                                  : gt_dag_build_last_op(build, recording.stream, recording.time_ns);
    if (op != GT_DAG_NONE)
        add_sync(build, index, op, 0);
}

/* ---- copies of the call itself ---- */

static bool is_pageable(const struct gt_dag_build *build, const uint32_t *op_copy, uint32_t op) {
    const struct gt_copies *copies = &build->store->copies;
    struct gt_str name = gt_store_string(build->store, build->store->ops.name[op]);
    uint32_t copy = op_copy ? op_copy[op] : GT_NO_ROW;
    if (memmem(name.ptr, name.len, "Pageable", 8))
        return true;
    if (copy == GT_NO_ROW || build->store->ops.kind[op] != GT_OP_MEMCPY)
        return false;
    return (copies->src[copy] == GT_MEMORY_PAGEABLE) != (copies->dst[copy] == GT_MEMORY_PAGEABLE);
}

static void sync_copies(struct gt_dag_build *build, uint32_t index, const uint32_t *op_copy) {
    const struct gt_ops *ops = &build->store->ops;
    const struct gt_dag_call *call = &build->calls[index];
    for (uint32_t i = 0; i < call->op_count; i++) {
        uint32_t op = build->call_ops[call->first_op + i];
        bool is_copy = ops->kind[op] == GT_OP_MEMCPY || ops->kind[op] == GT_OP_MEMSET;
        if (is_copy && ops->end_ns[op] <= call->end_ns &&
            (call->role & GT_DAG_COPIES || is_pageable(build, op_copy, op)))
            add_sync(build, index, op, 0);
    }
}

static uint32_t *map_copies(struct gt_dag_build *build) {
    const struct gt_store *store = build->store;
    if (!store->copies.count)
        return NULL;
    uint32_t *op_copy = gt_dag_build_array(build, store->ops.count, sizeof *op_copy);
    if (op_copy)
        memset(op_copy, 0xff, store->ops.count * sizeof *op_copy);
    for (uint32_t i = 0; i < store->copies.count && op_copy; i++)
        op_copy[store->copies.op[i]] = i;
    return op_copy;
}

/* previous: as sync_stream() has it. */
static void sync_call(struct gt_dag_build *build, uint32_t index, uint32_t previous) {
    struct gt_dag_call *call = &build->calls[index];
    uint32_t sync = GT_NO_ROW;
    if (call->role & GT_DAG_SYNCS) {
        sync = gt_dag_build_sync_row(build, gt_dag_build_call_process(build, call),
                                     build->store->calls.correlation[call->row]);
        call->waits = true;
    }
    switch (call->detail) {
    case GT_DAG_SYNC_DEVICE:
        sync_device(build, index, sync);
        break;
    case GT_DAG_SYNC_STREAM:
        sync_stream(build, index, sync, previous);
        break;
    case GT_DAG_SYNC_EVENT:
        sync_event(build, index, sync);
        break;
    default:
        break;
    }
}

bool gt_dag_build_syncs(struct gt_dag_build *build) {
    const uint32_t *op_copy = map_copies(build);
    for (size_t t = 0; t < build->thread_count; t++) {
        const struct gt_dag_thread *thread = &build->threads[t];
        uint32_t end = thread->first_call + thread->call_count, previous = GT_DAG_NONE;
        for (uint32_t i = thread->first_call; i < end && !build->failed; i++) {
            const struct gt_dag_call *call = &build->calls[i];
            sync_call(build, i, previous);
            sync_copies(build, i, op_copy);
            if (call->role & GT_DAG_ALLOCATES)
                add_near(build, i);
            if (call->op_count)
                previous = build->op_stream[build->call_ops[call->first_op + call->op_count - 1]];
        }
    }
    return !build->failed;
}
