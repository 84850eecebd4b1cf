/* Descriptors of a Perfetto trace: processes, threads, GPUs and the tracks below them, each in a packet of its own. */
#include <stdio.h>

#include "export/perfetto_fields.h"
#include "export/perfetto_part.h"

/* A descriptor, to which the caller adds fields. */
struct describing {
    struct gt_perfetto_part *part;
    struct gt_wire *wire;
    size_t packet, descriptor;
};

static struct describing begin(struct gt_perfetto_part *part, uint64_t uuid, uint64_t parent) {
    struct describing it = {part, &part->file->single, gt_perfetto_file_begin(part->file, part->machine), 0};
    it.descriptor = gt_wire_begin(it.wire, PACKET_TRACK_DESCRIPTOR);
    gt_wire_uint(it.wire, TRACK_UUID, uuid);
    if (parent)
        gt_wire_uint(it.wire, TRACK_PARENT_UUID, parent);
    return it;
}

static void end(struct describing *it) {
    gt_wire_end(it->wire, it->descriptor);
    gt_perfetto_file_end(it->part->file, it->packet);
}

static void describe_named(struct gt_perfetto_part *part, uint64_t uuid, uint64_t parent, struct gt_str name) {
    struct describing it = begin(part, uuid, parent);
    gt_wire_text(it.wire, TRACK_NAME, name);
    end(&it);
}

/* Ranges of a stream, with the process that it is of where that is known. */
static void describe_lane(struct gt_perfetto_part *part, uint64_t uuid, uint32_t lane) {
    const struct gt_lanes *lanes = &part->store->lanes;
    struct describing it =
        begin(part, uuid, gt_perfetto_part_uuid(part, gt_perfetto_part_device(part, lanes->device[lane])));
    gt_wire_text(it.wire, TRACK_NAME,
                 gt_arena_printf(&part->arena, "Ranges of stream %lld", (long long)lanes->stream[lane]));
    uint32_t process = gt_perfetto_part_lane_process(part, lane);
    if (process != GT_NO_TRACK)
        gt_wire_text(it.wire, TRACK_DESCRIPTION,
                     gt_arena_printf(&part->arena, "process %d", (int)gt_perfetto_part_pid(part, process)));
    end(&it);
}

/* ---- processes and threads ---- */

/* Its name, else the text that the trace has instead of a number. */
static struct gt_str name_or_label(const struct gt_store *store, gt_strid name, gt_strid label) {
    return gt_store_string(store, name != GT_STRID_EMPTY ? name : label);
}

static uint64_t process_uuid(const struct gt_perfetto_part *part, uint32_t process) {
    return process == GT_NO_TRACK ? 0 : gt_perfetto_part_uuid(part, gt_perfetto_part_process(part, process));
}

static void describe_process(struct gt_perfetto_part *part, uint32_t process) {
    const struct gt_processes *processes = &part->store->processes;
    struct gt_str name = name_or_label(part->store, processes->name[process], processes->label[process]);
    int64_t rank = processes->rank[process] >= 0 ? processes->rank[process] : part->rank;
    if (part->machine && rank >= 0)
        name = gt_arena_printf(&part->arena, "rank %lld%s%.*s", (long long)rank, name.len ? ": " : "",
                               (int)(name.len < 1000 ? name.len : 1000), name.ptr);
    struct describing it = begin(part, process_uuid(part, process), 0);
    size_t inner = gt_wire_begin(it.wire, TRACK_PROCESS);
    gt_wire_int(it.wire, PROCESS_PID, gt_perfetto_part_pid(part, process));
    if (name.len)
        gt_wire_text(it.wire, PROCESS_NAME, name);
    gt_wire_end(it.wire, inner);
    end(&it);
}

