/* The end of an Nsight capture: what is known only when every event was read (names of tracks and domains, the ends of
   ranges never closed, devices under doubt) goes into the builders of all threads, the same whoever read what. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "decode/nsys/nsys.h"
#include "events/builder.h"

/* All that the parts of this file share. */
struct finish {
    struct gt_nsys_sink *sinks;
    size_t count;
    const struct gt_nsys_capture *capture;
    struct gt_map clashing; /* process numbers that represent processes of several machines */
};

/* Strings that several builders get are first interned in the first builder's last segment: their order in the
   sealed store then does not depend on which builder has which track. */
static void intern_first(const struct finish *finish, struct gt_str name) {
    gt_builder_string(finish->sinks[0].builder, name);
}

/* Range rows hold the place of their domain in the sink's list, and of their category: now they get its name. */
static bool name_labels(const struct finish *finish, enum gt_nsys_label_kind kind) {
    struct gt_nsys_label_set given;
    bool is_done = gt_nsys_label_set_init(&given, finish->sinks, finish->count, kind);
    for (size_t i = 0; i < given.count; i++)
        intern_first(finish, given.list[i].name);
    for (size_t s = 0; s < finish->count && is_done; s++) {
        const struct gt_nsys_sink *sink = &finish->sinks[s];
        struct gt_store *store = &sink->builder->store;
        bool is_domain = kind == GT_NSYS_DOMAINS;
        gt_strid *rows = is_domain ? store->ranges.domain : store->range_categories.name;
        size_t row_count = is_domain ? store->ranges.count : store->range_categories.count;
        gt_strid *names = gt_mem_array(sink->labels[kind].count + 1, sizeof *names);
        is_done = names != NULL;
        for (size_t i = 0; i < sink->labels[kind].count && is_done; i++) {
            const struct gt_nsys_label *met = &sink->labels[kind].list[i];
            const struct gt_nsys_label *named = gt_nsys_label_find(&given, met->global_id, met->number);
            names[i] = named ? gt_builder_string(sink->builder, named->name) : GT_STRID_EMPTY;
        }
        for (size_t i = 0; i < row_count && is_done; i++)
            rows[i] = names[rows[i]];
        gt_mem_free(names);
    }
    gt_nsys_label_set_release(&given);
    return is_done;
}

static int64_t later(int64_t a_ns, int64_t b_ns) {
    return a_ns > b_ns ? a_ns : b_ns;
}

static int64_t last_time(const struct finish *finish) {
    int64_t last_ns = INT64_MIN;
    for (size_t s = 0; s < finish->count; s++) {
        const struct gt_store *store = &finish->sinks[s].builder->store;
        for (size_t i = 0; i < store->ops.count; i++)
            last_ns = later(last_ns, store->ops.end_ns[i]);
        for (size_t i = 0; i < store->calls.count; i++)
            last_ns = later(last_ns, store->calls.end_ns[i]);
        for (size_t i = 0; i < store->ranges.count; i++)
            if (store->ranges.end_ns[i] != GT_NSYS_OPEN_END)
                last_ns = later(last_ns, store->ranges.end_ns[i]);
    }
    return last_ns;
}

/* Ranges without an end last to the end of the capture. */
static void close_ranges(const struct finish *finish) {
    int64_t end_ns = finish->capture->duration_ns > 0 ? finish->capture->duration_ns : INT64_MIN;
    bool knows_end = end_ns != INT64_MIN;
    for (size_t s = 0; s < finish->count; s++) {
        struct gt_ranges *ranges = &finish->sinks[s].builder->store.ranges;
        for (size_t i = 0; i < ranges->count; i++) {
            if (ranges->end_ns[i] != GT_NSYS_OPEN_END)
                continue;
            if (!knows_end)
                end_ns = last_time(finish);
            knows_end = true;
            ranges->end_ns[i] = later(end_ns, ranges->start_ns[i]);
        }
    }
}

/* A builder's own number of a track, GT_MAP_NONE where it has not met it. Some tables have a bare process number. */
static uint32_t find_process(const struct gt_nsys_sink *sink, uint64_t global_id) {
    const struct gt_map *ids = &sink->builder->process_ids;
    uint32_t process = gt_map_get(ids, GT_STRID_EMPTY, (uint64_t)gt_nsys_process_key(global_id));
    return process != GT_MAP_NONE ? process : gt_map_get(ids, GT_STRID_EMPTY, (uint64_t)gt_nsys_pid(global_id));
}

