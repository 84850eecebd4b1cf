/* Parsing and checking of the selection: option texts and a labelled store come in, flags over tracks, steps, names and
   categories and a window in trace time go out. */
#include "events/select.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/pattern.h"

#define LIST_BYTES 240 /* of what there is, in an error message */

/* Numbers that an option may name, with what to call them. */
struct choices {
    const char *option, *one, *many; /* "device", "device", "devices" */
    const char *none;                /* what to say when there are none at all */
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

/* "0-3, 7" of sorted values; ends in "..." where the room does. */
static void format_list(char text[LIST_BYTES], const int64_t *values, size_t count) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0, last; i < count; i = last + 1) {
        for (last = i; last + 1 < count && (values[last + 1] <= values[last] || values[last + 1] - 1 == values[last]);
             last++)
            ;
        char item[2 * GT_NUM_MAX];
        size_t length = gt_num_format_int(item, values[i]);
        if (values[last] != values[i]) {
            item[length++] = '-';
            length += gt_num_format_int(item + length, values[last]);
        }
        if (used + length + sizeof ", ..." > LIST_BYTES - 2) {
            snprintf(text + used, LIST_BYTES - used, ", ...");
            return;
        }
        used += (size_t)snprintf(text + used, LIST_BYTES - used, "%s%s", used ? ", " : "", item);
    }
}

static enum gt_status fail_unknown(const struct choices *choices, struct gt_str asked, struct gt_error *err) {
    char list[LIST_BYTES];
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
    int length = asked.len < 80 ? (int)asked.len : 80;
    if (count == 0)
        return gt_fail_usage(err, "no %s %.*s; %s", choices->one, length, asked.ptr, choices->none);
    return gt_fail_usage(err, "no %s %.*s in the trace; available %s: %s", choices->one, length, asked.ptr,
                         choices->many, list);
}

/* "3" or "2-4"; either number may be negative. */
static bool parse_range(struct gt_str item, int64_t *low, int64_t *high) {
    const char *dash = item.len > 1 ? memchr(item.ptr + 1, '-', item.len - 1) : NULL;
    struct gt_str left = {item.ptr, dash ? (size_t)(dash - item.ptr) : item.len};
    struct gt_str right = dash ? (struct gt_str){dash + 1, item.len - left.len - 1} : left;
    return gt_num_parse_int(left, low) && gt_num_parse_int(right, high) && *low <= *high;
}

/* Cuts the next item off a comma-separated list, without the spaces around it. */
static struct gt_str next_item(struct gt_str *rest) {
    const char *comma = rest->len ? memchr(rest->ptr, ',', rest->len) : NULL;
    struct gt_str item = {rest->ptr, comma ? (size_t)(comma - rest->ptr) : rest->len};
    size_t taken = item.len + (comma ? 1 : 0);
    *rest = (struct gt_str){rest->ptr + taken, rest->len - taken};
    while (item.len && *item.ptr == ' ')
        item = (struct gt_str){item.ptr + 1, item.len - 1};
    while (item.len && item.ptr[item.len - 1] == ' ')
        item.len--;
    return item;
}

