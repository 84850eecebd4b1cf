/* Checking of the selection: what is asked for and a labelled store come in, flags over tracks, steps, names and
   categories and a window in trace time go out. */
#include "events/selection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/pattern.h"

#define LIST_BYTES 240 /* of what there is, in an error message */

/* Numbers that an option may name, with what to call them. */
struct choices {
    const char *one, *many; /* "device", "devices" */
    const char *none;       /* what to say when there are none at all */
    const int64_t *values;
    const bool *present; /* by place in values; NULL: all */
    size_t count;
};

static bool is_present(const struct choices *choices, size_t i) {
    return !choices->present || choices->present[i];
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* "3" or "2-4" */
static size_t format_range(char text[2 * GT_NUM_MAX], struct gputime_range range) {
    size_t length = gt_num_format_int(text, range.first);
    if (range.last == range.first)
        return length;
    text[length++] = '-';
    return length + gt_num_format_int(text + length, range.last);
}

/* "0-3, 7" of sorted values; ends in "..." where the room does. */
static void format_list(char text[LIST_BYTES], const int64_t *values, size_t count) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0, last; i < count; i = last + 1) {
        for (last = i; last + 1 < count && (values[last + 1] <= values[last] || values[last + 1] - 1 == values[last]);
             last++)
            ;
        char item[2 * GT_NUM_MAX];
        size_t length = format_range(item, (struct gputime_range){values[i], values[last]});
        if (used + length + sizeof ", ..." > LIST_BYTES - 2) {
            snprintf(text + used, LIST_BYTES - used, ", ...");
            return;
        }
        used += (size_t)snprintf(text + used, LIST_BYTES - used, "%s%s", used ? ", " : "", item);
    }
}

static enum gt_status fail_unknown(const struct choices *choices, struct gputime_range asked, struct gt_error *err) {
    char list[LIST_BYTES], range[2 * GT_NUM_MAX];
    size_t count = 0;
    int64_t *sorted = gt_mem_array(choices->count, sizeof *sorted);
    if (!sorted)
        return gt_fail_memory(err);
    for (size_t i = 0; i < choices->count; i++)
        if (is_present(choices, i))
            sorted[count++] = choices->values[i];
    qsort(sorted, count, sizeof *sorted, by_value);
    format_list(list, sorted, count);
    gt_mem_free(sorted);
    range[format_range(range, asked)] = '\0';
    if (count == 0)
        return gt_fail_usage(err, "no %s %s; %s", choices->one, range, choices->none);
    return gt_fail_usage(err, "no %s %s in the trace; available %s: %s", choices->one, range, choices->many, list);
}

/* Flags the values in the ranges. Every range must have one that is there. */
static enum gt_status choose_numbers(const struct choices *choices, const struct gputime_range *ranges, size_t count,
                                     bool *chosen, struct gt_error *err) {
    for (size_t r = 0; r < count; r++) {
        bool found = false;
        if (ranges[r].first > ranges[r].last)
            return gt_fail_usage(err, "no %s from %lld to %lld: the first number is larger than the last",
                                 choices->many, (long long)ranges[r].first, (long long)ranges[r].last);
        for (size_t i = 0; i < choices->count; i++)
            if (is_present(choices, i) && choices->values[i] >= ranges[r].first && choices->values[i] <= ranges[r].last)
                chosen[i] = found = true;
        if (!found)
            return fail_unknown(choices, ranges[r], err);
    }
    return GT_OK;
}

/* All flags of a selection are made here: NULL and a memory failure in err. */
static bool *new_flags(struct gt_selection *selection, size_t count, struct gt_error *err) {
    bool *flags = gt_arena_array(&selection->arena, count, sizeof *flags);
    if (!flags)
        gt_fail_memory(err);
    return flags;
}

/* What to say when there is none of what was asked for: `summed` if the input is a table of sums, else `otherwise`. */
static const char *why_none(const struct gt_store *store, const char *summed, const char *otherwise) {
    bool is_summed = store->ops.count == 0 && (store->groups.count || store->projection_groups.count);
    return is_summed ? summed : otherwise;
}

