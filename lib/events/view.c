/* Views: a labelled store and the options come in, the selected ops go out, clipped to the window and in the order that
   sweeps need. Ops of one stream nearly always lie in order in the file, so streams are merged rather than all sorted.
 */
#include "events/view.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/radix.h"
#include "base/threads.h"
#include "events/select.h"

/* What is needed only while a view is made. */
struct making {
    struct gt_view *view;
    struct gt_selection selection;
    bool *seen_devices; /* by device: has wanted ops, in the window or not */
    size_t *lane_next;  /* by lane: how many ops it has, later where its next one goes */
    struct cursor *heap;
};

/* The next op of a stream that is being merged. */
struct cursor {
    int64_t start_ns, end_ns, stream;
    uint32_t row;
    size_t at, end; /* its place in lane_order and the end of its stream there */
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

/* Rows of the selected ops into view->row, in file order; how many each stream has. */
static enum gt_status collect(struct making *making, struct gt_error *err) {
    struct gt_view *view = making->view;
    const struct gt_store *store = view->store;
    view->row = gt_arena_array(&view->arena, store->ops.count, sizeof *view->row);
    making->seen_devices = gt_alloc_array(store->devices.count, sizeof *making->seen_devices);
    making->lane_next = gt_alloc_array(store->lanes.count, sizeof *making->lane_next);
    if (!view->row || !making->seen_devices || !making->lane_next)
        return gt_fail_memory(err);
    bool is_clipped = false;
    for (uint32_t op = 0; op < store->ops.count; op++) {
        uint32_t lane = store->ops.lane[op];
        int64_t start_ns = store->ops.start_ns[op], end_ns = store->ops.end_ns[op];
        if (!gt_selection_has(&making->selection, op))
            continue;
        making->seen_devices[store->lanes.device[lane]] = true;
        if (!gt_selection_in_window(&making->selection, start_ns, end_ns))
            continue;
        is_clipped |= clipped_start(view, op) != start_ns || clipped_end(view, op) != end_ns;
        view->row[view->op_count++] = op;
        making->lane_next[lane]++;
    }
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
        view->lane_count += making->lane_next[lane] > 0;
    view->lanes = gt_arena_array(&view->arena, view->lane_count, sizeof *view->lanes);
    struct track *tracks = gt_alloc_array(view->lane_count, sizeof *tracks);
    if (!view->lanes || !tracks) {
        gt_free(tracks);
        return gt_fail_memory(err);
    }
    size_t count = 0, first = 0;
    for (uint32_t lane = 0; lane < view->store->lanes.count; lane++)
        if (making->lane_next[lane])
            tracks[count++] = track_of_lane(view->store, lane);
    qsort(tracks, count, sizeof *tracks, by_printed);
    for (size_t i = 0; i < count; i++) {
        uint32_t lane = tracks[i].track;
        view->lanes[i] = (struct gt_view_lane){.lane = lane, .first = first, .count = making->lane_next[lane]};
        making->lane_next[lane] = first;
        first += view->lanes[i].count;
    }
    gt_free(tracks);
    return GT_OK;
}

static enum gt_status list_devices(struct making *making, struct gt_error *err) {
    struct gt_view *view = making->view;
    for (size_t device = 0; device < view->store->devices.count; device++)
        view->device_count += making->seen_devices[device];
    view->devices = gt_arena_array(&view->arena, view->device_count, sizeof *view->devices);
    struct track *tracks = gt_alloc_array(view->device_count, sizeof *tracks);
    if (!view->devices || !tracks) {
        gt_free(tracks);
        return gt_fail_memory(err);
    }
    size_t count = 0;
    for (uint32_t device = 0; device < view->store->devices.count; device++)
        if (making->seen_devices[device])
            tracks[count++] = (struct track){.device_id = view->store->devices.id[device], .track = device};
    qsort(tracks, count, sizeof *tracks, by_printed);
    for (size_t i = 0; i < count; i++)
        view->devices[i] = (struct gt_view_device){.device = tracks[i].track, .id = tracks[i].device_id};
    gt_free(tracks);
    return GT_OK;
}

/* Puts the rows of one stream in order: start, then longer first, then row. They come in the order of rows. */
static enum gt_status sort_lane(const struct gt_view *view, const struct gt_view_lane *lane, struct gt_error *err) {
    uint32_t *rows = view->lane_order + lane->first;
    bool is_sorted = true;
    for (size_t i = 1; i < lane->count && is_sorted; i++) {
        int64_t before = clipped_start(view, rows[i - 1]), start_ns = clipped_start(view, rows[i]);
        is_sorted =
            before < start_ns || (before == start_ns && clipped_end(view, rows[i - 1]) >= clipped_end(view, rows[i]));
    }
    if (is_sorted)
        return GT_OK;
    struct gt_radix_item *items = gt_pages_alloc(lane->count * sizeof *items);
    if (!items)
        return gt_fail_memory(err);
    for (size_t i = 0; i < lane->count; i++)
        items[i] = (struct gt_radix_item){~gt_radix_key(clipped_end(view, rows[i])), rows[i]};
    bool sorted = gt_radix_sort(items, lane->count);
    for (size_t i = 0; i < lane->count; i++)
        items[i].key = gt_radix_key(clipped_start(view, items[i].value));
    sorted = sorted && gt_radix_sort(items, lane->count);
    for (size_t i = 0; i < lane->count && sorted; i++)
        rows[i] = items[i].value;
    gt_pages_free(items, lane->count * sizeof *items);
    return sorted ? GT_OK : gt_fail_memory(err);
}

/* Rows by stream, into lane_order for now; merging replaces each by its place in the view. */
static enum gt_status group_by_lane(struct making *making, struct gt_error *err) {
    struct gt_view *view = making->view;
    view->lane_order = gt_arena_array(&view->arena, view->op_count, sizeof *view->lane_order);
    if (!view->lane_order)
        return gt_fail_memory(err);
    for (size_t i = 0; i < view->op_count; i++)
        view->lane_order[making->lane_next[view->store->ops.lane[view->row[i]]]++] = view->row[i];
    enum gt_status status = GT_OK;
    for (size_t i = 0; i < view->lane_count && status == GT_OK; i++)
        status = sort_lane(view, &view->lanes[i], err);
    return status;
}

static bool comes_before(const struct cursor *a, const struct cursor *b) {
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns;
    return a->stream != b->stream ? a->stream < b->stream : a->row < b->row;
}

static void read_cursor(const struct gt_view *view, struct cursor *cursor) {
    cursor->row = view->lane_order[cursor->at];
    cursor->start_ns = clipped_start(view, cursor->row);
    cursor->end_ns = clipped_end(view, cursor->row);
}

static void sift_down(struct cursor *heap, size_t count, size_t at) {
    struct cursor moving = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && comes_before(&heap[child + 1], &heap[child]))
            child++;
        if (!comes_before(&heap[child], &moving))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

/* Merges the streams of one device; the first op goes to a place of the view. */
static void merge_lanes(struct gt_view *view, struct cursor *heap, const struct gt_view_lane *lanes, size_t count,
                        size_t place) {
    const struct gt_ops *ops = &view->store->ops;
    for (size_t i = 0; i < count; i++) {
        heap[i] = (struct cursor){.stream = view->store->lanes.stream[lanes[i].lane],
                                  .at = lanes[i].first,
                                  .end = lanes[i].first + lanes[i].count};
        read_cursor(view, &heap[i]);
    }
    for (size_t i = count / 2; i-- > 0;)
        sift_down(heap, count, i);
    while (count) {
        struct cursor *first = &heap[0];
        view->row[place] = first->row;
        view->start_ns[place] = first->start_ns;
        view->end_ns[place] = first->end_ns;
        view->name[place] = ops->name[first->row];
        view->lane[place] = ops->lane[first->row];
        view->kind[place] = ops->kind[first->row];
        view->category[place] = view->labels->op_category[first->row];
        view->lane_order[first->at++] = (uint32_t)place++;
        if (first->at < first->end)
            read_cursor(view, first);
        else
            *first = heap[--count];
        sift_down(heap, count, 0);
    }
}

static void set_span(const struct gt_view *view, struct gt_view_device *device) {
    device->span_start_ns = view->window_start_ns;
    device->span_end_ns = view->window_end_ns;
    if (view->has_window || device->count == 0)
        return;
    device->span_start_ns = view->start_ns[device->first];
    device->span_end_ns = view->end_ns[device->first];
    for (size_t i = device->first; i < device->first + device->count; i++)
        if (view->end_ns[i] > device->span_end_ns)
            device->span_end_ns = view->end_ns[i];
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

static void merge_device(void *context, size_t index) {
    struct making *making = context;
    struct gt_view *view = making->view;
    struct gt_view_device *device = &view->devices[index];
    merge_lanes(view, making->heap + device->first_lane, view->lanes + device->first_lane, device->lane_count,
                device->first);
    set_span(view, device);
}

static enum gt_status merge_devices(struct making *making, struct gt_error *err) {
    struct gt_view *view = making->view;
    view->start_ns = gt_arena_array(&view->arena, view->op_count, sizeof *view->start_ns);
    view->end_ns = gt_arena_array(&view->arena, view->op_count, sizeof *view->end_ns);
    view->name = gt_arena_array(&view->arena, view->op_count, sizeof *view->name);
    view->lane = gt_arena_array(&view->arena, view->op_count, sizeof *view->lane);
    view->kind = gt_arena_array(&view->arena, view->op_count, sizeof *view->kind);
    view->category = gt_arena_array(&view->arena, view->op_count, sizeof *view->category);
    making->heap = gt_alloc_array(view->lane_count, sizeof *making->heap);
    if (gt_arena_failed(&view->arena) || !making->heap)
        return gt_fail_memory(err);
    place_devices(view);
    gt_threads_deal(gt_threads_count(view->options->threads), view->device_count, merge_device, making);
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

enum gt_status gt_view_new(const struct gt_store *store, const struct gt_labels *labels,
                           const struct gputime_options *options, struct gt_view **out, struct gt_error *err) {
    *out = NULL;
    struct gt_view *view = gt_alloc_array(1, sizeof *view);
    if (!view)
        return gt_fail_memory(err);
    struct making making = {.view = view};
    view->store = store;
    view->labels = labels;
    view->options = options;
    view->shared = gt_shared_new();
    enum gt_status status = gt_selection_init(&making.selection, store, labels, options, err);
    if (status == GT_OK && !view->shared)
        status = gt_fail_memory(err);
    if (status == GT_OK) {
        view->has_window = making.selection.has_window;
        view->window_start_ns = making.selection.window_start_ns;
        view->window_end_ns = making.selection.window_end_ns;
        view->warm_up_steps = making.selection.warm_up_steps;
        status = collect(&making, err);
    }
    if (status == GT_OK)
        status = collect_groups(&making, err);
    if (status == GT_OK)
        status = list_lanes(&making, err);
    if (status == GT_OK)
        status = list_devices(&making, err);
    if (status == GT_OK)
        status = group_by_lane(&making, err);
    if (status == GT_OK)
        status = merge_devices(&making, err);
    if (status == GT_OK)
        *out = view;
    else
        gt_view_free(view);
    gt_selection_release(&making.selection);
    gt_free(making.seen_devices);
    gt_free(making.lane_next);
    gt_free(making.heap);
    return status;
}

void gt_view_free(struct gt_view *view) {
    if (!view)
        return;
    gt_shared_free(view->shared);
    gt_arena_release(&view->arena);
    gt_free(view);
}
