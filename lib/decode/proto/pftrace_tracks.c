/* Tracks: descriptors come in; processes, threads, streams, GPUs and counters of the store go out. */
#include <stdio.h>

#include "base/mem.h"
#include "base/num.h"
#include "decode/proto/pftrace_fields.h"
#include "decode/proto/pftrace_reading.h"

enum {
    DEEPEST = 16,              /* tracks above a track that are looked at: they may form a circle */
    MADE_UP = 0x40000000,      /* gputime's numbers of what has only a name begin here */
    MADE_UP_THREADS = 1 << 20, /* so many of threads: their real numbers may be any */
    GPUS_MAX = 4096,           /* in a list of them */
};

uint32_t gt_pftrace_reading_track(struct gt_pftrace_reading *reading, uint64_t uuid) {
    uint32_t found = gt_map_get(&reading->track_ids, 0, uuid);
    if (found != GT_MAP_NONE)
        return found;
    struct gt_pftrace_track *tracks =
        gt_mem_room(reading->tracks, reading->track_count, &reading->track_capacity, sizeof *tracks);
    if (!tracks || reading->track_count == GT_PFTRACE_NONE) {
        reading->failed = true;
        return GT_PFTRACE_NONE;
    }
    reading->tracks = tracks;
    tracks[reading->track_count] = (struct gt_pftrace_track){.uuid = uuid,
                                                             .pid = INT64_MIN,
                                                             .tid = INT64_MIN,
                                                             .gpu = INT64_MIN,
                                                             .last_ns = INT64_MIN,
                                                             .thread = GT_PFTRACE_NONE,
                                                             .lane = GT_PFTRACE_NONE,
                                                             .counter = GT_PFTRACE_NONE,
                                                             .open = GT_PFTRACE_NONE};
    gt_map_put(&reading->track_ids, 0, uuid, (uint32_t)reading->track_count);
    reading->failed |= reading->track_ids.failed;
    return (uint32_t)reading->track_count++;
}

/* ---- descriptors ---- */

/* Numbers of processes are those of their machine. */
static void describe_process(struct gt_pftrace_reading *reading, struct gt_pftrace_track *track, struct gt_str bytes) {
    struct gt_str name = gt_proto_find_bytes(bytes, GT_PROTO_BYTES(6));
    uint32_t pid = (uint32_t)gt_proto_find_value(bytes, GT_PROTO_VARINT(1), 0);
    track->is_process = true;
    track->pid = (int32_t)pid;
    if (pid > INT32_MAX || gt_map_put_if_new(&reading->origins, GT_PF_ORIGIN_PROCESS, track->machine, pid) != pid)
        gt_map_put(&reading->origins, GT_PF_ORIGIN_PROCESS, track->machine, GT_PFTRACE_SEVERAL);
    if (!name.ptr)
        return;
    track->process_name = gt_builder_string(reading->builder, name);
    gt_map_put(&reading->process_names, track->machine, pid, track->process_name);
}

static void describe_thread(struct gt_pftrace_reading *reading, struct gt_pftrace_track *track, struct gt_str bytes) {
    struct gt_str name = gt_proto_find_bytes(bytes, GT_PROTO_BYTES(5));
    track->is_thread = true;
    track->pid = (int32_t)gt_proto_find_value(bytes, GT_PROTO_VARINT(1), 0);
    track->tid = (int64_t)gt_proto_find_value(bytes, GT_PROTO_VARINT(2), 0);
    if (name.ptr)
        track->thread_name = gt_builder_string(reading->builder, name);
}

static void describe_counter(struct gt_pftrace_reading *reading, struct gt_pftrace_track *track, struct gt_str bytes) {
    enum { UNIT_BYTES = 3 };
    struct gt_str unit = gt_proto_find_bytes(bytes, GT_PROTO_BYTES(6));
    track->is_counter = true;
    if (gt_proto_find_value(bytes, GT_PROTO_VARINT(3), 0) == UNIT_BYTES)
        unit = GT_STR("bytes");
    if (unit.ptr)
        track->unit = gt_builder_string(reading->builder, unit);
}

