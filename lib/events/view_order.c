/* The order of a view: in come the ops of a device stream by stream, out go the same in the order that sweeps need. Ops
   of one stream nearly always lie in order in the file, so streams are merged rather than all sorted. */
#include "events/view_order.h"

#include <string.h>

#include "base/mem.h"
#include "base/spans.h"

/* The next op of a stream that is being merged. */
struct cursor {
    int64_t start_ns, end_ns, stream;
    uint32_t row;
    size_t at, end; /* its place in lane_order and the end of its stream there */
};

/* Lists the places of a stream in order; *is_kept stays true only if that is the order they have. */
static bool sort_lane(const struct gt_view *view, const struct gt_view_lane *lane, bool *is_kept) {
    uint32_t *places = view->lane_order + lane->first;
    for (size_t i = 0; i < lane->count; i++)
        places[i] = (uint32_t)(lane->first + i);
    bool ok = gt_spans_sort(places, lane->count, view->start_ns, view->end_ns);
    for (size_t i = 0; i < lane->count && *is_kept; i++)
        *is_kept = places[i] == lane->first + i;
    return ok;
}

/* ---- merging ---- */

static bool comes_before(const struct cursor *a, const struct cursor *b) {
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns;
    return a->stream != b->stream ? a->stream < b->stream : a->row < b->row;
}

static void read_cursor(const struct gt_view *view, struct cursor *cursor) {
    uint32_t place = view->lane_order[cursor->at];
    cursor->row = view->row[place];
    cursor->start_ns = view->start_ns[place];
    cursor->end_ns = view->end_ns[place];
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

/* Lists in `order` which place each op of the device comes from; lane_order gets the places where they go. */
static void merge_lanes(struct gt_view *view, const struct gt_view_device *device, struct cursor *heap,
                        uint32_t *order) {
    const struct gt_view_lane *lanes = view->lanes + device->first_lane;
    size_t count = device->lane_count;
    for (size_t i = 0; i < count; i++) {
        heap[i] = (struct cursor){.stream = view->store->lanes.stream[lanes[i].lane],
                                  .at = lanes[i].first,
                                  .end = lanes[i].first + lanes[i].count};
        read_cursor(view, &heap[i]);
    }
    for (size_t i = count / 2; i-- > 0;)
        sift_down(heap, count, i);
    for (size_t taken = 0; count;) {
        struct cursor *first = &heap[0];
        const struct cursor *second = &heap[count > 2 && comes_before(&heap[2], &heap[1]) ? 2 : 1];
        do { /* ops of a stream come in runs */
            order[taken] = view->lane_order[first->at];
            view->lane_order[first->at++] = (uint32_t)(device->first + taken++);
        } while (first->at < first->end && (read_cursor(view, first), count == 1 || comes_before(first, second)));
        if (first->at == first->end)
            *first = heap[--count];
        sift_down(heap, count, 0);
    }
}

/* ---- moving ---- */

#define MOVE(type)                                                                                                     \
    for (size_t i = 0; i < device->count; i++)                                                                         \
    ((type *)column)[device->first + i] = ((const type *)copy)[order[i] - device->first]

/* Puts a column of the device in that order. The copy has room for it. */
static void move_column(const struct gt_view_device *device, void *column, size_t elem_bytes, const uint32_t *order,
                        void *copy) {
    memcpy(copy, (char *)column + device->first * elem_bytes, device->count * elem_bytes);
    if (elem_bytes == sizeof(uint64_t))
        MOVE(uint64_t);
    else if (elem_bytes == sizeof(uint32_t))
        MOVE(uint32_t);
    else
        MOVE(uint8_t);
}

static void move_columns(struct gt_view *view, const struct gt_view_device *device, const uint32_t *order, void *copy) {
    move_column(device, view->start_ns, sizeof *view->start_ns, order, copy);
    move_column(device, view->end_ns, sizeof *view->end_ns, order, copy);
    move_column(device, view->row, sizeof *view->row, order, copy);
    move_column(device, view->name, sizeof *view->name, order, copy);
    move_column(device, view->lane, sizeof *view->lane, order, copy);
    move_column(device, view->kind, sizeof *view->kind, order, copy);
    move_column(device, view->category, sizeof *view->category, order, copy);
}

bool gt_view_order_device(struct gt_view *view, const struct gt_view_device *device) {
    bool ok = true, is_kept = device->lane_count <= 1;
    for (size_t i = 0; i < device->lane_count && ok; i++)
        ok = sort_lane(view, &view->lanes[device->first_lane + i], &is_kept);
    if (!ok || is_kept)
        return ok;
    size_t order_bytes = device->count * sizeof(uint32_t), copy_bytes = device->count * sizeof(uint64_t);
    struct cursor *heap = gt_alloc_array(device->lane_count, sizeof *heap);
    uint32_t *order = gt_pages_alloc(order_bytes);
    void *copy = gt_pages_alloc(copy_bytes);
    ok = heap && order && copy;
    if (ok) {
        merge_lanes(view, device, heap, order);
        move_columns(view, device, order, copy);
    }
    gt_free(heap);
    gt_pages_free(order, order_bytes);
    gt_pages_free(copy, copy_bytes);
    return ok;
}
