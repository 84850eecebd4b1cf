/* Lines up the parts of steps on each device. Linear, but for the medians. */
#include "measure/findings/step_times.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t gt_step_times_lower_median(int64_t *samples, size_t count) {
    if (count == 0)
        return 0;
    qsort(samples, count, sizeof *samples, by_size);
    return samples[(count - 1) / 2];
}

/* ---- lining up ---- */

static bool counts(const struct gt_step_set *steps, const struct gt_step_part *part) {
    return part->device != GT_NO_TRACK && steps->states[part->step] != GT_STEP_WARM_UP;
}

static void place_devices(struct gt_step_times *times, const struct gt_step_set *steps, size_t device_count) {
    for (size_t i = 0; i < steps->count; i++)
        if (counts(steps, &steps->parts[i]))
            times->devices[steps->parts[i].device].count++;
    for (size_t d = 0; d < device_count; d++) {
        times->devices[d].first = times->count;
        times->count += times->devices[d].count;
        times->devices[d].count = 0;
    }
}

/* What the parts of a device before one have reached. */
struct reached {
    int64_t end_ns;
    uint32_t step; /* GT_NO_ROW: none yet */
};

/* Where a capture pauses between steps, numbers are missing, and the pause is nobody's. */
static bool follows(const struct gt_labels *labels, uint32_t step, uint32_t before) {
    return before != GT_NO_ROW && labels->steps[step].process == labels->steps[before].process &&
           gt_ns_between(labels->steps[before].number, labels->steps[step].number) == 1;
}

/* Parts come by step, so those of a device in the order of time. A step whose ops all ended before those of an earlier
   one has no time of its own. */
static void add_parts(struct gt_step_times *times, const struct gt_view *view, const struct gt_step_set *steps,
                      struct reached *reached) {
    for (size_t i = 0; i < steps->count; i++) {
        const struct gt_step_part *part = &steps->parts[i];
        if (part->device == GT_NO_TRACK)
            continue;
        struct reached *before = &reached[part->device];
        struct gt_step_times_device *device = &times->devices[part->device];
        bool is_first = before->step == GT_NO_ROW, is_next = follows(view->labels, part->step, before->step);
        int64_t start_ns = is_next || (!is_first && before->end_ns > part->start_ns) ? before->end_ns : part->start_ns;
        if (counts(steps, part) && part->end_ns > start_ns)
            times->items[device->first + device->count++] = (struct gt_step_time){
                .step = part->step, .device = part->device, .start_ns = start_ns, .end_ns = part->end_ns};
        before->end_ns = is_first || part->end_ns > before->end_ns ? part->end_ns : before->end_ns;
        before->step = part->step;
    }
}

/* Steps without a time of their own left room. */
static void close_up(struct gt_step_times *times, size_t device_count) {
    times->count = 0;
    for (size_t d = 0; d < device_count; d++) {
        struct gt_step_times_device *device = &times->devices[d];
        for (size_t i = 0; i < device->count; i++)
            times->items[times->count + i] = times->items[device->first + i];
        device->first = times->count;
        times->count += device->count;
    }
}

static void find_loops(struct gt_step_times *times, const struct gt_view *view, size_t index, int64_t *samples) {
    struct gt_step_times_device *device = &times->devices[index];
    const struct gt_step *steps = view->labels->steps;
    device->first_loop = times->loop_count;
    for (size_t i = device->first; i < device->first + device->count; i++) {
        struct gt_step_time *item = &times->items[i];
        if (i == device->first || steps[item->step].number <= steps[item[-1].step].number)
            times->loops[times->loop_count++] = (struct gt_step_loop){.first = i};
        item->loop = (uint32_t)(times->loop_count - 1);
        times->loops[item->loop].count++;
    }
    device->loop_count = times->loop_count - device->first_loop;
    for (size_t k = device->first_loop; k < times->loop_count; k++) {
        struct gt_step_loop *loop = &times->loops[k];
        for (size_t i = 0; i < loop->count; i++)
            samples[i] = gt_step_time_ns(&times->items[loop->first + i]);
        loop->usual_ns = gt_step_times_lower_median(samples, loop->count);
    }
}

