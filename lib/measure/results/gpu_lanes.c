/* Sorts ops by stream, steps and the kernels of collectives into lanes. */
#include "measure/results/gpu_lanes.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/spans.h"
#include "events/comms.h"
#include "measure/results/measure.h"

/* Columns for a set whose spans have none in the store. */
static bool own_columns(struct gt_lane_set *set, size_t count) {
    set->owned[0] = gt_mem_uninitialised(count, sizeof *set->start_ns);
    set->owned[1] = gt_mem_uninitialised(count, sizeof *set->end_ns);
    set->owned[2] = gt_mem_uninitialised(count, sizeof *set->name);
    set->owned[GT_LANE_SET_ROWS] = gt_mem_uninitialised(count, sizeof(uint32_t));
    set->ids = gt_mem_uninitialised(count, sizeof *set->ids);
    set->start_ns = set->owned[0];
    set->end_ns = set->owned[1];
    set->name = set->owned[2];
    set->bytes = count * (sizeof *set->start_ns + sizeof *set->end_ns + sizeof *set->name + 2 * sizeof(uint32_t));
    return set->start_ns && set->end_ns && set->name && set->owned[GT_LANE_SET_ROWS] && set->ids;
}

static void put(struct gt_lane_set *set, size_t id, int64_t start_ns, int64_t end_ns, gt_strid name, uint32_t row) {
    ((int64_t *)set->owned[0])[id] = start_ns;
    ((int64_t *)set->owned[1])[id] = end_ns;
    ((gt_strid *)set->owned[2])[id] = name;
    ((uint32_t *)set->owned[GT_LANE_SET_ROWS])[id] = row;
    set->ids[id] = (uint32_t)id;
}

/* ---- steps ---- */

static bool has_step(const struct gt_view *view, const bool *processes, const struct gt_step *step) {
    return view->is_whole ||
           ((step->process == GT_NO_TRACK || processes[step->process]) &&
            (!view->has_window || (step->start_ns < view->window_end_ns && step->end_ns > view->window_start_ns)));
}

/* Where the steps of each process begin; those of none come last. */
static size_t place_of(const struct gt_view *view, const struct gt_step *step) {
    return step->process < view->store->processes.count ? step->process : view->store->processes.count;
}

static void put_steps(const struct gt_view *view, const bool *processes, size_t *next, struct gt_lane_set *set) {
    const struct gt_labels *labels = view->labels;
    for (uint32_t i = 0; i < labels->step_count; i++) {
        const struct gt_step *step = &labels->steps[i];
        if (has_step(view, processes, step))
            put(set, next[place_of(view, step)]++, step->start_ns, step->end_ns, view->store->ranges.name[step->range],
                i);
    }
}

bool gt_gpu_lanes_steps(const struct gt_view *view, struct gt_lane_set *set, struct gt_lane_list *list) {
    size_t places = view->store->processes.count + 1;
    size_t *first = gt_mem_array(places + 2, sizeof *first), *next = first ? first + 1 : NULL;
    bool *processes = gt_view_processes(view);
    bool ok = first && processes;
    for (size_t i = 0; i < view->labels->step_count && ok; i++)
        if (has_step(view, processes, &view->labels->steps[i]))
            next[place_of(view, &view->labels->steps[i]) + 1]++;
    for (size_t p = 0; p < places && ok; p++)
        next[p + 1] += next[p];
    ok = ok && own_columns(set, next[places]);
    if (ok) {
        set->count = next[places];
        put_steps(view, processes, next, set);
    }
    for (size_t p = 0; p < places && ok; p++) {
        struct gt_timeline_row row = gt_lane_list_row(GT_TIMELINE_STEPS);
        size_t count = first[p + 1] - first[p];
        row.pid = gt_lane_list_pid(view->store, p + 1 < places ? (uint32_t)p : GT_NO_TRACK);
        ok = gt_spans_sort(set->ids + first[p], count, set->start_ns, set->end_ns);
        if (count)
            gt_lane_list_add(list, &row, (struct gt_span_row){first[p], count}, (uint32_t)p);
    }
    gt_mem_free(first);
    gt_mem_free(processes);
    return ok && !list->failed;
}

/* ---- collectives ---- */

static const struct gt_collective *collective_of(const struct gt_view *view, size_t position) {
    const struct gt_comm_launch *launch = gt_comms_of_op(view->labels, view->row[position]);
    return launch && launch->count ? &view->labels->comms.collectives[launch->first] : NULL;
}

static gt_strid name_of(const struct gt_view *view, size_t position, const struct gt_collective *collective) {
    gt_strid name = gt_comms_merged(view->store, collective).name;
    return name == GT_STRID_EMPTY ? view->name[position] : name;
}

/* "ranks 0, 2, 4, 6", "8 ranks"; what the trace does not say is left out. */
static struct gt_str members_text(struct gt_arena *arena, const struct gt_comm_group *group) {
    enum { MEMBERS_MAX = 16 };
    struct gt_str text = {"", 0};
    if (group->size > 0 && (group->size > MEMBERS_MAX || !gt_comms_has_members(group)))
        return gt_arena_printf(arena, "%jd ranks", (intmax_t)group->size);
    for (int64_t i = 0; i < group->size; i++)
        text = gt_arena_printf(arena, "%.*s%s%jd", (int)text.len, text.ptr, i ? ", " : "ranks ",
                               (intmax_t)gt_comms_member(group, i));
    return text;
}

