/* Ranges and steps of ops: in come ranges, steps, launch calls and ops, out go labels->op_range, labels->op_step and
   the trees of ranges. An op belongs to the ranges of the launching thread around its launch call; without a call, to
   the GPU-side annotations of its stream around itself. It belongs to the step that launched it, on whichever thread:
   backward kernels come from the autograd thread. */
#include "base/carve.h"
#include "base/mem.h"
#include "base/spans.h"
#include "base/threads.h"
#include "label/label.h"
#include "label/step_tree.h"

/* Where a range has so many ancestors, climbs are made in jumps. */
#define DEEP 16

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
    size_t *bounds;         /* track_count + 1; track t has order[bounds[t]] to order[bounds[t + 1]] */
    struct cursor *cursors; /* by track; each slice of ops has its own */
    bool has_streams;       /* ranges of streams */
    uint32_t *jump; /* by range row: an ancestor some way up, itself at the top; makes long climbs logarithmic. NULL: no
                       climb is long */
};

static bool new_columns(struct gt_labels *labels, size_t count) {
    uint32_t **const columns[] = {&labels->range_parent, &labels->range_sibling, &labels->range_last,
                                  &labels->range_level, &labels->range_order};
    size_t taken_bytes = 0;
    void *block =
        gt_arena_uninitialised(&labels->arenas[GT_PASS_TREES], count, GT_ARRAY_COUNT(columns) * sizeof **columns[0]);
    for (size_t i = 0; i < GT_ARRAY_COUNT(columns) && block; i++)
        *columns[i] = gt_carve_column(block, &taken_bytes, count, sizeof **columns[i]);
    return block;
}

static bool forest_init(struct gt_range_forest *forest, const struct gt_store *store, struct gt_labels *labels,
                        struct gt_arena *scratch) {
    *forest = (struct gt_range_forest){
        .store = store, .labels = labels, .track_count = store->threads.count + store->lanes.count};
    if (!new_columns(labels, store->ranges.count))
        return false;
    forest->order = labels->range_order;
    forest->bounds = gt_arena_array(scratch, forest->track_count + 1, sizeof *forest->bounds);
    return forest->bounds;
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

/* A range of no tree is alone. */
static void set_apart(struct gt_labels *labels, uint32_t range) {
    labels->range_parent[range] = labels->range_sibling[range] = labels->range_last[range] = GT_NO_ROW;
    labels->range_level[range] = 0;
}

/* Slices of the ranges: first how many ranges each has of a track, then where its next one goes. */
struct grouping {
    struct gt_range_forest *forest;
    size_t *places; /* by slice and track */
};

static void count_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct grouping *it = context;
    size_t *counts = it->places + slice * it->forest->track_count;
    for (size_t range = begin; range < end; range++) {
        uint32_t track = track_of_range(it->forest->store, range);
        if (track != GT_NO_TRACK)
            counts[track]++;
    }
}

static void place_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct grouping *it = context;
    struct gt_range_forest *forest = it->forest;
    size_t *places = it->places + slice * forest->track_count;
    for (uint32_t range = (uint32_t)begin; range < end; range++) {
        uint32_t track = track_of_range(forest->store, range);
        if (track != GT_NO_TRACK)
            forest->order[places[track]++] = range;
        else
            set_apart(forest->labels, range);
    }
}

/* false: memory was short. */
static bool group_by_track(struct gt_range_forest *forest, size_t threads) {
    size_t range_count = forest->store->ranges.count, next = 0;
    size_t slices = gt_threads_slices(threads, range_count, forest->track_count);
    struct grouping it = {forest, gt_mem_array(slices * forest->track_count, sizeof *it.places)};
    if (!it.places)
        return false;
    gt_threads_rows(slices, range_count, count_slice, &it);
    for (size_t track = 0; track < forest->track_count; track++) {
        forest->bounds[track] = next;
        for (size_t slice = 0; slice < slices; slice++) {
            size_t *place = &it.places[slice * forest->track_count + track], count = *place;
            *place = next;
            next += count;
        }
    }
    forest->bounds[forest->track_count] = next;
    gt_threads_rows(slices, range_count, place_slice, &it);
    forest->labels->range_order_count = next;
    gt_mem_free(it.places);
    return true;
}

