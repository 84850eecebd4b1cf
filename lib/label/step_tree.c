/* Steps sorted by process and start, with a tree of the latest ends. */
#include "label/step_tree.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/threads.h"

#define NO_SPAN UINT32_MAX

/* So many steps are looked at one by one before the tree is asked: they hardly nest deeper. */
#define NEAR 16

static int compare(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int by_process(const void *a, const void *b, void *context) {
    const struct gt_step *steps = ((const struct gt_step_tree *)context)->steps;
    const struct gt_step_span *x = a, *y = b;
    int order = compare(steps[x->step].process, steps[y->step].process);
    order = order ? order : compare(steps[x->step].start_ns, steps[y->step].start_ns);
    order = order ? order : compare(y->end_ns, x->end_ns);
    return order ? order : compare(x->step, y->step);
}

static bool are_sorted(struct gt_step_tree *tree) {
    for (size_t i = 1; i < tree->count; i++)
        if (by_process(&tree->spans[i - 1], &tree->spans[i], tree) > 0)
            return false;
    return true;
}

/* Of what there is for each process: the last is for GT_NO_TRACK, which also sorts last. */
static size_t place_of(const struct gt_store *store, uint32_t process) {
    return process == GT_NO_TRACK ? store->processes.count : process;
}

/* Steps dealt to their processes. */
struct dealing {
    struct gt_step_tree *tree;
    const struct gt_store *store;
    size_t process_count; /* with the place for GT_NO_TRACK */
    size_t slices;
    size_t *places; /* by slice and process: first how many steps, then where its next span of that process goes */
    atomic_bool has_ties; /* steps begin at the same time */
    atomic_bool is_deep;  /* there are steps that the tree would be asked for */
};

static void count_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct dealing *dealing = context;
    size_t *counts = dealing->places + slice * dealing->process_count;
    for (size_t i = begin; i < end; i++)
        counts[place_of(dealing->store, dealing->tree->steps[i].process)]++;
}

static void place_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct dealing *dealing = context;
    const struct gt_step *steps = dealing->tree->steps;
    size_t *places = dealing->places + slice * dealing->process_count;
    bool has_ties = false;
    for (size_t i = begin; i < end; i++) {
        const struct gt_step *step = &steps[i];
        dealing->tree->spans[places[place_of(dealing->store, step->process)]++] =
            (struct gt_step_span){step->end_ns, (uint32_t)i, NO_SPAN};
        has_ties |= i && step->start_ns == step[-1].start_ns;
    }
    if (has_ties)
        atomic_store(&dealing->has_ties, true);
}

/* Steps come in order of start: dealt to their processes they are sorted, but for those that begin at the same time. */
static void deal_spans(struct dealing *dealing, size_t threads) {
    struct gt_step_tree *tree = dealing->tree;
    size_t next = 0;
    gt_threads_rows(dealing->slices, tree->count, count_slice, dealing);
    for (size_t p = 0; p < dealing->process_count; p++) {
        tree->bounds[p] = next;
        for (size_t s = 0; s < dealing->slices; s++) {
            size_t *place = &dealing->places[s * dealing->process_count + p], count = *place;
            *place = next;
            next += count;
        }
    }
    tree->bounds[dealing->process_count] = next;
    gt_threads_rows(dealing->slices, tree->count, place_slice, dealing);
    if (dealing->has_ties && !are_sorted(tree))
        gt_sort(tree->spans, tree->count, sizeof *tree->spans, by_process, tree, threads);
}

/* Links each span of a process to the last one before it that ends later. As many links lead up from it as it is deep.
 */
static void link_process(void *context, size_t process) {
    struct dealing *dealing = context;
    struct gt_step_span *spans = dealing->tree->spans;
    size_t depth = 0, deepest = 0;
    for (size_t i = dealing->tree->bounds[process] + 1; i < dealing->tree->bounds[process + 1]; i++) {
        uint32_t longer = (uint32_t)i - 1;
        for (depth++; longer != NO_SPAN && spans[longer].end_ns <= spans[i].end_ns; depth--)
            longer = spans[longer].longer;
        spans[i].longer = longer;
        deepest = depth > deepest ? depth : deepest;
    }
    if (deepest >= NEAR)
        atomic_store(&dealing->is_deep, true);
}

/* Fills the spans. false: memory was short. */
static bool make_spans(struct gt_step_tree *tree, const struct gt_store *store, size_t threads, bool *is_deep) {
    struct dealing dealing = {.tree = tree, .store = store, .process_count = store->processes.count + 1};
    dealing.slices = gt_threads_slices(threads, tree->count, dealing.process_count);
    dealing.places = gt_mem_array(dealing.slices * dealing.process_count, sizeof *dealing.places);
    if (!dealing.places)
        return false;
    deal_spans(&dealing, threads);
    gt_threads_deal(dealing.slices, dealing.process_count, link_process, &dealing);
    *is_deep = dealing.is_deep;
    gt_mem_free(dealing.places);
    return true;
}