static void describe_thread(struct gt_perfetto_part *part, uint32_t thread) {
    const struct gt_threads *threads = &part->store->threads;
    uint32_t process = threads->process[thread];
    struct gt_str name = name_or_label(part->store, threads->name[thread], threads->label[thread]);
    struct describing it = begin(part, gt_perfetto_part_uuid(part, thread), process_uuid(part, process));
    if (process == GT_NO_TRACK) { /* without a process there is no thread to Perfetto */
        gt_wire_text(it.wire, TRACK_NAME, name.len ? name : GT_STR("thread"));
    } else {
        size_t inner = gt_wire_begin(it.wire, TRACK_THREAD);
        gt_wire_int(it.wire, THREAD_PID, gt_perfetto_part_pid(part, process));
        gt_wire_int(it.wire, THREAD_TID, gt_perfetto_part_tid(part, thread));
        if (name.len)
            gt_wire_text(it.wire, THREAD_NAME, name);
        gt_wire_end(it.wire, inner);
    }
    end(&it);
}

/* ---- GPUs ---- */

/* The track below which are those of a GPU. Newer viewers place its queues there, too. */
static void describe_gpu(struct gt_perfetto_part *part, uint32_t device) {
    const struct gt_devices *devices = &part->store->devices;
    struct gt_str name = gt_store_string(part->store, devices->name[device]);
    struct describing it = begin(part, gt_perfetto_part_uuid(part, gt_perfetto_part_device(part, device)), 0);
    char rank[40] = "";
    if (part->machine && part->rank >= 0)
        snprintf(rank, sizeof rank, " of rank %lld", (long long)part->rank);
    gt_wire_text(it.wire, TRACK_NAME,
                 gt_arena_printf(&part->arena, "GPU %lld%s%s%.*s", (long long)devices->id[device], rank,
                                 name.len ? ": " : "", (int)(name.len < 1000 ? name.len : 1000), name.ptr));
    size_t gpu = gt_wire_begin(it.wire, TRACK_GPU);
    gt_wire_int(it.wire, GPU_TRACK_ID, gt_perfetto_part_gpu(part, device));
    gt_wire_end(it.wire, gpu);
    end(&it);
}

static void add_info(struct gt_wire *wire, const char *key, uint64_t value) {
    char text[40];
    if (!value)
        return;
    int length = snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    size_t entry = gt_wire_begin(wire, GPU_EXTRA_INFO);
    gt_wire_text(wire, KEY_VALUE_KEY, gt_str_of(key));
    gt_wire_text(wire, KEY_VALUE_VALUE, (struct gt_str){text, (size_t)length});
    gt_wire_end(wire, entry);
}

