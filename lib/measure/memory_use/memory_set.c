/* Measures the memory of each GPU: events come in, the curve of what is allocated, its peak with the owners, and steps
   go out. */
#include "measure/memory_use/memory_set.h"

#include <math.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/memory_use/memory_events.h"
#include "measure/memory_use/memory_owners.h"
#include "measure/memory_use/memory_stepwise.h"

/* ---- the curve ---- */

/* Where a part of the time begins: equal ones in 128 bits. */
static int64_t cut_at(const struct gt_memory_device *device, size_t bucket) {
    unsigned __int128 length = (uint64_t)device->end_ns - (uint64_t)device->start_ns;
    return (int64_t)((uint64_t)device->start_ns + (uint64_t)(length * bucket / device->bucket_count));
}

static void bucket_add(struct gt_memory_bucket *bucket, int64_t allocated, int64_t reserved) {
    bucket->max = allocated > bucket->max ? allocated : bucket->max;
    bucket->min = allocated < bucket->min ? allocated : bucket->min;
    bucket->end = allocated;
    bucket->reserved_max = reserved > bucket->reserved_max ? reserved : bucket->reserved_max;
}

/* The last event is in the last bucket. */
static bool draw_curve(struct gt_memory_device *device, const struct gt_memory_event *events) {
    device->bucket_count = device->start_ns == device->end_ns ? 1 : GT_MEMORY_SET_BUCKETS;
    device->buckets = gt_mem_array(device->bucket_count, sizeof *device->buckets);
    if (!device->buckets)
        return false;
    size_t next = 0;
    for (size_t b = 0; b < device->bucket_count; b++) {
        struct gt_memory_bucket *bucket = &device->buckets[b];
        bool is_last = b + 1 == device->bucket_count;
        int64_t end_ns = is_last ? INT64_MAX : cut_at(device, b + 1);
        const struct gt_memory_event *before = &events[next ? next - 1 : 0];
        *bucket = (struct gt_memory_bucket){cut_at(device, b), before->allocated, before->allocated, before->allocated,
                                            before->reserved};
        for (; next < device->events && (is_last || events[next].time_ns < end_ns); next++)
            bucket_add(bucket, events[next].allocated, events[next].reserved);
    }
    return true;
}

/* ---- a device ---- */

/* A part of the events of one GPU. */
struct run {
    struct gt_memory_event *all; /* those before are there too */
    size_t first, end;
};

/* Between two events that both say what is reserved. */
static void note_reserve(struct gt_memory_device *device, int64_t before, int64_t after) {
    if (before == GT_MEMORY_SET_UNKNOWN || after == GT_MEMORY_SET_UNKNOWN || before == after)
        return;
    int64_t *bytes = after > before ? &device->risen_bytes : &device->fallen_bytes;
    *bytes = gt_ns_add(*bytes, after > before ? gt_ns_between(before, after) : gt_ns_between(after, before));
    device->rises += after > before;
    device->falls += after < before;
}

/* The first largest amount; its number among the events. */
static size_t find_peak(struct gt_memory_device *device, const struct gt_memory_event *events) {
    size_t peak = 0;
    for (size_t i = 0; i < device->events; i++) {
        peak = events[i].allocated > events[peak].allocated ? i : peak;
        device->reserved_max = events[i].reserved > device->reserved_max ? events[i].reserved : device->reserved_max;
        note_reserve(device, events[i ? i - 1 : 0].reserved, events[i].reserved);
    }
    device->peak_ns = events[peak].time_ns;
    device->peak = events[peak].allocated;
    device->reserved_at_peak = events[peak].reserved;
    return peak;
}

static bool measure_device(struct gt_memory_device *device, const struct gt_view *view, const struct run *run) {
    const struct gt_memory_event *events = run->all + run->first;
    device->events = run->end - run->first;
    device->start_ns = events[0].time_ns;
    device->end_ns = events[device->events - 1].time_ns;
    device->first = events[0].allocated;
    device->last = events[device->events - 1].allocated;
    device->reserved_max = GT_MEMORY_SET_UNKNOWN;
    size_t peak = run->first + find_peak(device, events);
    return draw_curve(device, events) && gt_memory_owners_find(device, view, run->all, peak + 1) &&
           gt_memory_stepwise_find(device, view, run->all, run->end);
}

/* With a window, what was allocated before it counts from its start on. */
static void clip_run(struct run *run, const struct gt_view *view) {
    if (!view->has_window)
        return;
    while (run->end > run->first && run->all[run->end - 1].time_ns >= view->window_end_ns)
        run->end--;
    while (run->first + 1 < run->end && run->all[run->first + 1].time_ns <= view->window_start_ns)
        run->first++;
    struct gt_memory_event *event = &run->all[run->first];
    if (run->first < run->end && event->time_ns < view->window_start_ns)
        event->time_ns = view->window_start_ns;
}

static uint32_t track_of(const struct gt_store *store, int64_t id) {
    for (uint32_t device = 0; device < store->devices.count; device++)
        if (store->devices.id[device] == id)
            return device;
    return GT_NO_TRACK;
}

static bool is_selected(const struct gt_view *view, int64_t id) {
    for (size_t d = 0; d < view->device_count; d++)
        if (view->devices[d].id == id)
            return true;
    return view->is_whole;
}

static bool add_device(struct gt_memory_set *set, size_t *capacity, const struct gt_view *view, struct run *run,
                       size_t count) {
    int64_t id = view->store->memory_events.device[run->all->row];
    struct gt_memory_device *grown = gt_mem_room(set->devices, set->device_count, capacity, sizeof *grown);
    if (!grown)
        return false;
    set->devices = grown;
    if (!is_selected(view, id))
        return true;
    if (!gt_memory_events_follow(run->all, count, view->store, set))
        return false;
    clip_run(run, view);
    if (run->first == run->end)
        return true;
    struct gt_memory_device *device = &set->devices[set->device_count++];
    *device = (struct gt_memory_device){.id = id, .device = track_of(view->store, id), .growth = NAN};
    return measure_device(device, view, run);
}

enum gt_status gt_memory_set_init(struct gt_memory_set *set, const struct gt_view *view, struct gt_error *err) {
    const int64_t *device_of = view->store->memory_events.device;
    struct gt_memory_events_list list = {0};
    size_t capacity = 0;
    *set = (struct gt_memory_set){0};
    bool is_done = gt_memory_events_sort(&list, view->store);
    for (size_t first = 0, end; first < list.count && is_done; first = end) {
        for (end = first + 1; end < list.count; end++)
            if (device_of[list.items[end].row] != device_of[list.items[first].row])
                break;
        struct run run = {list.items + first, 0, end - first};
        is_done = add_device(set, &capacity, view, &run, end - first);
    }
    gt_mem_free(list.items);
    if (is_done)
        return GT_OK;
    gt_memory_set_release(set);
    return gt_fail_memory(err);
}

void gt_memory_set_release(struct gt_memory_set *set) {
    for (size_t d = 0; d < set->device_count; d++) {
        gt_mem_free(set->devices[d].buckets);
        gt_mem_free(set->devices[d].owners);
        gt_mem_free(set->devices[d].steps);
    }
    gt_mem_free(set->devices);
    *set = (struct gt_memory_set){0};
}
