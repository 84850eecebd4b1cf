/* Calls that are nodes: in come calls and the ops they launched, out go the node calls of each thread, and threads. */
#include <string.h>

#include "base/mem.h"
#include "graph/dag_build.h"

/* ---- names ---- */

static bool strip_version(struct gt_str *name) {
    size_t digits = 0;
    while (digits < name->len && name->ptr[name->len - digits - 1] >= '0' && name->ptr[name->len - digits - 1] <= '9')
        digits++;
    struct gt_str rest = {name->ptr, name->len - digits};
    if (!digits || !gt_str_take_end(&rest, GT_STR("_v")) || !rest.len)
        return false;
    *name = rest;
    return true;
}

static struct gt_str plain_name(struct gt_str name) {
    while (gt_str_take_end(&name, GT_STR("_ptsz")) || gt_str_take_end(&name, GT_STR("_ptds")) || strip_version(&name))
        ;
    return name;
}

static const struct {
    struct gt_str text;
    uint8_t role, detail;
} known_calls[] = {
    {GT_STR("DeviceSynchronize"), GT_DAG_SYNCS, GT_DAG_SYNC_DEVICE},
    {GT_STR("CtxSynchronize"), GT_DAG_SYNCS, GT_DAG_SYNC_DEVICE},
    {GT_STR("StreamSynchronize"), GT_DAG_SYNCS, GT_DAG_SYNC_STREAM},
    {GT_STR("EventSynchronize"), GT_DAG_SYNCS, GT_DAG_SYNC_EVENT},
    {GT_STR("StreamWaitEvent"), 0, GT_DAG_WAIT_EVENT},
    {GT_STR("EventRecord"), 0, GT_DAG_RECORD_EVENT},
    {GT_STR("EventRecordWithFlags"), 0, GT_DAG_RECORD_EVENT},
    {GT_STR("GraphLaunch"), 0, GT_DAG_LAUNCH_GRAPH},
    {GT_STR("Free"), GT_DAG_ALLOCATES, 0},
    {GT_STR("FreeHost"), GT_DAG_ALLOCATES, 0},
    {GT_STR("Malloc"), GT_DAG_ALLOCATES, 0},
    {GT_STR("HostAlloc"), GT_DAG_ALLOCATES, 0},
    {GT_STR("MallocHost"), GT_DAG_ALLOCATES, 0},
    {GT_STR("HostMalloc"), GT_DAG_ALLOCATES, 0},
    {GT_STR("MemFree"), GT_DAG_ALLOCATES, 0},
    {GT_STR("MemFreeHost"), GT_DAG_ALLOCATES, 0},
    {GT_STR("MemAlloc"), GT_DAG_ALLOCATES, 0},
    {GT_STR("MemHostAlloc"), GT_DAG_ALLOCATES, 0},
    {GT_STR("MemRelease"), GT_DAG_ALLOCATES, 0},
    {GT_STR("HostRegister"), GT_DAG_ALLOCATES, 0},
    {GT_STR("HostUnregister"), GT_DAG_ALLOCATES, 0},
};

static struct gt_dag_call_name describe(struct gt_str name) {
    struct gt_dag_call_name described = {0};
    if (!gt_str_take_start(&name, GT_STR("cuda")) && !gt_str_take_start(&name, GT_STR("cu")) &&
        !gt_str_take_start(&name, GT_STR("hip")))
        return described;
    for (size_t i = 0; i < GT_ARRAY_COUNT(known_calls); i++)
        if (gt_str_eq(name, known_calls[i].text)) {
            described.role = known_calls[i].role;
            described.detail = known_calls[i].detail;
        }
    if ((gt_str_starts(name, GT_STR("Memcpy")) || gt_str_starts(name, GT_STR("Memset"))) &&
        !memmem(name.ptr, name.len, "Async", 5))
        described.role |= GT_DAG_COPIES;
    return described;
}

static bool describe_names(struct gt_dag_build *build) {
    const struct gt_store *store = build->store;
    build->call_names = gt_dag_build_array(build, store->strings.count, sizeof *build->call_names);
    for (size_t i = 0; i < store->calls.count && !build->failed; i++) {
        struct gt_dag_call_name *name = &build->call_names[store->calls.name[i]];
        if (name->plain != GT_STRID_EMPTY)
            continue;
        struct gt_str plain = plain_name(gt_store_string(store, store->calls.name[i]));
        *name = describe(plain);
        name->plain = gt_strtab_intern_borrowed(&build->dag->names, plain.len ? plain : GT_STR("?"));
    }
    return !build->failed;
}

/* ---- which calls ---- */

/* The call that launched an op, as far as that can be. */
static uint32_t launch_call(const struct gt_dag_build *build, uint32_t op) {
    const struct gt_calls *calls = &build->store->calls;
    uint32_t call = build->labels->op_call[op];
    if (call == GT_NO_ROW || calls->thread[call] == GT_NO_TRACK ||
        calls->start_ns[call] >= build->store->ops.end_ns[op])
        return GT_NO_ROW;
    return call;
}

static int64_t call_end_ns(const struct gt_calls *calls, uint32_t row) {
    return calls->end_ns[row] > calls->start_ns[row] ? calls->end_ns[row] : calls->start_ns[row];
}

static bool is_node_call(const struct gt_dag_build *build, uint32_t row, bool launched) {
    const struct gt_calls *calls = &build->store->calls;
    uint8_t role = build->call_names[calls->name[row]].role;
    if (calls->thread[row] == GT_NO_TRACK)
        return false;
    return launched || role & (GT_DAG_SYNCS | GT_DAG_COPIES) ||
           (role & GT_DAG_ALLOCATES && gt_ns_between(calls->start_ns[row], calls->end_ns[row]) >= GT_DAG_BLOCKED_NS);
}

