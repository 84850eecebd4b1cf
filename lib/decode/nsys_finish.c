/* The end of an Nsight capture: what is known only when every event was read (names of tracks and domains, the ends of
   ranges never closed, devices under doubt) goes into the builders of all threads, the same whoever read what. */
#include <stdlib.h>

#include "base/mem.h"
#include "decode/nsys_model.h"

#define OPEN_END INT64_MAX /* as gt_nsys_add_nvtx writes it */

/* All that the parts of this file share. */
struct finish {
    struct gt_nsys_sink *sinks;
    size_t count;
    const struct gt_nsys_capture *capture;
};

/* Strings that several builders get are first interned in the first builder's last segment: their order in the
   sealed store then does not depend on which builder has which track. */
static void intern_first(const struct finish *finish, struct gt_str name) {
    gt_builder_string(finish->sinks[0].builder, name);
}

static int by_key(const void *a, const void *b) {
    const struct gt_nsys_label *x = a, *y = b;
    if (x->global_id != y->global_id)
        return x->global_id < y->global_id ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* The named labels of all sinks, sorted, one for each key: the first in the file. NULL when memory is short. */
static struct gt_nsys_label *collect(const struct finish *finish, bool domains, size_t *count) {
    size_t total = 0, kept = 0;
    for (size_t s = 0; s < finish->count; s++)
        total += domains ? finish->sinks[s].domains.count : finish->sinks[s].thread_names.count;
    struct gt_nsys_label *all = gt_alloc_array(total + 1, sizeof *all);
    if (!all)
        return NULL;
    total = 0;
    for (size_t s = 0; s < finish->count; s++) {
        const struct gt_nsys_labels *labels = domains ? &finish->sinks[s].domains : &finish->sinks[s].thread_names;
        for (size_t i = 0; i < labels->count; i++)
            if (labels->list[i].name.ptr)
                all[total++] = labels->list[i];
    }
    qsort(all, total, sizeof *all, by_key);
    for (size_t i = 0; i < total; i++)
        if (kept == 0 || all[kept - 1].global_id != all[i].global_id || all[kept - 1].number != all[i].number)
            all[kept++] = all[i];
    *count = kept;
    return all;
}

static const struct gt_nsys_label *find(const struct gt_nsys_label *all, size_t count,
                                        const struct gt_nsys_label *key) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all[middle].global_id < key->global_id ||
            (all[middle].global_id == key->global_id && all[middle].number < key->number))
            low = middle + 1;
        else
            high = middle;
    }
    bool is_same = low < count && all[low].global_id == key->global_id && all[low].number == key->number;
    return is_same ? &all[low] : NULL;
}

/* Range rows hold 1 + the place of their domain in the sink's list: now they get its name. */
static bool name_domains(const struct finish *finish) {
    size_t count;
    struct gt_nsys_label *all = collect(finish, true, &count);
    if (!all)
        return false;
    for (size_t i = 0; i < count; i++)
        intern_first(finish, all[i].name);
    for (size_t s = 0; s < finish->count; s++) {
        const struct gt_nsys_sink *sink = &finish->sinks[s];
        gt_strid *names = gt_alloc_array(sink->domains.count + 1, sizeof *names);
        if (!names) {
            gt_free(all);
            return false;
        }
        for (size_t i = 0; i < sink->domains.count; i++) {
            const struct gt_nsys_label *named = find(all, count, &sink->domains.list[i]);
            names[i + 1] = named ? gt_builder_string(sink->builder, named->name) : GT_STRID_EMPTY;
        }
        struct gt_ranges *ranges = &sink->builder->store.ranges;
        for (size_t i = 0; i < ranges->count; i++)
            ranges->domain[i] = names[ranges->domain[i]];
        gt_free(names);
    }
    gt_free(all);
    return true;
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
            if (store->ranges.end_ns[i] != OPEN_END)
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
            if (ranges->end_ns[i] != OPEN_END)
                continue;
            if (!knows_end)
                end_ns = last_time(finish);
            knows_end = true;
            ranges->end_ns[i] = later(end_ns, ranges->start_ns[i]);
        }
    }
}

/* A builder's own number of a track, GT_MAP_NONE where it has not met it. */
static uint32_t find_process(const struct gt_nsys_sink *sink, uint64_t global_id) {
    return gt_map_get(&sink->builder->process_ids, GT_STRID_EMPTY, (uint64_t)gt_nsys_pid(global_id));
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
    size_t count;
    struct gt_nsys_label *named = collect(finish, false, &count);
    if (!named)
        return false;
    for (size_t i = 0; i < count; i++)
        name_thread(finish, named[i].global_id, named[i].name);
    for (size_t i = 0; i < capture->thread_count; i++)
        name_thread(finish, capture->threads[i].global_id, capture->threads[i].name);
    gt_free(named);
    return true;
}

