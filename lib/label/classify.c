/* Categories of ops: in come kinds and names, out go labels->op_category and group_category. Copies, fills and graphs are told by their
   kind, kernels by words in their name, matched once for each distinct name. */
#include "label/label.h"

enum category { COMPUTE, COMM, MEMCPY, MEMSET, GRAPH, CATEGORY_COUNT };

const struct gt_category gt_categories[] = {
    [COMPUTE] = {"compute", GT_CLASS_COMPUTE}, [COMM] = {"comm", GT_CLASS_COMM},
    [MEMCPY] = {"memcpy", GT_CLASS_MEMORY},    [MEMSET] = {"memset", GT_CLASS_MEMORY},
    [GRAPH] = {"graph", GT_CLASS_COMPUTE},
};
const size_t gt_category_count = CATEGORY_COUNT;

/* Kernels whose name has one of these in it, in any case, move data between GPUs. */
static const struct gt_str comm_words[] = {
    GT_STR("nccl"),          GT_STR("rccl"),           GT_STR("msccl"),
    GT_STR("nvshmem"),       GT_STR("deep_ep"),        GT_STR("deepep"),
    GT_STR("allreduce"),     GT_STR("all_reduce"),     GT_STR("allgather"),
    GT_STR("all_gather"),    GT_STR("alltoall"),       GT_STR("all_to_all"),
    GT_STR("reducescatter"), GT_STR("reduce_scatter"), GT_STR("cross_device_reduce"),
};

/* Inductor names fused compute after the operators around it, collectives included. */
static const struct gt_str compute_prefix = GT_STR("triton_");

static enum category classify_kernel(struct gt_str name) {
    struct gt_str head = {name.ptr, name.len < compute_prefix.len ? name.len : compute_prefix.len};
    if (gt_str_find_nocase(head, compute_prefix))
        return COMPUTE;
    for (size_t i = 0; i < sizeof comm_words / sizeof *comm_words; i++)
        if (gt_str_find_nocase(name, comm_words[i]))
            return COMM;
    return COMPUTE;
}

/* known: by string id, one more than the category, 0 while unknown. */
static uint8_t classify(const struct gt_store *store, uint8_t kind, gt_strid name, uint8_t *known) {
    switch ((enum gt_op_kind)kind) {
    case GT_OP_MEMCPY:
        return MEMCPY;
    case GT_OP_MEMSET:
        return MEMSET;
    case GT_OP_GRAPH:
        return GRAPH;
    case GT_OP_KERNEL:
        break;
    }
    if (known[name] == 0)
        known[name] = (uint8_t)(classify_kernel(gt_store_string(store, name)) + 1);
    return (uint8_t)(known[name] - 1);
}

static enum gt_status classify_ops(const struct gt_store *store, struct gt_labels *labels, struct gt_error *err) {
    const struct gt_ops *ops = &store->ops;
    const struct gt_groups *groups = &store->groups;
    labels->categories = gt_categories;
    labels->category_count = gt_category_count;
    labels->op_category = gt_arena_array(&labels->arena, ops->count, sizeof *labels->op_category);
    labels->group_category = gt_arena_array(&labels->arena, groups->count, sizeof *labels->group_category);
    uint8_t *known = gt_arena_array(&labels->arena, store->strings.count, sizeof *known);
    if (!labels->op_category || !labels->group_category || !known)
        return gt_fail_memory(err);
    for (size_t i = 0; i < ops->count; i++)
        labels->op_category[i] = classify(store, ops->kind[i], ops->name[i], known);
    for (size_t i = 0; i < groups->count; i++)
        labels->group_category[i] = classify(store, groups->kind[i], groups->name[i], known);
    return GT_OK;
}

const struct gt_label_pass gt_label_pass_classify = {"classify", "categories of ops", classify_ops};