/* Rows of calls that may be nodes, by thread and start, longer first. Those of a thread are mostly in order. */
static uint32_t *list_calls(struct gt_dag_build *build, const uint8_t *launched, size_t *count) {
    const struct gt_calls *calls = &build->store->calls;
    uint32_t *rows = gt_dag_build_array(build, calls->count, sizeof *rows);
    *count = 0;
    for (uint32_t i = 0; i < calls->count && rows; i++)
        if (is_node_call(build, i, launched[i]))
            rows[(*count)++] = i;
    bool ok = rows && gt_dag_build_group(build, rows, *count, calls->thread, build->store->threads.count);
    for (size_t first = 0, last; first < *count && ok; first = last) {
        for (last = first; last < *count && calls->thread[rows[last]] == calls->thread[rows[first]];)
            last++;
        ok = gt_dag_build_order(build, rows + first, last - first, calls->start_ns, calls->end_ns);
    }
    return ok ? rows : NULL;
}

/* Threads as their calls come. */
static void add_to_thread(struct gt_dag_build *build, uint32_t thread, uint32_t call) {
    if (build->thread_index[thread] == GT_DAG_NONE) {
        build->thread_index[thread] = (uint32_t)build->thread_count;
        build->threads[build->thread_count++] = (struct gt_dag_thread){
            .thread = thread, .process = build->store->threads.process[thread], .first_call = call};
    }
    build->threads[build->thread_count - 1].call_count++;
}

/* node_call: by row, index into calls. */
static bool keep_calls(struct gt_dag_build *build, const uint32_t *rows, size_t count, const uint8_t *launched,
                       uint32_t *node_call) {
    const struct gt_store *store = build->store;
    struct gt_dag_call *last = NULL;
    uint32_t last_thread = GT_NO_TRACK;
    build->calls = gt_dag_build_array(build, count, sizeof *build->calls);
    build->threads = gt_dag_build_array(build, store->threads.count, sizeof *build->threads);
    build->thread_index = gt_dag_build_array(build, store->threads.count, sizeof *build->thread_index);
    if (build->failed)
        return false;
    memset(build->thread_index, 0xff, store->threads.count * sizeof *build->thread_index);
    for (size_t i = 0; i < count; i++) {
        uint32_t row = rows[i], thread = store->calls.thread[row];
        if (!last || last_thread != thread || store->calls.start_ns[row] >= last->end_ns) {
            const struct gt_dag_call_name *name = &build->call_names[store->calls.name[row]];
            add_to_thread(build, thread, (uint32_t)build->call_count);
            last = &build->calls[build->call_count++];
            last_thread = thread;
            *last = (struct gt_dag_call){.start_ns = store->calls.start_ns[row],
                                         .end_ns = call_end_ns(&store->calls, row),
                                         .row = row,
                                         .role = name->role,
                                         .detail = name->detail};
        }
        last->role |= launched[row] ? GT_DAG_LAUNCHES : 0;
        node_call[row] = (uint32_t)(last - build->calls);
    }
    return true;
}

/* ---- their ops ---- */

/* In comes the row of the call of each op, out goes the call. */
static bool list_ops(struct gt_dag_build *build, const uint32_t *node_call) {
    const struct gt_ops *ops = &build->store->ops;
    build->call_ops = gt_dag_build_array(build, ops->count, sizeof *build->call_ops);
    if (build->failed)
        return false;
    for (uint32_t op = 0; op < ops->count; op++) {
        uint32_t row = build->op_call[op];
        build->op_call[op] = row == GT_NO_ROW ? GT_DAG_NONE : node_call[row];
        if (row != GT_NO_ROW)
            build->calls[node_call[row]].op_count++;
    }
    uint32_t first = 0;
    for (size_t i = 0; i < build->call_count; i++) {
        build->calls[i].first_op = first;
        first += build->calls[i].op_count;
        build->calls[i].op_count = 0;
    }
    for (uint32_t op = 0; op < ops->count; op++) {
        uint32_t call = build->op_call[op];
        if (call != GT_DAG_NONE)
            build->call_ops[build->calls[call].first_op + build->calls[call].op_count++] = op;
    }
    bool ok = true;
    for (size_t i = 0; i < build->call_count && ok; i++)
        if (build->calls[i].op_count > 1)
            ok = gt_dag_build_order(build, build->call_ops + build->calls[i].first_op, build->calls[i].op_count,
                                    ops->start_ns, ops->end_ns);
    return ok;
}

bool gt_dag_build_calls(struct gt_dag_build *build) {
    const struct gt_store *store = build->store;
    size_t count = 0;
    uint8_t *launched = gt_dag_build_array(build, store->calls.count, sizeof *launched);
    uint32_t *node_call = gt_dag_build_array(build, store->calls.count, sizeof *node_call);
    build->op_call = gt_dag_build_array(build, store->ops.count, sizeof *build->op_call);
    if (build->failed || !describe_names(build))
        return false;
    for (uint32_t op = 0; op < store->ops.count; op++) {
        uint32_t row = build->op_call[op] = launch_call(build, op);
        if (row != GT_NO_ROW)
            launched[row] = 1;
    }
    const uint32_t *rows = list_calls(build, launched, &count);
    return rows && keep_calls(build, rows, count, launched, node_call) && list_ops(build, node_call);
}