/* Exports without a table of processes still know the main threads, which bear the program's name. */
static void name_processes(const struct finish *finish) {
    const struct gt_nsys_capture *capture = finish->capture;
    for (size_t i = 0; i < capture->process_count; i++)
        name_process(finish, capture->processes[i].global_id, capture->processes[i].name);
    for (size_t i = 0; i < capture->thread_count; i++)
        if (gt_nsys_pid(capture->threads[i].global_id) == gt_nsys_tid(capture->threads[i].global_id))
            name_process(finish, capture->threads[i].global_id, capture->threads[i].name);
}

static void name_device(const struct finish *finish, const struct gt_nsys_gpu *gpu) {
    bool is_interned = false;
    for (size_t s = 0; s < finish->count; s++) {
        struct gt_builder *builder = finish->sinks[s].builder;
        struct gt_devices *devices = &builder->store.devices;
        uint32_t device = gt_map_get(&builder->device_ids, 0, (uint64_t)gpu->id);
        if (device >= devices->count)
            continue;
        if (!is_interned)
            intern_first(finish, gpu->name);
        is_interned = true;
        gt_builder_name_device(builder, device, gpu->name);
        if (devices->memory_bytes[device] == 0)
            devices->memory_bytes[device] = gpu->memory_bytes;
        if (devices->multiprocessors[device] == 0)
            devices->multiprocessors[device] = gpu->multiprocessors;
    }
}

/* Processes for which the capture says which GPU they mean by a number. */
static void mark_mapped(const struct gt_map *gpu_of, struct gt_map *mapped) {
    for (size_t i = 0; i < gpu_of->slot_count; i++)
        if (gpu_of->slots[i].value != GT_MAP_NONE)
            gt_map_put(mapped, 0, gpu_of->slots[i].key_hi, 1);
}

static void count_doubts(const struct finish *finish, size_t sink, const struct gt_map *mapped, struct gt_map *user_of,
                         struct gt_map *counted) {
    const struct gt_store *store = &finish->sinks[sink].builder->store;
    for (size_t i = 0; i < store->lanes.count; i++) {
        uint32_t process = store->lanes.process[i];
        if (process >= store->processes.count || store->lanes.device[i] >= store->devices.count)
            continue;
        uint32_t pid = (uint32_t)store->processes.pid[process];
        uint64_t device = (uint64_t)store->devices.id[store->lanes.device[i]];
        if (gt_map_get(mapped, 0, pid) != GT_MAP_NONE || gt_map_put_if_new(user_of, 0, device, pid) == pid ||
            gt_map_get(counted, 0, device) != GT_MAP_NONE)
            continue;
        gt_map_put(counted, 0, device, pid);
        gt_builder_issue(finish->sinks[0].builder, GT_ISSUE_DEVICE_SHARED, 1, GT_NO_OFFSET);
    }
}

/* Device numbers that several processes use of which it is not known that they mean the same GPU. */
static bool count_shared_devices(const struct finish *finish) {
    struct gt_map mapped = {0}, user_of = {0}, counted = {0};
    if (finish->capture->gpu_count == 1)
        return true; /* there is but one to mean */
    mark_mapped(&finish->capture->gpu_of, &mapped);
    for (size_t s = 0; s < finish->count; s++)
        count_doubts(finish, s, &mapped, &user_of, &counted);
    bool is_done = !mapped.failed && !user_of.failed && !counted.failed;
    gt_map_release(&mapped);
    gt_map_release(&user_of);
    gt_map_release(&counted);
    return is_done;
}

static void fill_meta(const struct finish *finish) {
    struct gt_builder *builder = finish->sinks[0].builder;
    builder->store.meta.base_ns = finish->capture->utc_ns;
    builder->store.meta.duration_ns = finish->capture->duration_ns;
    if (finish->capture->producer.len)
        builder->store.meta.producer = gt_builder_string(builder, finish->capture->producer);
}

void gt_nsys_finish(struct gt_nsys_sink *sinks, size_t count, const struct gt_nsys_capture *capture) {
    const struct finish finish = {sinks, count, capture};
    for (size_t s = 0; s < count; s++)
        gt_builder_begin(sinks[s].builder, UINT64_MAX - count + s);
    close_ranges(&finish);
    fill_meta(&finish);
    bool is_done = name_domains(&finish) && name_threads(&finish) && count_shared_devices(&finish);
    name_processes(&finish);
    for (size_t i = 0; i < capture->gpu_count; i++)
        name_device(&finish, &capture->gpus[i]);
    for (size_t s = 0; s < count && !is_done; s++)
        sinks[s].builder->failed = true;
}
