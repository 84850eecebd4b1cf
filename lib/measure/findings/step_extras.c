/* Notes for every name of ranges in how many steps it launches work, and how long these take. */
#include "measure/findings/step_extras.h"

#include "base/mem.h"
#include "base/ns.h"
#include "measure/findings/thresholds.h"
#include "measure/results/grouping.h"
#include "measure/results/phase_map.h"

/* Ranges whose names differ in digits alone. */
struct group {
    gt_strid name; /* the first */
    size_t runs;   /* items that have it */
    size_t latest; /* 1 + the last of them */
    uint32_t level;
    __int128 runs_ns; /* of those items */
    int64_t inside_ns;
    bool is_out; /* looked at, and not what is looked for */
};

struct search {
    struct gt_evidence *evidence;
    const struct gt_view *view;
    const struct gt_step_times *times;
    struct gt_grouping groups;
    uint32_t *group_of;                       /* by name: 1 + its group; 0: not looked up yet */
    size_t *latest_item;                      /* by range: 1 + the last item that has it */
    int64_t *inside_ns;                       /* by range: of what was launched in it */
    size_t *item_of;                          /* by step: 1 + its item on the device that is looked at */
    const struct gt_step_times_device *noted; /* whose items item_of has; NULL: nobody's */
    __int128 items_ns;                        /* of all steps */
    bool has_failed;
};

/* ---- names ---- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Runs of digits count as one digit. */
static uint64_t hash_without_digits(struct gt_str name) {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < name.len; i++) {
        if (is_digit(name.ptr[i]) && i > 0 && is_digit(name.ptr[i - 1]))
            continue;
        hash = (hash ^ (is_digit(name.ptr[i]) ? '0' : (uint8_t)name.ptr[i])) * 1099511628211u;
    }
    return hash;
}

static struct group *group_at(const struct search *it, size_t index) {
    return (struct group *)(void *)it->groups.list + index;
}

/* NULL: memory was short. */
static struct group *find_group(struct search *it, gt_strid name) {
    bool is_new;
    if (it->group_of[name])
        return group_at(it, it->group_of[name] - 1);
    struct group *group =
        gt_grouping_find(&it->groups, hash_without_digits(gt_store_string(it->view->store, name)), 0, &is_new);
    it->has_failed |= !group;
    if (!group)
        return NULL;
    if (is_new)
        *group = (struct group){.name = name, .level = UINT32_MAX};
    it->group_of[name] = (uint32_t)(group - group_at(it, 0)) + 1;
    return group;
}

/* ---- noting ---- */

/* SIZE_MAX: the op belongs to no item. What no step launched belongs to the one in whose time it runs. */
static size_t item_of_op(struct search *it, const struct gt_step_times_device *device, size_t position, size_t *next) {
    uint32_t step = it->view->labels->op_step[it->view->row[position]];
    if (step != GT_NO_ROW)
        return it->item_of[step] - 1;
    return gt_step_times_at(it->times, device, it->view->start_ns[position], next);
}

/* Up to a range that is known to be in this item, as then those around it are, too. No program nests ranges deeper than
   is looked at; damaged traces may. */
static void note_ranges(struct search *it, uint32_t op, size_t item) {
    enum { DEEPEST = 100 };
    const struct gt_labels *labels = it->view->labels;
    uint32_t step = labels->op_step[op], end = step == GT_NO_ROW ? GT_NO_ROW : labels->steps[step].range;
    uint32_t range = labels->op_range[op];
    for (int depth = 0; range != GT_NO_ROW && range != end && depth < DEEPEST;
         depth++, range = labels->range_parent[range]) {
        if (it->latest_item[range] == item + 1)
            return;
        it->latest_item[range] = item + 1;
        struct group *group = find_group(it, it->view->store->ranges.name[range]);
        if (!group)
            return;
        group->level = labels->range_level[range] < group->level ? labels->range_level[range] : group->level;
        if (group->latest == item + 1)
            continue;
        group->latest = item + 1;
        group->runs++;
        group->runs_ns += gt_step_time_ns(&it->times->items[item]);
    }
}

static void note_items(struct search *it, const struct gt_step_times_device *device) {
    for (size_t i = 0; it->noted && i < it->noted->count; i++)
        it->item_of[it->times->items[it->noted->first + i].step] = 0;
    it->noted = device;
    for (size_t i = device->first; i < device->first + device->count; i++)
        it->item_of[it->times->items[i].step] = i + 1;
}

