/* Names of processes and threads: what metadata events said anywhere in the input comes in, the tracks get their names
   in the order of the input, whichever thread read what. */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "decode/torch/torch_facts.h"
#include "decode/torch/torch_halves.h"
#include "decode/torch/torch_untyped.h"
#include "events/builder.h"

/* Rows of a builder's tracks by what names them in the input. */
struct track_index {
    struct gt_map processes, threads;
};

static uint64_t thread_key(uint32_t process, gt_strid label) {
    return (uint64_t)process << 32 | label;
}

static void index_tracks(struct track_index *index, const struct gt_store *store) {
    gt_map_init(&index->processes);
    gt_map_init(&index->threads);
    for (size_t i = 0; i < store->processes.count; i++)
        gt_map_put_if_new(&index->processes, store->processes.label[i], (uint64_t)store->processes.pid[i], (uint32_t)i);
    for (size_t i = 0; i < store->threads.count; i++)
        gt_map_put_if_new(&index->threads, thread_key(store->threads.process[i], store->threads.label[i]),
                          (uint64_t)store->threads.tid[i], (uint32_t)i);
}

/* GT_MAP_NONE: this builder has met nothing of it. */
static uint32_t find_process(const struct gt_builder *builder, const struct track_index *index,
                             const struct gt_torch_track_name *name) {
    return gt_map_get(&index->processes, gt_strtab_find(&builder->store.strings, name->pid_label), (uint64_t)name->pid);
}

static void name_track(struct gt_builder *builder, const struct track_index *index,
                       const struct gt_torch_track_name *name) {
    const struct gt_strtab *strings = &builder->store.strings;
    uint32_t process = find_process(builder, index, name);
    if (process == GT_MAP_NONE)
        return;
    if (name->kind != GT_TORCH_NAMES_THREAD) {
        gt_builder_name_process(builder, process, name->name);
        return;
    }
    uint64_t key = thread_key(process, gt_strtab_find(strings, name->tid_label));
    uint32_t thread = gt_map_get(&index->threads, key, (uint64_t)name->tid);
    if (thread != GT_MAP_NONE)
        gt_builder_name_thread(builder, thread, name->name);
}

/* Hardware counters of a process that is a GPU ("GPU 0", "GPU 0 Counters") are that GPU's. */
static void place_counters(struct gt_builder *builder, const struct track_index *index,
                           const struct gt_torch_track_name *const *names, size_t count) {
    struct gt_counter_tracks *tracks = &builder->store.counter_tracks;
    size_t process_count = tracks->count ? builder->store.processes.count : 0;
    int64_t *devices = gt_mem_uninitialised(process_count + 1, sizeof *devices);
    builder->failed |= !devices;
    for (size_t i = 0; devices && i < process_count; i++)
        devices[i] = -1;
    for (size_t i = 0; devices && process_count && i < count; i++) {
        int64_t device = names[i]->kind == GT_TORCH_NAMES_THREAD ? -1 : gt_torch_facts_device_named(names[i]->name);
        uint32_t process = device < 0 ? GT_MAP_NONE : find_process(builder, index, names[i]);
        if (process != GT_MAP_NONE && devices[process] < 0)
            devices[process] = device;
    }
    for (size_t i = 0; devices && i < tracks->count; i++) {
        uint32_t process = tracks->process[i];
        if (tracks->device[i] != GT_TORCH_DEVICE_OF_PROCESS)
            continue;
        tracks->device[i] = process < process_count ? devices[process] : -1;
        tracks->process[i] = tracks->device[i] < 0 ? process : GT_NO_TRACK;
    }
    gt_mem_free(devices);
}

/* Names of processes and threads first: labels ("GPU 0") only name processes that have no name of their own. Then the
   order of the input; names of one chunk lie in one array, in that order. */
static int by_rank(const void *a, const void *b) {
    const struct gt_torch_track_name *x = *(const struct gt_torch_track_name *const *)a;
    const struct gt_torch_track_name *y = *(const struct gt_torch_track_name *const *)b;
    bool x_labels = x->kind == GT_TORCH_LABELS_PROCESS, y_labels = y->kind == GT_TORCH_LABELS_PROCESS;
    if (x_labels != y_labels)
        return x_labels ? 1 : -1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x > y) - (x < y);
}

