/* Streams: in come ops and node calls, out go the ops of each stream in their order, by launch time and by end, and
   look-ups on them. */
#include <string.h>

#include "base/mem.h"
#include "graph/dag_build.h"

#define LAUNCHED_BEFORE INT64_MIN /* the trace: launch time of an op whose call came before it */

/* ---- which stream ---- */

/* The process of an op, where the stream or the call says it. */
static uint32_t known_process(const struct gt_dag_build *build, uint32_t op) {
    uint32_t process = build->store->lanes.process[build->store->ops.lane[op]];
    if (process == GT_NO_TRACK && build->op_call[op] != GT_DAG_NONE)
        process = gt_dag_build_call_process(build, &build->calls[build->op_call[op]]);
    return process;
}

/* By lane: the process of ops of which nothing else says it. */
static uint32_t *guess_processes(struct gt_dag_build *build) {
    const struct gt_store *store = build->store;
    uint32_t *guess = gt_dag_build_array(build, store->lanes.count, sizeof *guess);
    if (!guess)
        return NULL;
    memset(guess, 0xff, store->lanes.count * sizeof *guess);
    for (uint32_t op = 0; op < store->ops.count; op++)
        if (guess[store->ops.lane[op]] == GT_NO_TRACK)
            guess[store->ops.lane[op]] = known_process(build, op);
    return guess;
}

static uint64_t stream_key(uint32_t process, int64_t device) {
    return (uint64_t)process << 32 ^ (uint64_t)(device < 0 ? -1 : device);
}

static void add_stream(struct gt_dag_build *build, uint32_t lane, uint32_t process) {
    const struct gt_store *store = build->store;
    uint32_t device = store->lanes.device[lane], number = (uint32_t)build->stream_count;
    uint64_t stream = (uint64_t)store->lanes.stream[lane];
    build->streams[build->stream_count++] = (struct gt_dag_stream){.lane = lane, .process = process};
    if (device < store->devices.count) {
        gt_map_put_if_new(&build->stream_map, stream_key(process, store->devices.id[device]), stream, number);
        gt_map_put_if_new(&build->device_map, process, (uint64_t)store->devices.id[device], 1);
    }
    gt_map_put_if_new(&build->stream_map, stream_key(process, -1), stream, number);
}

/* A lane is a stream; where its process is not known, one for each process that launched on it. */
static bool find_streams(struct gt_dag_build *build) {
    const struct gt_store *store = build->store;
    const uint32_t *guess = guess_processes(build);
    struct gt_map seen = {0};
    uint32_t *lane_stream = gt_dag_build_array(build, store->lanes.count, sizeof *lane_stream); /* last one, plus 1 */
    build->op_stream = gt_dag_build_array(build, store->ops.count, sizeof *build->op_stream);
    build->streams = gt_dag_build_array(build, store->ops.count, sizeof *build->streams);
    for (uint32_t op = 0; op < store->ops.count && !build->failed; op++) {
        uint32_t lane = store->ops.lane[op], process = known_process(build, op);
        process = process == GT_NO_TRACK ? guess[lane] : process;
        uint32_t next = (uint32_t)build->stream_count, known = lane_stream[lane];
        if (!known || build->streams[known - 1].process != process)
            known = lane_stream[lane] = gt_map_put_if_new(&seen, lane, process, next) + 1;
        build->failed |= seen.failed;
        if (build->failed)
            break;
        if (known - 1 == next)
            add_stream(build, lane, process);
        build->op_stream[op] = known - 1;
        build->streams[known - 1].count++;
    }
    gt_map_release(&seen);
    build->failed |= build->stream_map.failed || build->device_map.failed;
    return !build->failed;
}

/* ---- orders ---- */