static int digit_of(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* "GPU-5b9e...": 16 bytes as text, with or without dashes. */
static bool parse_uuid(struct gt_str text, uint8_t bytes[16]) {
    size_t digits = 0;
    gt_str_take_start(&text, GT_STR("GPU-"));
    for (size_t i = 0; i < text.len; i++) {
        int digit = digit_of(text.ptr[i]);
        if (text.ptr[i] == '-')
            continue;
        if (digit < 0 || digits == 32)
            return false;
        bytes[digits / 2] = (uint8_t)(digits % 2 ? bytes[digits / 2] << 4 | digit : digit);
        digits++;
    }
    return digits == 32;
}

static void add_gpu_info(const struct gt_perfetto_part *part, uint32_t device, struct gt_wire *wire) {
    const struct gt_devices *devices = &part->store->devices;
    struct gt_str name = gt_store_string(part->store, devices->name[device]);
    uint8_t uuid[16];
    if (name.len)
        gt_wire_text(wire, GPU_NAME, name);
    gt_wire_text(wire, GPU_VENDOR, part->api == API_HIP ? GT_STR("AMD") : GT_STR("NVIDIA"));
    if (devices->compute_major[device]) {
        char text[40];
        int length =
            snprintf(text, sizeof text, "sm_%u%u", devices->compute_major[device], devices->compute_minor[device]);
        gt_wire_text(wire, GPU_ARCHITECTURE, (struct gt_str){text, (size_t)length});
    }
    if (parse_uuid(gt_store_string(part->store, devices->uuid[device]), uuid))
        gt_wire_bytes(wire, GPU_UUID, uuid, sizeof uuid);
    add_info(wire, "memory_bytes", devices->memory_bytes[device]);
    add_info(wire, "multiprocessors", devices->multiprocessors[device]);
    add_info(wire, "bandwidth", devices->bandwidth[device]);
    add_info(wire, "clock_hz", devices->clock_hz[device]);
    add_info(wire, "l2_bytes", devices->l2_bytes[device]);
    add_info(wire, "compute_major", devices->compute_major[device]);
    add_info(wire, "compute_minor", devices->compute_minor[device]);
    add_info(wire, "max_warps", devices->max_warps[device]);
    add_info(wire, "max_blocks", devices->max_blocks[device]);
    add_info(wire, "max_registers", devices->max_registers[device]);
    add_info(wire, "max_shared_bytes", devices->max_shared_bytes[device]);
}

/* GPUs have no numbers in this list but their places: all up to the last that has work are in it. */
static void describe_gpus(struct gt_perfetto_part *part) {
    enum { MOST = 1024 };
    const struct gt_devices *devices = &part->store->devices;
    struct gt_wire *wire = &part->file->single;
    int64_t last = -1;
    for (size_t i = 0; i < part->view->device_count; i++)
        last = part->view->devices[i].id > last && part->view->devices[i].id < MOST ? part->view->devices[i].id : last;
    if (last < 0)
        return;
    size_t packet = gt_perfetto_file_begin(part->file, part->machine), info = gt_wire_begin(wire, PACKET_GPU_INFO);
    for (int64_t id = 0; id <= last; id++) {
        size_t gpu = gt_wire_begin(wire, GPU_INFO_GPUS);
        for (uint32_t i = 0; i < devices->count; i++)
            if (devices->id[i] == id) {
                add_gpu_info(part, i, wire);
                break;
            }
        gt_wire_end(wire, gpu);
    }
    gt_wire_end(wire, info);
    gt_perfetto_file_end(part->file, packet);
}

/* ---- all of them ---- */

void gt_perfetto_part_describe(struct gt_perfetto_part *part) {
    describe_gpus(part);
    for (uint32_t i = 0; i < part->store->processes.count; i++)
        if (!part->processes || part->processes[i])
            describe_process(part, i);
    for (size_t i = 0; i < part->view->device_count; i++)
        describe_gpu(part, part->view->devices[i].device);
}

void gt_perfetto_part_describe_track(struct gt_perfetto_part *part, size_t track) {
    const struct gt_store *store = part->store;
    uint64_t uuid = gt_perfetto_part_uuid(part, track);
    size_t none = store->processes.count, starts = gt_perfetto_part_starts_ends(part, 0);
    size_t steps = gt_perfetto_part_steps(part, 0), lanes = gt_perfetto_part_lane(part, 0);
    size_t gaps = gt_perfetto_part_gaps(part, 0);
    if (track < store->threads.count) {
        describe_thread(part, (uint32_t)track);
    } else if (track < starts) {
        describe_named(part, uuid, 0, GT_STR("no thread"));
    } else if (track < lanes) {
        size_t process = track - (track < steps ? starts : steps);
        describe_named(part, uuid, process_uuid(part, process == none ? GT_NO_TRACK : (uint32_t)process),
                       track < steps ? GT_STR("Ranges (start/end)") : GT_STR("Steps"));
    } else if (track < gaps) {
        describe_lane(part, uuid, (uint32_t)(track - lanes));
    } else {
        uint32_t device = (uint32_t)(track - gaps);
        describe_named(part, uuid, gt_perfetto_part_uuid(part, gt_perfetto_part_device(part, device)),
                       GT_STR("Idle gaps by cause"));
    }
}

uint64_t gt_perfetto_part_describe_beside(struct gt_perfetto_part *part, size_t track) {
    uint64_t uuid = ++part->file->last_uuid;
    describe_named(part, uuid, gt_perfetto_part_uuid(part, track), GT_STR("Overlapping"));
    return uuid;
}