void gt_pftrace_reading_describe(struct gt_pftrace_reading *reading, struct gt_str descriptor, uint32_t machine) {
    struct gt_proto message = gt_proto_of(descriptor);
    struct gt_proto_field field;
    uint32_t index = gt_pftrace_reading_track(reading, gt_proto_find_value(descriptor, PF_TRACK_UUID, 0));
    if (index == GT_PFTRACE_NONE)
        return;
    struct gt_pftrace_track *track = &reading->tracks[index];
    track->machine = machine;
    gt_pftrace_reading_machine(reading, machine, GT_PFTRACE_NO_RANK);
    track->is_described = true;
    while (gt_proto_next(&message, &field))
        if (field.tag == PF_TRACK_PARENT)
            track->parent = field.value;
        else if (field.tag == PF_TRACK_NAME || field.tag == PF_TRACK_STATIC_NAME)
            track->name = gt_builder_string(reading->builder, field.bytes);
        else if (field.tag == PF_TRACK_DESCRIPTION)
            track->description = gt_builder_string(reading->builder, field.bytes);
        else if (field.tag == PF_TRACK_PROCESS)
            describe_process(reading, track, field.bytes);
        else if (field.tag == PF_TRACK_THREAD)
            describe_thread(reading, track, field.bytes);
        else if (field.tag == PF_TRACK_COUNTER)
            describe_counter(reading, track, field.bytes);
        else if (field.tag == PF_TRACK_GPU)
            track->gpu = (int32_t)gt_proto_find_value(field.bytes, GT_PROTO_VARINT(1), 0);
    if (message.is_damaged)
        gt_builder_issue(reading->builder, GT_ISSUE_EVENT_DAMAGED, 1, reading->offset);
}

/* uuids are random numbers, or small ones: what is made up has a pattern of its own above the ids. */
static uint64_t made_up_uuid(uint64_t pid, uint64_t tid) {
    return UINT64_C(0x7fb1) << 48 ^ pid << 32 ^ (tid & UINT32_MAX) ^ (tid >> 32) * UINT64_C(0x9e3779b97f4a7c15);
}

uint64_t gt_pftrace_reading_own_thread(struct gt_pftrace_reading *reading, struct gt_str thread, uint32_t machine) {
    uint64_t pid = (uint32_t)gt_proto_find_value(thread, PF_THREAD_PID, 0);
    uint64_t uuid = made_up_uuid(pid, gt_proto_find_value(thread, PF_THREAD_TID, 0));
    uint32_t index = gt_pftrace_reading_track(reading, uuid);
    if (index == GT_PFTRACE_NONE)
        return 0;
    struct gt_pftrace_track *track = &reading->tracks[index];
    gt_pftrace_reading_machine(reading, machine, GT_PFTRACE_NO_RANK);
    track->machine = machine;
    track->is_described = true;
    track->parent = made_up_uuid(pid, UINT64_MAX);
    describe_thread(reading, track, thread);
    return uuid;
}

void gt_pftrace_reading_own_process(struct gt_pftrace_reading *reading, struct gt_str process, uint32_t machine) {
    uint64_t pid = (uint32_t)gt_proto_find_value(process, PF_THREAD_PID, 0);
    uint32_t index = gt_pftrace_reading_track(reading, made_up_uuid(pid, UINT64_MAX));
    if (index == GT_PFTRACE_NONE)
        return;
    reading->tracks[index].machine = machine;
    reading->tracks[index].is_described = true;
    describe_process(reading, &reading->tracks[index], process);
}

/* The nearest track, itself or above it, of which a test holds. */
static const struct gt_pftrace_track *find_above(const struct gt_pftrace_reading *reading, uint32_t track,
                                                 bool (*test)(const struct gt_pftrace_track *track)) {
    for (unsigned depth = 0; depth < DEEPEST && track != GT_MAP_NONE; depth++) {
        const struct gt_pftrace_track *at = &reading->tracks[track];
        if (test(at))
            return at;
        if (!at->parent)
            break;
        track = gt_map_get(&reading->track_ids, 0, at->parent);
    }
    return NULL;
}