static enum gt_status select_tracks(struct gt_selection *selection, const struct gputime_selection *asked,
                                    struct gt_error *err) {
    const struct gt_store *store = selection->store;
    bool *used_lanes = new_flags(selection, store->lanes.count, err);
    bool *used_devices = new_flags(selection, store->devices.count, err);
    bool *devices = new_flags(selection, store->devices.count, err);
    bool *lanes = new_flags(selection, store->lanes.count, err);
    enum gt_status status = GT_OK;
    if (!lanes)
        return GT_ERR;
    for (size_t i = 0; i < store->ops.count; i++) {
        used_lanes[store->ops.lane[i]] = true;
        used_devices[store->lanes.device[store->ops.lane[i]]] = true;
    }
    if (asked->device_count) {
        const char *none = why_none(store, "summary tables have no devices", "the trace has no GPU ops");
        struct choices choices = {"device", "devices", none, store->devices.id, used_devices, store->devices.count};
        status = choose_numbers(&choices, asked->devices, asked->device_count, devices, err);
        selection->devices = devices;
    }
    if (asked->stream_count && status == GT_OK) {
        const char *none = why_none(store, "summary tables have no streams", "the trace has no GPU ops");
        struct choices choices = {"stream", "streams", none, store->lanes.stream, used_lanes, store->lanes.count};
        status = choose_numbers(&choices, asked->streams, asked->stream_count, lanes, err);
        selection->lanes = lanes;
    }
    return status;
}

static enum gt_status select_processes(struct gt_selection *selection, const struct gputime_selection *asked,
                                       struct gt_error *err) {
    const struct gt_store *store = selection->store;
    bool *used = new_flags(selection, store->processes.count, err);
    selection->processes = new_flags(selection, store->processes.count, err);
    if (!selection->processes)
        return GT_ERR;
    for (uint32_t op = 0; op < store->ops.count; op++) {
        uint32_t process = gt_labels_op_process(selection->labels, store, op);
        if (process != GT_NO_TRACK)
            used[process] = true;
    }
    struct choices choices = {
        "process",
        "processes",
        why_none(store, "summary tables have no processes", "the trace has no process ids for GPU ops"),
        store->processes.pid,
        used,
        store->processes.count};
    return choose_numbers(&choices, asked->processes, asked->process_count, selection->processes, err);
}

static enum gt_status select_steps(struct gt_selection *selection, const struct gputime_selection *asked,
                                   struct gt_error *err) {
    const struct gt_labels *labels = selection->labels;
    selection->steps = new_flags(selection, labels->step_count, err);
    int64_t *numbers = gt_arena_array(&selection->arena, labels->step_count, sizeof *numbers);
    if (!selection->steps || !numbers)
        return gt_fail_memory(err);
    for (size_t i = 0; i < labels->step_count; i++)
        numbers[i] = labels->steps[i].number;
    const char *none = why_none(selection->store, "summary tables have no steps",
                                "the trace has no step ranges (ProfilerStep#3, step 3, train_step)");
    struct choices choices = {"step", "steps", none, numbers, NULL, labels->step_count};
    return choose_numbers(&choices, asked->steps, asked->step_count, selection->steps, err);
}

/* Full and simplified names, each distinct one once. */
static enum gt_status select_names(struct gt_selection *selection, const char *text, struct gt_error *err) {
    const struct gt_store *store = selection->store;
    const struct {
        const gt_strid *names;
        size_t count;
    } users[] = {{store->ops.name, store->ops.count}, {store->groups.name, store->groups.count}};
    struct gt_pattern *pattern;
    enum gt_status status = gt_pattern_new(text, &pattern, err);
    if (status != GT_OK)
        return status;
    bool *tried = new_flags(selection, store->strings.count, err);
    selection->names = new_flags(selection, store->strings.count, err);
    if (!selection->names)
        status = GT_ERR;
    for (size_t u = 0; u < sizeof users / sizeof *users; u++)
        for (size_t i = 0; i < users[u].count && status == GT_OK; i++) {
            gt_strid name = users[u].names[i];
            if (!tried[name])
                selection->names[name] = gt_pattern_matches(pattern, gt_store_string(store, name)) ||
                                         gt_pattern_matches(pattern, gt_labels_short_name(selection->labels, name));
            tried[name] = true;
        }
    gt_pattern_free(pattern);
    return status;
}