/* Flags the values that the text names. Every item must name one that is there. */
static enum gt_status choose_numbers(const struct choices *choices, const char *text, bool *chosen,
                                     struct gt_error *err) {
    struct gt_str rest = gt_str_of(text);
    do {
        struct gt_str item = next_item(&rest);
        int64_t low, high;
        bool found = false;
        if (!parse_range(item, &low, &high))
            return gt_fail_usage(err, "invalid --%s '%.80s'; use numbers such as 2 or 0,2 or 1-3", choices->option,
                                 text);
        for (size_t i = 0; i < choices->count; i++)
            if (is_present(choices, i) && choices->values[i] >= low && choices->values[i] <= high)
                chosen[i] = found = true;
        if (!found)
            return fail_unknown(choices, item, err);
    } while (rest.len);
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

static enum gt_status select_tracks(struct gt_selection *selection, const struct gputime_options *options,
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
    if (options->device) {
        const char *none = why_none(store, "summary tables have no devices", "the trace has no GPU ops");
        struct choices choices = {"device",          "device",     "devices",           none,
                                  store->devices.id, used_devices, store->devices.count};
        status = choose_numbers(&choices, options->device, devices, err);
        selection->devices = devices;
    }
    if (options->stream && status == GT_OK) {
        const char *none = why_none(store, "summary tables have no streams", "the trace has no GPU ops");
        struct choices choices = {"stream",   "stream",          "streams", none, store->lanes.stream,
                                  used_lanes, store->lanes.count};
        status = choose_numbers(&choices, options->stream, lanes, err);
        selection->lanes = lanes;
    }
    return status;
}

static enum gt_status select_processes(struct gt_selection *selection, const char *text, struct gt_error *err) {
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
        "process",
        "processes",
        why_none(store, "summary tables have no processes", "the trace has no process ids for GPU ops"),
        store->processes.pid,
        used,
        store->processes.count};
    return choose_numbers(&choices, text, selection->processes, err);
}