static void note_device(struct search *it, size_t index) {
    const struct gt_view_device *device = &it->view->devices[index];
    const struct gt_step_times_device *steps = &it->times->devices[index];
    size_t next = 0;
    note_items(it, steps);
    for (size_t i = device->first; i < device->first + device->count && !it->has_failed; i++) {
        uint32_t op = it->view->row[i], range = it->view->labels->op_range[op];
        size_t item = range == GT_NO_ROW ? SIZE_MAX : item_of_op(it, steps, i, &next);
        if (item != SIZE_MAX)
            note_ranges(it, op, item);
    }
}

/* What was launched in each range. */
static void note_insides(struct search *it, size_t index) {
    const struct gt_view_device *device = &it->view->devices[index];
    const struct gt_step_times_device *steps = &it->times->devices[index];
    size_t next = 0;
    note_items(it, steps);
    for (size_t i = device->first; i < device->first + device->count; i++) {
        uint32_t range = it->view->labels->op_range[it->view->row[i]];
        if (range != GT_NO_ROW && item_of_op(it, steps, i, &next) != SIZE_MAX)
            it->inside_ns[range] = gt_ns_add(it->inside_ns[range], gt_ledger_op_left_ns(&it->evidence->ledger, i));
    }
}

static void note_gaps(struct search *it) {
    const struct gt_ledger *ledger = &it->evidence->ledger;
    for (size_t i = 0; i < ledger->idle->count; i++) {
        uint32_t next = ledger->idle->next[i];
        uint32_t range = next == GT_NO_ROW ? GT_NO_ROW : it->view->labels->op_range[it->view->row[next]];
        if (range != GT_NO_ROW)
            it->inside_ns[range] = gt_ns_add(it->inside_ns[range], gt_ledger_gap_left_ns(ledger, i));
    }
}

/* Ranges come after those around them. A range in another one of its name counts once. */
static void sum_insides(struct search *it) {
    const struct gt_labels *labels = it->view->labels;
    const gt_strid *name = it->view->store->ranges.name;
    for (size_t i = labels->range_order_count; i-- > 0;) {
        uint32_t range = labels->range_order[i], parent = labels->range_parent[range];
        uint32_t group = it->group_of[name[range]];
        if (parent != GT_NO_ROW)
            it->inside_ns[parent] = gt_ns_add(it->inside_ns[parent], it->inside_ns[range]);
        if (group && it->latest_item[range] && (parent == GT_NO_ROW || it->group_of[name[parent]] != group))
            group_at(it, group - 1)->inside_ns = gt_ns_add(group_at(it, group - 1)->inside_ns, it->inside_ns[range]);
    }
}

/* ---- choosing ---- */

static void sum_items(struct search *it) {
    for (size_t i = 0; i < it->times->count; i++)
        it->items_ns += gt_step_time_ns(&it->times->items[i]);
}

/* By how much its steps are longer than the others, in total; 0: they are not. */
static double excess_of(const struct search *it, const struct group *group, double *others_ns) {
    if (group->is_out || group->runs == 0 || group->runs >= it->times->count)
        return 0;
    *others_ns = (double)(it->items_ns - group->runs_ns) / (double)(it->times->count - group->runs);
    double excess_ns = (double)group->runs_ns / (double)group->runs - *others_ns;
    return excess_ns < gt_thresholds.extra_share * *others_ns ? 0 : excess_ns * (double)group->runs;
}

/* Mostly no group makes its steps longer, and then it is of no interest what was launched in it. */
static bool has_excess(const struct search *it) {
    double others_ns;
    for (size_t i = 0; i < it->groups.count; i++)
        if (excess_of(it, group_at(it, i), &others_ns) > 0)
            return true;
    return false;
}

/* How much of its work makes its steps longer than the others; 0: it does not. */
static double score(const struct search *it, const struct group *group, double *others_ns) {
    double excess_ns = excess_of(it, group, others_ns);
    return excess_ns < (double)group->inside_ns ? excess_ns : (double)group->inside_ns;
}