/* ---- trees ---- */

/* How far the ranges of a track have their places in trees. */
struct track_growth {
    const uint32_t *rows;
    size_t count, next;
    uint32_t last_root, deepest; /* deepest: the greatest number of ancestors */
};

static bool is_in_order(const struct gt_ranges *ranges, uint32_t before, uint32_t range) {
    if (ranges->start_ns[before] != ranges->start_ns[range])
        return ranges->start_ns[before] < ranges->start_ns[range];
    return ranges->end_ns[before] != ranges->end_ns[range] ? ranges->end_ns[before] > ranges->end_ns[range]
                                                           : before < range;
}

/* The parent is the last range before it that ends no earlier. Climbing from the range just before finds it in
   amortised constant time. The ends of the children of a parent grow from one to the next. Stops in front of a row that
   is not below the limit. false: it met ranges that are out of order. */
static bool grow_tree(struct gt_range_forest *forest, struct track_growth *track, size_t row_limit) {
    const struct gt_ranges *ranges = &forest->store->ranges;
    struct gt_labels *labels = forest->labels;
    const uint32_t *rows = track->rows;
    size_t next = track->next, count = track->count; /* its neighbours may be another thread's: it is written once */
    uint32_t last_root = track->last_root, deepest = track->deepest;
    for (; next < count && rows[next] < row_limit; next++) {
        uint32_t range = rows[next], parent = next ? rows[next - 1] : GT_NO_ROW;
        if (parent != GT_NO_ROW && !is_in_order(ranges, parent, range))
            return false;
        while (parent != GT_NO_ROW && ranges->end_ns[parent] < ranges->end_ns[range])
            parent = labels->range_parent[parent];
        uint32_t *last = parent == GT_NO_ROW ? &last_root : &labels->range_last[parent];
        bool is_reached = *last != GT_NO_ROW && ranges->end_ns[*last] >= ranges->start_ns[range];
        uint32_t level = parent == GT_NO_ROW ? 0 : labels->range_level[parent] + 1;
        labels->range_sibling[range] = is_reached ? *last : GT_NO_ROW;
        *last = range;
        labels->range_last[range] = GT_NO_ROW;
        labels->range_parent[range] = parent;
        labels->range_level[range] = level;
        deepest = level > deepest ? level : deepest;
    }
    *track = (struct track_growth){rows, count, next, last_root, deepest};
    return true;
}

struct growth {
    struct gt_range_forest *forest;
    struct track_growth *tracks;
    size_t task_count;
    atomic_bool failed, is_deep;
};

static void begin_track(struct growth *growth, size_t track) {
    const struct gt_range_forest *forest = growth->forest;
    growth->tracks[track] = (struct track_growth){.rows = forest->order + forest->bounds[track],
                                                  .count = forest->bounds[track + 1] - forest->bounds[track],
                                                  .last_root = GT_NO_ROW};
}

/* false: memory was short. */
static bool grow_sorted(struct growth *growth, size_t track) {
    const struct gt_ranges *ranges = &growth->forest->store->ranges;
    begin_track(growth, track);
    return gt_spans_sort(growth->forest->order + growth->forest->bounds[track], growth->tracks[track].count,
                         ranges->start_ns, ranges->end_ns) &&
           grow_tree(growth->forest, &growth->tracks[track], SIZE_MAX);
}