/* An op without a call is launched before the trace where only later ops of its stream have one. */
static void set_launch_times(struct gt_dag_build *build) {
    const struct gt_ops *ops = &build->store->ops;
    for (size_t s = 0; s < build->stream_count; s++) {
        const uint32_t *rows = build->stream_ops + build->streams[s].first;
        size_t count = build->streams[s].count, without = 0;
        while (without < count && build->op_call[rows[without]] == GT_DAG_NONE)
            without++;
        for (size_t i = 0; i < count; i++) {
            uint32_t call = build->op_call[rows[i]];
            build->op_launch_ns[rows[i]] = call != GT_DAG_NONE              ? build->calls[call].start_ns
                                           : i < without && without < count ? LAUNCHED_BEFORE
                                                                            : ops->start_ns[rows[i]];
        }
    }
}

static bool order_streams(struct gt_dag_build *build) {
    const struct gt_ops *ops = &build->store->ops;
    size_t count = build->store->ops.count;
    uint32_t first = 0;
    build->stream_ops = gt_dag_build_array(build, count, sizeof(uint32_t));
    build->op_place = gt_dag_build_array(build, count, sizeof(uint32_t));
    build->op_launch_ns = gt_dag_build_array(build, count, sizeof(int64_t));
    if (build->failed)
        return false;
    for (size_t s = 0; s < build->stream_count; s++) {
        build->streams[s].first = first;
        first += build->streams[s].count;
    }
    for (uint32_t i = 0; i < count; i++)
        build->stream_ops[i] = i;
    if (!gt_dag_build_group(build, build->stream_ops, count, build->op_stream, build->stream_count))
        return false;
    for (size_t s = 0; s < build->stream_count && !build->failed; s++)
        gt_dag_build_order(build, build->stream_ops + build->streams[s].first, build->streams[s].count, ops->start_ns,
                           ops->end_ns);
    for (uint32_t i = 0; i < count; i++)
        build->op_place[build->stream_ops[i]] = i;
    set_launch_times(build);
    build->launch_ops = gt_dag_build_resort(build, build->op_launch_ns, 0);
    return !build->failed;
}

static bool is_resorted(const struct gt_dag_build *build, const int64_t *time_ns, uint32_t least) {
    for (size_t s = 0; s < build->stream_count; s++) {
        const struct gt_dag_stream *stream = &build->streams[s];
        const uint32_t *ops = build->stream_ops + stream->first;
        for (size_t i = 1; i < stream->count && stream->count >= least; i++)
            if (time_ns[ops[i]] < time_ns[ops[i - 1]])
                return false;
    }
    return true;
}

uint32_t *gt_dag_build_resort(struct gt_dag_build *build, const int64_t *time_ns, uint32_t least) {
    size_t count = build->store->ops.count;
    if (is_resorted(build, time_ns, least))
        return build->stream_ops;
    uint32_t *sorted = gt_dag_build_array(build, count, sizeof *sorted);
    if (!sorted)
        return NULL;
    memcpy(sorted, build->stream_ops, count * sizeof *sorted);
    for (size_t s = 0; s < build->stream_count && !build->failed; s++)
        if (build->streams[s].count >= least)
            gt_dag_build_sort(build, sorted + build->streams[s].first, build->streams[s].count, time_ns);
    return build->failed ? NULL : sorted;
}

/* Most ops end in the order of their launches: each is the latest then. */
static bool find_latest(struct gt_dag_build *build) {
    const int64_t *end_ns = build->store->ops.end_ns;
    if (build->launch_ops == build->stream_ops && is_resorted(build, end_ns, 0)) {
        build->latest_ops = build->launch_ops;
        return true;
    }
    build->latest_ops = gt_dag_build_array(build, build->store->ops.count, sizeof *build->latest_ops);
    if (!build->latest_ops)
        return false;
    for (size_t s = 0; s < build->stream_count; s++) {
        size_t first = build->streams[s].first;
        for (size_t i = first; i < first + build->streams[s].count; i++) {
            uint32_t op = build->launch_ops[i], before = i > first ? build->latest_ops[i - 1] : op;
            build->latest_ops[i] = end_ns[before] > end_ns[op] ? before : op;
        }
    }
    return true;
}

