/* Steps of a view: in come its ops with their steps, out go an account for each step and device and the states of the
   steps. Linear but for sorting the parts. */
#include "measure/step_set.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/quantile.h"
#include "measure/measure.h"

const char *const gt_step_state_names[GT_STEP_STATE_COUNT] = {
    [GT_STEP_STEADY] = "steady", [GT_STEP_WARM_UP] = "warm-up", [GT_STEP_OUTLIER] = "outlier"};

int64_t gt_step_cpu_ns(const struct gt_step *step) {
    return gt_ns_between(step->start_ns, step->end_ns);
}

/* ---- parts ---- */

struct collecting {
    const struct gt_view *view;
    struct gt_step_set *set;
    size_t capacity;
    size_t *first;    /* by step, and one more: where its ops of the current device begin in order */
    uint32_t *order;  /* positions of the device's ops, by step */
    uint8_t *has_ops; /* by step */
    struct gt_accountant accountant;
};

static struct gt_step_part *add_part(struct collecting *it) {
    if (it->set->count == it->capacity) {
        size_t capacity = it->capacity ? it->capacity * 2 : 64;
        struct gt_step_part *grown = gt_realloc(it->set->parts, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        it->set->parts = grown;
        it->capacity = capacity;
    }
    return &it->set->parts[it->set->count++];
}

/* The ops of a step, in order of start. */
static bool add_ops(struct collecting *it, uint32_t step, uint32_t device, const uint32_t *positions, size_t count) {
    const struct gt_view *view = it->view;
    struct gt_step_part *part = add_part(it);
    if (!part)
        return false;
    *part = (struct gt_step_part){.step = step, .device = device, .ops = count};
    part->start_ns = part->end_ns = view->start_ns[positions[0]];
    gt_accountant_clear(&it->accountant);
    for (size_t i = 0; i < count; i++) {
        gt_accountant_take(&it->accountant, view, positions[i]);
        if (view->end_ns[positions[i]] > part->end_ns)
            part->end_ns = view->end_ns[positions[i]];
    }
    it->has_ops[step] = 1;
    return gt_accountant_close(&it->accountant, part->start_ns, part->end_ns, &part->account);
}

/* Places the device's ops by step, in view order inside each. */
static void order_ops(struct collecting *it, const struct gt_view_device *device) {
    const struct gt_view *view = it->view;
    size_t step_count = view->labels->step_count;
    for (size_t step = 0; step < step_count + 2; step++)
        it->first[step] = 0;
    for (size_t i = device->first; i < device->first + device->count; i++) {
        uint32_t step = view->labels->op_step[view->row[i]];
        if (step != GT_NO_ROW)
            it->first[step + 2]++;
    }
    for (size_t step = 0; step < step_count; step++)
        it->first[step + 2] += it->first[step + 1];
    for (size_t i = device->first; i < device->first + device->count; i++) {
        uint32_t step = view->labels->op_step[view->row[i]];
        if (step != GT_NO_ROW)
            it->order[it->first[step + 1]++] = (uint32_t)i;
    }
}

static bool collect(struct collecting *it) {
    const struct gt_view *view = it->view;
    size_t step_count = view->labels->step_count, most_ops = 0;
    for (size_t d = 0; d < view->device_count; d++)
        most_ops = view->devices[d].count > most_ops ? view->devices[d].count : most_ops;
    it->first = gt_alloc_array(step_count + 2, sizeof *it->first);
    it->order = gt_alloc_array(most_ops, sizeof *it->order);
    it->has_ops = gt_alloc_array(step_count, 1);
    bool ok = it->first && it->order && it->has_ops;
    for (uint32_t d = 0; d < view->device_count && ok; d++) {
        order_ops(it, &view->devices[d]);
        for (uint32_t step = 0; step < step_count && ok; step++) {
            size_t count = it->first[step + 1] - it->first[step];
            ok = count == 0 || add_ops(it, step, d, it->order + it->first[step], count);
        }
    }
    /* With a selection, most steps have no op for that reason alone. */
    for (uint32_t step = 0; step < step_count && ok && view->is_whole; step++) {
        struct gt_step_part *part = it->has_ops[step] ? NULL : add_part(it);
        if (part)
            *part = (struct gt_step_part){.step = step, .device = GT_NO_TRACK};
        ok = part || it->has_ops[step];
    }
    return ok;
}

static int by_step(const void *a, const void *b) {
    const struct gt_step_part *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->device > y->device) - (x->device < y->device);
}

/* ---- states ---- */

static bool judge_steps(struct gt_step_set *set, const struct gt_labels *labels) {
    size_t count = labels->step_count, warm_up = 0;
    int64_t *lengths = gt_alloc_array(count, sizeof *lengths);
    set->states = gt_alloc_array(count, 1);
    if (!lengths || !set->states || !gt_labels_usual_step(labels, &set->median_ns, &warm_up)) {
        gt_free(lengths);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        bool is_long = gt_step_is_long(&labels->steps[i], set->median_ns);
        set->states[i] = (uint8_t)(!is_long ? GT_STEP_STEADY : i < warm_up ? GT_STEP_WARM_UP : GT_STEP_OUTLIER);
        set->state_counts[set->states[i]]++;
    }
    int64_t middle_ns = (int64_t)set->median_ns;
    for (size_t i = 0; i < count; i++) {
        int64_t distance_ns = gt_ns_between(middle_ns, gt_step_cpu_ns(&labels->steps[i]));
        lengths[i] = distance_ns < 0 ? gt_ns_between(distance_ns, 0) : distance_ns;
    }
    set->mad_ns = gt_quantile(lengths, count, 0.5);
    gt_free(lengths);
    return true;
}

enum gt_status gt_step_set_init(struct gt_step_set *set, const struct gt_view *view, struct gt_error *err) {
    *set = (struct gt_step_set){0};
    struct collecting it = {.view = view, .set = set};
    bool ok = collect(&it) && judge_steps(set, view->labels);
    gt_accountant_release(&it.accountant);
    gt_free(it.first);
    gt_free(it.order);
    gt_free(it.has_ops);
    if (!ok) {
        gt_step_set_release(set);
        return gt_fail_memory(err);
    }
    if (set->count)
        qsort(set->parts, set->count, sizeof *set->parts, by_step);
    return GT_OK;
}

void gt_step_set_release(struct gt_step_set *set) {
    gt_free(set->parts);
    gt_free(set->states);
    *set = (struct gt_step_set){0};
}

bool gt_steps_are_of_several(const struct gt_view *view) {
    const struct gt_labels *labels = view->labels;
    for (size_t i = 1; i < labels->step_count; i++)
        if (labels->steps[i].process != labels->steps[0].process)
            return true;
    return false;
}
