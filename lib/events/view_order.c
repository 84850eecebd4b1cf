/* The order of a view: in come the rows of a device stream by stream, out go the same in the order that sweeps need.
   Times are those of the trace, not of the window: then it is the order of the whole trace, and what is charged to the
   earlier op in windows that follow each other sums to what is charged in all of them together.
   Ops of one stream nearly always lie in order in the file, so streams are merged rather than all sorted. */
#include "events/view_order.h"

#include "base/mem.h"
#include "base/spans.h"

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

/* Merges the streams while there are several, then takes the rest of the last one. */
static void merge_lanes(struct gt_view *view, const struct gt_view_device *device, struct cursor *heap) {
    const struct gt_view_lane *lanes = view->lanes + device->first_lane;
    size_t count = device->lane_count, place = device->first;
    for (size_t i = 0; i < count; i++) {
        heap[i] = (struct cursor){.stream = view->store->lanes.stream[lanes[i].lane],
                                  .at = lanes[i].first,
                                  .end = lanes[i].first + lanes[i].count};
        read_cursor(view, &heap[i]);
    }
    for (size_t i = count / 2; i-- > 0;)
        sift_down(heap, count, i);
    while (count > 1) {
        struct cursor *first = &heap[0];
        const struct cursor *second = &heap[count > 2 && comes_before(&heap[2], &heap[1]) ? 2 : 1];
        do { /* ops of a stream come in runs */
            take(view, first->at++, place++);
        } while (first->at < first->end && (read_cursor(view, first), comes_before(first, second)));
        if (first->at == first->end)
            *first = heap[--count];
        sift_down(heap, count, 0);
    }
    for (size_t at = heap[0].at; at < heap[0].end; at++)
        take(view, at, place++);
}

bool gt_view_order_device(struct gt_view *view, const struct gt_view_device *device) {
    if (device->count == 0)
        return true;
    struct cursor *heap = gt_mem_array(device->lane_count, sizeof *heap);
    bool ok = heap;
    for (size_t i = 0; i < device->lane_count && ok; i++) {
        const struct gt_view_lane *lane = &view->lanes[device->first_lane + i];
        ok = gt_spans_sort(view->lane_order + lane->first, lane->count, view->store->ops.start_ns,
                           view->store->ops.end_ns);
    }
    if (ok)
        merge_lanes(view, device, heap);
    gt_mem_free(heap);
    return ok;
}
