/* Ranges of ops: in come ranges, launch calls and ops, out go labels->op_range and the trees of ranges. An op belongs
   to the ranges of the launching thread around its launch call; without a call, to the GPU-side annotations of its
   stream around itself. */
#include <string.h>

#include "base/mem.h"
#include "base/spans.h"
#include "base/threads.h"
#include "label/label.h"

/* Where the latest search in the order of a track ended: `begun` is after the ranges of the track that have begun at
   from_ns or later and before to_ns, and `range` the last of these. No time is from 0 to 0: zeroed, it says nothing.
 */
struct cursor {
    int64_t from_ns, to_ns;
    size_t begun;
    uint32_t range; /* GT_NO_ROW: none has begun */
};

/* Tracks are the threads, then the streams. The ranges of a track are in the order of start, longer first, row: what
   encloses comes before what is enclosed, and of the ranges around a moment the innermost is the last. */
struct gt_range_forest {
    const struct gt_store *store;
    struct gt_labels *labels;
    size_t track_count;
    uint32_t *order;        /* labels->range_order: rows of ranges by track */
    size_t *bounds;         /* track_count + 2; in the end track t has order[bounds[t]] to order[bounds[t + 1]] */
    struct cursor *cursors; /* by track; each slice of ops has its own */
    bool has_streams;       /* ranges of streams */
    uint32_t *jump; /* by range row: an ancestor some way up, itself at the top; makes long climbs logarithmic */
};

static uint32_t *new_rows(struct gt_labels *labels, size_t count) {
    uint32_t *rows = gt_arena_uninitialised(&labels->arenas[GT_PASS_TREES], count, sizeof *rows);
    if (rows)
        memset(rows, 0xff, count * sizeof *rows);
    return rows;
}

static bool forest_init(struct gt_range_forest *forest, const struct gt_store *store, struct gt_labels *labels,
                        struct gt_arena *scratch) {
    struct gt_arena *arena = &labels->arenas[GT_PASS_TREES];
    size_t range_count = store->ranges.count;
    *forest = (struct gt_range_forest){
        .store = store, .labels = labels, .track_count = store->threads.count + store->lanes.count};
    labels->range_parent = new_rows(labels, range_count);
    labels->range_sibling = new_rows(labels, range_count);
    labels->range_last = new_rows(labels, range_count);
    labels->range_level = gt_arena_array(arena, range_count, sizeof *labels->range_level);
    labels->range_order = gt_arena_array(arena, range_count, sizeof *labels->range_order);
    forest->order = labels->range_order;
    forest->jump = gt_arena_array(scratch, range_count, sizeof *forest->jump);
    forest->bounds = gt_arena_array(scratch, forest->track_count + 2, sizeof *forest->bounds);
    return !gt_arena_failed(arena) && !gt_arena_failed(scratch);
}

/* GT_NO_TRACK for what can hold no op. */
static uint32_t track_of_range(const struct gt_store *store, size_t range) {
    const struct gt_ranges *ranges = &store->ranges;
    switch ((enum gt_range_kind)ranges->kind[range]) {
    case GT_RANGE_NESTED:
    case GT_RANGE_START_END:
        return ranges->end_thread[range] == GT_NO_TRACK ? ranges->thread[range] : GT_NO_TRACK;
    case GT_RANGE_GPU:
        return ranges->lane[range] == GT_NO_TRACK ? GT_NO_TRACK : (uint32_t)store->threads.count + ranges->lane[range];
    case GT_RANGE_MARK:
        break;
    }
    return GT_NO_TRACK;
}

/* ---- order ---- */

static void group_by_track(struct gt_range_forest *forest) {
    const struct gt_store *store = forest->store;
    for (size_t range = 0; range < store->ranges.count; range++) {
        uint32_t track = track_of_range(store, range);
        if (track != GT_NO_TRACK)
            forest->bounds[track + 2]++;
    }
    for (size_t track = 0; track < forest->track_count; track++)
        forest->bounds[track + 2] += forest->bounds[track + 1];
    for (uint32_t range = 0; range < store->ranges.count; range++) {
        uint32_t track = track_of_range(store, range);
        if (track != GT_NO_TRACK)
            forest->order[forest->bounds[track + 1]++] = range;
    }
    forest->labels->range_order_count = forest->bounds[forest->track_count];
}