static const char *const class_keys[] = {
    [GT_CLASS_COMPUTE] = "compute", [GT_CLASS_COMM] = "comm", [GT_CLASS_MEMORY] = "memory"};

static bool is_category(const struct gt_labels *labels, size_t category, struct gt_str asked) {
    const struct gt_category *it = &labels->categories[category];
    struct gt_str key = gt_str_of(it->key), memcpy_key = GT_STR("memcpy");
    bool is_any_copy = gt_str_eq(asked, memcpy_key) && gt_str_starts(key, memcpy_key); /* whatever the direction */
    return is_any_copy || gt_str_eq(asked, key) || gt_str_eq(asked, gt_str_of(class_keys[it->time_class]));
}

static enum gt_status fail_category(const struct gt_labels *labels, struct gt_str asked, struct gt_error *err) {
    char list[600] = "";
    size_t used = 0;
    for (size_t i = 0; i < labels->category_count && used < sizeof list; i++) {
        bool is_new = true; /* a user's category may have an entry for each kind of time */
        for (size_t k = 0; k < i && is_new; k++)
            is_new = strcmp(labels->categories[k].key, labels->categories[i].key) != 0;
        if (is_new)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", labels->categories[i].key);
    }
    return gt_fail_usage(
        err, "no category '%.*s'; categories: %s; compute, comm and memory select all categories of that class",
        asked.len < 80 ? (int)asked.len : 80, asked.ptr, list);
}

/* Keys of categories, and the three kinds of time for all categories of that kind. */
static enum gt_status select_categories(struct gt_selection *selection, const struct gputime_selection *asked,
                                        struct gt_error *err) {
    const struct gt_labels *labels = selection->labels;
    selection->categories = new_flags(selection, labels->category_count, err);
    if (!selection->categories)
        return GT_ERR;
    for (size_t c = 0; c < asked->category_count; c++) {
        struct gt_str key = gt_str_of(asked->categories[c]);
        bool found = false;
        for (size_t i = 0; i < labels->category_count; i++)
            if (is_category(labels, i, key))
                selection->categories[i] = found = true;
        if (!found)
            return fail_category(labels, key, err);
    }
    return GT_OK;
}

