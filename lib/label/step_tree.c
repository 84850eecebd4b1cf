/* Steps sorted by process and start, with a tree of the latest ends. */
#include "label/step_tree.h"

#include <stdlib.h>

#include "base/mem.h"

#define NO_SPAN UINT32_MAX

/* So many steps are looked at one by one before the tree is asked: they hardly nest deeper. */
#define NEAR 16

static int compare(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int by_process(const void *a, const void *b) {
    const struct gt_step_span *x = a, *y = b;
    int order = compare(x->process, y->process);
    order = order ? order : compare(x->start_ns, y->start_ns);
    order = order ? order : compare(y->end_ns, x->end_ns);
    return order ? order : compare(x->step, y->step);
}

void gt_step_tree_sort(void *items, size_t count, size_t size, int (*order)(const void *, const void *)) {
    const char *bytes = items;
    size_t sorted = 1;
    while (sorted < count && order(bytes + (sorted - 1) * size, bytes + sorted * size) <= 0)
        sorted++;
    if (sorted < count)
        qsort(items, count, size, order);
}

/* Of what there is for each process: the last is for GT_NO_TRACK, which also sorts last. */
static size_t place_of(const struct gt_store *store, uint32_t process) {
    return process == GT_NO_TRACK ? store->processes.count : process;
}

/* Steps come in order of start: dealt to their processes they are nearly sorted. */
static bool sort_spans(struct gt_step_tree *tree, const struct gt_store *store, const struct gt_labels *labels) {
    size_t process_count = store->processes.count + 1;
    size_t *places = gt_mem_array(process_count + 1, sizeof *places); /* where the next span of a process goes */
    if (!places)
        return false;
    for (size_t i = 0; i < tree->count; i++)
        places[place_of(store, labels->steps[i].process) + 1]++;
    for (size_t i = 1; i < process_count; i++)
        places[i] += places[i - 1];
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct gt_step *step = &labels->steps[i];
        tree->spans[places[place_of(store, step->process)]++] =
            (struct gt_step_span){step->start_ns, step->end_ns, step->process, i, NO_SPAN, 0};
    }
    gt_mem_free(places);
    gt_step_tree_sort(tree->spans, tree->count, sizeof *tree->spans, by_process);
    return true;
}

/* Links each span to the last one before it that ends later; how deep the deepest is. */
static uint32_t link_spans(struct gt_step_tree *tree) {
    uint32_t deepest = 0;
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t longer = i - 1;
        while (longer != NO_SPAN && tree->spans[longer].end_ns <= tree->spans[i].end_ns)
            longer = tree->spans[longer].longer;
        tree->spans[i].longer = longer;
        tree->spans[i].depth = longer == NO_SPAN ? 0 : tree->spans[longer].depth + 1;
        deepest = tree->spans[i].depth > deepest ? tree->spans[i].depth : deepest;
    }
    return deepest;
}

bool gt_step_tree_init(struct gt_step_tree *tree, const struct gt_store *store, const struct gt_labels *labels,
                       struct gt_arena *arena) {
    *tree = (struct gt_step_tree){.count = labels->step_count, .leaf_count = 1};
    while (tree->leaf_count < tree->count)
        tree->leaf_count *= 2;
    tree->spans = gt_arena_uninitialised(arena, tree->count, sizeof *tree->spans);
    if (gt_arena_failed(arena) || !sort_spans(tree, store, labels))
        return false;
    if (link_spans(tree) < NEAR)
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

/* When the last of a span and those before it, as far as they are of its process, ends; INT64_MAX: not soon found. */
static int64_t latest_own(const struct gt_step_tree *tree, size_t at) {
    for (size_t i = 0; i < NEAR; i++) {
        uint32_t longer = tree->spans[at].longer;
        if (longer == NO_SPAN || tree->spans[longer].process != tree->spans[at].process)
            return tree->spans[at].end_ns;
        at = longer;
    }
    return INT64_MAX;
}

static bool has_begun(const struct gt_step_span *span, uint32_t process, int64_t time_ns) {
    return span->process < process || (span->process == process && span->start_ns <= time_ns);
}

/* Calls of a process mostly come in order of time: the search sets out from where the last one ended, in growing
   strides. */
static struct gt_step_cursor find_begun(const struct gt_step_tree *tree, size_t begun, uint32_t process,
                                        int64_t time_ns) {
    size_t low = 0, high = tree->count;
    if (begun > 0 && has_begun(&tree->spans[begun - 1], process, time_ns))
        low = begun;
    else if (begun > 0)
        high = begun - 1;
    for (size_t stride = 0; low < high; stride = 2 * stride + 1) {
        size_t middle = low + (high - low) / 2, at = stride < middle - low ? low + stride : middle;
        if (has_begun(&tree->spans[at], process, time_ns))
            low = at + 1;
        else
            high = at;
    }
    const struct gt_step_span *next = &tree->spans[low];
    bool has_own = low && next[-1].process == process;
    return (struct gt_step_cursor){
        .from_ns = has_own ? next[-1].start_ns : INT64_MIN,
        .to_ns = low < tree->count && next->process == process ? next->start_ns : INT64_MAX,
        .begun = low,
        .step = has_own ? next[-1].step : GT_NO_ROW,
        .first_ns = has_own ? next[-1].end_ns : INT64_MIN,
        .latest_ns = has_own ? latest_own(tree, low - 1) : INT64_MIN,
    };
}

/* Most calls are in the step of the one before. */
uint32_t gt_step_tree_of_call(struct gt_step_tree *tree, const struct gt_store *store, uint32_t call) {
    uint32_t process = gt_labels_call_process(store, call);
    int64_t start_ns = store->calls.start_ns[call], end_ns = store->calls.end_ns[call];
    struct gt_step_cursor *cursor = &tree->cursors[place_of(store, process)];
    if (start_ns < cursor->from_ns || start_ns >= cursor->to_ns)
        *cursor = find_begun(tree, cursor->begun, process, start_ns);
    if (end_ns <= cursor->first_ns)
        return cursor->step;
    if (end_ns > cursor->latest_ns)
        return GT_NO_ROW;
    size_t found = cursor->begun ? last_reaching(tree, cursor->begun - 1, end_ns) : SIZE_MAX;
    return found != SIZE_MAX && tree->spans[found].process == process ? tree->spans[found].step : GT_NO_ROW;
}
