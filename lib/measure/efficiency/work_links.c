/* Walks the trees of operators: inherited facts from the outermost inwards, what lies inside from the innermost
   outwards. */
#include "measure/efficiency/work_links.h"

#include <stdlib.h>

#include "base/mem.h"
#include "measure/results/operator_set.h"

/* What the operators around an operator, and itself, say. */
enum around {
    HAS_DIMS = 1,       /* one has shapes */
    HAS_SEQUENCE = 2,   /* one is of a forward pass */
    HAS_EVALUATION = 4, /* one is run by the engine of the backward pass */
};

struct linking {
    const struct gt_view *view;
    const struct gt_store *store;
    struct gt_work_entries *entries;
    struct gt_work_links *links;
    struct gt_operator_tree tree;
    uint8_t *graph_calls; /* by string: whether calls of this name launch graphs */
    uint32_t *innermost;  /* by op: the operator around its launch */
    uint32_t *owner;      /* by operator: the first from it outwards with shapes and a model */
    uint32_t *node;       /* by operator: the first from it outwards that is of a backward pass */
    uint8_t *around;      /* by operator */
    uint32_t *inside;     /* by operator: families of the work inside it; the lowest bit: matrix work */
};

/* ---- operators of kernels ---- */

static bool is_compute(const struct gt_view *view, uint32_t op) {
    return view->labels->categories[view->labels->op_category[op]].time_class == GT_CLASS_COMPUTE;
}

/* Whether a call launches CUDA graphs, by the name of the call, which few differ in. */
static bool launches_graph(struct linking *it, gt_strid name) {
    enum { NOT_KNOWN, NO, YES };
    uint8_t *known = &it->graph_calls[name];
    if (*known == NOT_KNOWN)
        *known = gt_str_find_nocase(gt_store_string(it->store, name), GT_STR("GraphLaunch")) ? YES : NO;
    return *known == YES;
}

static bool is_of_graph(struct linking *it, uint32_t op) {
    uint32_t call = it->view->labels->op_call[op];
    return it->store->ops.flags[op] & GT_OP_IN_GRAPH || it->store->ops.kind[op] == GT_OP_GRAPH ||
           (call != GT_NO_ROW && launches_graph(it, it->store->calls.name[call]));
}

/* Kernels whose work operators may have. */
static void mark_kernels(struct linking *it) {
    for (uint32_t op = 0; op < it->store->ops.count; op++)
        it->links->reason[op] = !is_compute(it->view, op) ? GT_NO_WORK_NO_OPERATOR
                                : is_of_graph(it, op)     ? GT_NO_WORK_GRAPH
                                                          : GT_WORK_KNOWN;
}

/* Kernels without a call, and their numbers: rows of kernel_configs have them. */
static bool find_by_number(struct linking *it) {
    const struct gt_kernel_configs *configs = &it->store->kernel_configs;
    const struct gt_operator_args *args = &it->store->operator_args;
    struct gt_map by_number = {0};
    bool is_needed = false;
    for (size_t i = 0; i < configs->count && !is_needed; i++)
        is_needed = configs->external[i] != UINT64_MAX && it->view->labels->op_call[configs->op[i]] == GT_NO_ROW;
    for (size_t i = 0; i < args->count && is_needed; i++)
        if (args->external[i] != UINT64_MAX) { /* one that several have, of several processes, says nothing */
            uint32_t row = gt_map_put_if_new(&by_number, 0, args->external[i], args->cpu_op[i]);
            if (row != args->cpu_op[i])
                gt_map_put(&by_number, 0, args->external[i], GT_NO_ROW - 1);
        }
    for (size_t i = 0; i < configs->count && is_needed; i++) {
        uint32_t op = configs->op[i];
        uint32_t row =
            configs->external[i] == UINT64_MAX ? GT_MAP_NONE : gt_map_get(&by_number, 0, configs->external[i]);
        if (it->view->labels->op_call[op] == GT_NO_ROW && row < it->store->cpu_ops.count)
            it->innermost[op] = row;
    }
    bool ok = !by_number.failed;
    gt_map_release(&by_number);
    return ok;
}

