/* Views: a labelled store and a request come in, the selected ops go out, clipped to the window and in the order that
   sweeps need. Their rows are listed stream by stream in the order of the file, with the runs that are in order
   already, which are then merged. */
#include "events/view.h"

#include <stdlib.h>

#include "base/ahead.h"
#include "base/carve.h"
#include "base/huge.h"
#include "base/mem.h"
#include "base/spans.h"
#include "base/threads.h"
#include "events/selection.h"
#include "events/view_order.h"

/* Streams in more disorder are sorted first. */
enum { MOST_RUNS = 8 };

/* What a slice of the store's ops has of a stream. */
struct portion {
    size_t count;               /* of ops in the view; later where its next one goes */
    size_t first;               /* where its first one goes */
    bool is_seen;               /* has wanted ops, in the window or not */
    uint8_t break_count;        /* at most one above MOST_RUNS, which has no room */
    int64_t last_start_ns;      /* of its last op that is listed */
    uint32_t breaks[MOST_RUNS]; /* places of ops that come before the one that is listed before */
};

/* What is needed only while a view is made. */
struct making {
    struct gt_view *view;
    struct gt_selection selection;
    bool takes_all;
    size_t slice_count;
    struct portion *portions; /* by slice, then by lane */
    bool *is_clipped;         /* by slice: some of its ops are */
    bool *seen_devices;       /* by device */
    size_t *lane_ops;         /* by lane: how many the view has */
    size_t *run_counts; /* by lane of the view, which have MOST_RUNS of the listed runs each; 0: memory was short */
    struct gt_view_listed listed;
};

/* For sorting streams and devices by what is printed. */
struct track {
    int64_t device_id, pid, stream;
    uint32_t process, track;
};

