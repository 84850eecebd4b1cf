/* Steps of a view: in come its ops with their steps, out go an account for each step and device and the states of the
   steps. Linear. */
#include "measure/results/step_set.h"

#include "base/mem.h"
#include "base/ns.h"
#include "base/quantile.h"
#include "measure/results/measure.h"

const char *const gt_step_state_names[GT_STEP_STATE_COUNT] = {
    [GT_STEP_STEADY] = "steady", [GT_STEP_WARM_UP] = "warm-up", [GT_STEP_OUTLIER] = "outlier"};

int64_t gt_step_set_cpu_ns(const struct gt_step *step) {
    return gt_ns_between(step->start_ns, step->end_ns);
}

/* ---- parts ---- */

struct collecting {
    const struct gt_view *view;
    struct gt_step_set *set;
    struct gt_account_sweep *accountants; /* by part */
    size_t capacity;
    uint32_t *part_of; /* by step: 1 + index of its latest part; one of an earlier device counts as none */
};

static struct gt_step_part *add_part(struct collecting *it) {
    if (it->set->count == it->capacity) {
        size_t capacity = it->capacity ? it->capacity * 2 : 64;
        struct gt_step_part *parts = gt_mem_realloc(it->set->parts, capacity * sizeof *parts);
        it->set->parts = parts ? parts : it->set->parts;
        struct gt_account_sweep *accountants = gt_mem_realloc(it->accountants, capacity * sizeof *accountants);
        it->accountants = accountants ? accountants : it->accountants;
        if (!parts || !accountants)
            return NULL;
        it->capacity = capacity;
    }
    return &it->set->parts[it->set->count++];
}

static bool begin_part(struct collecting *it, uint32_t step, uint32_t device, int64_t start_ns) {
    struct gt_step_part *part = add_part(it);
    if (!part)
        return false;
    uint32_t number = (uint32_t)it->set->count;
    *part = (struct gt_step_part){
        .step = step, .device = device, .account = number, .start_ns = start_ns, .end_ns = start_ns};
    it->part_of[step] = number;
    gt_account_sweep_init(&it->accountants[it->set->count - 1]);
    return true;
}

/* Ops from one position to before another, all of one step. */
static void take_ops(struct collecting *it, uint32_t index, size_t first, size_t end) {
    struct gt_step_part *part = &it->set->parts[index];
    part->ops += (uint32_t)(end - first);
    for (size_t i = first; i < end; i++)
        part->end_ns = it->view->end_ns[i] > part->end_ns ? it->view->end_ns[i] : part->end_ns;
    gt_account_sweep_take(&it->accountants[index], it->view, first, end);
}

/* Ops of a step come in order of start, with those of other steps between them. */
static bool collect_device(struct collecting *it, uint32_t index) {
    const struct gt_view *view = it->view;
    const uint32_t *op_step = view->labels->op_step;
    size_t first_part = it->set->count, last = view->devices[index].first + view->devices[index].count;
    for (size_t first = view->devices[index].first, end; first < last; first = end) {
        uint32_t step = op_step[view->row[first]];
        for (end = first + 1; end < last && op_step[view->row[end]] == step;)
            end++;
        if (step == GT_NO_ROW)
            continue;
        if (it->part_of[step] <= first_part && !begin_part(it, step, index, view->start_ns[first]))
            return false;
        take_ops(it, it->part_of[step] - 1, first, end);
    }
    return true;
}

static bool close_accounts(struct collecting *it) {
    struct gt_account *accounts = it->set->accounts = gt_mem_uninitialised(it->set->count + 1, sizeof *accounts);
    if (!accounts)
        return false;
    accounts[0] = (struct gt_account){0};
    for (size_t i = 0; i < it->set->count; i++)
        accounts[i + 1] =
            gt_account_sweep_close(&it->accountants[i], it->set->parts[i].start_ns, it->set->parts[i].end_ns);
    return true;
}

static bool collect(struct collecting *it) {
    const struct gt_view *view = it->view;
    size_t step_count = view->labels->step_count;
    it->part_of = gt_mem_array(step_count, sizeof *it->part_of);
    bool ok = it->part_of;
    for (uint32_t d = 0; d < view->device_count && ok && step_count; d++)
        ok = collect_device(it, d);
    return ok && close_accounts(it);
}

/* How many parts the steps before each have, to be freed; NULL: memory was short. */
static size_t *new_places(const struct gt_step_set *set, size_t step_count, bool with_empty) {
    size_t *places = gt_mem_array(step_count + 1, sizeof *places);
    for (size_t i = 0; i < set->count && places; i++)
        places[set->parts[i].step + 1]++;
    for (size_t step = 0; step < step_count && places; step++) {
        places[step + 1] += with_empty && places[step + 1] == 0;
        places[step + 1] += places[step];
    }
    return places;
}

/* By step, then by device: that is how those of a step come. with_empty: steps without ops are parts, too. */
static bool sort_parts(struct gt_step_set *set, size_t step_count, bool with_empty) {
    size_t *places = new_places(set, step_count, with_empty);
    size_t count = places ? places[step_count] : 0;
    struct gt_step_part *sorted = gt_mem_uninitialised(count, sizeof *sorted);
    bool ok = places && sorted;
    for (size_t step = 0; step < step_count && ok && with_empty; step++)
        sorted[places[step]] = (struct gt_step_part){.step = (uint32_t)step, .device = GT_NO_TRACK};
    for (size_t i = 0; i < set->count && ok; i++)
        sorted[places[set->parts[i].step]++] = set->parts[i];
    gt_mem_free(places);
    gt_mem_free(ok ? set->parts : sorted);
    set->parts = ok ? sorted : set->parts;
    set->count = ok ? count : set->count;
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

enum gt_status gt_step_set_init(struct gt_step_set *set, const struct gt_view *view, struct gt_error *err) {
    *set = (struct gt_step_set){0};
    struct collecting it = {.view = view, .set = set};
    bool ok = collect(&it);
    gt_mem_free(it.accountants);
    gt_mem_free(it.part_of);
    /* With a selection, most steps have no op for that reason alone. */
    ok = ok && sort_parts(set, view->labels->step_count, view->is_whole) && judge_steps(set, view->labels);
    if (!ok) {
        gt_step_set_release(set);
        return gt_fail_memory(err);
    }
    return GT_OK;
}

void gt_step_set_release(struct gt_step_set *set) {
    gt_mem_free(set->parts);
    gt_mem_free(set->accounts);
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