static struct gt_timeline_row collective_row(const struct gt_view *view, struct gt_arena *arena, size_t position,
                                             uint32_t number) {
    const struct gt_store *store = view->store;
    struct gt_timeline_row row = gt_lane_list_row(GT_TIMELINE_COLLECTIVES);
    row.device = store->devices.id[store->lanes.device[view->lane[position]]];
    row.title = GT_STR("collectives");
    if (number == GT_NO_ROW)
        return row;
    const struct gt_comm_group *group = &view->labels->comms.groups[number];
    struct gt_str name = gt_store_string(store, group->name), about = gt_store_string(store, group->description);
    if (about.len || name.len)
        row.title = about.len ? about : name;
    else if (group->communicator != UINT64_MAX)
        row.title = gt_arena_printf(arena, "communicator %jx", (uintmax_t)group->communicator);
    row.group = members_text(arena, group);
    return row;
}

struct sorting {
    const struct gt_view *view;
    struct gt_map ids; /* lanes by group and device */
    size_t first_lane;
    struct gt_lane_list *list;
};

/* The lane of an op; NULL: it is no collective, or memory was short. */
static struct gt_lane *lane_of(struct sorting *sorting, struct gt_arena *arena, size_t position) {
    const struct gt_collective *collective = collective_of(sorting->view, position);
    if (!collective)
        return NULL;
    uint32_t device = sorting->view->store->lanes.device[sorting->view->lane[position]];
    uint32_t next = (uint32_t)sorting->list->count;
    uint32_t lane = gt_map_put_if_new(&sorting->ids, collective->group, device, next);
    sorting->list->failed |= sorting->ids.failed;
    if (sorting->list->failed)
        return NULL;
    if (lane == next) {
        struct gt_timeline_row row = collective_row(sorting->view, arena, position, collective->group);
        gt_lane_list_add(sorting->list, &row, (struct gt_span_row){0, 0}, collective->group);
    }
    return sorting->list->failed ? NULL : &sorting->list->lanes[lane];
}

/* Ops of a view are in order of device, start and length: so are those of each lane. */
static void put_collectives(struct sorting *sorting, struct gt_arena *arena, struct gt_lane_set *set) {
    const struct gt_view *view = sorting->view;
    for (size_t i = 0; i < view->op_count && !sorting->list->failed; i++) {
        struct gt_lane *lane = lane_of(sorting, arena, i);
        if (lane)
            put(set, lane->spans.first + lane->spans.count++, view->start_ns[i], view->end_ns[i],
                name_of(view, i, collective_of(view, i)), view->row[i]);
    }
}

bool gt_gpu_lanes_collectives(const struct gt_view *view, struct gt_arena *arena, struct gt_lane_set *set,
                              struct gt_lane_list *list) {
    struct sorting sorting = {.view = view, .first_lane = list->count, .list = list};
    if (!view->labels->comms.op_launch || !gt_measure_asks(view, GT_FACT_COMMS))
        return true;
    for (size_t i = 0; i < view->op_count && !list->failed; i++) {
        struct gt_lane *lane = lane_of(&sorting, arena, i);
        if (lane)
            lane->spans.count++;
    }
    for (size_t i = sorting.first_lane; i < list->count; i++) {
        struct gt_lane *lane = &list->lanes[i];
        lane->spans.first = set->count;
        lane->row.count = lane->spans.count;
        set->count += lane->spans.count;
        lane->spans.count = 0;
    }
    bool ok = own_columns(set, set->count) && !list->failed;
    if (ok)
        put_collectives(&sorting, arena, set);
    gt_map_release(&sorting.ids);
    return ok && !list->failed && !gt_arena_failed(arena);
}

/* ---- streams ---- */

struct lane_busy {
    int64_t busy_ns;
    size_t lane;
};

static int by_busy(const void *a, const void *b) {
    const struct lane_busy *x = a, *y = b;
    if (x->busy_ns != y->busy_ns)
        return x->busy_ns > y->busy_ns ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

static int by_lane(const void *a, const void *b) {
    const struct lane_busy *x = a, *y = b;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

/* The busiest streams, in the order of the view. */
static size_t choose_lanes(const struct gt_view *view, struct lane_busy *lanes, size_t most) {
    bool is_crowded = view->lane_count > most;
    for (size_t i = 0; i < view->lane_count; i++)
        lanes[i] = (struct lane_busy){is_crowded ? gt_view_lane_busy_ns(view, &view->lanes[i]) : 0, i};
    if (!is_crowded)
        return view->lane_count;
    qsort(lanes, view->lane_count, sizeof *lanes, by_busy);
    qsort(lanes, most, sizeof *lanes, by_lane);
    return most;
}

static void add_lane(const struct gt_store *store, const struct gt_view_lane *lane, struct gt_lane_list *list) {
    struct gt_timeline_row row = gt_lane_list_row(GT_TIMELINE_OPS);
    row.device = store->devices.id[store->lanes.device[lane->lane]];
    row.pid = gt_lane_list_pid(store, store->lanes.process[lane->lane]);
    row.stream = store->lanes.stream[lane->lane];
    gt_lane_list_add(list, &row, (struct gt_span_row){lane->first, lane->count}, lane->lane);
}

bool gt_gpu_lanes_streams(const struct gt_view *view, size_t most, struct gt_lane_list *list) {
    struct lane_busy *lanes = gt_mem_array(view->lane_count, sizeof *lanes);
    if (!lanes)
        return false;
    size_t count = choose_lanes(view, lanes, most);
    for (size_t i = 0; i < count; i++)
        add_lane(view->store, &view->lanes[lanes[i].lane], list);
    list->left_out[GT_TIMELINE_OPS] = view->lane_count - count;
    gt_mem_free(lanes);
    return true;
}