static int compare(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int by_printed(const void *a, const void *b) {
    const struct track *x = a, *y = b;
    int order = compare(x->device_id, y->device_id);
    order = order ? order : compare(x->pid, y->pid);
    order = order ? order : compare(x->process, y->process);
    order = order ? order : compare(x->stream, y->stream);
    return order ? order : compare(x->track, y->track);
}

static int64_t clipped_start(const struct gt_view *view, uint32_t row) {
    int64_t start_ns = view->store->ops.start_ns[row];
    return view->has_window && start_ns < view->window_start_ns ? view->window_start_ns : start_ns;
}

static int64_t clipped_end(const struct gt_view *view, uint32_t row) {
    int64_t end_ns = view->store->ops.end_ns[row];
    return view->has_window && end_ns > view->window_end_ns ? view->window_end_ns : end_ns;
}

static bool is_selected(const struct making *making, uint32_t op) {
    const struct gt_ops *ops = &making->view->store->ops;
    return gt_selection_has(&making->selection, op) &&
           gt_selection_in_window(&making->selection, ops->start_ns[op], ops->end_ns[op]);
}

/* With a gap after them: what two threads count must not share a line of the cache. */
static size_t portions_per_slice(const struct making *making) {
    return making->view->store->lanes.count + 2;
}

static struct portion *portions_of(const struct making *making, size_t slice) {
    return making->portions + slice * portions_per_slice(making);
}

/* Counts what a slice has of each stream. */
static void count_slice(void *context, size_t slice) {
    struct making *making = context;
    const struct gt_view *view = making->view;
    const struct gt_ops *ops = &view->store->ops;
    struct portion *portions = portions_of(making, slice);
    uint32_t op = (uint32_t)gt_threads_slice_begin(ops->count, making->slice_count, slice);
    uint32_t end = (uint32_t)gt_threads_slice_begin(ops->count, making->slice_count, slice + 1);
    const uint32_t *lane_of = ops->lane;
    if (making->takes_all) {
        for (; op < end; op++) {
            if (op % GT_AHEAD_EACH == 0)
                gt_ahead_fetch(&lane_of[gt_ahead_row(op, end)]);
            portions[lane_of[op]].count++;
        }
        return;
    }
    for (; op < end; op++) {
        struct portion *portion = &portions[lane_of[op]];
        if (!gt_selection_has(&making->selection, op))
            continue;
        portion->is_seen = true;
        if (!gt_selection_in_window(&making->selection, ops->start_ns[op], ops->end_ns[op]))
            continue;
        making->is_clipped[slice] |=
            clipped_start(view, op) != ops->start_ns[op] || clipped_end(view, op) != ops->end_ns[op];
        portion->count++;
    }
}

/* How many ops each stream has, and which devices have some. */
static enum gt_status count_ops(struct making *making, struct gt_error *err) {
    struct gt_view *view = making->view;
    const struct gt_store *store = view->store;
    size_t lane_count = store->lanes.count;
    making->slice_count =
        gt_threads_slices(gt_threads_count(view->request->threads), store->ops.count, 16 * lane_count);
    making->portions = gt_mem_array(making->slice_count * portions_per_slice(making), sizeof *making->portions);
    making->is_clipped = gt_mem_array(making->slice_count, sizeof *making->is_clipped);
    making->seen_devices = gt_mem_array(store->devices.count, sizeof *making->seen_devices);
    making->lane_ops = gt_mem_array(lane_count, sizeof *making->lane_ops);
    if (!making->portions || !making->is_clipped || !making->seen_devices || !making->lane_ops)
        return gt_fail_memory(err);
    gt_threads_run(making->slice_count, count_slice, making);
    bool is_clipped = false;
    for (size_t slice = 0; slice < making->slice_count; slice++) {
        is_clipped |= making->is_clipped[slice];
        for (size_t lane = 0; lane < lane_count; lane++) {
            const struct portion *portion = &portions_of(making, slice)[lane];
            making->lane_ops[lane] += portion->count;
            making->seen_devices[store->lanes.device[lane]] |= portion->is_seen || portion->count;
        }
    }
    for (size_t lane = 0; lane < lane_count; lane++)
        view->op_count += making->lane_ops[lane];
    view->is_whole = view->op_count == store->ops.count && !is_clipped;
    return GT_OK;
}

static struct track track_of_lane(const struct gt_store *store, uint32_t lane) {
    uint32_t process = store->lanes.process[lane];
    return (struct track){
        .device_id = store->devices.id[store->lanes.device[lane]],
        .pid = process == GT_NO_TRACK ? INT64_MIN : store->processes.pid[process],
        .stream = store->lanes.stream[lane],
        .process = process,
        .track = lane,
    };
}

static enum gt_status list_lanes(struct making *making, struct gt_error *err) {
    struct gt_view *view = making->view;
    for (size_t lane = 0; lane < view->store->lanes.count; lane++)
        view->lane_count += making->lane_ops[lane] > 0;
    view->lanes = gt_arena_array(&view->arena, view->lane_count, sizeof *view->lanes);
    struct track *tracks = gt_mem_array(view->lane_count, sizeof *tracks);
    if (!view->lanes || !tracks) {
        gt_mem_free(tracks);
        return gt_fail_memory(err);
    }
    size_t count = 0, first = 0;
    for (uint32_t lane = 0; lane < view->store->lanes.count; lane++)
        if (making->lane_ops[lane])
            tracks[count++] = track_of_lane(view->store, lane);
    qsort(tracks, count, sizeof *tracks, by_printed);
    for (size_t i = 0; i < count; i++) {
        uint32_t lane = tracks[i].track;
        view->lanes[i] = (struct gt_view_lane){.lane = lane, .first = first, .count = making->lane_ops[lane]};
        first += view->lanes[i].count;
    }
    gt_mem_free(tracks);
    return GT_OK;
}

static enum gt_status list_devices(struct making *making, struct gt_error *err) {
    struct gt_view *view = making->view;
    for (size_t device = 0; device < view->store->devices.count; device++)
        view->device_count += making->seen_devices[device];
    view->devices = gt_arena_array(&view->arena, view->device_count, sizeof *view->devices);
    struct track *tracks = gt_mem_array(view->device_count, sizeof *tracks);
    if (!view->devices || !tracks) {
        gt_mem_free(tracks);
        return gt_fail_memory(err);
    }
    size_t count = 0;
    for (uint32_t device = 0; device < view->store->devices.count; device++)
        if (making->seen_devices[device])
            tracks[count++] = (struct track){.device_id = view->store->devices.id[device], .track = device};
    qsort(tracks, count, sizeof *tracks, by_printed);
    for (size_t i = 0; i < count; i++)
        view->devices[i] = (struct gt_view_device){.device = tracks[i].track, .id = tracks[i].device_id};
    gt_mem_free(tracks);
    return GT_OK;
}

/* ---- ops ---- */

/* Whether an op and the one that is listed after it are in order. */
static bool is_in_order(const struct gt_ops *ops, uint32_t row, uint32_t next) {
    return ops->start_ns[row] < ops->start_ns[next] ||
           (ops->start_ns[row] == ops->start_ns[next] && ops->end_ns[row] >= ops->end_ns[next]);
}

static void note_break(struct portion *portion, size_t place) {
    if (portion->break_count < MOST_RUNS)
        portion->breaks[portion->break_count] = (uint32_t)place;
    if (portion->break_count <= MOST_RUNS)
        portion->break_count++;
}

/* Lists the ops of a slice, each after those of its stream that came before, and notes where these are out of order. */
static void list_slice(void *context, size_t slice) {
    struct making *making = context;
    const struct gt_ops *ops = &making->view->store->ops;
    struct portion *portions = portions_of(making, slice);
    uint32_t *row = making->listed.row;
    const uint32_t *lane_of = ops->lane;
    const int64_t *starts_ns = ops->start_ns;
    uint32_t op = (uint32_t)gt_threads_slice_begin(ops->count, making->slice_count, slice);
    uint32_t end = (uint32_t)gt_threads_slice_begin(ops->count, making->slice_count, slice + 1);
    bool takes_all = making->takes_all;
    for (; op < end; op++) {
        if (op % GT_AHEAD_EACH == 0) {
            gt_ahead_fetch(&lane_of[gt_ahead_row(op, end)]);
            gt_ahead_fetch(&starts_ns[gt_ahead_row(op, end)]);
        }
        if (!takes_all && !is_selected(making, op))
            continue;
        struct portion *portion = &portions[lane_of[op]];
        int64_t start_ns = starts_ns[op];
        size_t place = portion->count++;
        row[place] = op;
        if (start_ns <= portion->last_start_ns && place > portion->first &&
            !is_in_order(ops, row[place - 1], row[place]))
            note_break(portion, place);
        portion->last_start_ns = start_ns;
    }
}

/* Not zeroed: each is written whole, all over by each slice. start_ns is where their block begins. */
static enum gt_status new_columns(struct gt_view *view, size_t slices, struct gt_error *err) {
    size_t count = view->op_count;
    size_t op_bytes = sizeof *view->start_ns + sizeof *view->end_ns + sizeof *view->row + sizeof *view->name +
                      sizeof *view->lane + sizeof *view->lane_order + sizeof *view->kind + sizeof *view->category;
    size_t taken_bytes = 0;
    void *block = gt_mem_uninitialised(count, op_bytes);
    if (!block)
        return gt_fail_memory(err);
    gt_huge_touch(block, count * op_bytes, slices);
    view->start_ns = gt_carve_column(block, &taken_bytes, count, sizeof *view->start_ns);
    view->end_ns = gt_carve_column(block, &taken_bytes, count, sizeof *view->end_ns);
    view->row = gt_carve_column(block, &taken_bytes, count, sizeof *view->row);
    view->name = gt_carve_column(block, &taken_bytes, count, sizeof *view->name);
    view->lane = gt_carve_column(block, &taken_bytes, count, sizeof *view->lane);
    view->lane_order = gt_carve_column(block, &taken_bytes, count, sizeof *view->lane_order);
    view->kind = gt_carve_column(block, &taken_bytes, count, sizeof *view->kind);
    view->category = gt_carve_column(block, &taken_bytes, count, sizeof *view->category);
    return GT_OK;
}

static void list_ops(struct making *making) {
    struct gt_view *view = making->view;
    for (size_t i = 0; i < view->lane_count; i++) {
        size_t next = view->lanes[i].first;
        for (size_t slice = 0; slice < making->slice_count; slice++) {
            struct portion *portion = &portions_of(making, slice)[view->lanes[i].lane];
            size_t count = portion->count;
            portion->count = portion->first = next;
            portion->last_start_ns = INT64_MIN;
            next += count;
        }
    }
    gt_threads_run(making->slice_count, list_slice, making);
}

/* ---- runs ---- */

/* What the runs of a stream are put together from. */
struct runs {
    struct gt_view_run *items;
    size_t count; /* at most one above MOST_RUNS, which has no room */
};

static void begin_run(struct runs *runs, size_t lane, size_t first) {
    if (runs->count < MOST_RUNS)
        runs->items[runs->count] = (struct gt_view_run){.lane = lane, .first = first};
    runs->count += runs->count <= MOST_RUNS;
}

/* A run begins where a slice noted it, and with a slice whose first op comes before the last one of those before. */
static size_t find_runs(const struct making *making, size_t index) {
    const struct gt_view_lane *lane = &making->view->lanes[index];
    const struct gt_ops *ops = &making->view->store->ops;
    struct runs runs = {.items = making->listed.runs + index * MOST_RUNS};
    size_t place = lane->first;
    begin_run(&runs, index, place);
    for (size_t slice = 0; slice < making->slice_count; slice++) {
        const struct portion *portion = &portions_of(making, slice)[lane->lane];
        if (portion->count == place)
            continue;
        if (place > lane->first && !is_in_order(ops, making->listed.row[place - 1], making->listed.row[place]))
            begin_run(&runs, index, place);
        for (size_t i = 0; i < portion->break_count && i < MOST_RUNS; i++)
            begin_run(&runs, index, portion->breaks[i]);
        runs.count = portion->break_count > MOST_RUNS ? MOST_RUNS + 1 : runs.count;
        place = portion->count;
    }
    return runs.count;
}

/* The runs of a stream: all of its ops are one if they are in more disorder than that. */
static void divide_lane(void *context, size_t index) {
    const struct making *making = context;
    const struct gt_ops *ops = &making->view->store->ops;
    const struct gt_view_lane *lane = &making->view->lanes[index];
    struct gt_view_run *runs = making->listed.runs + index * MOST_RUNS;
    size_t count = find_runs(making, index);
    if (count > MOST_RUNS)
        count = gt_spans_sort(making->listed.row + lane->first, lane->count, ops->start_ns, ops->end_ns);
    for (size_t i = 0; i < count; i++)
        runs[i].count = (i + 1 < count ? runs[i + 1].first : lane->first + lane->count) - runs[i].first;
    making->run_counts[index] = count;
}

static bool list_runs(struct making *making) {
    size_t lane_count = making->view->lane_count;
    struct gt_view_listed *listed = &making->listed;
    listed->runs = gt_mem_array(lane_count, MOST_RUNS * sizeof *listed->runs);
    making->run_counts = gt_mem_array(lane_count, sizeof *making->run_counts);
    if (!listed->runs || !making->run_counts)
        return false;
    gt_threads_deal(gt_threads_count(making->view->request->threads), lane_count, divide_lane, making);
    for (size_t lane = 0; lane < lane_count; lane++) {
        if (making->run_counts[lane] == 0)
            return false;
        for (size_t i = 0; i < making->run_counts[lane]; i++)
            listed->runs[listed->run_count++] = listed->runs[lane * MOST_RUNS + i];
    }
    return true;
}

/* ---- the whole ---- */

static void clip_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct gt_view *view = context;
    (void)slice;
    for (size_t i = begin; i < end; i++) {
        view->start_ns[i] = view->start_ns[i] < view->window_start_ns ? view->window_start_ns : view->start_ns[i];
        view->end_ns[i] = view->end_ns[i] > view->window_end_ns ? view->window_end_ns : view->end_ns[i];
    }
}

