/* The order of a view: in come the ops stream by stream, out go all columns of them in the order that sweeps need.
   Times are those of the trace, not of the window: then it is the order of the whole trace, and what is charged to the
   earlier op in windows that follow each other sums to what is charged in all of them together.
   Ops of one stream lie in order in the file, or in a few runs that are: an activity of each kind has a table of its
   own. So runs are merged rather than all sorted. That happens in blocks of time, all devices of a block one after the
   other: where devices take turns in the store, what one fetches of it is still in the cache for the next. Several
   threads merge some of the blocks each. */
#include "events/view_order.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/threads.h"

enum {
    BLOCK_OPS = 16384,     /* about: what the columns of the store have of them fits in the cache of a core */
    SAMPLE_OPS = 4096,     /* of a run, at most, between two of the times that limit blocks */
    MOST_SAMPLES = 1024,   /* about, unless the samples lie that far apart */
    AHEAD = 8,             /* so many ops of a run ahead the store is fetched into the cache */
    BLOCKS_PER_SLICE = 4,  /* at least, where there are so many samples: slices are of whole blocks */
    SLICES_PER_THREAD = 4, /* at most: some have more ops out of order, which take longer */
};

/* A run that is being merged. */
struct cursor {
    int64_t stream;       /* of all its ops */
    uint32_t lane;        /* track */
    uint32_t row;         /* of its next op */
    size_t at, end;       /* place of the next op among the listed ops, and the end of the run there */
    size_t *next_in_lane; /* where the next op of its stream goes in lane_order */
};

/* An entry of a heap of runs: what most comparisons look at. */
struct head {
    int64_t start_ns;
    struct cursor *cursor;
};

/* How far the ops of a device are merged. Most of them are often of one run, which need not go through the heap. */
struct device_merge {
    struct head leader; /* the run that has most; no cursor: there is none, or it has no more ops */
    struct head *heap;  /* the others */
    size_t count;       /* of those with ops */
    size_t place;       /* where the next op goes */
    int64_t latest_ns;
};

struct making {
    struct gt_view *view;
    const struct gt_view_listed *listed;
    size_t *device_runs; /* by device of the view: its first run; after the last one how many there are */
    int64_t *limits_ns;  /* of blocks; each holds what starts before it */
    size_t limit_count;
    size_t slice_count;
    bool *failed;         /* by slice: memory was short */
    int64_t *latest_ends; /* by slice, then by device */
};

/* ---- runs ---- */

static bool list_devices(struct making *making) {
    const struct gt_view *view = making->view;
    making->device_runs = gt_mem_array(view->device_count + 1, sizeof *making->device_runs);
    size_t run = 0;
    for (size_t d = 0; d < view->device_count && making->device_runs; d++) {
        const struct gt_view_device *device = &view->devices[d];
        while (run < making->listed->run_count &&
               making->listed->runs[run].lane < device->first_lane + device->lane_count)
            run++;
        making->device_runs[d + 1] = run;
    }
    return making->device_runs;
}

static int64_t start_at(const struct making *making, size_t place) {
    return making->view->store->ops.start_ns[making->listed->row[place]];
}