static uint32_t find_thread(const struct gt_nsys_sink *sink, uint64_t global_tid) {
    uint32_t process = find_process(sink, global_tid);
    if (process == GT_MAP_NONE)
        return GT_MAP_NONE;
    return gt_map_get(&sink->builder->thread_ids, (uint64_t)process << 32 | GT_STRID_EMPTY,
                      (uint64_t)gt_nsys_tid(global_tid));
}

static void name_process(const struct finish *finish, uint64_t global_id, struct gt_str name) {
    bool is_interned = false;
    for (size_t s = 0; s < finish->count && name.len; s++) {
        uint32_t process = find_process(&finish->sinks[s], global_id);
        if (process == GT_MAP_NONE)
            continue;
        if (!is_interned)
            intern_first(finish, name);
        is_interned = true;
        gt_builder_name_process(finish->sinks[s].builder, process, name);
    }
}

static void name_thread(const struct finish *finish, uint64_t global_tid, struct gt_str name) {
    bool is_interned = false;
    for (size_t s = 0; s < finish->count && name.len; s++) {
        uint32_t thread = find_thread(&finish->sinks[s], global_tid);
        if (thread == GT_MAP_NONE)
            continue;
        if (!is_interned)
            intern_first(finish, name);
        is_interned = true;
        gt_builder_name_thread(finish->sinks[s].builder, thread, name);
    }
}

/* What the program called its threads comes before what the system calls them. */
static bool name_threads(const struct finish *finish) {
    const struct gt_nsys_capture *capture = finish->capture;
    struct gt_nsys_label_set named;
    if (!gt_nsys_label_set_init(&named, finish->sinks, finish->count, GT_NSYS_THREAD_NAMES))
        return false;
    for (size_t i = 0; i < named.count; i++)
        name_thread(finish, named.list[i].global_id, named.list[i].name);
    for (size_t i = 0; i < capture->thread_count; i++)
        name_thread(finish, capture->threads[i].global_id, capture->threads[i].name);
    gt_nsys_label_set_release(&named);
    return true;
}

/* Older reports call the profiled process by what it was before it became the program. */
static bool is_launcher(struct gt_str name) {
    const char *slash = name.len ? memrchr(name.ptr, '/', name.len) : NULL;
    size_t begin = slash ? (size_t)(slash - name.ptr) + 1 : 0;
    return gt_str_eq((struct gt_str){name.ptr + begin, name.len - begin}, GT_STR("nsys-launcher"));
}

/* Exports without a table of processes still know the main threads, which bear the program's name. */
static void name_processes(const struct finish *finish) {
    const struct gt_nsys_capture *capture = finish->capture;
    for (int launchers = 0; launchers < 2; launchers++) {
        for (size_t i = 0; i < capture->process_count; i++)
            if (is_launcher(capture->processes[i].name) == launchers)
                name_process(finish, capture->processes[i].global_id, capture->processes[i].name);
        for (size_t i = 0; i < capture->thread_count; i++)
            if (gt_nsys_pid(capture->threads[i].global_id) == gt_nsys_tid(capture->threads[i].global_id) &&
                is_launcher(capture->threads[i].name) == launchers)
                name_process(finish, capture->threads[i].global_id, capture->threads[i].name);
    }
}

static void describe_device(struct gt_builder *builder, uint32_t device, const struct gt_nsys_gpu *gpu) {
    struct gt_devices *devices = &builder->store.devices;
    const struct {
        uint32_t *column, value;
    } small[] = {
        {devices->multiprocessors, gpu->multiprocessors},
        {devices->compute_major, gpu->compute_major},
        {devices->compute_minor, gpu->compute_minor},
        {devices->max_warps, gpu->max_warps},
        {devices->max_blocks, gpu->max_blocks},
        {devices->max_registers, gpu->max_registers},
        {devices->max_shared_bytes, gpu->max_shared_bytes},
    };
    const struct {
        uint64_t *column, value;
    } large[] = {{devices->memory_bytes, gpu->memory_bytes},
                 {devices->bandwidth, gpu->bandwidth},
                 {devices->clock_hz, gpu->clock_hz},
                 {devices->l2_bytes, gpu->l2_bytes}};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (small[i].column[device] == 0)
            small[i].column[device] = small[i].value;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        if (large[i].column[device] == 0)
            large[i].column[device] = large[i].value;
    if (devices->uuid[device] == GT_STRID_EMPTY)
        devices->uuid[device] = gt_builder_string(builder, gpu->uuid);
}

