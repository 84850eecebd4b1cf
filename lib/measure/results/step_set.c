/* Steps of a view: in come its ops with their steps, out go the parts of each step and device and the states of the
   steps. Linear. */
#include "measure/results/step_set.h"

#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/quantile.h"
#include "base/threads.h"
#include "measure/results/measure.h"

const char *const gt_step_state_names[GT_STEP_STATE_COUNT] = {
    [GT_STEP_STEADY] = "steady", [GT_STEP_WARM_UP] = "warm-up", [GT_STEP_OUTLIER] = "outlier"};

int64_t gt_step_set_cpu_ns(const struct gt_step *step) {
    return gt_ns_between(step->start_ns, step->end_ns);
}

/* ---- parts ---- */

/* Devices of a group that take turns at most: their ops are all over the file. */
enum { TURNING = 16 };

struct more {
    struct gt_step_part part;
    uint32_t before; /* 1 + index of the item of the same step in front of it; 0: there is none */
};

/* More parts of some devices that follow each other. */
struct group {
    struct more *items;
    size_t count, capacity;
    size_t first;        /* item of the devices that take turns now */
    uint32_t *number_of; /* by step: 1 + index of its latest item; made for the first one */
    bool has_failed;
};

/* Mostly one device has ops of a step, so each step has room for one part: the first device that comes takes it. */
struct collecting {
    const struct gt_view *view;
    struct gt_step_part *parts; /* by step; without a device while none has come */
    struct group *groups;       /* what other devices have */
    size_t group_count;
};

static struct gt_step_part new_part(uint32_t step, uint32_t device, int64_t start_ns) {
    return (struct gt_step_part){.step = step, .device = device, .start_ns = start_ns, .end_ns = start_ns};
}

