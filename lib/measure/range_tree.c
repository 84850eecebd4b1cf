/* Range tree: ranges by the names around them, as a flame graph has them. Each op counts in its innermost range and the
   ancestors of that, so what a row has beyond its own work is the sum of the rows right below it. */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"
#include "measure/results/range_projected.h"
#include "measure/results/results.h"
#include "report/row.h"

enum {
    INDENT_MAX = 16,      /* levels; what lies deeper is not moved further */
    PATH_BYTES_MAX = 1000 /* a longer path goes on from "..." so that deep nesting takes no endless memory */
};

/* All ranges of one name with the same names around them. */
struct node {
    uint32_t parent; /* index; GT_NO_ROW at the top */
    uint32_t name;   /* of the set */
    uint32_t depth;
    uint32_t first_child, after; /* in the order of rows */
    size_t instances, ops;
    int64_t sum_ns, exclusive_ns;
    struct gt_str path;
};

struct tree {
    const struct gt_range_set *set;
    uint32_t *node_of; /* by range row; GT_NO_ROW until it is known */
    uint32_t *chain;   /* ancestors on the way to a known one, by level */
    struct node *nodes;
    size_t count, capacity;
    struct gt_map ids; /* (parent, name) */
    uint32_t first_root;
};

static const struct gt_report_column columns[] = {
    {"range", "Range", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"depth", "Depth", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"path", "Path", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL | GT_COLUMN_KEY},
    {"domain", "Domain", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL | GT_COLUMN_KEY},
    {"instances", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"ops", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"sum_ns", "Sum", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"exclusive_ns", "Exclusive sum", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"share", "Share", GT_UNIT_SHARE, "op time", GT_COLUMN_BAR},
};

/* ---- nodes ---- */

static uint32_t add_node(struct tree *tree, uint32_t parent, uint32_t name) {
    uint32_t id = gt_map_put_if_new(&tree->ids, parent, name, (uint32_t)tree->count);
    if (id != tree->count)
        return tree->ids.failed ? GT_NO_ROW : id;
    struct node *grown = gt_mem_room(tree->nodes, tree->count, &tree->capacity, sizeof *grown);
    if (!grown)
        return GT_NO_ROW;
    tree->nodes = grown;
    tree->nodes[tree->count++] = (struct node){
        .parent = parent,
        .name = name,
        .depth = parent == GT_NO_ROW ? 0 : tree->nodes[parent].depth + 1,
        .first_child = GT_NO_ROW,
        .after = GT_NO_ROW,
    };
    return id;
}

/* The node of a range, made with those above it. Ancestors already known end the climb, so all ranges together take
   linear time. GT_NO_ROW: memory was short. */
static uint32_t find_node(struct tree *tree, uint32_t range) {
    const struct gt_labels *labels = tree->set->view->labels;
    size_t climbed = 0;
    while (range != GT_NO_ROW && tree->node_of[range] == GT_NO_ROW) {
        tree->chain[climbed++] = range;
        range = labels->range_parent[range];
    }
    uint32_t node = range == GT_NO_ROW ? GT_NO_ROW : tree->node_of[range];
    while (climbed > 0) {
        range = tree->chain[--climbed];
        node = add_node(tree, node, tree->set->name_of[range]);
        if (node == GT_NO_ROW)
            return GT_NO_ROW;
        tree->node_of[range] = node;
    }
    return node;
}

static bool place_ranges(struct tree *tree) {
    size_t range_count = tree->set->view->store->ranges.count;
    uint32_t deepest = 0;
    for (size_t range = 0; range < range_count; range++)
        if (tree->set->view->labels->range_level[range] > deepest)
            deepest = tree->set->view->labels->range_level[range];
    tree->node_of = gt_mem_array(range_count, sizeof *tree->node_of);
    tree->chain = gt_mem_array((size_t)deepest + 1, sizeof *tree->chain);
    if (!tree->node_of || !tree->chain)
        return false;
    memset(tree->node_of, 0xff, range_count * sizeof *tree->node_of);
    for (uint32_t range = 0; range < range_count; range++) {
        if (!gt_range_set_lists(tree->set, range))
            continue;
        uint32_t node = find_node(tree, range);
        if (node == GT_NO_ROW)
            return false;
        tree->nodes[node].instances++;
    }
    return true;
}

/* ---- sums ---- */

static void add_ops(struct tree *tree) {
    const struct gt_view *view = tree->set->view;
    for (size_t i = 0; i < view->op_count; i++) {
        uint32_t range = view->labels->op_range[view->row[i]];
        if (range == GT_NO_ROW)
            continue;
        struct node *node = &tree->nodes[tree->node_of[range]];
        node->ops++;
        node->exclusive_ns = gt_ns_add(node->exclusive_ns, gt_view_op_ns(view, i));
    }
    /* A parent has a lower index than its children. */
    for (size_t i = tree->count; i-- > 0;) {
        struct node *node = &tree->nodes[i];
        node->sum_ns = gt_ns_add(node->sum_ns, node->exclusive_ns);
        if (node->parent == GT_NO_ROW)
            continue;
        tree->nodes[node->parent].ops += node->ops;
        tree->nodes[node->parent].sum_ns = gt_ns_add(tree->nodes[node->parent].sum_ns, node->sum_ns);
    }
}