static bool has_pid(const struct gt_pftrace_track *track) {
    return track->pid != INT64_MIN;
}
static bool has_gpu(const struct gt_pftrace_track *track) {
    return track->gpu != INT64_MIN;
}
static bool is_of_thread(const struct gt_pftrace_track *track) {
    return track->is_thread;
}

/* ---- rows ---- */

/* What is known of a machine is known of its processes. */
static void add_origin(struct gt_pftrace_reading *reading, uint32_t process, uint32_t machine) {
    uint32_t rank = gt_map_get(&reading->machines, 0, machine);
    uint32_t host = gt_map_get(&reading->origins, GT_PF_ORIGIN_HOST, machine);
    uint32_t world = gt_map_get(&reading->origins, GT_PF_ORIGIN_WORLD, machine);
    int64_t world_size = world == GT_MAP_NONE ? -1 : (int64_t)world;
    if (!machine)
        return;
    if (rank < GT_PFTRACE_NO_RANK)
        gt_builder_rank(reading->builder, process, rank, world_size, GT_RANK_OF_TRACE);
    if (host != GT_MAP_NONE)
        gt_builder_host_process(reading->builder, process, gt_store_string(&reading->builder->store, host));
}

uint32_t gt_pftrace_reading_process_of(struct gt_pftrace_reading *reading, int64_t pid, uint32_t machine) {
    char label[40] = "";
    struct gt_str name = gt_str_of(label);
    if (machine)
        name.len = (size_t)snprintf(label, sizeof label, "machine %u", machine);
    uint32_t known = gt_map_get(&reading->process_names, machine, (uint32_t)pid);
    if (reading->is_of_gputime && pid >= MADE_UP && known != GT_MAP_NONE && known != GT_STRID_EMPTY) {
        name = gt_store_string(&reading->builder->store, known);
        pid = -1;
    }
    uint32_t process = gt_builder_process(reading->builder, pid, name);
    add_origin(reading, process, machine);
    return process;
}

/* A stream of one machine of several, where nothing says of which process: of the only one that it has, or of one that
   stands for the machine. */
static uint32_t owner_of_machine(struct gt_pftrace_reading *reading, uint32_t machine) {
    uint32_t rank = gt_map_get(&reading->machines, 0, machine);
    uint32_t only = gt_map_get(&reading->origins, GT_PF_ORIGIN_PROCESS, machine);
    char label[40];
    if (only == GT_PFTRACE_SEVERAL)
        return GT_NO_TRACK;
    if (only != GT_MAP_NONE)
        return gt_pftrace_reading_process_of(reading, (int32_t)only, machine);
    if (rank < GT_PFTRACE_NO_RANK)
        snprintf(label, sizeof label, "rank %u", rank);
    else
        snprintf(label, sizeof label, "machine %u", machine);
    uint32_t process = gt_builder_process(reading->builder, -1, gt_str_of(label));
    add_origin(reading, process, machine);
    return process;
}

uint32_t gt_pftrace_reading_owner(struct gt_pftrace_reading *reading, int64_t pid, uint32_t machine) {
    if (pid != INT64_MIN)
        return gt_pftrace_reading_process_of(reading, pid, machine);
    return machine ? owner_of_machine(reading, machine) : GT_NO_TRACK;
}

void gt_pftrace_reading_machine(struct gt_pftrace_reading *reading, uint32_t machine, uint32_t rank) {
    uint32_t known = gt_map_put_if_new(&reading->machines, 0, machine, rank);
    if (rank == GT_PFTRACE_NO_RANK || rank == known)
        return;
    bool is_other = known != GT_PFTRACE_NO_RANK; /* of a file that was put together of several */
    gt_map_put(&reading->machines, is_other, is_other ? rank : machine, rank);
}