/* Whether the part of a step is the device's from now on, or was before. Devices of other groups come meanwhile. */
static bool take_part(struct gt_step_part *part, uint32_t device, int64_t start_ns) {
    uint32_t owner = __atomic_load_n(&part->device, __ATOMIC_RELAXED);
    if (owner != GT_NO_TRACK)
        return owner == device;
    if (!__atomic_compare_exchange_n(&part->device, &owner, device, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return false;
    part->start_ns = part->end_ns = start_ns;
    return true;
}

static struct more *find_more(const struct group *group, uint32_t step, uint32_t device) {
    uint32_t number = group->number_of[step];
    while (number > group->first && group->items[number - 1].part.device != device)
        number = group->items[number - 1].before;
    return number > group->first ? &group->items[number - 1] : NULL;
}

/* Another part of a step. NULL: memory was short. */
static struct gt_step_part *more_part(struct group *group, size_t step_count, struct gt_step_part part) {
    if (!group->number_of)
        group->number_of = gt_mem_array(step_count, sizeof *group->number_of);
    if (!group->number_of)
        return NULL;
    struct more *known = find_more(group, part.step, part.device);
    if (known)
        return &known->part;
    struct more *items = gt_mem_room(group->items, group->count, &group->capacity, sizeof *items);
    if (!items)
        return NULL;
    group->items = items;
    items[group->count++] = (struct more){part, group->number_of[part.step]};
    group->number_of[part.step] = (uint32_t)group->count;
    return &items[group->count - 1].part;
}

/* Ops of a step come in order of start, with those of other steps between them. */
static bool collect_ops(const struct collecting *it, uint32_t device, size_t first, size_t end, struct group *group) {
    const struct gt_view *view = it->view;
    const uint32_t *op_step = view->labels->op_step, *row = view->row;
    struct gt_step_part *part = NULL; /* of the op before */
    for (size_t i = first; i < end; i++) {
        uint32_t step = op_step[row[i]];
        if (step == GT_NO_ROW)
            continue;
        if (!part || part->step != step) {
            part = &it->parts[step];
            if (!take_part(part, device, view->start_ns[i]))
                part = more_part(group, view->labels->step_count, new_part(step, device, view->start_ns[i]));
            if (!part)
                return false;
        }
        part->ops++;
        part->end_ns = view->end_ns[i] > part->end_ns ? view->end_ns[i] : part->end_ns;
    }
    return true;
}

static bool take_turns(const struct collecting *it, size_t first, size_t end, struct group *group) {
    const size_t turns = gt_threads_turns(it->view->op_count);
    group->first = group->count;
    for (size_t turn = 0; turn < turns; turn++)
        for (size_t d = first; d < end; d++) {
            const struct gt_view_device *device = &it->view->devices[d];
            size_t begin = device->first + gt_threads_slice_begin(device->count, turns, turn);
            size_t stop = device->first + gt_threads_slice_begin(device->count, turns, turn + 1);
            if (!collect_ops(it, (uint32_t)d, begin, stop, group))
                return false;
        }
    return true;
}

static void begin_parts(void *context, size_t slice, size_t begin, size_t end) {
    const struct collecting *it = context;
    (void)slice;
    for (size_t step = begin; step < end; step++)
        it->parts[step] = new_part((uint32_t)step, GT_NO_TRACK, 0);
}

static void collect_group(void *context, size_t index) {
    const struct collecting *it = context;
    struct group *group = &it->groups[index];
    size_t first = gt_threads_slice_begin(it->view->device_count, it->group_count, index);
    size_t end = gt_threads_slice_begin(it->view->device_count, it->group_count, index + 1);
    for (; first < end && !group->has_failed; first += TURNING)
        group->has_failed = !take_turns(it, first, end - first > TURNING ? first + TURNING : end, group);
    gt_mem_free(group->number_of);
}

/* false: memory was short. */
static bool collect(struct collecting *it) {
    const struct gt_view *view = it->view;
    size_t threads = gt_threads_count(view->request->threads), step_count = view->labels->step_count;
    size_t most = gt_threads_slices(threads, view->op_count, step_count / 8); /* a number for every step */
    it->group_count = most < view->device_count ? most : view->device_count;
    it->groups = gt_mem_array(it->group_count, sizeof *it->groups);
    it->parts = gt_mem_uninitialised(step_count, sizeof *it->parts);
    bool ok = it->groups && it->parts;
    if (ok && step_count) {
        gt_threads_rows(gt_threads_slices(threads, step_count, 0), step_count, begin_parts, it);
        gt_threads_parts(it->group_count, it->group_count, collect_group, it);
    }
    for (size_t i = 0; i < it->group_count && ok; i++)
        ok = !it->groups[i].has_failed;
    return ok;
}

static void release_groups(struct collecting *it) {
    for (size_t i = 0; i < it->group_count && it->groups; i++)
        gt_mem_free(it->groups[i].items);
    gt_mem_free(it->groups);
    gt_mem_free(it->parts);
}

static bool has_more(const struct collecting *it) {
    for (size_t g = 0; g < it->group_count; g++)
        if (it->groups[g].count)
            return true;
    return false;
}

/* with_empty: steps without ops are parts, too. Else most steps have no part, and their room is given back. */
static void close_up(struct collecting *it, struct gt_step_set *set, bool with_empty) {
    size_t step_count = it->view->labels->step_count;
    set->parts = it->parts;
    it->parts = NULL;
    set->count = with_empty ? step_count : 0;
    for (size_t step = 0; step < step_count && !with_empty; step++)
        if (set->parts[step].device != GT_NO_TRACK)
            set->parts[set->count++] = set->parts[step];
    struct gt_step_part *shorter = with_empty ? NULL : gt_mem_realloc(set->parts, set->count * sizeof *set->parts);
    set->parts = shorter ? shorter : set->parts; /* where that fails, all stays */
}

/* Where the parts of each step begin, to be freed; NULL: memory was short. */
static size_t *new_places(const struct collecting *it, bool with_empty) {
    size_t step_count = it->view->labels->step_count;
    size_t *places = gt_mem_array(step_count + 1, sizeof *places);
    for (size_t g = 0; g < it->group_count && places; g++)
        for (size_t i = 0; i < it->groups[g].count; i++)
            places[it->groups[g].items[i].part.step + 1]++;
    for (size_t step = 0; step < step_count && places; step++)
        places[step + 1] += places[step] + (with_empty || it->parts[step].device != GT_NO_TRACK);
    return places;
}

static void insert_part(struct gt_step_part *parts, size_t *end, size_t first, const struct gt_step_part *part) {
    size_t at = (*end)++;
    for (; at > first && parts[at - 1].device > part->device; at--)
        parts[at] = parts[at - 1];
    parts[at] = *part;
}

/* By step, then by device. */
static bool sort_parts(struct gt_step_set *set, const struct collecting *it, bool with_empty) {
    size_t step_count = it->view->labels->step_count, *places = new_places(it, with_empty);
    size_t *ends = gt_mem_uninitialised(step_count, sizeof *ends);
    bool ok = places && ends;
    set->count = ok ? places[step_count] : 0;
    set->parts = gt_mem_uninitialised(set->count, sizeof *set->parts);
    ok = ok && set->parts;
    for (size_t step = 0; step < step_count && ok; step++) {
        ends[step] = places[step];
        if (with_empty || it->parts[step].device != GT_NO_TRACK)
            insert_part(set->parts, &ends[step], places[step], &it->parts[step]);
    }
    for (size_t g = 0; g < it->group_count && ok; g++)
        for (size_t i = 0; i < it->groups[g].count; i++) {
            const struct gt_step_part *part = &it->groups[g].items[i].part;
            insert_part(set->parts, &ends[part->step], places[part->step], part);
        }
    gt_mem_free(places);
    gt_mem_free(ends);
    return ok;
}

/* ---- states ---- */

/* Lengths are looked at many times to find a median, so they are stored; they become their distances from it. */
struct judging {
    struct gt_step_set *set;
    const struct gt_step *steps;
    int64_t *samples;                            /* by step */
    size_t warm_up;                              /* steps */
    size_t (*state_counts)[GT_STEP_STATE_COUNT]; /* by slice */
};

static void measure_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct judging *it = context;
    (void)slice;
    for (size_t i = begin; i < end; i++)
        it->samples[i] = gt_step_set_cpu_ns(&it->steps[i]);
}

static int64_t distance(int64_t a_ns, int64_t b_ns) {
    int64_t distance_ns = gt_ns_between(a_ns, b_ns), other_way_ns = gt_ns_between(distance_ns, 0);
    return distance_ns > other_way_ns ? distance_ns : other_way_ns;
}

static void judge_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct judging *it = context;
    int64_t median_ns = it->set->median_ns < 0x1p63 ? (int64_t)it->set->median_ns : INT64_MAX;
    size_t counts[GT_STEP_STATE_COUNT] = {0};
    for (size_t i = begin; i < end; i++) {
        bool is_long = gt_labels_step_is_long(&it->steps[i], it->set->median_ns);
        uint8_t state = (uint8_t)(!is_long ? GT_STEP_STEADY : i < it->warm_up ? GT_STEP_WARM_UP : GT_STEP_OUTLIER);
        it->set->states[i] = state;
        counts[state]++;
        it->samples[i] = distance(median_ns, it->samples[i]);
    }
    memcpy(it->state_counts[slice], counts, sizeof counts);
}

