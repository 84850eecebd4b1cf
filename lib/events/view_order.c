/* The order of a view: in come the ops stream by stream, out go the same in the order that sweeps need.
   Times are those of the trace, not of the window: then it is the order of the whole trace, and what is charged to the
   earlier op in windows that follow each other sums to what is charged in all of them together.
   Ops of one stream lie in order in the file, or in a few runs that are: an activity of each kind has a table of its
   own. So runs are merged rather than all sorted; several threads merge a part of the time each. */
#include "events/view_order.h"

#include "base/mem.h"
#include "base/spans.h"
#include "base/threads.h"

/* Streams in more disorder are sorted first. */
#define MOST_RUNS 8

/* Listed ops of a stream, one after the other, that are in order. */
struct run {
    size_t lane; /* of the view */
    size_t first, count;
};

/* The next op of a run that is being merged. */
struct cursor {
    int64_t start_ns, end_ns, stream;
    uint32_t row;
    uint32_t lane;        /* track */
    size_t at, end;       /* its place among the listed ops and the end of its run there */
    size_t *next_in_lane; /* where the next op of its stream goes in lane_order */
};

static bool comes_before(const struct cursor *a, const struct cursor *b) {
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns;
    return a->stream != b->stream ? a->stream < b->stream : a->row < b->row;
}

