/* Walks the trees of operators: inherited facts from the outermost inwards, what lies inside from the innermost
   outwards. */
#include "measure/efficiency/work_links.h"

#include <string.h>

#include "base/mem.h"
#include "base/radix.h"
#include "measure/results/operator_set.h"

/* What the operators around an operator, and itself, say. */
enum fact {
    HAS_DIMS = 1,       /* one has shapes */
    HAS_SEQUENCE = 2,   /* one is of a forward pass */
    HAS_EVALUATION = 4, /* one is run by the engine of the backward pass */
    HAS_MODEL = 8,      /* of names alone */
    IS_LOOKED_UP = 16,
};

/* By row of operators, of those in the tree. */
struct around {
    uint32_t owner;  /* the first from it outwards with shapes and a model; GT_NO_ROW */
    uint32_t node;   /* the first from it outwards that is of a backward pass; GT_NO_ROW */
    uint32_t inside; /* families of the work inside it; the lowest bit: matrix work */
    uint8_t facts;
};

struct linking {
    const struct gt_view *view;
    const struct gt_store *store;
    struct gt_work_entries *entries;
    struct gt_work_links *links;
    struct gt_operator_tree tree;
    uint8_t *graph_calls; /* by string: whether calls of this name launch graphs */
    uint8_t *name_facts;  /* by string: of operators of this name */
    uint32_t *innermost;  /* by op: the operator around its launch */
    struct around *around;
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

/* Kernels without a call that have the number of an operator. */
static bool has_numbers_alone(const struct linking *it) {
    const struct gt_kernel_configs *configs = &it->store->kernel_configs;
    for (size_t i = 0; i < configs->count; i++)
        if (it->view->labels->op_call[configs->op[i]] == GT_NO_ROW && configs->external[i] != UINT64_MAX)
            return true;
    return false;
}

/* Rows of kernel_configs have their numbers. */
static bool find_by_number(struct linking *it) {
    const struct gt_kernel_configs *configs = &it->store->kernel_configs;
    const struct gt_operator_args *args = &it->store->operator_args;
    struct gt_map by_number = {0};
    for (size_t i = 0; i < args->count; i++)
        if (args->external[i] != UINT64_MAX) { /* one that several have, of several processes, says nothing */
            uint32_t row = gt_map_put_if_new(&by_number, 0, args->external[i], args->cpu_op[i]);
            if (row != args->cpu_op[i])
                gt_map_put(&by_number, 0, args->external[i], GT_NO_ROW - 1);
        }
    for (size_t i = 0; i < configs->count; i++) {
        uint32_t op = configs->op[i];
        uint32_t row =
            configs->external[i] == UINT64_MAX ? GT_MAP_NONE : gt_map_get(&by_number, 0, configs->external[i]);
        if (it->view->labels->op_call[op] == GT_NO_ROW && row < it->store->cpu_ops.count &&
            it->store->cpu_ops.thread[row] != GT_NO_TRACK)
            it->innermost[op] = row;
    }
    bool ok = !by_number.failed;
    gt_map_release(&by_number);
    return ok;
}

/* The operator around each launch, and the tree of all that matter. */
static bool find_innermost(struct linking *it) {
    const struct gt_store *store = it->store;
    struct gt_operator_set_rows around = {0};
    uint32_t *calls = gt_mem_uninitialised(store->ops.count, sizeof *calls);
    for (uint32_t op = 0; op < store->ops.count && calls; op++)
        calls[op] = it->links->reason[op] == GT_WORK_KNOWN ? it->view->labels->op_call[op] : GT_NO_ROW;
    it->innermost = calls ? gt_operator_set_around_calls(it->view, calls, store->ops.count, &around) : NULL;
    gt_mem_free(calls);
    if (it->innermost && !has_numbers_alone(it))
        return gt_operator_tree_init_around(&it->tree, store, around.rows, around.count);
    gt_mem_free(around.rows);
    return it->innermost && find_by_number(it) && gt_operator_tree_init(&it->tree, store);
}

/* ---- from the outermost inwards ---- */

static uint8_t facts_of_name(struct linking *it, uint32_t row) {
    uint8_t *known = &it->name_facts[it->store->cpu_ops.name[row]];
    if (!*known) {
        struct gt_str name = gt_store_string(it->store, it->store->cpu_ops.name[row]);
        *known = IS_LOOKED_UP;
        *known |= gt_str_starts(name, GT_STR("autograd::engine::evaluate_function")) ? HAS_EVALUATION : 0;
        *known |= gt_work_entries_model(it->entries, row) ? HAS_MODEL : 0;
    }
    return *known;
}

/* What an operator adds to what those around it say. */
static void add_own(struct linking *it, uint32_t row, struct around *around) {
    const struct gt_operator_args *args = &it->store->operator_args;
    uint32_t args_row = it->entries->args_of[row];
    uint8_t name_facts = facts_of_name(it, row);
    around->facts |= name_facts & HAS_EVALUATION;
    if (args_row == GT_NO_ROW)
        return;
    if (args->dims[args_row] != GT_STRID_EMPTY) {
        around->facts |= HAS_DIMS;
        around->owner = name_facts & HAS_MODEL ? row : around->owner;
    }
    if (args->sequence[args_row] >= 0) {
        around->facts |= args->forward_thread[args_row] == 0 ? HAS_SEQUENCE : 0;
        around->node = args->forward_thread[args_row] > 0 ? row : around->node;
    }
}

static void inherit(struct linking *it) {
    static const struct around nothing = {.owner = GT_NO_ROW, .node = GT_NO_ROW};
    const uint8_t both = HAS_SEQUENCE | HAS_EVALUATION;
    for (size_t i = 0; i < it->tree.count; i++) {
        uint32_t row = it->tree.order[i], parent = it->tree.parent[row];
        struct around around = parent == GT_NO_ROW ? nothing : it->around[parent];
        add_own(it, row, &around);
        it->around[row] = around;
        it->links->entry_of[row] = GT_NO_ROW;
        it->links->flags[row] = (around.facts & both) == both ? GT_WORK_RECOMPUTED : 0;
    }
}

/* ---- the operator of each kernel ---- */

static uint32_t families_of(const struct gt_work_entry *entry) {
    uint32_t family = UINT32_C(2) << entry->work.family;
    return gt_family_infos[entry->work.family].is_matrix ? family | 1 : family;
}

/* All operators around one have its work inside. Walks end where another one has been. */
static void spread(struct linking *it, uint32_t row, uint32_t entry) {
    uint32_t families = families_of(&it->entries->items[entry]);
    for (uint32_t outer = it->tree.parent[row]; outer != GT_NO_ROW && (it->around[outer].inside & families) != families;
         outer = it->tree.parent[outer])
        it->around[outer].inside |= families;
}

/* GT_NO_ROW: memory was short, or its work cannot be known. */
static uint32_t entry_of_owner(struct linking *it, uint32_t owner) {
    uint32_t *entry = &it->links->entry_of[owner];
    bool is_new = *entry == GT_NO_ROW;
    if (is_new)
        *entry = gt_work_entries_get(it->entries, owner);
    if (*entry == GT_NO_ROW || !it->entries->items[*entry].is_known)
        return GT_NO_ROW;
    if (is_new)
        spread(it, owner, *entry);
    return *entry;
}

static enum gt_no_work link_kernel(struct linking *it, uint32_t op) {
    uint32_t innermost = it->innermost[op];
    if (innermost == GT_NO_ROW)
        return it->view->labels->op_call[op] == GT_NO_ROW ? GT_NO_WORK_NO_CALL : GT_NO_WORK_NO_OPERATOR;
    const struct around *around = &it->around[innermost];
    if (around->owner == GT_NO_ROW)
        return around->facts & HAS_DIMS ? GT_NO_WORK_NO_MODEL : GT_NO_WORK_NO_SHAPES;
    if (entry_of_owner(it, around->owner) == GT_NO_ROW)
        return GT_NO_WORK_ARGUMENTS_MISSING;
    it->links->operator_of[op] = around->owner;
    return GT_WORK_KNOWN;
}

static void link_kernels(struct linking *it) {
    for (uint32_t op = 0; op < it->store->ops.count; op++)
        if (it->links->reason[op] == GT_WORK_KNOWN)
            it->links->reason[op] = (uint8_t)link_kernel(it, op);
}

/* Work that an operator inside has, too, would count twice. */
static void drop_wrappers(struct linking *it) {
    struct gt_work_links *links = it->links;
    for (uint32_t op = 0; op < it->store->ops.count; op++) {
        uint32_t row = links->operator_of[op];
        if (row == GT_NO_ROW || !it->around[row].inside ||
            !(families_of(&it->entries->items[links->entry_of[row]]) & it->around[row].inside))
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

static int by_sequence(const struct forward *x, const struct forward *y) {
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Mostly numbers count up with time. Equal ones keep the order of the file. */
static bool sort_forwards(struct forward *list, size_t count) {
    size_t sorted = 1;
    while (sorted < count && by_sequence(&list[sorted - 1], &list[sorted]) <= 0)
        sorted++;
    if (sorted >= count)
        return true;
    struct gt_radix_item *items = gt_mem_uninitialised(count, sizeof *items);
    struct forward *copy = gt_mem_uninitialised(count, sizeof *copy);
    bool ok = items && copy;
    for (size_t i = 0; i < count && ok; i++)
        items[i] = (struct gt_radix_item){gt_radix_key(list[i].start_ns), (uint32_t)i};
    ok = ok && gt_radix_sort(items, count);
    for (size_t i = 0; i < count && ok; i++)
        items[i].key = gt_radix_key(list[items[i].value].sequence);
    ok = ok && gt_radix_sort(items, count);
    for (size_t i = 0; i < count && ok; i++)
        copy[i] = list[items[i].value];
    if (ok)
        memcpy(list, copy, count * sizeof *list);
    gt_mem_free(items);
    gt_mem_free(copy);
    return ok;
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
    if (list && !sort_forwards(list, *count)) {
        gt_mem_free(list);
        return NULL;
    }
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
    uint32_t forward = it->around[node].inside & 1 ? GT_NO_ROW : find_forward(it, list, count, node);
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
    return it->around[it->innermost[op]].node;
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
   innermost outwards, and what one finds lies inside all around it. */
static bool find_nodes(struct linking *it) {
    struct gt_work_links *links = it->links;
    size_t count;
    struct forward *list = list_forwards(it, &count);
    for (size_t i = it->tree.count; i-- > 0 && list;) {
        uint32_t node = it->tree.order[i];
        if (!(links->flags[node] & GT_WORK_BY_SEQUENCE))
            continue;
        links->entry_of[node] = entry_of_node(it, list, count, node);
        if (links->entry_of[node] != GT_NO_ROW)
            spread(it, node, links->entry_of[node]);
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
    size_t ops = it->store->ops.count, operators = it->store->cpu_ops.count, strings = it->store->strings.count;
    struct gt_work_links *links = it->links;
    links->operator_of = gt_mem_uninitialised(ops, sizeof *links->operator_of);
    links->reason = gt_mem_array(ops, sizeof *links->reason);
    links->entry_of = gt_mem_uninitialised(operators, sizeof *links->entry_of);
    links->flags = gt_mem_uninitialised(operators, sizeof *links->flags);
    it->around = gt_mem_uninitialised(operators, sizeof *it->around);
    it->graph_calls = gt_mem_array(strings, sizeof *it->graph_calls);
    it->name_facts = gt_mem_array(strings, sizeof *it->name_facts);
    if (!links->operator_of || !links->reason || !links->entry_of || !links->flags || !it->around || !it->graph_calls ||
        !it->name_facts)
        return false;
    memset(links->operator_of, 0xff, ops * sizeof *links->operator_of); /* GT_NO_ROW */
    return true;
}

bool gt_work_links_init(struct gt_work_links *links, const struct gt_view *view, struct gt_work_entries *entries) {
    struct linking it = {.view = view, .store = view->store, .entries = entries, .links = links};
    *links = (struct gt_work_links){0};
    bool ok = allocate(&it);
    if (ok)
        mark_kernels(&it);
    ok = ok && find_innermost(&it);
    if (ok) {
        inherit(&it);
        link_kernels(&it);
        ok = link_backward_nodes(&it) && !entries->failed;
        drop_wrappers(&it);
    }
    gt_operator_tree_release(&it.tree);
    gt_mem_free(it.graph_calls);
    gt_mem_free(it.name_facts);
    gt_mem_free(it.innermost);
    gt_mem_free(it.around);
    return ok;
}

void gt_work_links_release(struct gt_work_links *links) {
    gt_mem_free(links->operator_of);
    gt_mem_free(links->reason);
    gt_mem_free(links->entry_of);
    gt_mem_free(links->flags);
}