static bool judge_steps(struct gt_step_set *set, const struct gt_view *view) {
    size_t count = view->labels->step_count;
    size_t slices = gt_threads_slices(gt_threads_count(view->request->threads), count, 0);
    struct judging it = {.set = set,
                         .steps = view->labels->steps,
                         .samples = gt_mem_uninitialised(count, sizeof *it.samples),
                         .state_counts = gt_mem_array(slices, sizeof *it.state_counts)};
    set->states = gt_mem_array(count, 1);
    bool ok = it.samples && it.state_counts && set->states;
    if (ok && count) {
        gt_threads_rows(slices, count, measure_slice, &it);
        set->median_ns = gt_quantile(it.samples, count, 0.5);
        it.warm_up = gt_labels_warm_up(view->labels, set->median_ns);
        gt_threads_rows(slices, count, judge_slice, &it);
        set->mad_ns = gt_quantile(it.samples, count, 0.5);
    }
    for (size_t i = 0; i < slices && ok; i++)
        for (size_t state = 0; state < GT_STEP_STATE_COUNT; state++)
            set->state_counts[state] += it.state_counts[i][state];
    gt_mem_free(it.samples);
    gt_mem_free(it.state_counts);
    return ok;
}

/* What a slice of the parts has. */
struct steady {
    size_t count;
    int64_t start_ns;
    uint8_t *has; /* by device */
};