static bool is_of_process(const struct gt_pftrace_track *track) {
    return track->is_process;
}

/* A thread has its process's name from the track above it. */
static uint32_t process_of(struct gt_pftrace_reading *reading, const struct gt_pftrace_track *track) {
    const struct gt_store *store = &reading->builder->store;
    const struct gt_pftrace_track *named = find_above(reading, (uint32_t)(track - reading->tracks), is_of_process);
    struct gt_str name =
        gt_store_string(store, named && named->pid == track->pid ? named->process_name : GT_STRID_EMPTY);
    uint32_t process = gt_pftrace_reading_process_of(reading, track->pid, track->machine);
    if (name.len && process != GT_NO_TRACK && !(reading->is_of_gputime && track->pid >= MADE_UP))
        gt_builder_name_process(reading->builder, process, name);
    return process;
}

uint32_t gt_pftrace_reading_process(struct gt_pftrace_reading *reading, uint32_t track) {
    const struct gt_pftrace_track *found = find_above(reading, track, has_pid);
    return found ? process_of(reading, found) : GT_NO_TRACK;
}

static bool is_made_up(int64_t tid) {
    return tid >= MADE_UP && tid < MADE_UP + MADE_UP_THREADS;
}

/* A track that is no thread's stands for one, by its name. What gputime had no thread for has none. */
static uint32_t find_thread(struct gt_pftrace_reading *reading, uint32_t index) {
    const struct gt_store *store = &reading->builder->store;
    const struct gt_pftrace_track *thread = find_above(reading, index, is_of_thread);
    uint32_t process = gt_pftrace_reading_process(reading, index);
    struct gt_str name = gt_store_string(store, thread ? thread->thread_name : reading->tracks[index].name);
    if (!thread && reading->is_of_gputime && process == GT_NO_TRACK)
        return GT_NO_TRACK;
    if (process == GT_NO_TRACK)
        process = gt_builder_process(reading->builder, -1, GT_STR("trace"));
    if (!thread || (reading->is_of_gputime && is_made_up(thread->tid) && name.len))
        return gt_builder_thread(reading->builder, process, -1, name.len ? name : GT_STR("?"));
    uint32_t row = gt_builder_thread(reading->builder, process, thread->tid, GT_STR(""));
    if (name.len && row != GT_NO_TRACK)
        gt_builder_name_thread(reading->builder, row, name);
    return row;
}

uint32_t gt_pftrace_reading_thread(struct gt_pftrace_reading *reading, uint32_t track) {
    if (reading->tracks[track].thread == GT_PFTRACE_NONE)
        reading->tracks[track].thread = find_thread(reading, track);
    return reading->tracks[track].thread;
}

/* A track of ranges on a stream. */
uint32_t gt_pftrace_reading_lane(struct gt_pftrace_reading *reading, uint32_t index) {
    struct gt_pftrace_track *track = &reading->tracks[index];
    const struct gt_pftrace_track *gpu = find_above(reading, index, has_gpu);
    const struct gt_store *store = &reading->builder->store;
    if (track->lane != GT_PFTRACE_NONE)
        return track->lane;
    const struct gt_pftrace_track *above = track;
    uint32_t parent = track->parent ? gt_map_get(&reading->track_ids, 0, track->parent) : GT_MAP_NONE;
    int64_t stream = gt_pftrace_reading_number_in(gt_store_string(store, track->name), GT_STR("stream "));
    if (stream == INT64_MIN && parent != GT_MAP_NONE) { /* beside another one */
        above = &reading->tracks[parent];
        stream = gt_pftrace_reading_number_in(gt_store_string(store, above->name), GT_STR("stream "));
    }
    int64_t pid = gt_pftrace_reading_number_in(gt_store_string(store, above->description), GT_STR("process "));
    uint32_t process = gt_pftrace_reading_owner(reading, pid, track->machine);
    track->lane = gt_builder_lane(reading->builder, process, gpu ? gpu->gpu : 0, stream < 0 ? 0 : stream);
    return track->lane;
}

