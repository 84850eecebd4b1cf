/* What is done when all records of ROCm's profilers are read: tracks get their names, the trace says what it is. */
#include "base/mem.h"
#include "decode/rocm/rocm.h"

struct finish {
    struct gt_rocm_sink *sinks;
    size_t count;
    const struct gt_rocm_capture *capture;
};

/* Names that several builders may get are numbered by the first one, whoever has met them. */
static void intern_first(const struct finish *finish, struct gt_str text) {
    gt_builder_string(finish->sinks[0].builder, text);
}

/* Of the builder; GT_MAP_NONE: it has not met the process. */
static uint32_t known_process(const struct gt_builder *builder, const struct gt_rocm_capture *capture,
                              const struct gt_rocm_process *process) {
    struct gt_str label = capture->has_several_machines ? process->machine : GT_STR("");
    gt_strid label_id = label.len ? gt_strtab_find(&builder->store.strings, label) : GT_STRID_EMPTY;
    return label_id == UINT32_MAX ? GT_MAP_NONE : gt_map_get(&builder->process_ids, label_id, (uint64_t)process->pid);
}

static void name_process(const struct finish *finish, const struct gt_rocm_process *process) {
    if (process->name.len)
        intern_first(finish, process->name);
    for (size_t s = 0; s < finish->count; s++) {
        struct gt_builder *builder = finish->sinks[s].builder;
        uint32_t track = known_process(builder, finish->capture, process);
        if (track == GT_MAP_NONE)
            continue;
        if (process->name.len)
            gt_builder_name_process(builder, track, process->name);
        if (process->rank >= 0)
            gt_builder_rank(builder, track, process->rank, process->world_size, process->rank_source);
    }
}

static void name_thread(const struct finish *finish, const struct gt_rocm_thread *thread) {
    bool is_interned = false;
    if (thread->process >= finish->capture->process_count)
        return;
    for (size_t s = 0; s < finish->count; s++) {
        struct gt_builder *builder = finish->sinks[s].builder;
        uint32_t process = known_process(builder, finish->capture, &finish->capture->processes[thread->process]);
        uint32_t track = process == GT_MAP_NONE
                             ? GT_MAP_NONE
                             : gt_map_get(&builder->thread_ids, (uint64_t)process << 32, (uint64_t)thread->tid);
        if (track == GT_MAP_NONE)
            continue;
        if (!is_interned)
            intern_first(finish, thread->name);
        is_interned = true;
        gt_builder_name_thread(builder, track, thread->name);
    }
}

static void describe(struct gt_devices *devices, uint32_t device, const struct gt_rocm_agent *agent) {
    if (devices->multiprocessors[device] == 0)
        devices->multiprocessors[device] = agent->compute_units;
    if (devices->max_shared_bytes[device] == 0)
        devices->max_shared_bytes[device] = agent->lds_bytes;
    if (devices->clock_hz[device] == 0)
        devices->clock_hz[device] = agent->clock_hz;
    if (devices->memory_bytes[device] == 0)
        devices->memory_bytes[device] = agent->memory_bytes;
}

static void name_device(const struct finish *finish, const struct gt_rocm_agent *agent) {
    bool is_interned = false;
    for (size_t s = 0; s < finish->count; s++) {
        struct gt_builder *builder = finish->sinks[s].builder;
        uint32_t device = gt_map_get(&builder->device_ids, 0, (uint64_t)agent->device);
        if (device >= builder->store.devices.count)
            continue;
        if (!is_interned)
            intern_first(finish, agent->name);
        is_interned = true;
        gt_builder_name_device(builder, device, agent->name);
        describe(&builder->store.devices, device, agent);
    }
}

static void fill_meta(const struct finish *finish) {
    struct gt_builder *builder = finish->sinks[0].builder;
    if (finish->capture->producer.len)
        builder->store.meta.producer = gt_builder_string(builder, finish->capture->producer);
    if (finish->capture->host.len)
        builder->store.meta.host = gt_builder_string(builder, finish->capture->host);
}

void gt_rocm_finish(struct gt_rocm_sink *sinks, size_t count, const struct gt_rocm_capture *capture) {
    struct finish finish = {sinks, count, capture};
    for (size_t s = 0; s < count; s++)
        gt_builder_begin(sinks[s].builder, UINT64_MAX - count + s);
    fill_meta(&finish);
    bool is_done = gt_rocm_finish_memory(sinks, count);
    is_done = gt_rocm_finish_counters(sinks, count) && is_done;
    for (size_t i = 0; i < capture->process_count; i++)
        name_process(&finish, &capture->processes[i]);
    for (size_t i = 0; i < capture->thread_count; i++)
        name_thread(&finish, &capture->threads[i]);
    for (size_t i = 0; i < capture->agent_count; i++)
        if (capture->agents[i].is_gpu && capture->agents[i].device >= 0)
            name_device(&finish, &capture->agents[i]);
    for (size_t s = 0; s < count && !is_done; s++)
        sinks[s].builder->failed = true;
}