struct summing {
    const struct gt_step_set *set;
    struct steady *steady; /* by slice */
};

static void sum_steady(void *context, size_t slice, size_t begin, size_t end) {
    const struct summing *it = context;
    struct steady steady = it->steady[slice];
    for (const struct gt_step_part *part = it->set->parts + begin; part < it->set->parts + end; part++) {
        if (part->device == GT_NO_TRACK || it->set->states[part->step] == GT_STEP_WARM_UP)
            continue;
        steady.count++;
        steady.has[part->device] = 1;
        steady.start_ns = part->start_ns < steady.start_ns ? part->start_ns : steady.start_ns;
    }
    it->steady[slice] = steady;
}

static void join_steady(struct gt_step_set *set, const struct steady *steady, size_t slices, size_t devices) {
    set->steady.start_ns = INT64_MAX;
    for (size_t i = 0; i < slices; i++) {
        set->steady.count += steady[i].count;
        set->steady.start_ns = steady[i].start_ns < set->steady.start_ns ? steady[i].start_ns : set->steady.start_ns;
    }
    for (size_t d = 0; d < devices; d++) {
        bool has = false;
        for (size_t i = 0; i < slices; i++)
            has |= steady[i].has[d];
        set->steady.devices += has;
    }
}

static bool find_steady(struct gt_step_set *set, const struct gt_view *view) {
    size_t devices = view->device_count;
    size_t slices = gt_threads_slices(gt_threads_count(view->request->threads), set->count, devices);
    struct steady *steady = gt_mem_array(slices, sizeof *steady);
    uint8_t *has = gt_mem_array(slices * devices, 1);
    bool ok = steady && has;
    for (size_t i = 0; i < slices && ok; i++)
        steady[i] = (struct steady){.start_ns = INT64_MAX, .has = has + i * devices};
    if (ok) {
        gt_threads_rows(slices, set->count, sum_steady, &(struct summing){set, steady});
        join_steady(set, steady, slices, devices);
    }
    gt_mem_free(steady);
    gt_mem_free(has);
    return ok;
}

enum gt_status gt_step_set_init(struct gt_step_set *set, const struct gt_view *view, struct gt_error *err) {
    *set = (struct gt_step_set){0};
    struct collecting it = {.view = view};
    /* With a selection, most steps have no op for that reason alone. */
    bool ok = collect(&it);
    if (ok && has_more(&it))
        ok = sort_parts(set, &it, view->is_whole);
    else if (ok)
        close_up(&it, set, view->is_whole);
    release_groups(&it);
    ok = ok && judge_steps(set, view) && find_steady(set, view);
    if (!ok) {
        gt_step_set_release(set);
        return gt_fail_memory(err);
    }
    return GT_OK;
}

void gt_step_set_release(struct gt_step_set *set) {
    gt_mem_free(set->parts);
    gt_mem_free(set->states);
    *set = (struct gt_step_set){0};
}

bool gt_step_set_is_of_several(const struct gt_view *view) {
    const struct gt_labels *labels = view->labels;
    for (size_t i = 1; i < labels->step_count; i++)
        if (labels->steps[i].process != labels->steps[0].process)
            return true;
    return false;
}