static void read_cursor(const struct gt_view_listed *listed, struct cursor *cursor) {
    cursor->row = listed->row[cursor->at];
    cursor->start_ns = listed->start_ns[cursor->at];
    cursor->end_ns = listed->end_ns[cursor->at];
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

/* What one thread merges: of each run of a device the ops from one place to another. */
struct part {
    const struct gt_view_device *device;
    const struct run *runs;
    size_t run_count;
    const size_t *begin, *end; /* by run of the device: places among the listed ops */
    size_t first;              /* where they go */
};

struct making {
    struct gt_view *view;
    const struct gt_view_listed *listed;
    size_t thread_count;
    struct run *runs;    /* MOST_RUNS for each lane of the view; then all, by device */
    size_t *run_counts;  /* by lane of the view; 0: memory was short */
    size_t *device_runs; /* by device of the view: its first run; after the last one how many there are */
    bool *part_failed;
    struct part *parts;
    size_t part_count;
    size_t *bounds; /* of the parts: `begin` and `end` of each */
};

/* ---- runs ---- */

/* At most one above MOST_RUNS, which has no room. */
static size_t find_runs(const struct gt_view_listed *listed, const struct gt_view_lane *lane, size_t index,
                        struct run *runs) {
    const int64_t *start_ns = listed->start_ns, *end_ns = listed->end_ns;
    size_t count = 0, first = lane->first, end = lane->first + lane->count;
    for (size_t i = first + 1; i <= end; i++) {
        if (i < end &&
            (start_ns[i] > start_ns[i - 1] || (start_ns[i] == start_ns[i - 1] && end_ns[i] <= end_ns[i - 1])))
            continue;
        if (count == MOST_RUNS)
            return MOST_RUNS + 1;
        runs[count++] = (struct run){index, first, i - first};
        first = i;
    }
    return count;
}

/* One run, of all ops of a stream. false: memory was short. */
static bool sort_lane(const struct making *making, const struct gt_view_lane *lane) {
    const struct gt_ops *ops = &making->view->store->ops;
    const struct gt_view_listed *listed = making->listed;
    if (!gt_spans_sort(listed->row + lane->first, lane->count, ops->start_ns, ops->end_ns))
        return false;
    for (size_t i = lane->first; i < lane->first + lane->count; i++) {
        listed->start_ns[i] = ops->start_ns[listed->row[i]];
        listed->end_ns[i] = ops->end_ns[listed->row[i]];
    }
    return true;
}

static void divide_lane(void *context, size_t index) {
    const struct making *making = context;
    const struct gt_view_lane *lane = &making->view->lanes[index];
    struct run *runs = making->runs + index * MOST_RUNS;
    size_t count = find_runs(making->listed, lane, index, runs);
    if (count > MOST_RUNS) {
        runs[0] = (struct run){index, lane->first, lane->count};
        count = sort_lane(making, lane);
    }
    making->run_counts[index] = count;
}

/* Lists the runs of each device, whose lanes are next to each other. */
static bool list_runs(struct making *making) {
    const struct gt_view *view = making->view;
    making->runs = gt_mem_array(view->lane_count, MOST_RUNS * sizeof *making->runs);
    making->run_counts = gt_mem_array(view->lane_count, sizeof *making->run_counts);
    making->device_runs = gt_mem_array(view->device_count + 1, sizeof *making->device_runs);
    if (!making->runs || !making->run_counts || !making->device_runs)
        return false;
    gt_threads_deal(making->thread_count, view->lane_count, divide_lane, making);
    size_t count = 0;
    for (size_t d = 0; d < view->device_count; d++) {
        const struct gt_view_device *device = &view->devices[d];
        for (size_t lane = device->first_lane; lane < device->first_lane + device->lane_count; lane++) {
            if (making->run_counts[lane] == 0)
                return false;
            for (size_t i = 0; i < making->run_counts[lane]; i++)
                making->runs[count++] = making->runs[lane * MOST_RUNS + i];
        }
        making->device_runs[d + 1] = count;
    }
    return true;
}

/* ---- merging ---- */

/* Ops of a run come in a row: takes those before the next one of another run; where the next op goes. */
static size_t take_row(struct gt_view *view, const struct gt_view_listed *listed, struct cursor *first,
                       int64_t limit_ns, size_t place) {
    const int64_t *start_ns = listed->start_ns;
    size_t at = first->at, end = first->end;
    uint32_t *next = view->lane_order + *first->next_in_lane, lane = first->lane;
    do {
        view->start_ns[place] = start_ns[at];
        view->end_ns[place] = listed->end_ns[at];
        view->row[place] = listed->row[at];
        view->lane[place] = lane;
        *next++ = (uint32_t)place++;
        at++;
    } while (at < end && start_ns[at] < limit_ns);
    *first->next_in_lane += at - first->at;
    first->at = at;
    return place;
}

/* A cursor for each run that has ops in the part; how many. */
static size_t set_cursors(const struct making *making, const struct part *part, struct cursor *heap, size_t *next) {
    const struct gt_view *view = making->view;
    size_t count = 0, first_lane = part->device->first_lane;
    for (size_t i = 0; i < part->device->lane_count; i++)
        next[i] = view->lanes[first_lane + i].first;
    for (size_t i = 0; i < part->run_count; i++) {
        const struct run *run = &part->runs[i];
        uint32_t lane = view->lanes[run->lane].lane;
        next[run->lane - first_lane] += part->begin[i] - run->first;
        if (part->begin[i] == part->end[i])
            continue;
        heap[count] = (struct cursor){.stream = view->store->lanes.stream[lane],
                                      .lane = lane,
                                      .at = part->begin[i],
                                      .end = part->end[i],
                                      .next_in_lane = &next[run->lane - first_lane]};
        read_cursor(making->listed, &heap[count++]);
    }
    return count;
}

static void merge_runs(const struct making *making, const struct part *part, struct cursor *heap, size_t *next) {
    const struct gt_view_listed *listed = making->listed;
    size_t count = set_cursors(making, part, heap, next), place = part->first;
    for (size_t i = count / 2; i-- > 0;)
        sift_down(heap, count, i);
    while (count > 1) {
        const struct cursor *second = &heap[count > 2 && comes_before(&heap[2], &heap[1]) ? 2 : 1];
        place = take_row(making->view, listed, &heap[0], second->start_ns, place);
        if (heap[0].at == heap[0].end)
            heap[0] = heap[--count];
        else
            read_cursor(listed, &heap[0]);
        sift_down(heap, count, 0);
    }
    while (count && heap[0].at < heap[0].end)
        place = take_row(making->view, listed, &heap[0], INT64_MAX, place);
}

static void merge_part(void *context, size_t index) {
    struct making *making = context;
    const struct part *part = &making->parts[index];
    struct cursor *heap = gt_mem_array(part->run_count, sizeof *heap);
    size_t *next = gt_mem_array(part->device->lane_count, sizeof *next);
    making->part_failed[index] = !heap || !next;
    if (heap && next)
        merge_runs(making, part, heap, next);
    gt_mem_free(heap);
    gt_mem_free(next);
}

/* ---- parts ---- */

static size_t runs_of_device(const struct making *making, size_t device) {
    return making->device_runs[device + 1] - making->device_runs[device];
}

static size_t parts_of_device(const struct making *making, size_t device) {
    size_t count = making->view->devices[device].count;
    return count ? gt_threads_slices(making->thread_count, count, runs_of_device(making, device)) : 0;
}

static bool count_parts(struct making *making) {
    size_t bounds = 0;
    for (size_t d = 0; d < making->view->device_count; d++) {
        size_t count = parts_of_device(making, d);
        making->part_count += count;
        bounds += (count + 1) * runs_of_device(making, d);
    }
    making->parts = gt_mem_array(making->part_count, sizeof *making->parts);
    making->part_failed = gt_mem_array(making->part_count, sizeof *making->part_failed);
    making->bounds = gt_mem_array(bounds, sizeof *making->bounds);
    return making->parts && making->part_failed && making->bounds;
}

/* The first place of a run whose op starts then or later. */
static size_t place_at(const struct gt_view_listed *listed, const struct run *run, int64_t start_ns) {
    size_t low = run->first, high = run->first + run->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (listed->start_ns[middle] < start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct run *longest_run(const struct run *runs, size_t count) {
    const struct run *longest = runs;
    for (size_t i = 1; i < count; i++)
        longest = runs[i].count > longest->count ? &runs[i] : longest;
    return longest;
}

/* Where the part of this number begins in each run, and after the last one where they end. All that start before an op
   of the longest run come before it, whatever the run: parts can be merged apart. */
static void find_bounds(const struct making *making, size_t device, size_t part, size_t part_count, size_t *bounds) {
    const struct run *runs = making->runs + making->device_runs[device];
    size_t run_count = runs_of_device(making, device);
    const struct run *longest = longest_run(runs, run_count);
    bool is_inside = part > 0 && part < part_count;
    size_t place = longest->first + gt_threads_slice_begin(longest->count, part_count, part);
    int64_t start_ns = is_inside ? making->listed->start_ns[place] : 0;
    for (size_t i = 0; i < run_count; i++)
        bounds[i] =
            is_inside ? place_at(making->listed, &runs[i], start_ns) : runs[i].first + (part ? runs[i].count : 0);
}

static void divide(struct making *making) {
    size_t *bounds = making->bounds;
    struct part *part = making->parts;
    for (size_t d = 0; d < making->view->device_count; d++) {
        const struct gt_view_device *device = &making->view->devices[d];
        size_t part_count = parts_of_device(making, d), run_count = runs_of_device(making, d), place = device->first;
        if (part_count)
            find_bounds(making, d, 0, part_count, bounds);
        for (size_t p = 0; p < part_count; p++, part++, bounds += run_count) {
            *part = (struct part){device, making->runs + making->device_runs[d], run_count, bounds, bounds + run_count,
                                  place};
            find_bounds(making, d, p + 1, part_count, bounds + run_count);
            for (size_t i = 0; i < run_count; i++)
                place += part->end[i] - part->begin[i];
        }
        bounds += part_count ? run_count : 0;
    }
}

static bool merge_parts(struct making *making) {
    gt_threads_deal(making->thread_count, making->part_count, merge_part, making);
    for (size_t i = 0; i < making->part_count; i++)
        if (making->part_failed[i])
            return false;
    return true;
}

bool gt_view_order_ops(struct gt_view *view, const struct gt_view_listed *listed) {
    struct making making = {.view = view, .listed = listed, .thread_count = gt_threads_count(view->request->threads)};
    bool ok = list_runs(&making) && count_parts(&making);
    if (ok)
        divide(&making);
    ok = ok && merge_parts(&making);
    gt_mem_free(making.runs);
    gt_mem_free(making.run_counts);
    gt_mem_free(making.device_runs);
    gt_mem_free(making.part_failed);
    gt_mem_free(making.parts);
    gt_mem_free(making.bounds);
    return ok;
}
