/* The order of a view: in come the rows stream by stream, out go the same in the order that sweeps need.
   Times are those of the trace, not of the window: then it is the order of the whole trace, and what is charged to the
   earlier op in windows that follow each other sums to what is charged in all of them together.
   Ops of one stream nearly always lie in order in the file, so streams are merged rather than all sorted; several
   threads merge a part of the time each. */
#include "events/view_order.h"

#include "base/mem.h"
#include "base/spans.h"
#include "base/threads.h"

/* The next op of a stream that is being merged. */
struct cursor {
    int64_t start_ns, end_ns, stream;
    uint32_t row;
    size_t at, end; /* its place in lane_order and the end of its stream there */
};

static bool comes_before(const struct cursor *a, const struct cursor *b) {
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns;
    return a->stream != b->stream ? a->stream < b->stream : a->row < b->row;
}

static void read_cursor(const struct gt_view *view, struct cursor *cursor) {
    cursor->row = view->lane_order[cursor->at];
    cursor->start_ns = view->store->ops.start_ns[cursor->row];
    cursor->end_ns = view->store->ops.end_ns[cursor->row];
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

/* The op at a place of lane_order comes next in the view, which lane_order says from then on. */
static void take(struct gt_view *view, size_t at, size_t place) {
    view->row[place] = view->lane_order[at];
    view->lane_order[at] = (uint32_t)place;
}

/* Ops of a stream come in runs: takes those before the next one of another stream; where the next op goes. */
static size_t take_run(struct gt_view *view, struct cursor *first, const struct cursor *second, size_t place) {
    const int64_t *start_ns = view->store->ops.start_ns;
    uint32_t *order = view->lane_order, *row = view->row;
    int64_t limit_ns = second->start_ns;
    size_t at = first->at, end = first->end;
    do {
        row[place] = order[at];
        order[at++] = (uint32_t)place++;
    } while (at < end && start_ns[order[at]] < limit_ns);
    first->at = at;
    return place;
}

/* What one thread merges: of each stream of a device the ops from one place in lane_order to another. */
struct part {
    const struct gt_view_device *device;
    const size_t *begin, *end; /* by stream of the device */
    size_t first;              /* where they go */
};

struct making {
    struct gt_view *view;
    size_t thread_count;
    bool *lane_failed; /* by lane of the view: memory was short */
    bool *part_failed;
    struct part *parts;
    size_t part_count;
    size_t *bounds; /* of the parts: `begin` and `end` of each */
};

/* Merges the streams while there are several, then takes the rest of the last one. */
static void merge_lanes(struct gt_view *view, const struct part *part, struct cursor *heap) {
    const struct gt_view_lane *lanes = view->lanes + part->device->first_lane;
    size_t count = 0, place = part->first;
    for (size_t i = 0; i < part->device->lane_count; i++) {
        if (part->begin[i] == part->end[i])
            continue;
        heap[count] = (struct cursor){
            .stream = view->store->lanes.stream[lanes[i].lane], .at = part->begin[i], .end = part->end[i]};
        read_cursor(view, &heap[count++]);
    }
    for (size_t i = count / 2; i-- > 0;)
        sift_down(heap, count, i);
    while (count > 1) {
        struct cursor *first = &heap[0];
        const struct cursor *second = &heap[count > 2 && comes_before(&heap[2], &heap[1]) ? 2 : 1];
        place = take_run(view, first, second, place);
        if (first->at == first->end)
            *first = heap[--count];
        else
            read_cursor(view, first);
        sift_down(heap, count, 0);
    }
    for (size_t at = heap[0].at; count && at < heap[0].end; at++)
        take(view, at, place++);
}

static void merge_part(void *context, size_t index) {
    struct making *making = context;
    const struct part *part = &making->parts[index];
    struct cursor *heap = gt_mem_array(part->device->lane_count, sizeof *heap);
    making->part_failed[index] = !heap;
    if (heap)
        merge_lanes(making->view, part, heap);
    gt_mem_free(heap);
}

static void sort_lane(void *context, size_t index) {
    const struct making *making = context;
    const struct gt_view *view = making->view;
    const struct gt_view_lane *lane = &view->lanes[index];
    making->lane_failed[index] =
        !gt_spans_sort(view->lane_order + lane->first, lane->count, view->store->ops.start_ns, view->store->ops.end_ns);
}

static bool sort_lanes(struct making *making) {
    const struct gt_view *view = making->view;
    making->lane_failed = gt_mem_array(view->lane_count, sizeof *making->lane_failed);
    if (!making->lane_failed)
        return false;
    gt_threads_deal(making->thread_count, view->lane_count, sort_lane, making);
    for (size_t i = 0; i < view->lane_count; i++)
        if (making->lane_failed[i])
            return false;
    return true;
}

static size_t parts_of_device(const struct making *making, const struct gt_view_device *device) {
    return device->count ? gt_threads_slices(making->thread_count, device->count, device->lane_count) : 0;
}

static bool count_parts(struct making *making) {
    const struct gt_view *view = making->view;
    size_t bounds = 0;
    for (size_t i = 0; i < view->device_count; i++) {
        size_t count = parts_of_device(making, &view->devices[i]);
        making->part_count += count;
        bounds += (count + 1) * view->devices[i].lane_count;
    }
    making->parts = gt_mem_array(making->part_count, sizeof *making->parts);
    making->part_failed = gt_mem_array(making->part_count, sizeof *making->part_failed);
    making->bounds = gt_mem_array(bounds, sizeof *making->bounds);
    return making->parts && making->part_failed && making->bounds;
}

/* The first place of a stream in lane_order whose op starts then or later. */
static size_t place_at(const struct gt_view *view, const struct gt_view_lane *lane, int64_t start_ns) {
    size_t low = lane->first, high = lane->first + lane->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (view->store->ops.start_ns[view->lane_order[middle]] < start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct gt_view_lane *longest_lane(const struct gt_view *view, const struct gt_view_device *device) {
    const struct gt_view_lane *lanes = view->lanes + device->first_lane, *longest = lanes;
    for (size_t i = 1; i < device->lane_count; i++)
        longest = lanes[i].count > longest->count ? &lanes[i] : longest;
    return longest;
}

/* Where the part of this number begins in each stream, and after the last one where they end. All that start before an
   op of the longest stream come before it, whatever the stream: parts can be merged apart. */
static void find_bounds(const struct gt_view *view, const struct gt_view_device *device, size_t part, size_t part_count,
                        size_t *bounds) {
    const struct gt_view_lane *lanes = view->lanes + device->first_lane, *longest = longest_lane(view, device);
    bool is_inside = part > 0 && part < part_count;
    size_t place = longest->first + gt_threads_slice_begin(longest->count, part_count, part);
    int64_t start_ns = is_inside ? view->store->ops.start_ns[view->lane_order[place]] : 0;
    for (size_t i = 0; i < device->lane_count; i++)
        bounds[i] = is_inside ? place_at(view, &lanes[i], start_ns) : lanes[i].first + (part ? lanes[i].count : 0);
}

/* Before any is merged, which changes lane_order. */
static void divide(struct making *making) {
    const struct gt_view *view = making->view;
    size_t *bounds = making->bounds;
    struct part *part = making->parts;
    for (size_t d = 0; d < view->device_count; d++) {
        const struct gt_view_device *device = &view->devices[d];
        size_t part_count = parts_of_device(making, device), place = device->first;
        if (part_count)
            find_bounds(view, device, 0, part_count, bounds);
        for (size_t p = 0; p < part_count; p++, part++, bounds += device->lane_count) {
            *part = (struct part){device, bounds, bounds + device->lane_count, place};
            find_bounds(view, device, p + 1, part_count, bounds + device->lane_count);
            for (size_t i = 0; i < device->lane_count; i++)
                place += part->end[i] - part->begin[i];
        }
        bounds += part_count ? device->lane_count : 0;
    }
}

static bool merge_parts(struct making *making) {
    gt_threads_deal(making->thread_count, making->part_count, merge_part, making);
    for (size_t i = 0; i < making->part_count; i++)
        if (making->part_failed[i])
            return false;
    return true;
}

bool gt_view_order_ops(struct gt_view *view) {
    struct making making = {.view = view, .thread_count = gt_threads_count(view->request->threads)};
    bool ok = sort_lanes(&making) && count_parts(&making);
    if (ok)
        divide(&making);
    ok = ok && merge_parts(&making);
    gt_mem_free(making.lane_failed);
    gt_mem_free(making.part_failed);
    gt_mem_free(making.parts);
    gt_mem_free(making.bounds);
    return ok;
}