static bool find_innermost(struct linking *it) {
    const struct gt_store *store = it->store;
    uint32_t *calls = gt_mem_uninitialised(store->ops.count, sizeof *calls);
    for (uint32_t op = 0; op < store->ops.count && calls; op++)
        calls[op] = it->links->reason[op] == GT_WORK_KNOWN ? it->view->labels->op_call[op] : GT_NO_ROW;
    it->innermost = calls ? gt_operator_set_of_calls(it->view, calls, store->ops.count) : NULL;
    gt_mem_free(calls);
    return it->innermost && find_by_number(it);
}

/* ---- from the outermost inwards ---- */

static uint8_t own_facts(const struct linking *it, uint32_t row) {
    const struct gt_operator_args *args = &it->store->operator_args;
    uint32_t args_row = it->entries->args_of[row];
    struct gt_str name = gt_store_string(it->store, it->store->cpu_ops.name[row]);
    uint8_t facts = gt_str_starts(name, GT_STR("autograd::engine::evaluate_function")) ? HAS_EVALUATION : 0;
    if (args_row == GT_NO_ROW)
        return facts;
    facts |= args->dims[args_row] != GT_STRID_EMPTY ? HAS_DIMS : 0;
    return facts | (args->sequence[args_row] >= 0 && args->forward_thread[args_row] == 0 ? HAS_SEQUENCE : 0);
}

static bool is_backward_node(const struct linking *it, uint32_t row) {
    const struct gt_operator_args *args = &it->store->operator_args;
    uint32_t args_row = it->entries->args_of[row];
    return args_row != GT_NO_ROW && args->sequence[args_row] >= 0 && args->forward_thread[args_row] > 0;
}

static void inherit(struct linking *it) {
    for (size_t i = 0; i < it->tree.count; i++) {
        uint32_t row = it->tree.order[i], parent = it->tree.parent[row];
        bool has_work = gt_work_entries_has_dims(it->entries, row) && gt_work_entries_model(it->entries, row);
        it->owner[row] = has_work ? row : parent == GT_NO_ROW ? GT_NO_ROW : it->owner[parent];
        it->node[row] = is_backward_node(it, row) ? row : parent == GT_NO_ROW ? GT_NO_ROW : it->node[parent];
        it->around[row] = own_facts(it, row) | (parent == GT_NO_ROW ? 0 : it->around[parent]);
        if ((it->around[row] & (HAS_SEQUENCE | HAS_EVALUATION)) == (HAS_SEQUENCE | HAS_EVALUATION))
            it->links->flags[row] |= GT_WORK_RECOMPUTED;
    }
}

/* ---- the operator of each kernel ---- */

static enum gt_no_work link_kernel(struct linking *it, uint32_t op) {
    struct gt_work_links *links = it->links;
    uint32_t innermost = it->innermost[op];
    if (innermost == GT_NO_ROW)
        return it->view->labels->op_call[op] == GT_NO_ROW ? GT_NO_WORK_NO_CALL : GT_NO_WORK_NO_OPERATOR;
    uint32_t owner = it->owner[innermost];
    if (owner == GT_NO_ROW)
        return it->around[innermost] & HAS_DIMS ? GT_NO_WORK_NO_MODEL : GT_NO_WORK_NO_SHAPES;
    uint32_t entry = links->entry_of[owner];
    if (entry == GT_NO_ROW)
        entry = links->entry_of[owner] = gt_work_entries_get(it->entries, owner);
    if (entry == GT_NO_ROW || !it->entries->items[entry].is_known)
        return GT_NO_WORK_ARGUMENTS_MISSING;
    links->operator_of[op] = owner;
    return GT_WORK_KNOWN;
}

static void link_kernels(struct linking *it) {
    for (uint32_t op = 0; op < it->store->ops.count; op++)
        if (it->links->reason[op] == GT_WORK_KNOWN)
            it->links->reason[op] = (uint8_t)link_kernel(it, op);
}

/* ---- from the innermost outwards ---- */

static uint32_t families_of(const struct gt_work_entry *entry) {
    uint32_t family = UINT32_C(2) << entry->work.family;
    return gt_family_infos[entry->work.family].is_matrix ? family | 1 : family;
}

/* An operator has work of its own if one of its kernels does not belong to an operator inside it. */
static bool has_kernels(const struct linking *it, uint32_t row) {
    uint32_t entry = it->links->entry_of[row];
    return entry != GT_NO_ROW && it->entries->items[entry].is_known;
}