/* ---- order ---- */

struct rank {
    int64_t sum_ns;
    const struct gt_range_name *name;
    uint32_t node;
};

static int last_first(const void *a, const void *b) {
    const struct rank *x = a, *y = b;
    if (x->sum_ns != y->sum_ns)
        return x->sum_ns < y->sum_ns ? -1 : 1;
    int order = gt_str_cmp(y->name->name, x->name->name);
    return order ? order : gt_str_cmp(y->name->domain, x->name->domain);
}

/* Children are by sum, then name: the last of all goes in front of its parent's list first. */
static bool link_nodes(struct tree *tree) {
    struct rank *ranks = gt_mem_array(tree->count, sizeof *ranks);
    if (!ranks)
        return false;
    for (uint32_t i = 0; i < tree->count; i++)
        ranks[i] = (struct rank){tree->nodes[i].sum_ns, &tree->set->names[tree->nodes[i].name], i};
    qsort(ranks, tree->count, sizeof *ranks, last_first);
    for (size_t i = 0; i < tree->count; i++) {
        struct node *node = &tree->nodes[ranks[i].node];
        uint32_t *first = node->parent == GT_NO_ROW ? &tree->first_root : &tree->nodes[node->parent].first_child;
        node->after = *first;
        *first = ranks[i].node;
    }
    gt_mem_free(ranks);
    return true;
}

static uint32_t next_node(const struct tree *tree, uint32_t node) {
    if (tree->nodes[node].first_child != GT_NO_ROW)
        return tree->nodes[node].first_child;
    while (node != GT_NO_ROW && tree->nodes[node].after == GT_NO_ROW)
        node = tree->nodes[node].parent;
    return node == GT_NO_ROW ? GT_NO_ROW : tree->nodes[node].after;
}

/* ---- rows ---- */

/* Names may hold any bytes, so they are copied rather than printed. */
static struct gt_str join(struct gt_arena *arena, struct gt_str before, struct gt_str between, struct gt_str name) {
    size_t bytes = before.len + between.len + name.len;
    char *text = gt_arena_alloc(arena, bytes);
    if (!text)
        return (struct gt_str){"", 0};
    memcpy(text, before.ptr, before.len);
    memcpy(text + before.len, between.ptr, between.len);
    memcpy(text + before.len + between.len, name.ptr, name.len);
    return (struct gt_str){text, bytes};
}

static struct gt_str path_of(const struct tree *tree, const struct node *node, struct gt_arena *arena) {
    struct gt_str name = tree->set->names[node->name].name;
    if (node->parent == GT_NO_ROW)
        return name;
    struct gt_str before = tree->nodes[node->parent].path;
    return join(arena, before.len + name.len > PATH_BYTES_MAX ? GT_STR("...") : before, GT_STR(" > "), name);
}

static struct gt_str indented_name(const struct tree *tree, const struct node *node, struct gt_arena *arena) {
    static const char blanks[2 * INDENT_MAX + 1] = "                                ";
    uint32_t depth = node->depth < INDENT_MAX ? node->depth : INDENT_MAX;
    return join(arena, (struct gt_str){blanks, 2 * (size_t)depth}, GT_STR(""), tree->set->names[node->name].name);
}

static void add_row(struct tree *tree, struct gt_table *table, struct node *node) {
    struct gt_arena *arena = &table->report->arena;
    node->path = path_of(tree, node, arena);
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "range", indented_name(tree, node, arena));
    gt_row_int(&row, "depth", node->depth);
    gt_row_text(&row, "path", node->path);
    gt_row_text(&row, "domain", tree->set->names[node->name].domain);
    gt_row_count(&row, "instances", node->instances);
    gt_row_count(&row, "ops", node->ops);
    gt_row_int(&row, "sum_ns", node->sum_ns);
    gt_row_int(&row, "exclusive_ns", node->exclusive_ns);
    gt_row_share(&row, "share", (double)node->sum_ns, (double)tree->set->total_ns);
    gt_row_end(&row);
}

enum gt_status gt_range_tree_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_range_set *set = gt_results_ranges(view, err);
    if (!set)
        return err->code;
    enum gt_status status = GT_OK;
    struct tree tree = {.set = set, .first_root = GT_NO_ROW};
    bool ok = place_ranges(&tree);
    if (ok)
        add_ops(&tree);
    if (ok && link_nodes(&tree)) {
        struct gt_table *table =
            gt_section_table(section, "range_tree", "Range tree", columns, GT_ARRAY_COUNT(columns));
        table->screen_limit = 40;
        table->empty = gt_range_projected_applies(view) ? NULL : GT_NONE_IN(view, "ranges");
        for (uint32_t node = tree.first_root; node != GT_NO_ROW; node = next_node(&tree, node))
            add_row(&tree, table, &tree.nodes[node]);
    } else {
        status = gt_fail_memory(err);
    }
    gt_mem_free(tree.node_of);
    gt_mem_free(tree.chain);
    gt_mem_free(tree.nodes);
    gt_map_release(&tree.ids);
    return status;
}