/* Streams are listed by device, so each device's are a run. */
static void place_devices(struct gt_view *view) {
    size_t lane = 0, place = 0;
    for (size_t i = 0; i < view->device_count; i++) {
        struct gt_view_device *device = &view->devices[i];
        device->first = place;
        device->first_lane = lane;
        for (; lane < view->lane_count && view->store->lanes.device[view->lanes[lane].lane] == device->device; lane++)
            place += view->lanes[lane].count;
        device->count = place - device->first;
        device->lane_count = lane - device->first_lane;
    }
}

static enum gt_status place_ops(struct making *making, struct gt_error *err) {
    struct gt_view *view = making->view;
    enum gt_status status = new_columns(view, making->slice_count, err);
    if (status != GT_OK)
        return status;
    /* After the columns of the view: results can have the memory that is free above these. */
    making->listed.row = gt_mem_uninitialised(view->op_count, sizeof *making->listed.row);
    if (!making->listed.row)
        return gt_fail_memory(err);
    gt_huge_touch(making->listed.row, view->op_count * sizeof *making->listed.row, making->slice_count);
    list_ops(making);
    place_devices(view);
    if (!list_runs(making) || !gt_view_order_ops(view, &making->listed))
        return gt_fail_memory(err);
    if (view->has_window)
        gt_threads_rows(gt_threads_slices(gt_threads_count(view->request->threads), view->op_count, 0), view->op_count,
                        clip_slice, view);
    return GT_OK;
}