static void collect_inside(struct linking *it) {
    for (size_t i = it->tree.count; i-- > 0;) {
        uint32_t row = it->tree.order[i], parent = it->tree.parent[row];
        uint32_t own = has_kernels(it, row) ? families_of(&it->entries->items[it->links->entry_of[row]]) : 0;
        if (parent != GT_NO_ROW)
            it->inside[parent] |= own | it->inside[row];
    }
}

/* Work that an operator inside has, too, would count twice. */
static void drop_wrappers(struct linking *it) {
    struct gt_work_links *links = it->links;
    for (uint32_t op = 0; op < it->store->ops.count; op++) {
        uint32_t row = links->operator_of[op];
        if (row == GT_NO_ROW || !(families_of(&it->entries->items[links->entry_of[row]]) & it->inside[row]))
            continue;
        links->operator_of[op] = GT_NO_ROW;
        links->reason[op] = GT_NO_WORK_WRAPPER;
    }
}

/* ---- backward nodes of functions without shapes ---- */

struct forward {
    int64_t sequence, start_ns;
    uint32_t row;
};

static int by_sequence(const void *a, const void *b) {
    const struct forward *x = a, *y = b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Forward operators with shapes and a sequence number. */
static struct forward *list_forwards(const struct linking *it, size_t *count) {
    const struct gt_operator_args *args = &it->store->operator_args;
    struct forward *list = gt_mem_uninitialised(args->count, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < args->count && list; i++)
        if (args->sequence[i] >= 0 && args->forward_thread[i] <= 0 && args->dims[i] != GT_STRID_EMPTY)
            list[(*count)++] =
                (struct forward){args->sequence[i], it->store->cpu_ops.start_ns[args->cpu_op[i]], args->cpu_op[i]};
    if (list)
        qsort(list, *count, sizeof *list, by_sequence);
    return list;
}

/* Operators with one number that have not ended when the node starts: so many are looked at, far more than nest. */
enum { LOOKED_AT = 1000 };

/* The operator with that number which started last of those that ended before the node. */
static uint32_t find_forward(const struct linking *it, const struct forward *list, size_t count, uint32_t node) {
    const struct gt_cpu_ops *cpu_ops = &it->store->cpu_ops;
    int64_t start_ns = cpu_ops->start_ns[node];
    const struct forward wanted = {it->store->operator_args.sequence[it->entries->args_of[node]], start_ns, UINT32_MAX};
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_sequence(&list[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i-- > 0 && low - i <= LOOKED_AT && list[i].sequence == wanted.sequence;)
        if (cpu_ops->end_ns[list[i].row] <= start_ns)
            return list[i].row;
    return GT_NO_ROW;
}

/* The entry of a node, GT_NO_ROW if it has none: of matrix work alone, and only if no operator inside has some. */
static uint32_t entry_of_node(struct linking *it, const struct forward *list, size_t count, uint32_t node) {
    uint32_t forward = it->inside[node] & 1 ? GT_NO_ROW : find_forward(it, list, count, node);
    if (forward == GT_NO_ROW || !gt_work_entries_model(it->entries, forward))
        return GT_NO_ROW;
    uint32_t entry = gt_work_entries_get(it->entries, forward);
    if (entry == GT_NO_ROW || !it->entries->items[entry].is_known)
        return GT_NO_ROW;
    return gt_family_infos[it->entries->items[entry].work.family].is_matrix ? entry : GT_NO_ROW;
}

/* The backward node whose work a kernel may do; GT_NO_ROW: none, or it has work of its own by shapes. */
static uint32_t node_of_kernel(const struct linking *it, uint32_t op) {
    uint8_t reason = it->links->reason[op];
    if (reason != GT_NO_WORK_NO_MODEL && reason != GT_NO_WORK_NO_SHAPES)
        return GT_NO_ROW;
    return it->node[it->innermost[op]];
}

/* true: some kernel needs one. */
static bool mark_nodes(struct linking *it) {
    bool is_needed = false;
    for (uint32_t op = 0; op < it->store->ops.count; op++) {
        uint32_t node = node_of_kernel(it, op);
        if (node == GT_NO_ROW || it->links->entry_of[node] != GT_NO_ROW)
            continue;
        it->links->flags[node] |= GT_WORK_BY_SEQUENCE;
        is_needed = true;
    }
    return is_needed;
}

/* PyTorch has two nodes of one number, one around the other: the inner one has the work. So all are visited from the
   innermost outwards, and what one finds lies inside all around it. Walks end where another one has been. */
static bool find_nodes(struct linking *it) {
    struct gt_work_links *links = it->links;
    size_t count;
    struct forward *list = list_forwards(it, &count);
    for (size_t i = it->tree.count; i-- > 0 && list;) {
        uint32_t node = it->tree.order[i];
        if (!(links->flags[node] & GT_WORK_BY_SEQUENCE))
            continue;
        links->entry_of[node] = entry_of_node(it, list, count, node);
        if (links->entry_of[node] == GT_NO_ROW)
            continue;
        uint32_t families = families_of(&it->entries->items[links->entry_of[node]]);
        for (uint32_t outer = it->tree.parent[node]; outer != GT_NO_ROW && (it->inside[outer] & families) != families;
             outer = it->tree.parent[outer])
            it->inside[outer] |= families;
    }
    bool ok = list;
    gt_mem_free(list);
    return ok;
}

static bool link_backward_nodes(struct linking *it) {
    struct gt_work_links *links = it->links;
    if (!mark_nodes(it))
        return true;
    if (!find_nodes(it))
        return false;
    for (uint32_t op = 0; op < it->store->ops.count; op++) {
        uint32_t node = node_of_kernel(it, op);
        if (node == GT_NO_ROW || links->entry_of[node] == GT_NO_ROW || !(links->flags[node] & GT_WORK_BY_SEQUENCE))
            continue;
        links->operator_of[op] = node;
        links->reason[op] = GT_WORK_KNOWN;
    }
    return true;
}

/* ---- all ---- */

static bool allocate(struct linking *it) {
    size_t ops = it->store->ops.count, operators = it->store->cpu_ops.count;
    struct gt_work_links *links = it->links;
    links->operator_of = gt_mem_uninitialised(ops, sizeof *links->operator_of);
    links->reason = gt_mem_array(ops, sizeof *links->reason);
    links->entry_of = gt_mem_uninitialised(operators, sizeof *links->entry_of);
    links->flags = gt_mem_array(operators, sizeof *links->flags);
    it->owner = gt_mem_uninitialised(operators, sizeof *it->owner);
    it->node = gt_mem_uninitialised(operators, sizeof *it->node);
    it->around = gt_mem_array(operators, sizeof *it->around);
    it->inside = gt_mem_array(operators, sizeof *it->inside);
    it->graph_calls = gt_mem_array(it->store->strings.count, sizeof *it->graph_calls);
    if (!links->operator_of || !links->reason || !links->entry_of || !links->flags || !it->owner || !it->node ||
        !it->around || !it->inside || !it->graph_calls)
        return false;
    for (size_t i = 0; i < ops; i++)
        links->operator_of[i] = GT_NO_ROW;
    for (size_t i = 0; i < operators; i++)
        links->entry_of[i] = it->owner[i] = it->node[i] = GT_NO_ROW;
    return true;
}

bool gt_work_links_init(struct gt_work_links *links, const struct gt_view *view, struct gt_work_entries *entries) {
    struct linking it = {.view = view, .store = view->store, .entries = entries, .links = links};
    *links = (struct gt_work_links){0};
    bool ok = allocate(&it);
    if (ok)
        mark_kernels(&it);
    ok = ok && find_innermost(&it) && gt_operator_tree_init(&it.tree, it.store);
    if (ok) {
        inherit(&it);
        link_kernels(&it);
        collect_inside(&it);
        ok = link_backward_nodes(&it) && !entries->failed;
        drop_wrappers(&it);
    }
    gt_operator_tree_release(&it.tree);
    gt_mem_free(it.graph_calls);
    gt_mem_free(it.innermost);
    gt_mem_free(it.owner);
    gt_mem_free(it.node);
    gt_mem_free(it.around);
    gt_mem_free(it.inside);
    return ok;
}

void gt_work_links_release(struct gt_work_links *links) {
    gt_mem_free(links->operator_of);
    gt_mem_free(links->reason);
    gt_mem_free(links->entry_of);
    gt_mem_free(links->flags);
}