size_t gt_dag_build_process_slot(const struct gt_dag_build *build, uint32_t process) {
    return process == GT_NO_TRACK ? build->store->processes.count : process;
}

bool gt_dag_build_ends(struct gt_dag_build *build) {
    const struct gt_store *store = build->store;
    if (build->end_ops || build->failed)
        return !build->failed;
    size_t count = store->ops.count, slots = store->processes.count + 1;
    uint32_t *slot = gt_dag_build_array(build, count, sizeof *slot);
    build->end_ops = gt_dag_build_array(build, count, sizeof *build->end_ops);
    build->process_ends = gt_dag_build_array(build, slots + 1, sizeof *build->process_ends);
    if (build->failed)
        return false;
    memcpy(build->end_ops, build->stream_ops, count * sizeof *build->end_ops);
    for (uint32_t op = 0; op < count; op++) {
        slot[op] = (uint32_t)gt_dag_build_process_slot(build, build->streams[build->op_stream[op]].process);
        build->process_ends[slot[op] + 1]++;
    }
    for (size_t i = 0; i < slots; i++)
        build->process_ends[i + 1] += build->process_ends[i];
    return gt_dag_build_sort(build, build->end_ops, count, store->ops.end_ns) &&
           gt_dag_build_group(build, build->end_ops, count, slot, slots);
}

static bool list_process_streams(struct gt_dag_build *build) {
    size_t slots = build->store->processes.count + 1, *first;
    first = build->process_first_stream = gt_dag_build_array(build, slots + 1, sizeof *first);
    build->process_streams = gt_dag_build_array(build, build->stream_count, sizeof *build->process_streams);
    if (build->failed)
        return false;
    for (size_t s = 0; s < build->stream_count; s++)
        first[gt_dag_build_process_slot(build, build->streams[s].process) + 1]++;
    for (size_t i = 0; i < slots; i++)
        first[i + 1] += first[i];
    for (size_t s = 0; s < build->stream_count; s++)
        build->process_streams[first[gt_dag_build_process_slot(build, build->streams[s].process)]++] = (uint32_t)s;
    memmove(first + 1, first, slots * sizeof *first); /* back to where each begins */
    first[0] = 0;
    return true;
}

bool gt_dag_build_streams(struct gt_dag_build *build) {
    return find_streams(build) && order_streams(build) && list_process_streams(build) && find_latest(build);
}

/* ---- look-ups ---- */

size_t gt_dag_build_launched(const struct gt_dag_build *build, uint32_t stream, int64_t time_ns) {
    const uint32_t *ops = build->launch_ops + build->streams[stream].first;
    size_t low = 0, high = build->streams[stream].count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (build->op_launch_ns[ops[middle]] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t gt_dag_build_last_op(const struct gt_dag_build *build, uint32_t stream, int64_t time_ns) {
    size_t count = gt_dag_build_launched(build, stream, time_ns);
    return count ? build->latest_ops[build->streams[stream].first + count - 1] : GT_DAG_NONE;
}

/* Some exports say GPU 0 of every wait: a GPU on which the process ran nothing is none. */
int64_t gt_dag_build_device(const struct gt_dag_build *build, uint32_t process, int64_t device) {
    return gt_map_get(&build->device_map, process, (uint64_t)device) == GT_MAP_NONE ? -1 : device;
}

uint32_t gt_dag_build_stream(const struct gt_dag_build *build, uint32_t process, int64_t device, int64_t stream) {
    device = gt_dag_build_device(build, process, device);
    uint32_t found = gt_map_get(&build->stream_map, stream_key(process, device), (uint64_t)stream);
    return found == GT_MAP_NONE ? GT_DAG_NONE : found;
}

size_t gt_dag_build_ended(const struct gt_dag_build *build, uint32_t process, int64_t time_ns) {
    size_t slot = gt_dag_build_process_slot(build, process);
    size_t low = build->process_ends[slot], high = build->process_ends[slot + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (build->store->ops.end_ns[build->end_ops[middle]] <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
