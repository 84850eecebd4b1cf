/* Numbers the ranges of trees and finds those of an op that overlap its own. */
#include "measure/results/range_trees.h"

#include <string.h>

#include "base/mem.h"

/* ---- places ---- */

static void set_places(struct gt_range_trees *trees) {
    const struct gt_labels *labels = trees->view->labels;
    memset(trees->place, 0xFF, trees->view->store->ranges.count * sizeof *trees->place);
    for (size_t i = 0; i < trees->count; i++)
        trees->place[labels->range_order[i]] = (uint32_t)i;
}

/* Names of the ranges around the current one are open. */
static void find_outermost(struct gt_range_trees *trees, bool *is_open) {
    const struct gt_labels *labels = trees->view->labels;
    uint32_t before = GT_NO_ROW;
    for (size_t i = 0; i < trees->count; i++) {
        uint32_t range = labels->range_order[i], name = trees->ranges->name_of[range];
        for (; before != labels->range_parent[range]; before = labels->range_parent[before])
            if (trees->is_outermost[trees->place[before]])
                is_open[trees->ranges->name_of[before]] = false;
        trees->is_outermost[i] = name != GT_NO_ROW && !is_open[name];
        if (name != GT_NO_ROW)
            is_open[name] = true;
        before = range;
    }
}

static void set_ends(struct gt_range_trees *trees) {
    for (size_t i = 0; i < trees->count; i++)
        trees->end[i] = (uint32_t)i + 1;
    for (size_t i = trees->count; i-- > 0;) {
        uint32_t around = gt_range_trees_around(trees, (uint32_t)i);
        if (around != GT_NO_ROW && trees->end[around] < trees->end[i])
            trees->end[around] = trees->end[i];
    }
}

/* ---- ranges that overlap ---- */

static bool some_overlap(const struct gt_view *view) {
    for (size_t range = 0; range < view->store->ranges.count; range++)
        if (view->labels->range_sibling[range] != GT_NO_ROW)
            return true;
    return false;
}

static void set_knees(struct gt_range_trees *trees) {
    const struct gt_labels *labels = trees->view->labels;
    memset(trees->knee, 0xFF, trees->view->store->ranges.count * sizeof *trees->knee);
    for (size_t i = 0; i < trees->count; i++) {
        uint32_t range = labels->range_order[i], parent = labels->range_parent[range];
        bool is_knee = labels->range_sibling[range] != GT_NO_ROW;
        trees->knee[range] = is_knee ? range : parent == GT_NO_ROW ? GT_NO_ROW : trees->knee[parent];
    }
}

static bool take_name(struct gt_range_trees *trees, uint32_t range) {
    uint32_t name = trees->ranges->name_of[range];
    if (name == GT_NO_ROW || trees->seen[name] == trees->walks)
        return false;
    trees->seen[name] = trees->walks;
    return true;
}

void gt_range_trees_others(struct gt_range_trees *trees, size_t position, gt_range_trees_fn *take, void *context) {
    const struct gt_labels *labels = trees->view->labels;
    const struct gt_store *store = trees->view->store;
    uint32_t row = trees->view->row[position], innermost = labels->op_range[row];
    if (!trees->knee || innermost == GT_NO_ROW || trees->knee[innermost] == GT_NO_ROW)
        return;
    int64_t reach_ns = gt_labels_op_reach(labels, store, row);
    trees->walks++;
    for (uint32_t range = innermost; range != GT_NO_ROW; range = labels->range_parent[range])
        take_name(trees, range);
    for (uint32_t knee = trees->knee[innermost]; knee != GT_NO_ROW;) {
        uint32_t parent = labels->range_parent[knee];
        for (uint32_t range = gt_labels_next_range(labels, store, knee, reach_ns); range != parent;
             range = gt_labels_next_range(labels, store, range, reach_ns))
            take(context, range, take_name(trees, range));
        knee = parent == GT_NO_ROW ? GT_NO_ROW : trees->knee[parent];
    }
}

/* ---- all ---- */

bool gt_range_trees_init(struct gt_range_trees *trees, const struct gt_view *view, const struct gt_range_set *ranges) {
    size_t count = view->labels->range_order_count, range_count = view->store->ranges.count;
    bool *is_open = gt_mem_array(ranges->name_count, sizeof *is_open);
    bool overlap = some_overlap(view);
    *trees = (struct gt_range_trees){
        .view = view,
        .ranges = ranges,
        .count = count,
        .place = gt_mem_uninitialised(range_count, sizeof *trees->place),
        .end = gt_mem_uninitialised(count, sizeof *trees->end),
        .is_outermost = gt_mem_array(count, sizeof *trees->is_outermost),
        .knee = overlap ? gt_mem_uninitialised(range_count, sizeof *trees->knee) : NULL,
        .seen = overlap ? gt_mem_array(ranges->name_count, sizeof *trees->seen) : NULL,
    };
    bool ok =
        is_open && trees->place && trees->end && trees->is_outermost && (!overlap || (trees->knee && trees->seen));
    if (ok) {
        set_places(trees);
        find_outermost(trees, is_open);
        set_ends(trees);
    }
    if (ok && overlap)
        set_knees(trees);
    gt_mem_free(is_open);
    return ok;
}

void gt_range_trees_release(struct gt_range_trees *trees) {
    gt_mem_free(trees->place);
    gt_mem_free(trees->end);
    gt_mem_free(trees->is_outermost);
    gt_mem_free(trees->knee);
    gt_mem_free(trees->seen);
    *trees = (struct gt_range_trees){0};
}