static struct group *best_group(const struct search *it) {
    struct group *best = NULL;
    double best_score = 0, others_ns;
    for (size_t i = 0; i < it->groups.count; i++) {
        struct group *group = group_at(it, i);
        double own = score(it, group, &others_ns);
        if (own > best_score || (best && own == best_score && group->level < best->level)) {
            best = group;
            best_score = own;
        }
    }
    return best_score > 0 ? best : NULL;
}

/* "eval_forward" is not a part of usual steps, though its name has one in it. */
static bool is_usual_part(const struct gt_phase_map *phases, struct gt_str name) {
    static const char *const extras[] = {"eval", "valid", "test", "checkpoint", "save", "log", "metric"};
    for (size_t i = 0; i < GT_ARRAY_COUNT(extras); i++)
        if (gt_str_find_nocase(name, gt_str_of(extras[i])))
            return false;
    return gt_phase_map_find(phases, name) != GT_NO_PHASE;
}

static struct group *choose(struct search *it) {
    enum { TRIES = 20 };
    struct gt_phase_map phases;
    struct group *group = best_group(it);
    if (!group)
        return NULL;
    bool ok = gt_phase_map_init(&phases, NULL, it->evidence->err) == GT_OK;
    it->has_failed |= !ok;
    for (int i = 0; i < TRIES && group && ok; i++) {
        if (!is_usual_part(&phases, gt_store_string(it->view->store, group->name)))
            break;
        group->is_out = true;
        group = best_group(it);
    }
    gt_phase_map_release(&phases);
    return group && !group->is_out ? group : NULL;
}

/* ---- the answer ---- */

static void mark_ranges(const struct search *it, struct gt_step_extra *extra, const struct group *group) {
    const struct gt_labels *labels = it->view->labels;
    uint32_t number = (uint32_t)(group - group_at(it, 0)) + 1;
    for (size_t i = 0; i < labels->range_order_count; i++) {
        uint32_t range = labels->range_order[i], parent = labels->range_parent[range];
        extra->is_inside[range] = it->group_of[it->view->store->ranges.name[range]] == number ||
                                  (parent != GT_NO_ROW && extra->is_inside[parent]);
    }
}

static void mark_items(struct search *it, struct gt_step_extra *extra) {
    for (size_t d = 0; d < it->view->device_count; d++) {
        const struct gt_view_device *device = &it->view->devices[d];
        size_t next = 0;
        note_items(it, &it->times->devices[d]);
        for (size_t i = device->first; i < device->first + device->count; i++) {
            size_t item = gt_step_extras_has_op(extra, it->view, (uint32_t)i)
                              ? item_of_op(it, &it->times->devices[d], i, &next)
                              : SIZE_MAX;
            if (item != SIZE_MAX)
                extra->has_it[item] = 1;
        }
    }
}

static size_t end_of_digits(struct gt_str name, size_t at) {
    while (at < name.len && is_digit(name.ptr[at]))
        at++;
    return at;
}

/* Marks the numbers of a name that are others in another name, by bit: names of a group differ in nothing else. */
static uint64_t differing_numbers(struct gt_str a, struct gt_str b) {
    uint64_t differing = 0, bit = 1;
    for (size_t i = 0, k = 0; i < a.len && k < b.len;) {
        size_t i_end = end_of_digits(a, i), k_end = end_of_digits(b, k);
        if (i == i_end || k == k_end) {
            i++, k++;
            continue;
        }
        struct gt_str x = {a.ptr + i, i_end - i}, y = {b.ptr + k, k_end - k};
        differing |= gt_str_eq(x, y) ? 0 : bit;
        bit <<= 1;
        i = i_end, k = k_end;
    }
    return differing;
}

/* "layer N" of "layer 0" and "layer 12"; what is the same in all names stays. */
static struct gt_str text_of(const struct search *it, const struct group *group) {
    enum { LONGEST = 1000 };
    const struct gt_store *store = it->view->store;
    uint32_t number = (uint32_t)(group - group_at(it, 0)) + 1;
    struct gt_str name = gt_store_string(store, group->name), text = GT_STR("");
    uint64_t differing = 0, bit = 1;
    for (gt_strid i = 0; i < store->strings.count && name.len <= LONGEST; i++)
        if (it->group_of[i] == number)
            differing |= differing_numbers(name, gt_store_string(store, i));
    for (size_t i = 0, end; i < name.len && differing; i = end) {
        bool is_number = is_digit(name.ptr[i]), is_written = !(is_number && differing & bit);
        end = is_number ? end_of_digits(name, i) : i + 1;
        while (!is_number && end < name.len && !is_digit(name.ptr[end]))
            end++;
        bit = is_number ? bit << 1 : bit;
        text = gt_arena_printf(it->evidence->arena, "%.*s%.*s", (int)text.len, text.ptr,
                               is_written ? (int)(end - i) : 1, is_written ? name.ptr + i : "N");
    }
    return differing ? text : name;
}