/* ---- trees ---- */

/* Jumps double back like the digits of a skew binary number: any ancestor is a logarithmic number of them away. */
static uint32_t jump_from(const struct gt_range_forest *forest, uint32_t parent) {
    const uint32_t *level = forest->labels->range_level;
    uint32_t near = forest->jump[parent], far = forest->jump[near];
    return level[parent] - level[near] == level[near] - level[far] ? far : parent;
}

/* The parent is the last range before it that ends no earlier. Climbing from the range just before finds it in
   amortised constant time. The ends of the children of a parent grow from one to the next. */
static void grow_tree(struct gt_range_forest *forest, const uint32_t *rows, size_t count) {
    const struct gt_ranges *ranges = &forest->store->ranges;
    struct gt_labels *labels = forest->labels;
    uint32_t last_root = GT_NO_ROW;
    for (size_t i = 0; i < count; i++) {
        uint32_t range = rows[i], parent = i ? rows[i - 1] : GT_NO_ROW;
        while (parent != GT_NO_ROW && ranges->end_ns[parent] < ranges->end_ns[range])
            parent = labels->range_parent[parent];
        uint32_t *last = parent == GT_NO_ROW ? &last_root : &labels->range_last[parent];
        if (*last != GT_NO_ROW && ranges->end_ns[*last] >= ranges->start_ns[range])
            labels->range_sibling[range] = *last;
        *last = range;
        labels->range_parent[range] = parent;
        labels->range_level[range] = parent == GT_NO_ROW ? 0 : labels->range_level[parent] + 1;
        forest->jump[range] = parent == GT_NO_ROW ? range : jump_from(forest, parent);
    }
}

struct growth {
    struct gt_range_forest *forest;
    atomic_bool failed;
};

/* A range is of one track: tracks share nothing. */
static void grow_track(void *context, size_t track) {
    struct growth *growth = context;
    struct gt_range_forest *forest = growth->forest;
    const struct gt_ranges *ranges = &forest->store->ranges;
    uint32_t *rows = forest->order + forest->bounds[track];
    size_t count = forest->bounds[track + 1] - forest->bounds[track];
    if (!count)
        return;
    if (gt_spans_sort(rows, count, ranges->start_ns, ranges->end_ns))
        grow_tree(forest, rows, count);
    else
        atomic_store(&growth->failed, true);
}

static enum gt_status grow_trees(const struct gt_store *store, struct gt_labels *labels,
                                 struct gt_label_scratch *scratch, struct gt_error *err) {
    struct gt_range_forest *forest = scratch->ranges = gt_arena_alloc(&scratch->range_arena, sizeof *forest);
    struct growth growth = {.forest = forest};
    if (!forest || !forest_init(forest, store, labels, &scratch->range_arena))
        return gt_fail_memory(err);
    group_by_track(forest);
    gt_threads_deal(gt_threads_slices(scratch->threads, store->ranges.count, 0), forest->track_count, grow_track,
                    &growth);
    return growth.failed ? gt_fail_memory(err) : GT_OK;
}

/* ---- ops ---- */

/* How far in the order of the track ranges have begun by a time. Calls of a thread mostly come one after the other, so
   the search sets out from where the last one ended, in growing strides. */
static size_t find_begun(const struct gt_range_forest *forest, uint32_t track, int64_t time_ns) {
    const int64_t *start_ns = forest->store->ranges.start_ns;
    size_t low = forest->bounds[track], high = forest->bounds[track + 1], begun = forest->cursors[track].begun;
    if (begun > low && start_ns[forest->order[begun - 1]] <= time_ns)
        low = begun;
    else if (begun > low)
        high = begun - 1;
    for (size_t stride = 0; low < high; stride = 2 * stride + 1) {
        size_t middle = low + (high - low) / 2, at = stride < middle - low ? low + stride : middle;
        if (start_ns[forest->order[at]] <= time_ns)
            low = at + 1;
        else
            high = at;
    }
    return low;
}