uint32_t gt_pftrace_reading_counter(struct gt_pftrace_reading *reading, uint32_t index) {
    struct gt_pftrace_track *track = &reading->tracks[index];
    const struct gt_pftrace_track *gpu = find_above(reading, index, has_gpu);
    struct gt_str description = gt_store_string(&reading->builder->store, track->description);
    if (track->counter != GT_PFTRACE_NONE)
        return track->counter;
    int64_t period_ns = gt_pftrace_reading_number_in(description, GT_STR("sampled every "));
    bool is_sampled = gt_str_starts(description, GT_STR("sampled"));
    struct gt_counter_tracks_row row = {.process = gpu ? GT_NO_TRACK : gt_pftrace_reading_process(reading, index),
                                        .device = gpu ? gpu->gpu : -1,
                                        .name = track->name,
                                        .unit = track->unit,
                                        .period_ns = period_ns > 0 ? period_ns : 0,
                                        .kind = is_sampled ? GT_COUNTER_SAMPLED : GT_COUNTER_STATE};
    track->counter = gt_builder_counter_track(reading->builder, &row);
    return track->counter;
}

/* ---- GPUs ---- */

static void keep_info(struct gt_devices *devices, uint32_t device, struct gt_str entry) {
    struct gt_str key = gt_proto_find_bytes(entry, GT_PROTO_BYTES(1));
    uint64_t value;
    if (!gt_num_parse_uint(gt_proto_find_bytes(entry, GT_PROTO_BYTES(2)), &value))
        return;
    const struct {
        const char *key;
        uint64_t *wide;
        uint32_t *narrow;
    } columns[] = {
        {"memory_bytes", devices->memory_bytes, NULL},
        {"multiprocessors", NULL, devices->multiprocessors},
        {"bandwidth", devices->bandwidth, NULL},
        {"clock_hz", devices->clock_hz, NULL},
        {"l2_bytes", devices->l2_bytes, NULL},
        {"max_warps", NULL, devices->max_warps},
        {"max_blocks", NULL, devices->max_blocks},
        {"max_registers", NULL, devices->max_registers},
        {"compute_major", NULL, devices->compute_major},
        {"compute_minor", NULL, devices->compute_minor},
        {"max_shared_bytes", NULL, devices->max_shared_bytes},
    };
    for (size_t i = 0; i < GT_ARRAY_COUNT(columns); i++) {
        if (!gt_str_eq(key, gt_str_of(columns[i].key)))
            continue;
        if (columns[i].wide)
            columns[i].wide[device] = value;
        else if (value <= UINT32_MAX)
            columns[i].narrow[device] = (uint32_t)value;
    }
}

static void describe_gpu(struct gt_pftrace_reading *reading, int64_t id, struct gt_str bytes) {
    struct gt_proto message = gt_proto_of(bytes);
    struct gt_proto_field field;
    uint32_t device = gt_builder_device(reading->builder, id);
    struct gt_devices *devices = &reading->builder->store.devices;
    if (device >= devices->count)
        return;
    while (gt_proto_next(&message, &field))
        if (field.tag == GT_PROTO_BYTES(1))
            gt_builder_name_device(reading->builder, device, field.bytes);
        else if (field.tag == GT_PROTO_BYTES(6))
            keep_info(devices, device, field.bytes);
}

/* GPUs are numbered by their places. One without a word about it is only there to keep the place of others. */
void gt_pftrace_reading_gpus(struct gt_pftrace_reading *reading, struct gt_str info) {
    struct gt_proto message = gt_proto_of(info);
    struct gt_proto_field field;
    for (int64_t id = 0; id < GPUS_MAX && gt_proto_next(&message, &field);)
        if (field.tag == GT_PROTO_BYTES(1)) {
            if (field.bytes.len)
                describe_gpu(reading, id, field.bytes);
            id++;
        }
}
