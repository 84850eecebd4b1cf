/* Memory of ROCm programs: allocations as they are recorded come in, memory events with sizes and the memory in use go
   out. What is freed is recorded by its address alone, so that its size and GPU are those of the allocation before. */
#include <stdlib.h>

#include "base/mem.h"
#include "decode/rocm/rocm.h"

enum gt_rocm_memory gt_rocm_memory_of(struct gt_str operation, struct gt_str level) {
    if (gt_str_find_nocase(operation, GT_STR("SCRATCH")) || gt_str_eq_nocase(level, GT_STR("SCRATCH")))
        return GT_ROCM_MEMORY_OTHER;
    if (gt_str_find_nocase(operation, GT_STR("FREE")))
        return GT_ROCM_FREE;
    return gt_str_ends(operation, GT_STR("ALLOC")) || gt_str_ends(operation, GT_STR("ALLOCATE")) ? GT_ROCM_ALLOCATE
                                                                                                 : GT_ROCM_MEMORY_OTHER;
}

void gt_rocm_add_allocation(struct gt_rocm_sink *sink, const struct gt_rocm_allocation *allocation, int64_t tid) {
    if (allocation->start_ns == GT_NO_TIME || (!allocation->is_free && allocation->bytes == GT_ROCM_NONE)) {
        gt_builder_issue_of(sink->builder, GT_ISSUE_EVENT_DAMAGED, GT_FACT_MEMORY, 1, GT_NO_OFFSET);
        return;
    }
    if (allocation->is_free && allocation->address == 0) { /* of nothing, as when streams are destroyed */
        gt_builder_skip(sink->builder);
        return;
    }
    struct gt_rocm_allocation *grown =
        gt_mem_room(sink->allocations, sink->allocation_count, &sink->allocation_capacity, sizeof *grown);
    sink->builder->failed |= !grown;
    if (!grown)
        return;
    sink->allocations = grown;
    struct gt_rocm_allocation *added = &grown[sink->allocation_count];
    *added = *allocation;
    added->tid = tid;
    added->order = sink->order << 32 | (sink->allocation_count++ & UINT32_MAX);
}