static enum gt_status select_steps(struct gt_selection *selection, const char *text, struct gt_error *err) {
    const struct gt_labels *labels = selection->labels;
    selection->steps = new_flags(selection, labels->step_count, err);
    int64_t *numbers = gt_arena_array(&selection->arena, labels->step_count, sizeof *numbers);
    if (!selection->steps || !numbers)
        return gt_fail_memory(err);
    for (size_t i = 0; i < labels->step_count; i++)
        numbers[i] = labels->steps[i].number;
    const char *none = why_none(selection->store, "summary tables have no steps",
                                "the trace has no step ranges (ProfilerStep#3, step 3, train_step)");
    struct choices choices = {"step", "step", "steps", none, numbers, NULL, labels->step_count};
    return choose_numbers(&choices, text, selection->steps, err);
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
static enum gt_status select_categories(struct gt_selection *selection, const char *text, struct gt_error *err) {
    const struct gt_labels *labels = selection->labels;
    struct gt_str rest = gt_str_of(text);
    selection->categories = new_flags(selection, labels->category_count, err);
    if (!selection->categories)
        return GT_ERR;
    do {
        struct gt_str item = next_item(&rest);
        bool found = false;
        for (size_t i = 0; i < labels->category_count; i++)
            if (is_category(labels, i, item))
                selection->categories[i] = found = true;
        if (!found)
            return fail_category(labels, item, err);
    } while (rest.len);
    return GT_OK;
}

/* Trace time of "1.2s" after the first op or "40%" of [first start, last end]; saturates. */
static bool parse_bound(const char *text, int64_t first_ns, int64_t last_ns, int64_t *ns) {
    enum { PERCENT_DECIMALS = 9 };
    struct gt_str bound = gt_str_of(text);
    __int128 time;
    int64_t number;
    if (bound.len && bound.ptr[bound.len - 1] == '%') {
        bound.len--;
        if (!gt_num_parse_decimal(bound, PERCENT_DECIMALS, &number))
            return false;
        /* The product fits: 64 bits each. */
        time = first_ns + ((__int128)last_ns - first_ns) * number / ((__int128)100 * 1000000000);
    } else {
        if (!gt_num_parse_duration(bound, &number))
            return false;
        time = (__int128)first_ns + number;
    }
    *ns = time > INT64_MAX ? INT64_MAX : time < INT64_MIN ? INT64_MIN : (int64_t)time;
    return true;
}

static enum gt_status fail_bound(const char *option, const char *text, struct gt_error *err) {
    return gt_fail_usage(err, "invalid --%s '%.80s'; use a time such as 1.2s, 350ms, 20us or 40%%", option, text);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* Nothing is known outside the trace, so the window ends where the trace does. */
static enum gt_status select_window(struct gt_selection *selection, const char *from, const char *to,
                                    struct gt_error *err) {
    const struct gt_ops *ops = &selection->store->ops;
    int64_t first_ns = selection->store->origin_ns, last_ns = first_ns;
    if (ops->count == 0 && (selection->store->facts & (GT_FACT_GROUPS | GT_FACT_PROJECTIONS)))
        return gt_fail_usage(err, "--%s needs timestamps, and the input is a summary table; use the original trace",
                             from ? "from" : "to");
    for (size_t i = 0; i < ops->count; i++)
        last_ns = ops->end_ns[i] > last_ns ? ops->end_ns[i] : last_ns;
    int64_t start_ns = first_ns, end_ns = last_ns;
    if (from && !parse_bound(from, first_ns, last_ns, &start_ns))
        return fail_bound("from", from, err);
    if (to && !parse_bound(to, first_ns, last_ns, &end_ns))
        return fail_bound("to", to, err);
    /* Where all is one instant, all percentages are. */
    if (from && to && (start_ns > end_ns || (start_ns == end_ns && first_ns < last_ns)))
        return gt_fail_usage(err, "empty window: --from '%.80s' is not before --to '%.80s'", from, to);
    selection->has_window = true;
    selection->window_start_ns = clamp(start_ns, first_ns, last_ns);
    selection->window_end_ns = clamp(end_ns, first_ns, last_ns);
    selection->window_reaches_end = selection->window_end_ns == last_ns;
    if (selection->window_start_ns >= selection->window_end_ns && first_ns < last_ns) {
        char length[GT_NUM_MAX];
        gt_num_format_duration(length, (double)last_ns - (double)first_ns);
        bool is_late = from && start_ns >= last_ns;
        return gt_fail_usage(err, "empty window: --%s '%.80s' is outside the trace; its GPU work spans %s",
                             is_late ? "from" : "to", is_late ? from : to, length);
    }
    return GT_OK;
}

/* Time before the first op of a step is a part of it, as for the steps after it: a window of whole steps has all that
   is between them as often as there are steps, and nothing of a step that the capture has only a part of. */
static enum gt_status select_whole_steps(struct gt_selection *selection, struct gt_error *err) {
    const struct gt_ops *ops = &selection->store->ops;
    const struct gt_labels *labels = selection->labels;
    double median_ns;
    size_t warm_up = 0;
    if (!gt_labels_usual_step(labels, &median_ns, &warm_up))
        return gt_fail_memory(err);
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
        return GT_OK;
    selection->has_window = selection->is_of_steps = true;
    selection->window_reaches_end = end_ns >= last_ns;
    selection->window_start_ns = start_ns;
    selection->window_end_ns = end_ns;
    selection->warm_up_steps = warm_up;
    return GT_OK;
}

size_t gt_selecting_options(const struct gputime_options *options, struct gt_selecting given[GT_SELECTING_MAX]) {
    const struct gt_selecting all[GT_SELECTING_MAX] = {
        {"from", options->from},     {"to", options->to},
        {"step", options->step},     {"device", options->device},
        {"stream", options->stream}, {"process", options->process},
        {"name", options->name},     {"category", options->category},
    };
    size_t count = 0;
    for (size_t i = 0; i < GT_SELECTING_MAX; i++)
        if (all[i].value)
            given[count++] = all[i];
    return count;
}

enum gt_status gt_selection_init(struct gt_selection *selection, const struct gt_store *store,
                                 const struct gt_labels *labels, const struct gputime_options *options,
                                 struct gt_error *err) {
    enum gt_status status = GT_OK;
    *selection = (struct gt_selection){.store = store, .labels = labels};
    if (options->from || options->to)
        status = select_window(selection, options->from, options->to, err);
    else if (options->whole_steps != GPUTIME_STEPS_ANY && !options->step)
        status = select_whole_steps(selection, err);
    if (status == GT_OK && (options->device || options->stream))
        status = select_tracks(selection, options, err);
    if (status == GT_OK && options->process)
        status = select_processes(selection, options->process, err);
    if (status == GT_OK && options->step)
        status = select_steps(selection, options->step, err);
    if (status == GT_OK && options->name)
        status = select_names(selection, options->name, err);
    if (status == GT_OK && options->category)
        status = select_categories(selection, options->category, err);
    if (status != GT_OK)
        gt_selection_release(selection);
    return status;
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
