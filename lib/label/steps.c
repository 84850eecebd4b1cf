/* Steps of the program: in come ranges and launch calls, out go labels->steps and labels->op_step. An op belongs to the
   step that launched it, on whichever thread: backward kernels come from the autograd thread. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "label/label.h"

/* A step as calls look it up: sorted by process, start, longer first, place in labels->steps. */
struct span {
    int64_t start_ns, end_ns;
    uint32_t process, step;
};

/* The spans, with the latest end of each subtree: node n has children 2n and 2n + 1, span i is leaf leaf_count + i. */
struct span_tree {
    struct span *spans;
    size_t count, leaf_count;
    int64_t *latest_end_ns;
};

/* Which ranges are steps, and their number. */
static bool parse_step_name(struct gt_str name, int64_t *number) {
    static const struct gt_str prefix = GT_STR("ProfilerStep#");
    uint64_t digits;
    if (!gt_str_starts(name, prefix) ||
        !gt_num_parse_uint((struct gt_str){name.ptr + prefix.len, name.len - prefix.len}, &digits) ||
        digits > INT64_MAX)
        return false;
    *number = (int64_t)digits;
    return true;
}

/* Kineto's copies of the steps on the GPU's side are microseconds long and tell nothing. */
static bool is_step(const struct gt_store *store, size_t range, int64_t *number) {
    enum gt_range_kind kind = (enum gt_range_kind)store->ranges.kind[range];
    return kind != GT_RANGE_GPU && kind != GT_RANGE_MARK && store->ranges.thread[range] != GT_NO_TRACK &&
           parse_step_name(gt_store_string(store, store->ranges.name[range]), number);
}

static int compare(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int by_start(const void *a, const void *b) {
    const struct gt_step *x = a, *y = b;
    int order = compare(x->start_ns, y->start_ns);
    order = order ? order : compare(x->number, y->number);
    return order ? order : compare(x->range, y->range);
}

static int by_process(const void *a, const void *b) {
    const struct span *x = a, *y = b;
    int order = compare(x->process, y->process);
    order = order ? order : compare(x->start_ns, y->start_ns);
    order = order ? order : compare(y->end_ns, x->end_ns);
    return order ? order : compare(x->step, y->step);
}

static bool collect_steps(const struct gt_store *store, struct gt_labels *labels) {
    const struct gt_ranges *ranges = &store->ranges;
    int64_t number;
    for (size_t i = 0; i < ranges->count; i++)
        labels->step_count += is_step(store, i, &number);
    labels->steps = gt_arena_array(&labels->arena, labels->step_count, sizeof *labels->steps);
    if (!labels->steps)
        return false;
    size_t filled = 0;
    for (size_t i = 0; i < ranges->count; i++)
        if (is_step(store, i, &number))
            labels->steps[filled++] = (struct gt_step){.number = number,
                                                       .start_ns = ranges->start_ns[i],
                                                       .end_ns = ranges->end_ns[i],
                                                       .process = store->threads.process[ranges->thread[i]],
                                                       .range = (uint32_t)i};
    qsort(labels->steps, labels->step_count, sizeof *labels->steps, by_start);
    return true;
}

static void tree_release(struct span_tree *tree) {
    gt_free(tree->spans);
    gt_free(tree->latest_end_ns);
}

static bool tree_init(struct span_tree *tree, const struct gt_labels *labels) {
    *tree = (struct span_tree){.count = labels->step_count, .leaf_count = 1};
    while (tree->leaf_count < tree->count)
        tree->leaf_count *= 2;
    tree->spans = gt_alloc_array(tree->count, sizeof *tree->spans);
    tree->latest_end_ns = gt_alloc_array(2 * tree->leaf_count, sizeof *tree->latest_end_ns);
    if (!tree->spans || !tree->latest_end_ns)
        return false;
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct gt_step *step = &labels->steps[i];
        tree->spans[i] = (struct span){step->start_ns, step->end_ns, step->process, i};
    }
    qsort(tree->spans, tree->count, sizeof *tree->spans, by_process);
    for (size_t i = 0; i < tree->leaf_count; i++)
        tree->latest_end_ns[tree->leaf_count + i] = i < tree->count ? tree->spans[i].end_ns : INT64_MIN;
    for (size_t node = tree->leaf_count - 1; node > 0; node--) {
        int64_t left = tree->latest_end_ns[2 * node], right = tree->latest_end_ns[2 * node + 1];
        tree->latest_end_ns[node] = left > right ? left : right;
    }
    return true;
}

/* The last span at or before `at` that ends at or after end_ns; SIZE_MAX if none. Logarithmic even where steps nest. */
static size_t last_reaching(const struct span_tree *tree, size_t at, int64_t end_ns) {
    const int64_t *latest = tree->latest_end_ns;
    size_t node = tree->leaf_count + at;
    if (latest[node] >= end_ns)
        return at;
    for (; node > 1; node /= 2) {
        if (node % 2 == 0 || latest[node - 1] < end_ns)
            continue;
        for (node--; node < tree->leaf_count;)
            node = latest[2 * node + 1] >= end_ns ? 2 * node + 1 : 2 * node;
        return node - tree->leaf_count;
    }
    return SIZE_MAX;
}

/* The innermost step of the call's process that encloses it. */
static uint32_t step_of_call(const struct span_tree *tree, const struct gt_store *store, uint32_t call) {
    uint32_t process = gt_store_call_process(store, call);
    int64_t start_ns = store->calls.start_ns[call];
    size_t low = 0, high = tree->count; /* spans before low begin at or before the call, those from high on behind it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct span *span = &tree->spans[middle];
        if (span->process < process || (span->process == process && span->start_ns <= start_ns))
            low = middle + 1;
        else
            high = middle;
    }
    size_t found = low ? last_reaching(tree, low - 1, store->calls.end_ns[call]) : SIZE_MAX;
    return found != SIZE_MAX && tree->spans[found].process == process ? tree->spans[found].step : GT_NO_ROW;
}

static void attribute_ops(const struct gt_store *store, struct gt_labels *labels, const struct span_tree *tree) {
    uint32_t last_call = GT_NO_ROW, step = GT_NO_ROW;
    for (uint32_t op = 0; op < store->ops.count; op++) {
        uint32_t call = labels->op_call[op];
        if (call != last_call) /* graph nodes come in runs of one call */
            step = call == GT_NO_ROW ? GT_NO_ROW : step_of_call(tree, store, call);
        last_call = call;
        labels->op_step[op] = step;
        if (step != GT_NO_ROW) {
            uint64_t op_ns = (uint64_t)store->ops.end_ns[op] - (uint64_t)store->ops.start_ns[op];
            uint64_t step_ns = (uint64_t)labels->steps[step].end_ns - (uint64_t)labels->steps[step].start_ns;
            labels->issues[GT_ISSUE_OP_LONGER_THAN_STEP] += op_ns > step_ns;
        }
    }
}

static enum gt_status find_steps(const struct gt_store *store, struct gt_labels *labels, struct gt_error *err) {
    struct span_tree tree = {0};
    enum gt_status status = GT_OK;
    labels->op_step = gt_arena_array(&labels->arena, store->ops.count, sizeof *labels->op_step);
    if (!labels->op_step || !collect_steps(store, labels) || !tree_init(&tree, labels)) {
        status = gt_fail_memory(err);
        goto out;
    }
    attribute_ops(store, labels, &tree);
out:
    tree_release(&tree);
    return status;
}

const struct gt_label_pass gt_label_pass_steps = {"steps", "steps of ops", find_steps};