static int by_time(const void *a, const void *b) {
    const struct gt_rocm_allocation *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int64_t signed_bytes(uint64_t bytes, bool is_free) {
    int64_t size = bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
    return is_free ? -size : size;
}

static void add_event(struct gt_rocm_sink *sink, const struct gt_rocm_allocation *at) {
    struct gt_builder *builder = sink->builder;
    gt_builder_memory_event(builder,
                            &(struct gt_memory_events_row){
                                .time_ns = at->start_ns,
                                .bytes = signed_bytes(at->bytes, at->is_free),
                                .address = at->address,
                                .correlation = at->correlation,
                                .allocated_bytes = UINT64_MAX,
                                .reserved_bytes = UINT64_MAX,
                                .pool = UINT64_MAX,
                                .pool_bytes = UINT64_MAX,
                                .pool_used_bytes = UINT64_MAX,
                                .pool_kept_bytes = UINT64_MAX,
                                .device = at->is_host ? -1 : at->device,
                                .stream = -1,
                                .name = GT_STRID_EMPTY,
                                .process = gt_rocm_process(sink, at->process),
                                .thread = at->tid < 0 ? GT_NO_TRACK : gt_rocm_thread(sink, at->process, at->tid),
                                .kind = at->is_host ? GT_MEMORY_PINNED : GT_MEMORY_DEVICE,
                                .operation = at->is_free ? GT_MEMORY_FREE : GT_MEMORY_ALLOCATE,
                                .source = GT_MEMORY_OF_DRIVER,
                            });
}

/* Memory that a process has in use on a GPU. */
struct use {
    uint32_t process, track;
    int64_t device, bytes, time_ns;
};

struct using {
    struct gt_rocm_sink *sink;
    struct gt_map places; /* (process, device) -> place in the list */
    struct use *list;
    size_t count, capacity;
    bool has_failed;
};

static struct use *use_of(struct using *using, const struct gt_rocm_allocation *at) {
    uint32_t place = gt_map_put_if_new(&using->places, at->process, (uint64_t)at->device, (uint32_t) using->count);
    if (place < using->count)
        return &using->list[place];
    struct use *grown = gt_mem_room(using->list, using->count, &using->capacity, sizeof *grown);
    using->list = grown ? grown : using->list;
    using->has_failed |= !grown || using->places.failed;
    if (using->has_failed)
        return NULL;
    struct gt_builder *builder = using->sink->builder;
    uint32_t track =
        gt_builder_counter_track(builder, &(struct gt_counter_tracks_row){
                                              .process = gt_rocm_process(using->sink, at->process),
                                              .device = at->device,
                                              .name = gt_builder_string(builder, GT_STR("HIP memory in use")),
                                              .unit = gt_builder_string(builder, GT_STR("bytes")),
                                              .kind = GT_COUNTER_STATE,
                                          });
    using->list[using->count] = (struct use){at->process, track, at->device, 0, at->start_ns};
    return &using->list[using->count++];
}

/* Of several states at one time, the last counts. */
static void note_use(struct using *using, const struct gt_rocm_allocation *at) {
    struct use *use = at->is_host || at->device < 0 ? NULL : use_of(using, at);
    if (!use)
        return;
    if (use->time_ns != at->start_ns)
        gt_builder_counter(using->sink->builder, use->track, use->time_ns, (double)use->bytes);
    use->time_ns = at->start_ns;
    if (__builtin_add_overflow(use->bytes, signed_bytes(at->bytes, at->is_free), &use->bytes))
        use->bytes = at->is_free ? INT64_MIN : INT64_MAX;
}

static void end_use(struct using *using) {
    for (size_t i = 0; i < using->count; i++)
        gt_builder_counter(using->sink->builder, using->list[i].track, using->list[i].time_ns,
                           (double)using->list[i].bytes);
    gt_map_release(&using->places);
    gt_mem_free(using->list);
}

/* What was allocated at the address that is freed now; what is not known stays so. */
static void resolve(struct gt_rocm_allocation *all, struct gt_map *at_address, size_t i) {
    struct gt_rocm_allocation *at = &all[i];
    if (!at->is_free) {
        gt_map_put(at_address, at->process, at->address, (uint32_t)i);
        return;
    }
    uint32_t from = gt_map_get(at_address, at->process, at->address);
    const struct gt_rocm_allocation *made = from == GT_MAP_NONE || all[from].is_freed ? NULL : &all[from];
    if (made) {
        at->bytes = made->bytes;
        at->device = made->device;
        at->is_host = made->is_host;
        all[from].is_freed = true;
    }
    at->bytes = at->bytes == GT_ROCM_NONE ? 0 : at->bytes;
}

static struct gt_rocm_allocation *gather(struct gt_rocm_sink *sinks, size_t count, size_t total) {
    struct gt_rocm_allocation *all = gt_mem_array(total, sizeof *all);
    size_t at = 0;
    for (size_t s = 0; s < count && all; s++)
        for (size_t i = 0; i < sinks[s].allocation_count; i++)
            all[at++] = sinks[s].allocations[i];
    if (all)
        qsort(all, total, sizeof *all, by_time);
    return all;
}

bool gt_rocm_finish_memory(struct gt_rocm_sink *sinks, size_t count) {
    size_t total = 0;
    for (size_t s = 0; s < count; s++)
        total += sinks[s].allocation_count;
    if (total == 0)
        return true;
    struct gt_rocm_allocation *all = gather(sinks, count, total);
    struct using using = {.sink = &sinks[0]};
    struct gt_map at_address = {0};
    for (size_t i = 0; i < total && all; i++) {
        resolve(all, &at_address, i);
        if (gt_rocm_reads(&sinks[0], GT_FACT_MEMORY))
            add_event(&sinks[0], &all[i]);
        if (gt_rocm_reads(&sinks[0], GT_FACT_COUNTERS))
            note_use(&using, &all[i]);
    }
    end_use(&using);
    bool is_done = all && !at_address.failed && !using.has_failed;
    gt_map_release(&at_address);
    gt_mem_free(all);
    return is_done;
}