bool gt_step_tree_init(struct gt_step_tree *tree, const struct gt_store *store, const struct gt_labels *labels,
                       struct gt_arena *arena, size_t threads) {
    bool is_deep;
    *tree = (struct gt_step_tree){.steps = labels->steps, .count = labels->step_count, .leaf_count = 1};
    while (tree->leaf_count < tree->count)
        tree->leaf_count *= 2;
    tree->spans = gt_arena_uninitialised(arena, tree->count, sizeof *tree->spans);
    tree->bounds = gt_arena_array(arena, store->processes.count + 2, sizeof *tree->bounds);
    if (gt_arena_failed(arena) || !make_spans(tree, store, threads, &is_deep))
        return false;
    if (!is_deep)
        return true;
    tree->latest_end_ns = gt_arena_uninitialised(arena, 2 * tree->leaf_count, sizeof *tree->latest_end_ns);
    if (gt_arena_failed(arena))
        return false;
    for (size_t i = 0; i < tree->leaf_count; i++)
        tree->latest_end_ns[tree->leaf_count + i] = i < tree->count ? tree->spans[i].end_ns : INT64_MIN;
    for (size_t node = tree->leaf_count - 1; node > 0; node--) {
        int64_t left = tree->latest_end_ns[2 * node], right = tree->latest_end_ns[2 * node + 1];
        tree->latest_end_ns[node] = left > right ? left : right;
    }
    return true;
}

/* The last span at or before `at` that ends at or after end_ns; SIZE_MAX if none. Logarithmic even where steps nest. */
static size_t last_reaching(const struct gt_step_tree *tree, size_t at, int64_t end_ns) {
    const int64_t *latest = tree->latest_end_ns;
    for (size_t i = 0; i < NEAR; i++) {
        if (tree->spans[at].end_ns >= end_ns)
            return at;
        if (tree->spans[at].longer == NO_SPAN)
            return SIZE_MAX;
        at = tree->spans[at].longer;
    }
    size_t node = tree->leaf_count + at + 1; /* those after this one end too early */
    for (; node > 1; node /= 2) {
        if (node % 2 == 0 || latest[node - 1] < end_ns)
            continue;
        for (node--; node < tree->leaf_count;)
            node = latest[2 * node + 1] >= end_ns ? 2 * node + 1 : 2 * node;
        return node - tree->leaf_count;
    }
    return SIZE_MAX;
}

/* When the last of a span and those of its process before it ends; INT64_MAX: not soon found. */
static int64_t latest_own(const struct gt_step_tree *tree, size_t at) {
    for (size_t i = 0; i < NEAR; i++) {
        uint32_t longer = tree->spans[at].longer;
        if (longer == NO_SPAN)
            return tree->spans[at].end_ns;
        at = longer;
    }
    return INT64_MAX;
}

/* Calls of a process mostly come in order of time: the search sets out from where the last one ended, in growing
   strides. */
static struct gt_step_cursor find_begun(const struct gt_step_tree *tree, size_t begun, size_t process,
                                        int64_t time_ns) {
    const struct gt_step *steps = tree->steps;
    size_t first = tree->bounds[process], end = tree->bounds[process + 1], low = first, high = end;
    if (begun > first && steps[tree->spans[begun - 1].step].start_ns <= time_ns)
        low = begun;
    else if (begun > first)
        high = begun - 1;
    for (size_t stride = 0; low < high; stride = 2 * stride + 1) {
        size_t middle = low + (high - low) / 2, at = stride < middle - low ? low + stride : middle;
        if (steps[tree->spans[at].step].start_ns <= time_ns)
            low = at + 1;
        else
            high = at;
    }
    const struct gt_step *last = low > first ? &steps[tree->spans[low - 1].step] : NULL;
    return (struct gt_step_cursor){
        .from_ns = last ? last->start_ns : INT64_MIN,
        .to_ns = low < end ? steps[tree->spans[low].step].start_ns : INT64_MAX,
        .begun = low,
        .step = last ? tree->spans[low - 1].step : GT_NO_ROW,
        .first_ns = last ? last->end_ns : INT64_MIN,
        .latest_ns = last ? latest_own(tree, low - 1) : INT64_MIN,
    };
}

/* Most calls are in the step of the one before. */
struct gt_step_found gt_step_tree_find(struct gt_step_tree *tree, const struct gt_store *store, uint32_t call) {
    size_t process = place_of(store, gt_labels_call_process(store, call));
    int64_t start_ns = store->calls.start_ns[call], end_ns = store->calls.end_ns[call];
    struct gt_step_cursor *cursor = &tree->cursors[process];
    if (start_ns < cursor->from_ns || start_ns >= cursor->to_ns)
        *cursor = find_begun(tree, cursor->begun, process, start_ns);
    struct gt_step_found found = {cursor->from_ns, cursor->to_ns, INT64_MIN, INT64_MAX, GT_NO_ROW};
    if (end_ns <= cursor->first_ns) {
        found.reach_ns = cursor->first_ns;
        found.step = cursor->step;
    } else if (end_ns > cursor->latest_ns) {
        found.over_ns = cursor->latest_ns;
    } else {
        size_t first = tree->bounds[process];
        size_t at = cursor->begun > first ? last_reaching(tree, cursor->begun - 1, end_ns) : SIZE_MAX;
        found.over_ns = end_ns - 1; /* later than when the first ends */
        found.reach_ns = end_ns;
        found.step = at != SIZE_MAX && at >= first ? tree->spans[at].step : GT_NO_ROW;
    }
    return found;
}
