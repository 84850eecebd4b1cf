/* Launch calls that waited for room in the queue of their stream: edges from the op that made room to the return of the
   call. Profilers do not say it; a call that takes long and returns when an op of a full stream ends, shows it. */
#include <stdlib.h>

#include "base/mem.h"
#include "graph/dag_build.h"

/* A launch call into a long queue. */
struct launch {
    uint32_t call, stream;
    uint32_t before; /* ops of the stream launched before it */
    uint32_t flight; /* of those and its own the ones that had not ended when it returned */
    uint32_t op;     /* that it seems to have waited for; GT_DAG_NONE */
};

struct room {
    struct gt_dag_build *build;
    const uint32_t *end_ops; /* by stream, in order of end */
    struct launch *launches;
    size_t count, capacity;
};

static size_t ended(const struct room *room, uint32_t stream, int64_t time_ns) {
    const struct gt_dag_build *build = room->build;
    const uint32_t *ops = room->end_ops + build->streams[stream].first;
    size_t low = 0, high = build->streams[stream].count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (build->store->ops.end_ns[ops[middle]] <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether so many launches may be in flight when a call returns, which most calls can be asked without a search: of the
   ops launched up to the last of its own only few have not ended. */
static bool may_be_full(const struct room *room, uint32_t stream, const struct gt_dag_call *call) {
    const struct gt_dag_build *build = room->build;
    uint32_t first = build->streams[stream].first, last = build->call_ops[call->first_op + call->op_count - 1];
    uint32_t place = build->op_place[last];
    if (build->op_stream[last] != stream || build->launch_ops[place] != last)
        return true; /* of several streams, or not in the order of launches */
    uint32_t launched = place - first + 1;
    return launched >= GT_DAG_FLIGHT &&
           build->store->ops.end_ns[room->end_ops[first + launched - GT_DAG_FLIGHT]] > call->end_ns;
}

static struct launch look_at(const struct room *room, uint32_t index) {
    const struct gt_dag_build *build = room->build;
    const struct gt_dag_call *call = &build->calls[index];
    uint32_t stream = build->op_stream[build->call_ops[call->first_op]];
    size_t before = gt_dag_build_launched(build, stream, call->start_ns), done = ended(room, stream, call->end_ns);
    struct launch launch = {.call = index, .stream = stream, .before = (uint32_t)before, .op = GT_DAG_NONE};
    launch.flight = before + 1 > done ? (uint32_t)(before + 1 - done) : 0;
    if (launch.flight < GT_DAG_FLIGHT || gt_ns_between(call->start_ns, call->end_ns) < GT_DAG_BLOCKED_NS || !done)
        return launch;
    uint32_t op = room->end_ops[build->streams[stream].first + done - 1];
    int64_t end_ns = build->store->ops.end_ns[op];
    if (end_ns > call->start_ns && end_ns >= gt_ns_add(call->end_ns, -GT_DAG_NEAR_NS))
        launch.op = op;
    return launch;
}

static bool collect(struct room *room) {
    const struct gt_dag_build *build = room->build;
    for (uint32_t i = 0; i < build->call_count; i++) {
        const struct gt_dag_call *call = &build->calls[i];
        if (!call->op_count || call->detail == GT_DAG_LAUNCH_GRAPH)
            continue;
        uint32_t stream = build->op_stream[build->call_ops[call->first_op]];
        if (build->streams[stream].count < GT_DAG_FLIGHT || !may_be_full(room, stream, call))
            continue;
        struct launch launch = look_at(room, i);
        if (launch.flight < GT_DAG_FLIGHT)
            continue;
        struct launch *grown = gt_mem_room(room->launches, room->count, &room->capacity, sizeof *grown);
        if (!grown)
            return false;
        room->launches = grown;
        room->launches[room->count++] = launch;
    }
    return true;
}

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* How many launches the queue takes: the lower median of what was in flight. 0: too few calls waited. */
static uint32_t find_depth(const struct room *room) {
    size_t count = 0;
    uint32_t depth = 0, *flights = gt_mem_uninitialised(room->count + 1, sizeof *flights);
    for (size_t i = 0; i < room->count && flights; i++)
        if (room->launches[i].op != GT_DAG_NONE)
            flights[count++] = room->launches[i].flight;
    if (count >= 3) {
        qsort(flights, count, sizeof *flights, by_value);
        depth = flights[(count - 1) / 2];
    }
    room->build->failed |= !flights;
    gt_mem_free(flights);
    return depth;
}

static void add_rooms(struct room *room) {
    struct gt_dag_build *build = room->build;
    uint32_t depth = find_depth(room);
    build->dag->queue_depth = depth;
    for (size_t i = 0; i < room->count; i++) {
        struct launch *launch = &room->launches[i];
        struct gt_dag_call *call = &build->calls[launch->call];
        if (launch->op == GT_DAG_NONE && depth && launch->before >= depth) {
            uint32_t op = room->end_ops[build->streams[launch->stream].first + launch->before - depth];
            if (build->store->ops.end_ns[op] <= call->end_ns)
                launch->op = op;
        }
        if (launch->op == GT_DAG_NONE)
            continue;
        call->waits = true;
        gt_dag_build_edge(build, &(struct gt_dag_raw_edge){.from = launch->op,
                                                           .to = gt_dag_build_return_id(build, launch->call),
                                                           .kind = GT_DAG_ROOM,
                                                           .flags = GT_DAG_INFERRED});
    }
}

static bool has_long_streams(const struct gt_dag_build *build) {
    for (size_t s = 0; s < build->stream_count; s++)
        if (build->streams[s].count >= GT_DAG_FLIGHT)
            return true;
    return false;
}

bool gt_dag_build_room(struct gt_dag_build *build) {
    struct room room = {.build = build};
    if (!has_long_streams(build))
        return true;
    room.end_ops = gt_dag_build_resort(build, build->store->ops.end_ns, GT_DAG_FLIGHT);
    bool ok = room.end_ops && collect(&room);
    if (ok)
        add_rooms(&room);
    gt_mem_free(room.launches);
    build->failed |= !ok;
    return !build->failed;
}