static void move_cursor(struct gt_range_forest *forest, uint32_t track, int64_t time_ns) {
    const int64_t *start_ns = forest->store->ranges.start_ns;
    size_t begun = find_begun(forest, track, time_ns);
    bool has_range = begun > forest->bounds[track], has_next = begun < forest->bounds[track + 1];
    forest->cursors[track] = (struct cursor){
        .from_ns = has_range ? start_ns[forest->order[begun - 1]] : INT64_MIN,
        .to_ns = has_next ? start_ns[forest->order[begun]] : INT64_MAX,
        .begun = begun,
        .range = has_range ? forest->order[begun - 1] : GT_NO_ROW,
    };
}

/* The last range of the track that begins at start_ns or before and ends at end_ns or after. Up the tree ranges end
   ever later, and what lies between a range and its parent in the order ends before that range does. */
static uint32_t find_innermost(struct gt_range_forest *forest, uint32_t track, int64_t start_ns, int64_t end_ns) {
    const int64_t *range_end_ns = forest->store->ranges.end_ns;
    if (start_ns < forest->cursors[track].from_ns || start_ns >= forest->cursors[track].to_ns)
        move_cursor(forest, track, start_ns);
    uint32_t range = forest->cursors[track].range;
    while (range != GT_NO_ROW && range_end_ns[range] < end_ns)
        range = range_end_ns[forest->jump[range]] < end_ns && forest->jump[range] != range
                    ? forest->jump[range]
                    : forest->labels->range_parent[range];
    return range;
}

static uint32_t range_of_call(struct gt_range_forest *forest, uint32_t call) {
    const struct gt_calls *calls = &forest->store->calls;
    if (calls->thread[call] == GT_NO_TRACK)
        return GT_NO_ROW;
    return find_innermost(forest, calls->thread[call], calls->start_ns[call], calls->end_ns[call]);
}

static uint32_t range_of_stream(struct gt_range_forest *forest, uint32_t op) {
    const struct gt_ops *ops = &forest->store->ops;
    uint32_t track = (uint32_t)forest->store->threads.count + ops->lane[op];
    return find_innermost(forest, track, ops->start_ns[op], ops->end_ns[op]);
}

/* The forest comes with the cursors of all slices. */
static void attribute_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct gt_range_forest forest = *(const struct gt_range_forest *)context;
    const struct gt_labels *labels = forest.labels;
    uint32_t last_call = GT_NO_ROW, range = GT_NO_ROW;
    forest.cursors += slice * forest.track_count;
    for (uint32_t op = (uint32_t)begin; op < end; op++) {
        uint32_t call = labels->op_call[op];
        if (call == GT_NO_ROW)
            range = forest.has_streams ? range_of_stream(&forest, op) : GT_NO_ROW;
        else if (call != last_call) /* graph nodes come in runs of one call */
            range = range_of_call(&forest, call);
        last_call = call;
        labels->op_range[op] = range;
    }
}

static enum gt_status attribute_ops(const struct gt_store *store, struct gt_labels *labels,
                                    struct gt_label_scratch *scratch, struct gt_error *err) {
    struct gt_arena *arena = &labels->arenas[GT_PASS_ATTRIBUTE];
    if (store->ranges.count == 0 && store->calls.count == 0) { /* the column of calls says the same of every op */
        labels->op_range = labels->op_call;
        return GT_OK;
    }
    labels->op_range = gt_arena_uninitialised(arena, store->ops.count, sizeof *labels->op_range);
    if (!labels->op_range)
        return gt_fail_memory(err);
    if (store->ranges.count == 0) {
        gt_label_no_rows(labels->op_range, store->ops.count);
        return GT_OK;
    }
    struct gt_range_forest forest = *scratch->ranges;
    forest.has_streams = forest.bounds[store->threads.count] < forest.bounds[forest.track_count];
    size_t slices = gt_threads_slices(scratch->threads, store->ops.count, forest.track_count);
    forest.cursors = gt_mem_array(slices * forest.track_count, sizeof *forest.cursors);
    if (!forest.cursors)
        return gt_fail_memory(err);
    gt_threads_rows(slices, store->ops.count, attribute_slice, &forest);
    gt_mem_free(forest.cursors);
    return GT_OK;
}

const struct gt_label_pass gt_label_pass_trees = {"trees", "trees of ranges", GT_LABEL_FIRST, grow_trees};
const struct gt_label_pass gt_label_pass_attribute = {"attribute", "ranges of ops", GT_LABEL_SECOND, attribute_ops};