/* The first track of a task: each has about as many ranges. */
static size_t first_track(const struct growth *growth, size_t task) {
    const struct gt_range_forest *forest = growth->forest;
    size_t place = gt_threads_slice_begin(forest->bounds[forest->track_count], growth->task_count, task);
    size_t low = 0, high = forest->track_count;
    while (low < high && task) {
        size_t middle = low + (high - low) / 2;
        if (forest->bounds[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return task == growth->task_count ? forest->track_count : low;
}

/* A range is of one track: tracks share nothing. Tracks take turns in the file, so those of a task grow in turn, a
   piece of the file at a time: what one of them fetches is still in the cache for the next. */
static void grow_tracks(void *context, size_t task) {
    enum { LEAST_ROWS = 8192, ROWS_PER_TRACK = 16 };
    struct growth *growth = context;
    size_t begin = first_track(growth, task), end = first_track(growth, task + 1);
    size_t range_count = growth->forest->store->ranges.count;
    size_t rows = LEAST_ROWS + ROWS_PER_TRACK * (end - begin), limit = 0;
    for (size_t track = begin; track < end; track++)
        begin_track(growth, track);
    while (begin < end && limit < range_count) {
        limit = rows < range_count - limit ? limit + rows : SIZE_MAX;
        for (size_t track = begin; track < end; track++)
            if (!grow_tree(growth->forest, &growth->tracks[track], limit) && !grow_sorted(growth, track)) {
                atomic_store(&growth->failed, true);
                return;
            }
    }
    for (size_t track = begin; track < end; track++)
        if (growth->tracks[track].deepest >= DEEP)
            atomic_store(&growth->is_deep, true);
}

/* Jumps double back like the digits of a skew binary number: any ancestor is a logarithmic number of them away. */
static uint32_t jump_from(const struct gt_range_forest *forest, uint32_t parent) {
    const uint32_t *level = forest->labels->range_level;
    uint32_t near = forest->jump[parent], far = forest->jump[near];
    return level[parent] - level[near] == level[near] - level[far] ? far : parent;
}

static void link_track(void *context, size_t track) {
    const struct gt_range_forest *forest = context;
    for (size_t i = forest->bounds[track]; i < forest->bounds[track + 1]; i++) {
        uint32_t range = forest->order[i], parent = forest->labels->range_parent[range];
        forest->jump[range] = parent == GT_NO_ROW ? range : jump_from(forest, parent);
    }
}

static bool grow_all(struct gt_range_forest *forest, struct growth *growth, size_t slices) {
    growth->forest = forest;
    growth->task_count = slices;
    growth->tracks = gt_mem_array(forest->track_count, sizeof *growth->tracks);
    if (!growth->tracks)
        return false;
    gt_threads_deal(slices, slices, grow_tracks, growth);
    gt_mem_free(growth->tracks);
    return !growth->failed;
}

static enum gt_status grow_trees(const struct gt_store *store, struct gt_labels *labels,
                                 struct gt_label_scratch *scratch, struct gt_error *err) {
    struct gt_range_forest *forest = scratch->ranges = gt_arena_alloc(&scratch->range_arena, sizeof *forest);
    struct growth growth = {0};
    if (!forest || !forest_init(forest, store, labels, &scratch->range_arena) ||
        !group_by_track(forest, scratch->threads))
        return gt_fail_memory(err);
    size_t slices = gt_threads_slices(scratch->threads, store->ranges.count, 0);
    if (!grow_all(forest, &growth, slices))
        return gt_fail_memory(err);
    if (!growth.is_deep)
        return GT_OK;
    forest->jump = gt_arena_uninitialised(&scratch->range_arena, store->ranges.count, sizeof *forest->jump);
    if (!forest->jump)
        return gt_fail_memory(err);
    gt_threads_deal(slices, forest->track_count, link_track, forest);
    return GT_OK;
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

/* An ancestor of a range that ends before end_ns: no further up than the first that does not. */
static uint32_t climb(const struct gt_range_forest *forest, uint32_t range, int64_t end_ns) {
    uint32_t far = forest->jump ? forest->jump[range] : range;
    return far != range && forest->store->ranges.end_ns[far] < end_ns ? far : forest->labels->range_parent[range];
}

/* The last range of the track that begins at start_ns or before and ends at end_ns or after. Up the tree ranges end
   ever later, and what lies between a range and its parent in the order ends before that range does. The same range is
   found while no other one of the track begins, for ends after over_ns. */
static uint32_t find_innermost(struct gt_range_forest *forest, uint32_t track, int64_t start_ns, int64_t end_ns,
                               int64_t *over_ns) {
    const int64_t *range_end_ns = forest->store->ranges.end_ns;
    if (start_ns < forest->cursors[track].from_ns || start_ns >= forest->cursors[track].to_ns)
        move_cursor(forest, track, start_ns);
    uint32_t range = forest->cursors[track].range;
    *over_ns = INT64_MIN;
    while (range != GT_NO_ROW && range_end_ns[range] < end_ns) {
        *over_ns = range_end_ns[range];
        range = climb(forest, range, end_ns);
    }
    return range;
}

static uint32_t range_of_stream(struct gt_range_forest *forest, uint32_t op) {
    const struct gt_ops *ops = &forest->store->ops;
    uint32_t track = (uint32_t)forest->store->threads.count + ops->lane[op];
    int64_t over_ns;
    return find_innermost(forest, track, ops->start_ns[op], ops->end_ns[op], &over_ns);
}

/* What was found last for a call of a thread. It holds for all calls of the thread that begin at from_ns or later and
   before to_ns, and end after over_ns and no later than reach_ns. Zeroed: nothing was found. */
struct found {
    int64_t from_ns, to_ns, over_ns, reach_ns;
    uint64_t step_ns; /* length of the step */
    uint32_t range, step;
};

struct attribution {
    const struct gt_store *store;
    struct gt_labels *labels;
    struct gt_range_forest ranges; /* with the cursors of all slices, like the two below */
    struct gt_step_tree steps;
    struct found *found;         /* by thread, the last for GT_NO_TRACK */
    size_t threads;              /* of these in a slice */
    atomic_uint_fast64_t longer; /* ops than their steps */
};

/* What a slice of ops looks up calls in. */
struct lookup {
    struct gt_range_forest ranges;
    struct gt_step_tree steps;
    struct found *found;
};

static struct lookup begin_slice(const struct attribution *all, size_t slice) {
    struct lookup own = {all->ranges, all->steps, all->found + slice * all->threads};
    own.ranges.cursors += slice * all->ranges.track_count;
    own.steps.cursors += slice * gt_step_tree_cursor_count(all->store);
    return own;
}

/* No op is longer than no step. */
static uint64_t length_of_step(const struct gt_labels *labels, uint32_t step) {
    return step == GT_NO_ROW ? UINT64_MAX
                             : (uint64_t)labels->steps[step].end_ns - (uint64_t)labels->steps[step].start_ns;
}

static int64_t lower(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t higher(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static void find(struct lookup *own, const struct gt_labels *labels, uint32_t call, struct found *out) {
    const struct gt_store *store = own->ranges.store;
    uint32_t thread = store->calls.thread[call];
    struct gt_step_found step = gt_step_tree_find(&own->steps, store, call);
    struct found found = {.from_ns = step.from_ns,
                          .to_ns = step.to_ns,
                          .over_ns = step.over_ns,
                          .reach_ns = step.reach_ns,
                          .step_ns = length_of_step(labels, step.step),
                          .range = GT_NO_ROW,
                          .step = step.step};
    *out = found;
    if (thread == GT_NO_TRACK)
        return;
    int64_t over_ns;
    found.range =
        find_innermost(&own->ranges, thread, store->calls.start_ns[call], store->calls.end_ns[call], &over_ns);
    const struct cursor *cursor = &own->ranges.cursors[thread];
    found.from_ns = higher(found.from_ns, cursor->from_ns);
    found.to_ns = lower(found.to_ns, cursor->to_ns);
    found.over_ns = higher(found.over_ns, over_ns);
    if (found.range != GT_NO_ROW)
        found.reach_ns = lower(found.reach_ns, store->ranges.end_ns[found.range]);
    *out = found;
}

static bool holds(const struct found *found, int64_t start_ns, int64_t end_ns) {
    return start_ns >= found->from_ns && start_ns < found->to_ns && end_ns > found->over_ns &&
           end_ns <= found->reach_ns;
}

/* An op without a launch call. */
static void attribute_alone(const struct attribution *all, struct lookup *own, uint32_t op) {
    all->labels->op_range[op] = own->ranges.has_streams ? range_of_stream(&own->ranges, op) : GT_NO_ROW;
    all->labels->op_step[op] = GT_NO_ROW;
}

static void attribute_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct attribution *all = context;
    struct lookup own = begin_slice(all, slice);
    const int64_t *op_start_ns = all->store->ops.start_ns, *op_end_ns = all->store->ops.end_ns;
    const int64_t *call_start_ns = all->store->calls.start_ns, *call_end_ns = all->store->calls.end_ns;
    const uint32_t *call_thread = all->store->calls.thread, *op_call = all->labels->op_call;
    uint32_t *op_range = all->labels->op_range, *op_step = all->labels->op_step;
    uint32_t no_thread = (uint32_t)(all->threads - 1);
    uint64_t longer = 0;
    for (size_t op = begin; op < end; op++) {
        uint32_t call = op_call[op];
        if (call == GT_NO_ROW) {
            attribute_alone(all, &own, (uint32_t)op);
            continue;
        }
        uint32_t thread = call_thread[call];
        struct found *found = &own.found[thread < no_thread ? thread : no_thread];
        if (!holds(found, call_start_ns[call], call_end_ns[call]))
            find(&own, all->labels, call, found);
        op_range[op] = found->range;
        op_step[op] = found->step;
        longer += (uint64_t)op_end_ns[op] - (uint64_t)op_start_ns[op] > found->step_ns;
    }
    atomic_fetch_add(&all->longer, longer);
}

static bool attribute_all(struct attribution *all, size_t threads) {
    const struct gt_store *store = all->store;
    struct gt_range_forest *ranges = &all->ranges;
    size_t step_cursors = gt_step_tree_cursor_count(store);
    size_t own_items = ranges->track_count + step_cursors + all->threads;
    size_t slices = gt_threads_slices(threads, store->ops.count, own_items);
    ranges->has_streams = ranges->bounds[store->threads.count] < ranges->bounds[ranges->track_count];
    ranges->cursors = gt_mem_array(slices * ranges->track_count, sizeof *ranges->cursors);
    all->steps.cursors = gt_mem_array(slices * step_cursors, sizeof *all->steps.cursors);
    all->found = gt_mem_array(slices * all->threads, sizeof *all->found);
    bool ok = ranges->cursors && all->steps.cursors && all->found;
    if (ok)
        gt_threads_rows(slices, store->ops.count, attribute_slice, all);
    gt_mem_free(ranges->cursors);
    gt_mem_free(all->steps.cursors);
    gt_mem_free(all->found);
    return ok;
}

static enum gt_status attribute_ops(const struct gt_store *store, struct gt_labels *labels,
                                    struct gt_label_scratch *scratch, struct gt_error *err) {
    struct gt_arena *arena = &labels->arenas[GT_PASS_ATTRIBUTE];
    if (store->ranges.count == 0 && store->calls.count == 0) { /* the column of calls says the same of every op */
        labels->op_range = labels->op_step = labels->op_call;
        return GT_OK;
    }
    labels->op_range = gt_arena_uninitialised(arena, store->ops.count, sizeof *labels->op_range);
    if (!labels->op_range)
        return gt_fail_memory(err);
    if (store->ranges.count == 0) { /* no steps either */
        gt_label_no_rows(labels->op_range, store->ops.count);
        labels->op_step = labels->op_range;
        return GT_OK;
    }
    labels->op_step = gt_arena_uninitialised(arena, store->ops.count, sizeof *labels->op_step);
    struct attribution all = {.store = store,
                              .labels = labels,
                              .ranges = *scratch->ranges,
                              .steps = *scratch->steps,
                              .threads = store->threads.count + 1};
    if (!labels->op_step || !attribute_all(&all, scratch->threads))
        return gt_fail_memory(err);
    labels->issues[GT_ISSUE_OP_LONGER_THAN_STEP] = all.longer;
    return GT_OK;
}

const struct gt_label_pass gt_label_pass_trees = {"trees", "trees of ranges", GT_LABEL_FIRST, grow_trees};
const struct gt_label_pass gt_label_pass_attribute = {"attribute", "ranges and steps of ops", GT_LABEL_SECOND,
                                                      attribute_ops};