/* Trace time of a duration after the first op, or of a share of [first start, last end]; saturates. */
static int64_t time_of(struct gputime_time time, int64_t first_ns, int64_t last_ns) {
    __int128 ns = (__int128)first_ns + time.ns;
    if (time.kind == GPUTIME_TIME_SHARE) {
        double most = 1e7, share = time.share > most ? most : time.share < -most ? -most : time.share;
        /* Percentages have 9 decimals at most. The product fits: 64 bits each. */
        ns = first_ns + ((__int128)last_ns - first_ns) * llround(share * 1e11) / (__int128)100000000000;
    }
    return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

/* As it was written, else in the shortest way; a text of the arena then. */
static const char *text_of(struct gputime_time time, struct gt_arena *arena) {
    if (time.text)
        return time.text;
    return time.kind == GPUTIME_TIME_SHARE ? gt_arena_printf(arena, "%.12g%%", 100 * time.share).ptr
                                           : gt_arena_printf(arena, "%lldns", (long long)time.ns).ptr;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* Nothing is known outside the trace, so the window ends where the trace does. */
static enum gt_status select_window(struct gt_selection *selection, struct gputime_time from, struct gputime_time to,
                                    struct gt_error *err) {
    const struct gt_ops *ops = &selection->store->ops;
    int64_t first_ns = selection->store->origin_ns, last_ns = first_ns;
    if (ops->count == 0 && (selection->store->facts & (GT_FACT_GROUPS | GT_FACT_PROJECTIONS)))
        return gt_fail_usage(err, "--%s needs timestamps, and the input is a summary table; use the original trace",
                             from.kind ? "from" : "to");
    for (size_t i = 0; i < ops->count; i++)
        last_ns = ops->end_ns[i] > last_ns ? ops->end_ns[i] : last_ns;
    int64_t start_ns = from.kind ? time_of(from, first_ns, last_ns) : first_ns;
    int64_t end_ns = to.kind ? time_of(to, first_ns, last_ns) : last_ns;
    /* Where all is one instant, all percentages are. */
    if (from.kind && to.kind && (start_ns > end_ns || (start_ns == end_ns && first_ns < last_ns)))
        return gt_fail_usage(err, "empty window: --from '%.80s' is not before --to '%.80s'",
                             text_of(from, &selection->arena), text_of(to, &selection->arena));
    selection->has_window = true;
    selection->window_start_ns = clamp(start_ns, first_ns, last_ns);
    selection->window_end_ns = clamp(end_ns, first_ns, last_ns);
    selection->window_reaches_end = selection->window_end_ns == last_ns;
    if (selection->window_start_ns >= selection->window_end_ns && first_ns < last_ns) {
        char length[GT_NUM_MAX];
        gt_num_format_duration(length, (double)last_ns - (double)first_ns);
        bool is_late = from.kind && start_ns >= last_ns;
        return gt_fail_usage(err, "empty window: --%s '%.80s' is outside the trace; its GPU work spans %s",
                             is_late ? "from" : "to", text_of(is_late ? from : to, &selection->arena), length);
    }
    return GT_OK;
}

/* Time before the first op of a step is a part of it, as for the steps after it: a window of whole steps has all that
   is between them as often as there are steps, and nothing of a step that the capture has only a part of. */
static void select_whole_steps(struct gt_selection *selection) {
    const struct gt_ops *ops = &selection->store->ops;
    const struct gt_labels *labels = selection->labels;
    double median_ns;
    size_t warm_up = 0;
    gt_labels_typical_step(labels, &median_ns, &warm_up);
    int64_t start_ns = INT64_MAX, end_ns = INT64_MIN, last_ns = INT64_MIN;
    for (size_t i = warm_up; i < labels->step_count; i++) {
        start_ns = labels->steps[i].start_ns < start_ns ? labels->steps[i].start_ns : start_ns;
        end_ns = labels->steps[i].end_ns > end_ns ? labels->steps[i].end_ns : end_ns;
    }
    for (size_t i = 0; i < ops->count; i++) {
        bool is_of_step = labels->op_step[i] != GT_NO_ROW && labels->op_step[i] >= warm_up;
        end_ns = is_of_step && ops->end_ns[i] > end_ns ? ops->end_ns[i] : end_ns;
        last_ns = ops->end_ns[i] > last_ns ? ops->end_ns[i] : last_ns;
    }
    if (ops->count == 0 || warm_up == labels->step_count || start_ns >= last_ns)
        return;
    selection->has_window = selection->is_of_steps = true;
    selection->window_reaches_end = end_ns >= last_ns;
    selection->window_start_ns = start_ns;
    selection->window_end_ns = end_ns;
    selection->warm_up_steps = warm_up;
}

/* "0,2-4" */
static const char *list_ranges(const struct gputime_range *ranges, size_t count, struct gt_arena *arena) {
    struct gt_str text = GT_STR("");
    for (size_t i = 0; i < count; i++) {
        char range[2 * GT_NUM_MAX];
        range[format_range(range, ranges[i])] = '\0';
        text = gt_arena_printf(arena, "%s%s%s", text.ptr, i ? "," : "", range);
    }
    return text.ptr;
}

static const char *list_keys(const char *const *keys, size_t count, struct gt_arena *arena) {
    struct gt_str text = GT_STR("");
    for (size_t i = 0; i < count; i++)
        text = gt_arena_printf(arena, "%s%s%s", text.ptr, i ? "," : "", keys[i]);
    return text.ptr;
}

size_t gt_selection_list(const struct gputime_selection *asked, struct gt_arena *arena,
                         struct gt_selection_term given[GT_SELECTION_TERMS_MAX]) {
    size_t count = 0;
    if (asked->from.kind)
        given[count++] = (struct gt_selection_term){"from", text_of(asked->from, arena)};
    if (asked->to.kind)
        given[count++] = (struct gt_selection_term){"to", text_of(asked->to, arena)};
    const struct {
        const char *name;
        const struct gputime_range *ranges;
        size_t count;
    } numbers[] = {{"step", asked->steps, asked->step_count},
                   {"device", asked->devices, asked->device_count},
                   {"stream", asked->streams, asked->stream_count},
                   {"process", asked->processes, asked->process_count}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].count)
            given[count++] =
                (struct gt_selection_term){numbers[i].name, list_ranges(numbers[i].ranges, numbers[i].count, arena)};
    if (asked->name)
        given[count++] = (struct gt_selection_term){"name", asked->name};
    if (asked->category_count)
        given[count++] =
            (struct gt_selection_term){"category", list_keys(asked->categories, asked->category_count, arena)};
    return count;
}

enum gt_status gt_selection_init(struct gt_selection *selection, const struct gt_store *store,
                                 const struct gt_labels *labels, const struct gputime_selection *asked,
                                 struct gt_error *err) {
    enum gt_status status = GT_OK;
    *selection = (struct gt_selection){.store = store, .labels = labels};
    if (asked->from.kind || asked->to.kind)
        status = select_window(selection, asked->from, asked->to, err);
    else if (asked->whole_steps != GPUTIME_STEPS_ANY && !asked->step_count)
        select_whole_steps(selection);
    if (status == GT_OK && (asked->device_count || asked->stream_count))
        status = select_tracks(selection, asked, err);
    if (status == GT_OK && asked->process_count)
        status = select_processes(selection, asked, err);
    if (status == GT_OK && asked->step_count)
        status = select_steps(selection, asked, err);
    if (status == GT_OK && asked->name)
        status = select_names(selection, asked->name, err);
    if (status == GT_OK && asked->category_count)
        status = select_categories(selection, asked, err);
    if (status != GT_OK)
        gt_selection_release(selection);
    return status;
}

enum gt_status gt_selection_keep_process(struct gt_selection *selection, uint32_t process, struct gt_error *err) {
    bool *only = new_flags(selection, selection->store->processes.count, err);
    if (!only)
        return GT_ERR;
    only[process] = !selection->processes || selection->processes[process];
    selection->processes = only;
    return GT_OK;
}

void gt_selection_release(struct gt_selection *selection) {
    gt_arena_release(&selection->arena);
    *selection = (struct gt_selection){0};
}

bool gt_selection_has_group(const struct gt_selection *selection, uint32_t group) {
    if (selection->names && !selection->names[selection->store->groups.name[group]])
        return false;
    return !selection->categories || selection->categories[selection->labels->group_category[group]];
}

bool gt_selection_has(const struct gt_selection *selection, uint32_t op) {
    const struct gt_store *store = selection->store;
    const struct gt_labels *labels = selection->labels;
    uint32_t lane = store->ops.lane[op];
    if (selection->devices && !selection->devices[store->lanes.device[lane]])
        return false;
    if (selection->lanes && !selection->lanes[lane])
        return false;
    if (selection->names && !selection->names[store->ops.name[op]])
        return false;
    if (selection->categories && !selection->categories[labels->op_category[op]])
        return false;
    if (selection->steps && (labels->op_step[op] == GT_NO_ROW || !selection->steps[labels->op_step[op]]))
        return false;
    if (selection->processes) {
        uint32_t process = gt_labels_op_process(labels, store, op);
        return process != GT_NO_TRACK && selection->processes[process];
    }
    return true;
}