static void name_device(const struct finish *finish, const struct gt_nsys_gpu *gpu) {
    bool is_interned = false;
    for (size_t s = 0; s < finish->count; s++) {
        struct gt_builder *builder = finish->sinks[s].builder;
        uint32_t device = gt_map_get(&builder->device_ids, 0, (uint64_t)gpu->id);
        if (device >= builder->store.devices.count)
            continue;
        if (!is_interned) {
            intern_first(finish, gpu->name);
            intern_first(finish, gpu->uuid);
        }
        is_interned = true;
        gt_builder_name_device(builder, device, gpu->name);
        describe_device(builder, device, gpu);
    }
}

/* Until the end, the pid of a process in a builder is gt_nsys_process_key: the machine is above these bits. */
enum { PID_BITS = 24 };

static uint64_t pid_in(int64_t key) {
    return (uint64_t)key & ((1 << PID_BITS) - 1);
}

static uint32_t machine_in(int64_t key) {
    return (uint32_t)(key >> PID_BITS);
}

/* Machine 0 is that of tables that have a bare process number: it may be any. */
static bool find_clashes(struct finish *finish) {
    struct gt_map machine_of = {0};
    for (size_t s = 0; s < finish->count; s++) {
        const struct gt_processes *processes = &finish->sinks[s].builder->store.processes;
        for (size_t i = 0; i < processes->count; i++) {
            uint32_t machine = machine_in(processes->pid[i]);
            uint64_t pid = pid_in(processes->pid[i]);
            if (machine && gt_map_put_if_new(&machine_of, 0, pid, machine) != machine)
                gt_map_put(&finish->clashing, 0, pid, 1);
        }
    }
    bool is_done = !machine_of.failed && !finish->clashing.failed;
    gt_map_release(&machine_of);
    return is_done;
}

static bool is_clashing(const struct finish *finish, int64_t key) {
    return gt_map_get(&finish->clashing, 0, pid_in(key)) != GT_MAP_NONE;
}

static struct gt_str machine_label(uint32_t machine, char text[static 32]) {
    snprintf(text, 32, "hw %u, vm %u", machine >> 8, machine & 0xFF);
    return gt_str_of(text);
}

/* The labels that show_pids gives, in an order of their own. */
static void intern_machines(const struct finish *finish) {
    enum { MACHINES = 1 << 16 };
    uint8_t is_met[MACHINES / 8] = {0};
    char text[32];
    for (size_t s = 0; s < finish->count; s++) {
        const struct gt_processes *processes = &finish->sinks[s].builder->store.processes;
        for (size_t i = 0; i < processes->count; i++) {
            uint32_t machine = machine_in(processes->pid[i]) % MACHINES;
            if (is_clashing(finish, processes->pid[i]))
                is_met[machine / 8] |= (uint8_t)(1 << machine % 8);
        }
    }
    for (uint32_t machine = 1; machine < MACHINES; machine++)
        if (is_met[machine / 8] >> machine % 8 & 1)
            intern_first(finish, machine_label(machine, text));
}

/* A process that some tables know with its machine and others by its bare number has two rows. */
static bool find_twins(struct gt_builder *builder) {
    const struct gt_processes *processes = &builder->store.processes;
    struct gt_map seen = {0};
    for (size_t i = 0; i < processes->count && !builder->has_twins; i++)
        builder->has_twins =
            gt_map_put_if_new(&seen, processes->label[i], (uint64_t)processes->pid[i], (uint32_t)i) != (uint32_t)i;
    bool is_done = !seen.failed;
    gt_map_release(&seen);
    return is_done;
}

/* The number that the system knows each process by; a label keeps those apart that share one. */
static bool show_pids(const struct finish *finish) {
    char text[32];
    bool is_done = true;
    if (finish->clashing.count)
        intern_machines(finish);
    for (size_t s = 0; s < finish->count; s++) {
        struct gt_builder *builder = finish->sinks[s].builder;
        struct gt_processes *processes = &builder->store.processes;
        for (size_t i = 0; i < processes->count; i++) {
            uint32_t machine = machine_in(processes->pid[i]);
            if (machine && is_clashing(finish, processes->pid[i]))
                processes->label[i] = gt_builder_string(builder, machine_label(machine, text));
            processes->pid[i] = (int64_t)pid_in(processes->pid[i]);
        }
        is_done = find_twins(builder) && is_done;
    }
    return is_done;
}

/* Who uses which device number. */
struct sharing {
    struct gt_map mapped;     /* processes for which the capture says which GPU they mean by a number */
    struct gt_map users;      /* (device, process) */
    struct gt_map user_count; /* of a device */
    struct gt_map machine_of; /* the first user of a device */
    struct gt_map in_doubt;   /* devices that may represent several */
};

