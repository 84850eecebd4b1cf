/* Steps of a view: in come its ops with their steps, out go the parts of each step and device and the states of the
   steps. Linear. */
#include "measure/results/step_set.h"

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

/* The parts of some devices that follow each other: by device, then in the order of their first ops. */
struct group {
    struct gt_step_part *items;
    size_t count, capacity;
    bool has_failed;
};

struct collecting {
    const struct gt_view *view;
    struct group *groups;
    size_t group_count;
};

static struct gt_step_part *begin_part(struct group *group, uint32_t step, uint32_t device, int64_t start_ns) {
    struct gt_step_part *items = gt_mem_room(group->items, group->count, &group->capacity, sizeof *items);
    if (!items)
        return NULL;
    group->items = items;
    items[group->count] =
        (struct gt_step_part){.step = step, .device = device, .start_ns = start_ns, .end_ns = start_ns};
    return &items[group->count++];
}

/* Ops of a step come in order of start, with those of other steps between them. number_of: by step, 1 + index of its
   latest part; one of an earlier device counts as none. */
static bool collect_device(const struct gt_view *view, uint32_t device, struct group *group, uint32_t *number_of) {
    const uint32_t *op_step = view->labels->op_step, *row = view->row;
    const size_t first_part = group->count;
    struct gt_step_part *part = NULL; /* of the op before */
    for (size_t i = view->devices[device].first, end = i + view->devices[device].count; i < end; i++) {
        uint32_t step = op_step[row[i]];
        if (step == GT_NO_ROW)
            continue;
        if (!part || part->step != step) {
            uint32_t number = number_of[step];
            bool is_known = number > first_part;
            part = is_known ? &group->items[number - 1] : begin_part(group, step, device, view->start_ns[i]);
            if (!part)
                return false;
            number_of[step] = is_known ? number : (uint32_t)group->count;
        }
        part->ops++;
        part->end_ns = view->end_ns[i] > part->end_ns ? view->end_ns[i] : part->end_ns;
    }
    return true;
}

/* Room for a part of each step: mostly one device has ops of it. Without it, room is made as parts come. */
static void make_room(struct group *group, size_t count) {
    group->items = count ? gt_mem_alloc(count * sizeof *group->items) : NULL;
    group->capacity = group->items ? count : 0;
}

/* Of the numbers, pages are only touched where the devices have steps: those of a process follow each other. */
static void collect_group(void *context, size_t index) {
    const struct collecting *it = context;
    const size_t devices = it->view->device_count;
    uint32_t *number_of = gt_mem_array(it->view->labels->step_count, sizeof *number_of);
    bool ok = number_of;
    make_room(&it->groups[index], it->view->labels->step_count / it->group_count);
    for (size_t d = gt_threads_slice_begin(devices, it->group_count, index),
                end = gt_threads_slice_begin(devices, it->group_count, index + 1);
         d < end && ok; d++)
        ok = collect_device(it->view, (uint32_t)d, &it->groups[index], number_of);
    it->groups[index].has_failed = !ok;
    gt_mem_free(number_of);
}

/* false: memory was short. */
static bool collect(struct collecting *it) {
    const struct gt_view *view = it->view;
    size_t own_items = view->labels->step_count / 8; /* a number for every step */
    size_t most = gt_threads_slices(gt_threads_count(view->request->threads), view->op_count, own_items);
    it->group_count = most < view->device_count ? most : view->device_count;
    it->groups = gt_mem_array(it->group_count, sizeof *it->groups);
    if (it->groups && view->labels->step_count)
        gt_threads_parts(it->group_count, it->group_count, collect_group, it);
    bool ok = it->groups;
    for (size_t i = 0; i < it->group_count && ok; i++)
        ok = !it->groups[i].has_failed;
    return ok;
}

static void release_groups(struct collecting *it) {
    for (size_t i = 0; i < it->group_count && it->groups; i++)
        gt_mem_free(it->groups[i].items);
    gt_mem_free(it->groups);
}

/* How many parts the steps before each have, to be freed; NULL: memory was short. */
static size_t *new_places(const struct collecting *it, bool with_empty) {
    size_t step_count = it->view->labels->step_count;
    size_t *places = gt_mem_array(step_count + 1, sizeof *places);
    for (size_t g = 0; g < it->group_count && places; g++)
        for (size_t i = 0; i < it->groups[g].count; i++)
            places[it->groups[g].items[i].step + 1]++;
    for (size_t step = 0; step < step_count && places; step++) {
        places[step + 1] += with_empty && places[step + 1] == 0;
        places[step + 1] += places[step];
    }
    return places;
}

/* By step, then by device: that is how those of a step come. with_empty: steps without ops are parts, too. */
static bool sort_parts(struct gt_step_set *set, const struct collecting *it, bool with_empty) {
    size_t step_count = it->view->labels->step_count, *places = new_places(it, with_empty);
    set->count = places ? places[step_count] : 0;
    set->parts = gt_mem_uninitialised(set->count, sizeof *set->parts);
    bool ok = places && set->parts;
    for (size_t step = 0; step < step_count && ok && with_empty; step++)
        set->parts[places[step]] = (struct gt_step_part){.step = (uint32_t)step, .device = GT_NO_TRACK};
    for (size_t g = 0; g < it->group_count && ok; g++)
        for (size_t i = 0; i < it->groups[g].count; i++)
            set->parts[places[it->groups[g].items[i].step]++] = it->groups[g].items[i];
    gt_mem_free(places);
    return ok;
}

/* ---- states ---- */

static bool judge_steps(struct gt_step_set *set, const struct gt_labels *labels) {
    size_t count = labels->step_count, warm_up = 0;
    int64_t *lengths = gt_mem_uninitialised(count, sizeof *lengths);
    set->states = gt_mem_array(count, 1);
    if (!lengths || !set->states || !gt_labels_typical_step(labels, &set->median_ns, &warm_up)) {
        gt_mem_free(lengths);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        bool is_long = gt_labels_step_is_long(&labels->steps[i], set->median_ns);
        set->states[i] = (uint8_t)(!is_long ? GT_STEP_STEADY : i < warm_up ? GT_STEP_WARM_UP : GT_STEP_OUTLIER);
        set->state_counts[set->states[i]]++;
    }
    int64_t middle_ns = (int64_t)set->median_ns;
    for (size_t i = 0; i < count; i++) {
        int64_t distance_ns = gt_ns_between(middle_ns, gt_step_set_cpu_ns(&labels->steps[i]));
        lengths[i] = distance_ns < 0 ? gt_ns_between(distance_ns, 0) : distance_ns;
    }
    set->mad_ns = gt_quantile(lengths, count, 0.5);
    gt_mem_free(lengths);
    return true;
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
    bool ok = collect(&it) && sort_parts(set, &it, view->is_whole);
    release_groups(&it);
    ok = ok && judge_steps(set, view->labels) && find_steady(set, view);
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