static int by_time(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Times between which there are about as many ops, whatever runs these are of: starts of ops at equal distances. */
static bool find_limits(struct making *making) {
    const struct gt_view_listed *listed = making->listed;
    size_t distance = making->view->op_count / MOST_SAMPLES + 1, count = 0, passed = 0; /* since the last */
    distance = distance < SAMPLE_OPS ? distance : SAMPLE_OPS;
    making->limits_ns = gt_mem_uninitialised(making->view->op_count / distance, sizeof *making->limits_ns);
    if (!making->limits_ns)
        return false;
    for (size_t i = 0; i < listed->run_count; i++) {
        for (size_t at = distance - passed; at <= listed->runs[i].count; at += distance)
            making->limits_ns[count++] = start_at(making, listed->runs[i].first + at - 1);
        passed = (passed + listed->runs[i].count) % distance;
    }
    qsort(making->limits_ns, count, sizeof *making->limits_ns, by_time);
    size_t step = count / (BLOCKS_PER_SLICE * making->slice_count), most = BLOCK_OPS / distance;
    step = step > most ? most : step ? step : 1;
    for (size_t i = step; i < count; i += step)
        making->limits_ns[making->limit_count++] = making->limits_ns[i];
    return true;
}

/* ---- merging ---- */

/* Ends are looked up where starts are equal only: they are not in the cache yet. */
static bool comes_before(const struct head *a, const struct head *b, const int64_t *ends_ns) {
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    const struct cursor *x = a->cursor, *y = b->cursor;
    if (ends_ns[x->row] != ends_ns[y->row])
        return ends_ns[x->row] > ends_ns[y->row];
    return x->stream != y->stream ? x->stream < y->stream : x->row < y->row;
}

static void read_head(const struct making *making, struct head *head) {
    struct cursor *cursor = head->cursor;
    cursor->row = making->listed->row[cursor->at];
    head->start_ns = making->view->store->ops.start_ns[cursor->row];
}

/* The one of two heads next to each other in the heap that comes first. Which it is cannot be foreseen: no branch. */
static size_t first_of_two(const struct head *heap, size_t at, const int64_t *ends_ns) {
    if (heap[at].start_ns == heap[at + 1].start_ns)
        return at + comes_before(&heap[at + 1], &heap[at], ends_ns);
    return at + (heap[at + 1].start_ns < heap[at].start_ns);
}

static void sift_down(struct head *heap, size_t count, size_t at, const int64_t *ends_ns) {
    struct head moving = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count)
            child = first_of_two(heap, child, ends_ns);
        if (!comes_before(&heap[child], &moving, ends_ns))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

/* Ops of a run come in a row: takes the first, and those after it that start before a time; where the next op goes. */
static size_t take_row(const struct making *making, struct cursor *cursor, int64_t limit_ns, size_t place) {
    const struct gt_view *view = making->view;
    const int64_t *starts_ns = view->store->ops.start_ns;
    const uint32_t *rows = making->listed->row;
    size_t at = cursor->at, end = cursor->end;
    uint32_t *next = view->lane_order + *cursor->next_in_lane, lane = cursor->lane, row = rows[at];
    int64_t start_ns = starts_ns[row];
    do {
        size_t ahead = at + AHEAD < end ? at + AHEAD : at;
        __builtin_prefetch(&starts_ns[rows[ahead]]); /* other ops of the run wait for what this one's start decides */
        view->start_ns[place] = start_ns;
        view->row[place] = row;
        view->lane[place] = lane;
        *next++ = (uint32_t)place++;
        if (++at == end)
            break;
        row = rows[at];
        start_ns = starts_ns[row];
    } while (start_ns < limit_ns);
    *cursor->next_in_lane += at - cursor->at;
    cursor->at = at;
    return place;
}

/* Writes the columns that order does not need; the latest end of these ops and those before. Columns with a byte for
   each row might alias all others, as far as the compiler can tell, and have their own loop. */
static int64_t fill(const struct gt_view *view, size_t first, size_t end, int64_t latest_ns) {
    const struct gt_ops *ops = &view->store->ops;
    const uint32_t *restrict row = view->row;
    const uint8_t *restrict kind_of = ops->kind, *restrict category_of = view->labels->op_category;
    uint8_t *restrict kind = view->kind, *restrict category = view->category;
    for (size_t i = first; i < end; i++) {
        int64_t end_ns = ops->end_ns[row[i]];
        view->end_ns[i] = end_ns;
        view->name[i] = ops->name[row[i]];
        latest_ns = end_ns > latest_ns ? end_ns : latest_ns;
    }
    for (size_t i = first; i < end; i++) {
        kind[i] = kind_of[row[i]];
        category[i] = category_of[row[i]];
    }
    return latest_ns;
}

/* Takes the ops of the leader that come before the first of the heap, and start before a time. */
static void take_leader(const struct making *making, struct device_merge *merge, int64_t limit_ns, bool takes_all) {
    const int64_t *ends_ns = making->view->store->ops.end_ns;
    const struct head *first = merge->count ? &merge->heap[0] : NULL;
    struct head *leader = &merge->leader;
    int64_t row_limit_ns = first && (takes_all || first->start_ns < limit_ns) ? first->start_ns : limit_ns;
    while (leader->cursor && (takes_all || leader->start_ns < limit_ns) &&
           !(first && comes_before(first, leader, ends_ns))) {
        merge->place = take_row(making, leader->cursor, row_limit_ns, merge->place);
        if (leader->cursor->at == leader->cursor->end)
            leader->cursor = NULL;
        else
            read_head(making, leader);
    }
}

/* Takes the ops of the first of the heap that come before all others. */
static void take_first(const struct making *making, struct device_merge *merge, int64_t limit_ns, bool takes_all) {
    struct head *heap = merge->heap;
    int64_t next_ns = merge->leader.cursor ? merge->leader.start_ns : INT64_MAX;
    for (size_t i = 1; i < 3 && i < merge->count; i++)
        next_ns = heap[i].start_ns < next_ns ? heap[i].start_ns : next_ns;
    next_ns = takes_all || next_ns < limit_ns ? next_ns : limit_ns;
    merge->place = take_row(making, heap[0].cursor, next_ns, merge->place);
    if (heap[0].cursor->at == heap[0].cursor->end)
        heap[0] = heap[--merge->count];
    else
        read_head(making, &heap[0]);
    if (merge->count)
        sift_down(heap, merge->count, 0, making->view->store->ops.end_ns);
}

/* Takes all ops of a device that start before a time, or all that are left. */
static void merge_device(const struct making *making, struct device_merge *merge, int64_t limit_ns, bool takes_all) {
    size_t first = merge->place;
    take_leader(making, merge, limit_ns, takes_all);
    while (merge->count && (takes_all || merge->heap[0].start_ns < limit_ns)) {
        take_first(making, merge, limit_ns, takes_all);
        take_leader(making, merge, limit_ns, takes_all);
    }
    merge->latest_ns = fill(making->view, first, merge->place, merge->latest_ns);
}

/* ---- slices of blocks ---- */

/* The first place of a run whose op starts then or later. */
static size_t place_at(const struct making *making, const struct gt_view_run *run, int64_t start_ns) {
    size_t low = run->first, high = run->first + run->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (start_at(making, middle) < start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What a slice keeps. */
struct slice {
    struct device_merge *devices;
    struct head *heads;     /* of all devices */
    struct cursor *cursors; /* by run */
    size_t *next;           /* by lane of the view: where its next op goes in lane_order */
    size_t first, end;      /* blocks */
};

static bool has_more(const struct head *head, const struct head *other) {
    return !other->cursor || head->cursor->end - head->cursor->at > other->cursor->end - other->cursor->at;
}

static void swap(struct head *a, struct head *b) {
    struct head moved = *a;
    *a = *b;
    *b = moved;
}

/* Sets out from the first block: where it begins in each run, and so in the view. */
static void begin_device(const struct making *making, struct slice *slice, size_t index) {
    const struct gt_view *view = making->view;
    struct device_merge *device = &slice->devices[index];
    *device = (struct device_merge){
        .heap = slice->heads + making->device_runs[index], .place = view->devices[index].first, .latest_ns = INT64_MIN};
    for (size_t i = making->device_runs[index]; i < making->device_runs[index + 1]; i++) {
        const struct gt_view_run *run = &making->listed->runs[i];
        uint32_t lane = view->lanes[run->lane].lane;
        size_t at = slice->first ? place_at(making, run, making->limits_ns[slice->first - 1]) : run->first;
        device->place += at - run->first;
        slice->next[run->lane] += at - run->first;
        slice->cursors[i] = (struct cursor){.stream = view->store->lanes.stream[lane],
                                            .lane = lane,
                                            .at = at,
                                            .end = run->first + run->count,
                                            .next_in_lane = &slice->next[run->lane]};
        if (at == run->first + run->count)
            continue;
        struct head head = {.cursor = &slice->cursors[i]};
        read_head(making, &head);
        if (has_more(&head, &device->leader))
            swap(&head, &device->leader);
        if (head.cursor)
            device->heap[device->count++] = head;
    }
    for (size_t i = device->count / 2; i-- > 0;)
        sift_down(device->heap, device->count, i, view->store->ops.end_ns);
}

static void merge_blocks(const struct making *making, struct slice *slice, int64_t *latest_ends) {
    const struct gt_view *view = making->view;
    for (size_t i = 0; i < view->lane_count; i++)
        slice->next[i] = view->lanes[i].first;
    for (size_t d = 0; d < view->device_count; d++)
        begin_device(making, slice, d);
    for (size_t block = slice->first; block < slice->end; block++) {
        bool is_last = block == making->limit_count;
        for (size_t d = 0; d < view->device_count; d++)
            merge_device(making, &slice->devices[d], is_last ? INT64_MAX : making->limits_ns[block], is_last);
    }
    for (size_t d = 0; d < view->device_count; d++)
        latest_ends[d] = slice->devices[d].latest_ns;
}

static void merge_slice(void *context, size_t index) {
    struct making *making = context;
    const struct gt_view *view = making->view;
    size_t run_count = making->listed->run_count;
    struct slice slice = {
        .devices = gt_mem_array(view->device_count, sizeof *slice.devices),
        .heads = gt_mem_array(run_count, sizeof *slice.heads),
        .cursors = gt_mem_array(run_count, sizeof *slice.cursors),
        .next = gt_mem_array(view->lane_count, sizeof *slice.next),
        .first = gt_threads_slice_begin(making->limit_count + 1, making->slice_count, index),
        .end = gt_threads_slice_begin(making->limit_count + 1, making->slice_count, index + 1),
    };
    bool ok = slice.devices && slice.heads && slice.cursors && slice.next;
    if (ok)
        merge_blocks(making, &slice, making->latest_ends + index * view->device_count);
    making->failed[index] = !ok;
    gt_mem_free(slice.devices);
    gt_mem_free(slice.heads);
    gt_mem_free(slice.cursors);
    gt_mem_free(slice.next);
}

static bool merge_slices(struct making *making) {
    const struct gt_view *view = making->view;
    size_t block_count = making->limit_count + 1, threads = making->slice_count;
    size_t most = threads > 1 ? SLICES_PER_THREAD * threads : 1;
    making->slice_count = most < block_count ? most : block_count;
    making->failed = gt_mem_array(making->slice_count, sizeof *making->failed);
    making->latest_ends = gt_mem_array(making->slice_count * view->device_count, sizeof *making->latest_ends);
    if (!making->failed || !making->latest_ends)
        return false;
    gt_threads_deal(threads, making->slice_count, merge_slice, making);
    for (size_t i = 0; i < making->slice_count; i++)
        if (making->failed[i])
            return false;
    return true;
}

static void set_span(const struct making *making, size_t index) {
    const struct gt_view *view = making->view;
    struct gt_view_device *device = &view->devices[index];
    device->span_start_ns = view->window_start_ns;
    device->span_end_ns = view->window_end_ns;
    if (view->has_window || device->count == 0)
        return;
    device->span_start_ns = view->start_ns[device->first];
    device->span_end_ns = INT64_MIN;
    for (size_t slice = 0; slice < making->slice_count; slice++) {
        int64_t latest_ns = making->latest_ends[slice * view->device_count + index];
        device->span_end_ns = latest_ns > device->span_end_ns ? latest_ns : device->span_end_ns;
    }
}

bool gt_view_order_ops(struct gt_view *view, const struct gt_view_listed *listed) {
    struct making making = {.view = view, .listed = listed};
    size_t threads = gt_threads_count(view->request->threads);
    making.slice_count = gt_threads_slices(threads, view->op_count, 4 * listed->run_count);
    bool ok = list_devices(&making) && find_limits(&making) && merge_slices(&making);
    for (size_t d = 0; d < view->device_count && ok; d++)
        set_span(&making, d);
    gt_mem_free(making.device_runs);
    gt_mem_free(making.limits_ns);
    gt_mem_free(making.failed);
    gt_mem_free(making.latest_ends);
    return ok;
}