static void measure_others(const struct search *it, struct gt_step_extra *extra, int64_t *samples) {
    for (size_t d = 0; d < it->view->device_count; d++) {
        const struct gt_step_times_device *device = &it->times->devices[d];
        size_t count = 0;
        for (size_t i = device->first; i < device->first + device->count; i++)
            if (!extra->has_it[i])
                samples[count++] = gt_step_time_ns(&it->times->items[i]);
        extra->usual_ns[d] =
            count ? gt_step_times_lower_median(samples, count) : gt_ns_of_sum((__int128)extra->others_ns);
    }
}

static void answer(struct search *it, struct gt_step_extra *extra, const struct group *group) {
    int64_t *samples = gt_mem_uninitialised(it->times->count, sizeof *samples);
    extra->has_it = gt_mem_array(it->times->count, 1);
    extra->is_inside = gt_mem_array(it->view->store->ranges.count, 1);
    extra->usual_ns = gt_mem_array(it->view->device_count, sizeof *extra->usual_ns);
    it->has_failed |= !samples || !extra->has_it || !extra->is_inside || !extra->usual_ns;
    if (!it->has_failed) {
        score(it, group, &extra->others_ns);
        extra->name = group->name;
        extra->text = text_of(it, group);
        mark_ranges(it, extra, group);
        mark_items(it, extra);
        measure_others(it, extra, samples);
    }
    gt_mem_free(samples);
}

/* What one loop does and another does not is no extra work. */
static bool has_several_loops(const struct gt_step_times *times, const struct gt_view *view) {
    for (size_t d = 0; d < view->device_count && times->devices; d++)
        if (times->devices[d].loop_count > 1)
            return true;
    return false;
}

void gt_step_extras_find(struct gt_step_extra *extra, struct gt_evidence *evidence, const struct gt_step_times *times) {
    const struct gt_store *store = evidence->view->store;
    *extra = (struct gt_step_extra){.name = GT_STRID_EMPTY};
    if (has_several_loops(times, evidence->view) || (double)times->count < gt_thresholds.fewest_steps ||
        !evidence->view->labels->op_range || !store->ranges.count)
        return;
    struct search it = {.evidence = evidence,
                        .view = evidence->view,
                        .times = times,
                        .groups = {.elem_bytes = sizeof(struct group)},
                        .group_of = gt_mem_array(store->strings.count, sizeof *it.group_of),
                        .latest_item = gt_mem_array(store->ranges.count, sizeof *it.latest_item),
                        .inside_ns = gt_mem_array(store->ranges.count, sizeof *it.inside_ns),
                        .item_of = gt_mem_array(evidence->view->labels->step_count, sizeof *it.item_of)};
    it.has_failed = !it.group_of || !it.latest_item || !it.inside_ns || !it.item_of;
    for (size_t d = 0; d < it.view->device_count && !it.has_failed; d++)
        note_device(&it, d);
    sum_items(&it);
    if (!it.has_failed && has_excess(&it)) {
        for (size_t d = 0; d < it.view->device_count; d++)
            note_insides(&it, d);
        note_gaps(&it);
        sum_insides(&it);
        const struct group *group = choose(&it);
        if (group && !it.has_failed)
            answer(&it, extra, group);
    }
    gt_grouping_release(&it.groups);
    gt_mem_free(it.group_of);
    gt_mem_free(it.latest_item);
    gt_mem_free(it.inside_ns);
    gt_mem_free(it.item_of);
    extra->has_failed = it.has_failed;
    if (it.has_failed)
        gt_evidence_fail(evidence);
}

void gt_step_extras_release(struct gt_step_extra *extra) {
    gt_mem_free(extra->has_it);
    gt_mem_free(extra->is_inside);
    gt_mem_free(extra->usual_ns);
    *extra = (struct gt_step_extra){.name = GT_STRID_EMPTY};
}