static void note_user(struct sharing *sharing, const struct finish *finish, uint64_t device, int64_t key) {
    bool is_clash = is_clashing(finish, key);
    size_t count = sharing->users.count;
    gt_map_put_if_new(&sharing->users, device, is_clash ? (uint64_t)key : pid_in(key), 1);
    if (sharing->users.count == count)
        return;
    uint32_t before = gt_map_get(&sharing->user_count, 0, device), machine = machine_in(key);
    gt_map_put(&sharing->user_count, 0, device, before == GT_MAP_NONE ? 1 : before + 1);
    bool is_mapped = !is_clash && gt_map_get(&sharing->mapped, 0, pid_in(key)) != GT_MAP_NONE;
    if (!is_mapped || (machine && gt_map_put_if_new(&sharing->machine_of, 0, device, machine) != machine))
        gt_map_put(&sharing->in_doubt, 0, device, 1);
}

static void note_users(struct sharing *sharing, const struct finish *finish) {
    const struct gt_map *gpu_of = &finish->capture->gpu_of;
    for (size_t i = 0; i < gpu_of->slot_count; i++)
        if (gpu_of->slots[i].value != GT_MAP_NONE)
            gt_map_put(&sharing->mapped, 0, gpu_of->slots[i].key_hi, 1);
    for (size_t s = 0; s < finish->count; s++) {
        const struct gt_store *store = &finish->sinks[s].builder->store;
        for (size_t i = 0; i < store->lanes.count; i++) {
            uint32_t process = store->lanes.process[i], device = store->lanes.device[i];
            if (process < store->processes.count && device < store->devices.count)
                note_user(sharing, finish, (uint64_t)store->devices.id[device], store->processes.pid[process]);
        }
    }
}

/* Device numbers that several processes use of which it is not known that they mean the same GPU. */
static bool count_shared_devices(const struct finish *finish) {
    struct sharing sharing = {0};
    if (finish->capture->gpu_count == 1)
        return true; /* there is but one to mean */
    note_users(&sharing, finish);
    for (size_t i = 0; i < sharing.in_doubt.slot_count; i++) {
        const struct gt_map_slot *slot = &sharing.in_doubt.slots[i];
        if (slot->value != GT_MAP_NONE && gt_map_get(&sharing.user_count, 0, slot->key_lo) > 1)
            gt_builder_issue(finish->sinks[0].builder, GT_ISSUE_DEVICE_SHARED, 1, GT_NO_OFFSET);
    }
    struct gt_map *const maps[] = {&sharing.mapped, &sharing.users, &sharing.user_count, &sharing.machine_of,
                                   &sharing.in_doubt};
    bool is_done = true;
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        is_done = is_done && !maps[i]->failed;
        gt_map_release(maps[i]);
    }
    return is_done;
}

static void fill_meta(const struct finish *finish) {
    struct gt_builder *builder = finish->sinks[0].builder;
    builder->store.meta.base_ns = finish->capture->utc_ns;
    builder->store.meta.duration_ns = finish->capture->duration_ns;
    if (finish->capture->producer.len)
        builder->store.meta.producer = gt_builder_string(builder, finish->capture->producer);
    if (finish->capture->host.len)
        builder->store.meta.host = gt_builder_string(builder, finish->capture->host);
}

void gt_nsys_finish(struct gt_nsys_sink *sinks, size_t count, const struct gt_nsys_capture *capture) {
    struct finish finish = {sinks, count, capture, {0}};
    for (size_t s = 0; s < count; s++)
        gt_builder_begin(sinks[s].builder, UINT64_MAX - count + s);
    close_ranges(&finish);
    fill_meta(&finish);
    bool is_done = find_clashes(&finish) && name_labels(&finish, GT_NSYS_DOMAINS) &&
                   name_labels(&finish, GT_NSYS_CATEGORIES) && gt_nsys_finish_graphs(sinks, count) &&
                   gt_nsys_finish_python(sinks, count) && name_threads(&finish) && count_shared_devices(&finish) &&
                   gt_nsys_finish_losses(sinks, count) && gt_nsys_finish_memory(sinks, count) &&
                   gt_nsys_finish_syncs(sinks, count);
    is_done = gt_nsys_finish_ranks(sinks, count, capture) && is_done;
    name_processes(&finish);
    for (size_t i = 0; i < capture->gpu_count; i++)
        name_device(&finish, &capture->gpus[i]);
    is_done = show_pids(&finish) && is_done;
    gt_map_release(&finish.clashing);
    for (size_t s = 0; s < count && !is_done; s++)
        sinks[s].builder->failed = true;
}