static enum gt_status collect_groups(struct making *making, struct gt_error *err) {
    struct gt_view *view = making->view;
    size_t count = view->store->groups.count;
    view->is_summed = view->store->ops.count == 0 && count;
    if (!view->is_summed)
        return GT_OK;
    view->groups = gt_arena_array(&view->arena, count, sizeof *view->groups);
    if (!view->groups)
        return gt_fail_memory(err);
    for (uint32_t i = 0; i < count; i++)
        if (gt_selection_has_group(&making->selection, i))
            view->groups[view->group_count++] = i;
    return GT_OK;
}

/* Columns that the view does not own, and no order. */
static void show_rows(struct gt_view *view) {
    const struct gt_ops *ops = &view->store->ops;
    view->is_by_row = view->is_whole = true;
    view->op_count = ops->count;
    view->start_ns = ops->start_ns;
    view->end_ns = ops->end_ns;
    view->name = ops->name;
    view->lane = ops->lane;
    view->kind = ops->kind;
    view->category = view->labels->op_category;
}

static enum gt_status order_rows(struct making *making, struct gt_error *err) {
    enum gt_status status = count_ops(making, err);
    if (status == GT_OK)
        status = list_lanes(making, err);
    if (status == GT_OK)
        status = list_devices(making, err);
    return status == GT_OK ? place_ops(making, err) : status;
}

