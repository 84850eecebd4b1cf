/* Builds the trees: operators by thread and start, with a stack of those that are open. */
#include "measure/efficiency/operator_tree.h"

#include "base/mem.h"
#include "base/radix.h"
#include "base/spans.h"

/* The rows of each thread next to each other, in the order of the file. */
static bool list_by_thread(struct gt_operator_tree *tree, const struct gt_cpu_ops *cpu_ops) {
    struct gt_radix_item *items = gt_mem_uninitialised(cpu_ops->count, sizeof *items);
    tree->order = gt_mem_uninitialised(cpu_ops->count, sizeof *tree->order);
    for (size_t i = 0; i < cpu_ops->count && items; i++)
        if (cpu_ops->thread[i] != GT_NO_TRACK)
            items[tree->count++] = (struct gt_radix_item){cpu_ops->thread[i], (uint32_t)i};
    bool ok = items && tree->order && gt_radix_sort(items, tree->count);
    for (size_t i = 0; i < tree->count && ok; i++)
        tree->order[i] = items[i].value;
    gt_mem_free(items);
    return ok;
}

static bool sort_threads(struct gt_operator_tree *tree, const struct gt_cpu_ops *cpu_ops) {
    bool ok = true;
    for (size_t first = 0, end; first < tree->count && ok; first = end) {
        for (end = first;
             end < tree->count && cpu_ops->thread[tree->order[end]] == cpu_ops->thread[tree->order[first]];)
            end++;
        ok = gt_spans_sort(tree->order + first, end - first, cpu_ops->start_ns, cpu_ops->end_ns);
    }
    return ok;
}

/* Operators that overlap without nesting come from damage alone: the ones that end first are taken for closed. */
static void find_parents(struct gt_operator_tree *tree, const struct gt_cpu_ops *cpu_ops, uint32_t *open) {
    size_t depth = 0;
    for (size_t i = 0; i < tree->count; i++) {
        uint32_t row = tree->order[i];
        while (depth && (cpu_ops->thread[open[depth - 1]] != cpu_ops->thread[row] ||
                         cpu_ops->end_ns[open[depth - 1]] < cpu_ops->end_ns[row]))
            depth--;
        tree->parent[row] = depth ? open[depth - 1] : GT_NO_ROW;
        open[depth++] = row;
    }
}

static bool find_all_parents(struct gt_operator_tree *tree, const struct gt_store *store) {
    uint32_t *open = gt_mem_uninitialised(tree->count, sizeof *open);
    tree->parent = gt_mem_uninitialised(store->cpu_ops.count, sizeof *tree->parent);
    bool ok = open && tree->parent;
    if (ok)
        find_parents(tree, &store->cpu_ops, open);
    gt_mem_free(open);
    return ok;
}

bool gt_operator_tree_init(struct gt_operator_tree *tree, const struct gt_store *store) {
    *tree = (struct gt_operator_tree){0};
    return list_by_thread(tree, &store->cpu_ops) && sort_threads(tree, &store->cpu_ops) &&
           find_all_parents(tree, store);
}

bool gt_operator_tree_init_around(struct gt_operator_tree *tree, const struct gt_store *store, uint32_t *rows,
                                  size_t count) {
    *tree = (struct gt_operator_tree){.order = rows, .count = count};
    return find_all_parents(tree, store);
}

void gt_operator_tree_release(struct gt_operator_tree *tree) {
    gt_mem_free(tree->order);
    gt_mem_free(tree->parent);
}
