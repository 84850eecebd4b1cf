/* Cuts the ops of devices into slices. What a slice needs of those before it is passed on between two passes, so that
   nothing depends on how many there are. */
#include "measure/results/idle_slices.h"

#include "base/mem.h"
#include "base/threads.h"

struct counting {
    const struct gt_view *view;
    struct gt_idle_slices *slices;
    int64_t *latest_ns; /* by slice: how far it and those before it of its device reach, as far as it knows */
};

static bool cut(struct gt_idle_slices *slices, const struct gt_view *view, size_t threads) {
    size_t count = 0;
    for (size_t d = 0; d < view->device_count; d++)
        count += gt_threads_slices(threads, view->devices[d].count, 0);
    slices->items = gt_mem_array(count, sizeof *slices->items);
    slices->first = gt_mem_array(view->device_count + 1, sizeof *slices->first);
    if (!slices->items || !slices->first)
        return false;
    for (size_t d = 0; d < view->device_count; d++) {
        const struct gt_view_device *device = &view->devices[d];
        size_t parts = gt_threads_slices(threads, device->count, 0);
        for (size_t i = 0; i < parts; i++)
            slices->items[slices->count++] = (struct gt_idle_slice){
                .device = d,
                .begin = device->first + gt_threads_slice_begin(device->count, parts, i),
                .end = device->first + gt_threads_slice_begin(device->count, parts, i + 1),
                .is_first = i == 0,
                .is_last = i + 1 == parts,
                .reached_ns = device->span_start_ns,
            };
        slices->first[d + 1] = slices->count;
    }
    return true;
}

/* Ops without length run at no time, so they neither end nor split a gap. */
static inline bool is_running(const struct gt_view *view, size_t op) {
    return view->end_ns[op] > view->start_ns[op];
}

/* As if nothing came before the slice, unless it is the first. */
static void count_gaps(void *context, size_t index) {
    const struct counting *it = context;
    const struct gt_view *view = it->view;
    struct gt_idle_slice *slice = &it->slices->items[index];
    int64_t reached_ns = slice->is_first ? slice->reached_ns : INT64_MIN;
    size_t count = 0;
    for (size_t i = slice->begin; i < slice->end; i++) {
        bool runs = is_running(view, i);
        count += runs && view->start_ns[i] > reached_ns;
        reached_ns = runs && view->end_ns[i] > reached_ns ? view->end_ns[i] : reached_ns;
    }
    slice->most_gaps = count;
    it->latest_ns[index] = reached_ns;
}

/* Takes away those at the begin of a slice that there are not: of ops that start before those before it have ended. */
static void correct_count(void *context, size_t index) {
    const struct counting *it = context;
    const struct gt_view *view = it->view;
    struct gt_idle_slice *slice = &it->slices->items[index];
    int64_t own_ns = INT64_MIN, reached_ns = slice->reached_ns;
    for (size_t i = slice->begin; i < slice->end && !slice->is_first && own_ns < reached_ns; i++) {
        if (!is_running(view, i))
            continue;
        slice->most_gaps -= view->start_ns[i] > own_ns && view->start_ns[i] <= reached_ns;
        own_ns = view->end_ns[i] > own_ns ? view->end_ns[i] : own_ns;
        reached_ns = own_ns > reached_ns ? own_ns : reached_ns;
    }
}

/* One more where a device has nothing to do at the end of its span. */
static void pass_on_reach(struct counting *it) {
    for (size_t i = 0; i < it->slices->count; i++) {
        struct gt_idle_slice *slice = &it->slices->items[i];
        if (!slice->is_first) {
            slice->reached_ns = it->latest_ns[i - 1];
            it->latest_ns[i] = it->latest_ns[i] > slice->reached_ns ? it->latest_ns[i] : slice->reached_ns;
        }
        slice->most_gaps += slice->is_last && it->latest_ns[i] < it->view->devices[slice->device].span_end_ns;
    }
}

static bool count_all(struct gt_idle_slices *slices, const struct gt_view *view, size_t threads) {
    struct counting counting = {view, slices, gt_mem_uninitialised(slices->count, sizeof *counting.latest_ns)};
    if (counting.latest_ns) {
        gt_threads_parts(threads, slices->count, count_gaps, &counting);
        pass_on_reach(&counting);
        if (slices->count > view->device_count)
            gt_threads_parts(threads, slices->count, correct_count, &counting);
    }
    gt_mem_free(counting.latest_ns);
    return counting.latest_ns;
}

bool gt_idle_slices_init(struct gt_idle_slices *slices, const struct gt_view *view, size_t threads) {
    *slices = (struct gt_idle_slices){0};
    if (!cut(slices, view, threads))
        return false;
    if (threads > 1)
        return count_all(slices, view, threads);
    for (size_t i = 0; i < slices->count; i++) /* one before each op, and one at the end */
        slices->items[i].most_gaps = slices->items[i].end - slices->items[i].begin + 1;
    return true;
}

void gt_idle_slices_release(struct gt_idle_slices *slices) {
    gt_mem_free(slices->items);
    gt_mem_free(slices->first);
    *slices = (struct gt_idle_slices){0};
}