static const struct gt_torch_track_name **collect(const struct gt_torch_sink *sinks, size_t count, size_t *kept) {
    size_t total = 0;
    for (size_t s = 0; s < count; s++)
        total += sinks[s].name_count;
    const struct gt_torch_track_name **names = gt_mem_array(total + 1, sizeof *names);
    if (!names)
        return NULL;
    *kept = 0;
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < sinks[s].name_count; i++)
            if (!sinks[s].builder->segments[sinks[s].names[i].segment].dropped)
                names[(*kept)++] = &sinks[s].names[i];
    qsort(names, *kept, sizeof *names, by_rank);
    return names;
}

static bool has_ops(const struct gt_torch_sink *sinks, size_t count) {
    for (size_t s = 0; s < count; s++)
        if (sinks[s].builder->store.ops.count)
            return true;
    return false;
}

/* XLA's profiler has a process for each GPU, whose events have no category. */
static void count_xla_devices(const struct gt_torch_sink *sinks, size_t count,
                              const struct gt_torch_track_name *const *names, size_t name_count) {
    uint64_t devices = 0;
    for (size_t i = 0; i < name_count; i++)
        devices += names[i]->kind == GT_TORCH_NAMES_PROCESS && gt_str_starts(names[i]->name, GT_STR("/device:GPU:"));
    if (devices && sinks[0].facts & GT_FACT_OPS && !has_ops(sinks, count))
        gt_builder_issue_of(sinks[0].builder, GT_ISSUE_XLA_TRACE, GT_FACT_OPS, devices, GT_NO_OFFSET);
}

/* ---- devices ---- */

/* "XPU" of the label "XPU 0"; empty: it is a usual GPU, the CPU, or no such label. */
static struct gt_str kind_of_device(struct gt_str label) {
    struct gt_str kind = label;
    while (kind.len && kind.ptr[kind.len - 1] >= '0' && kind.ptr[kind.len - 1] <= '9')
        kind.len--;
    if (kind.len == label.len || !gt_str_take_end(&kind, GT_STR(" ")) || gt_str_eq(kind, GT_STR("GPU")) ||
        gt_str_eq(kind, GT_STR("CPU")))
        return (struct gt_str){"", 0};
    return kind;
}

/* Whether ops were met on the device, and nothing has said its name. */
static bool is_unnamed_device(const struct gt_torch_sink *sinks, size_t count, int64_t id) {
    bool is_there = false;
    for (size_t s = 0; s < count; s++) {
        const struct gt_devices *devices = &sinks[s].builder->store.devices;
        for (size_t i = 0; i < devices->count; i++) {
            if (devices->id[i] == id && devices->name[i] != GT_STRID_EMPTY)
                return false;
            is_there |= devices->id[i] == id;
        }
    }
    return is_there;
}

/* Back ends label the process of a device with their name; only some describe the device. */
static void name_devices(const struct gt_torch_sink *sinks, size_t count,
                         const struct gt_torch_track_name *const *names, size_t name_count) {
    struct gt_builder *builder = sinks[0].builder;
    for (size_t i = 0; i < name_count; i++) {
        struct gt_str kind = kind_of_device(names[i]->name);
        if (names[i]->kind == GT_TORCH_LABELS_PROCESS && names[i]->pid_label.len == 0 && kind.len &&
            is_unnamed_device(sinks, count, names[i]->pid))
            gt_builder_name_device(builder, gt_builder_device(builder, names[i]->pid), kind);
    }
}

void gt_torch_sink_name_tracks(const struct gt_torch_sink *sinks, size_t count, uint64_t order) {
    size_t kept;
    const struct gt_torch_track_name **names = collect(sinks, count, &kept);
    if (!names) {
        sinks[0].builder->failed = true;
        return;
    }
    /* One builder meets all strings first, so that their order does not depend on who knows which track. */
    gt_builder_begin(sinks[0].builder, order);
    count_xla_devices(sinks, count, names, kept);
    for (size_t i = 0; i < kept; i++)
        gt_builder_string(sinks[0].builder, names[i]->name);
    gt_torch_untyped_finish(sinks, count, names, kept);
    gt_torch_halves_finish(sinks, count);
    name_devices(sinks, count, names, kept);
    for (size_t s = 0; s < count; s++) {
        struct gt_builder *builder = sinks[s].builder;
        struct track_index index;
        gt_builder_begin(builder, order + 1);
        index_tracks(&index, &builder->store);
        builder->failed |= index.processes.failed || index.threads.failed;
        for (size_t i = 0; i < kept; i++)
            name_track(builder, &index, names[i]);
        place_counters(builder, &index, names, kept);
        gt_map_release(&index.processes);
        gt_map_release(&index.threads);
    }
    gt_mem_free(names);
}