enum gt_status gt_view_new(const struct gt_store *store, const struct gt_labels *labels,
                           const struct gt_request *request, struct gt_view **out, struct gt_error *err) {
    *out = NULL;
    struct gt_view *view = gt_mem_array(1, sizeof *view);
    if (!view)
        return gt_fail_memory(err);
    struct making making = {.view = view};
    view->store = store;
    view->labels = labels;
    view->request = request;
    view->slots = gt_view_slots_new();
    enum gt_status status = gt_selection_init(&making.selection, store, labels, &request->selection, err);
    if (status == GT_OK && request->process)
        status = gt_selection_keep_process(&making.selection, *request->process, err);
    if (status == GT_OK && !view->slots)
        status = gt_fail_memory(err);
    if (status == GT_OK) {
        view->has_window = making.selection.has_window;
        view->window_start_ns = making.selection.window_start_ns;
        view->window_end_ns = making.selection.window_end_ns;
        view->is_of_steps = making.selection.is_of_steps;
        view->warm_up_steps = making.selection.warm_up_steps;
        making.takes_all = gt_selection_takes_all(&making.selection);
        status = collect_groups(&making, err);
    }
    if (status == GT_OK && request->any_order && making.takes_all)
        show_rows(view);
    else if (status == GT_OK)
        status = order_rows(&making, err);
    if (status == GT_OK)
        *out = view;
    else
        gt_view_free(view);
    gt_selection_release(&making.selection);
    gt_mem_free(making.seen_devices);
    gt_mem_free(making.lane_ops);
    gt_mem_free(making.portions);
    gt_mem_free(making.is_clipped);
    gt_mem_free(making.run_counts);
    gt_mem_free(making.listed.row);
    gt_mem_free(making.listed.runs);
    return status;
}

void gt_view_free(struct gt_view *view) {
    if (!view)
        return;
    gt_view_slots_free(view->slots);
    if (!view->is_by_row)
        gt_mem_free(view->start_ns); /* with all columns of ops */
    gt_arena_release(&view->arena);
    gt_mem_free(view);
}
