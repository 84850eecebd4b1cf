/* Follows the memory of each process through its steps: both are sorted by time, so all is one pass. */
#include "measure/memory_use/memory_stepwise.h"

#include <math.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/quantile.h"

enum { LEAST_CHANGES = 3 }; /* of which a median says something */

/* The events of one process on the device, and how far its steps have come. */
struct lane {
    uint32_t *events; /* numbers */
    size_t count, next;
    int64_t reached_ns;  /* end of the step before */
    uint32_t first_step; /* after warm-up, in the list of the device; GT_NO_ROW: none yet */
    uint32_t last_step;  /* likewise */
    size_t steps;
};

struct stepping {
    const struct gt_view *view;
    const struct gt_memory_event *events;
    struct lane *lanes; /* by process track, then those of no process */
    size_t lane_count;
    uint32_t *numbers;
    int64_t *changes; /* of memory from step to step */
    size_t change_count, change_capacity, step_capacity;
};

static struct lane *lane_of(const struct stepping *it, uint32_t process) {
    return &it->lanes[process < it->lane_count - 1 ? process : it->lane_count - 1];
}

static bool make_lanes(struct stepping *it, size_t count) {
    const struct gt_store *store = it->view->store;
    const uint32_t *process_of = store->memory_events.process;
    it->lane_count = store->processes.count + 1;
    it->lanes = gt_mem_array(it->lane_count, sizeof *it->lanes);
    it->numbers = gt_mem_uninitialised(count, sizeof *it->numbers);
    if (!it->lanes || !it->numbers)
        return false;
    for (size_t i = 0; i < count; i++)
        lane_of(it, process_of[it->events[i].row])->count++;
    uint32_t *next = it->numbers;
    for (size_t l = 0; l < it->lane_count; l++) {
        struct lane *lane = &it->lanes[l];
        lane->events = next;
        next += lane->count;
        lane->count = 0;
        lane->reached_ns = INT64_MIN;
        lane->first_step = lane->last_step = GT_NO_ROW;
    }
    for (size_t i = 0; i < count; i++) {
        struct lane *lane = lane_of(it, process_of[it->events[i].row]);
        lane->events[lane->count++] = (uint32_t)i;
    }
    return true;
}

/* Counts an allocation of the step that is still there at its end. */
static void keep_block(struct gt_memory_step *step, const struct stepping *it, const struct gt_memory_event *event,
                       int64_t end_ns) {
    const struct gt_memory_events *rows = &it->view->store->memory_events;
    if (rows->address[event->row] == UINT64_MAX)
        return;
    step->has_blocks = true;
    bool is_kept = event->freed_by == GT_MEMORY_EVENTS_KEPT || it->events[event->freed_by].time_ns >= end_ns;
    if (rows->operation[event->row] != GT_MEMORY_ALLOCATE || !is_kept)
        return;
    step->kept_bytes = gt_ns_add(step->kept_bytes, rows->bytes[event->row]);
    step->kept_blocks++;
}

/* false: nothing is known of the memory in this step. */
static bool follow_step(struct gt_memory_step *step, const struct stepping *it, struct lane *lane,
                        const struct gt_step *of) {
    while (lane->next < lane->count && it->events[lane->events[lane->next]].time_ns < of->start_ns)
        lane->next++;
    bool is_known = lane->next > 0;
    step->first = is_known ? it->events[lane->events[lane->next - 1]].own : 0;
    step->peak = step->last = step->first;
    for (; lane->next < lane->count; lane->next++) {
        const struct gt_memory_event *event = &it->events[lane->events[lane->next]];
        if (event->time_ns >= of->end_ns)
            break;
        if (!is_known) /* the first event of all says what was there before it */
            step->first = step->peak = gt_ns_between(event->change, event->own);
        step->peak = event->own > step->peak ? event->own : step->peak;
        step->last = event->own;
        is_known = true;
        keep_block(step, it, event, of->end_ns);
    }
    return is_known;
}

/* The first step of a process is warm-up: what it keeps, as the states of an optimizer, it keeps once. So the first
   change that counts is from the second step to the third. false: memory was short. */
static bool note_change(struct stepping *it, const struct gt_memory_device *device, struct lane *lane,
                        const struct gt_memory_step *step) {
    if (lane->steps == 1)
        lane->first_step = (uint32_t)device->step_count;
    if (lane->steps++ < 2)
        return true;
    int64_t *changes = gt_mem_room(it->changes, it->change_count, &it->change_capacity, sizeof *changes);
    if (!changes)
        return false;
    it->changes = changes;
    changes[it->change_count++] = gt_ns_between(device->steps[lane->last_step].last, step->last);
    return true;
}

/* Adds a step of its process to the device's; false: memory was short. */
static bool add_step(struct stepping *it, struct gt_memory_device *device, uint32_t number) {
    const struct gt_step *step = &it->view->labels->steps[number];
    struct lane *lane = lane_of(it, step->process);
    struct gt_memory_step row = {.step = number};
    if (!follow_step(&row, it, lane, step))
        return true;
    struct gt_memory_step *steps = gt_mem_room(device->steps, device->step_count, &it->step_capacity, sizeof *steps);
    if (!steps)
        return false;
    device->steps = steps;
    steps[device->step_count] = row;
    lane->reached_ns = step->end_ns;
    if (!note_change(it, device, lane, &row))
        return false;
    lane->last_step = (uint32_t)device->step_count++;
    return true;
}

/* Processes have allocators of their own: what grew most is one of them. */
static void find_growing(const struct stepping *it, struct gt_memory_device *device) {
    int64_t most = INT64_MIN;
    for (size_t l = 0; l < it->lane_count; l++) {
        const struct lane *lane = &it->lanes[l];
        if (lane->steps <= 2)
            continue;
        int64_t grown = gt_ns_between(device->steps[lane->first_step].last, device->steps[lane->last_step].last);
        if (grown <= most)
            continue;
        most = grown;
        device->growth_first = lane->first_step;
        device->growth_last = lane->last_step;
    }
}

static void sum_changes(struct stepping *it, struct gt_memory_device *device) {
    device->changes = it->change_count;
    for (size_t i = 0; i < it->change_count; i++)
        if (i == 0 || it->changes[i] < device->least_change)
            device->least_change = it->changes[i];
    if (it->change_count >= LEAST_CHANGES)
        device->growth = gt_quantile(it->changes, it->change_count, 0.5);
}

static bool is_in_window(const struct gt_view *view, const struct gt_step *step) {
    return !view->has_window || (step->start_ns < view->window_end_ns && step->end_ns > view->window_start_ns);
}

bool gt_memory_stepwise_find(struct gt_memory_device *device, const struct gt_view *view,
                             const struct gt_memory_event *events, size_t count) {
    struct stepping it = {.view = view, .events = events};
    const struct gt_labels *labels = view->labels;
    device->growth = NAN;
    if (!labels->step_count)
        return true;
    bool is_done = make_lanes(&it, count);
    for (uint32_t s = 0; s < labels->step_count && is_done; s++) {
        const struct gt_step *step = &labels->steps[s];
        const struct lane *lane = lane_of(&it, step->process);
        if (lane->count && step->start_ns >= lane->reached_ns && is_in_window(view, step))
            is_done = add_step(&it, device, s);
    }
    if (is_done) {
        find_growing(&it, device);
        sum_changes(&it, device);
    }
    gt_mem_free(it.lanes);
    gt_mem_free(it.numbers);
    gt_mem_free(it.changes);
    return is_done;
}