static bool line_up(struct gt_step_times *times, const struct gt_view *view, const struct gt_step_set *steps) {
    size_t device_count = view->device_count;
    times->devices = gt_mem_array(device_count, sizeof *times->devices);
    struct reached *reached = gt_mem_uninitialised(device_count, sizeof *reached);
    if (times->devices)
        place_devices(times, steps, device_count);
    times->items = gt_mem_uninitialised(times->count, sizeof *times->items);
    times->loops = gt_mem_uninitialised(times->count, sizeof *times->loops);
    int64_t *samples = gt_mem_uninitialised(times->count, sizeof *samples);
    bool ok = times->devices && reached && times->items && times->loops && samples;
    for (size_t d = 0; d < device_count && ok; d++)
        reached[d] = (struct reached){0, GT_NO_ROW};
    if (ok)
        add_parts(times, view, steps, reached);
    if (ok)
        close_up(times, device_count);
    for (size_t d = 0; d < device_count && ok; d++)
        find_loops(times, view, d, samples);
    gt_mem_free(reached);
    gt_mem_free(samples);
    return ok;
}

bool gt_step_times_init(struct gt_step_times *times, const struct gt_view *view, const struct gt_step_set *steps) {
    *times = (struct gt_step_times){0};
    if (steps->count == 0 || line_up(times, view, steps))
        return true;
    gt_step_times_release(times);
    return false;
}

/* ---- ops ---- */

struct counting {
    struct gt_step_times *times;
    const struct gt_view *view;
};

/* The first op that starts at a time or later, from one on: mostly it is near. */
static size_t first_op_from(const int64_t *start_ns, size_t from, size_t end, int64_t time_ns) {
    size_t low = from, high = end;
    for (size_t stride = 1; stride < end - from && high == end; stride *= 2) {
        if (start_ns[from + stride] < time_ns)
            low = from + stride;
        else
            high = from + stride;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (start_ns[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of one device they come in the order of time, and none overlap. */
static void count_ops(void *context, size_t slice, size_t begin, size_t end) {
    const struct counting *it = context;
    size_t op = 0;
    (void)slice;
    for (size_t i = begin; i < end; i++) {
        struct gt_step_time *item = &it->times->items[i];
        const struct gt_view_device *device = &it->view->devices[item->device];
        size_t op_end = device->first + device->count;
        op = op < device->first || op > op_end ? device->first : op;
        size_t first = first_op_from(it->view->start_ns, op, op_end, item->start_ns);
        op = first_op_from(it->view->start_ns, first, op_end, item->end_ns);
        item->ops = op - first;
    }
}

bool gt_step_times_count_ops(struct gt_step_times *times, const struct gt_view *view) {
    size_t slices = gt_threads_slices(gt_threads_count(view->request->threads), times->count, 0);
    int64_t *samples = gt_mem_uninitialised(times->count, sizeof *samples);
    if (!samples)
        return false;
    gt_threads_rows(slices, times->count, count_ops, &(struct counting){times, view});
    for (size_t k = 0; k < times->loop_count; k++) {
        struct gt_step_loop *loop = &times->loops[k];
        for (size_t i = 0; i < loop->count; i++)
            samples[i] = (int64_t)times->items[loop->first + i].ops;
        loop->usual_ops = (size_t)gt_step_times_lower_median(samples, loop->count);
    }
    gt_mem_free(samples);
    return true;
}

void gt_step_times_release(struct gt_step_times *times) {
    gt_mem_free(times->items);
    gt_mem_free(times->devices);
    gt_mem_free(times->loops);
    *times = (struct gt_step_times){0};
}
