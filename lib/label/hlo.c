/* Categories of kernels whose own name tells nothing, from the XLA operator around their launch: in come the categories
   by name and the ranges of ops, out go better categories for ops that are `other`. XLA marks every thunk with a range
   such as "Thunk:#hlo_op=gemm_fusion_dot.3#". */
#include "base/mem.h"
#include "label/builtin.h"
#include "label/label.h"

enum { MAX_OPERATOR = 256 };

static const struct gt_str mark = GT_STR("hlo_op=");

/* The operator in a range's name; empty where it has none. */
static struct gt_str operator_of(struct gt_str range) {
    const char *found = memmem(range.ptr, range.len, mark.ptr, mark.len);
    if (!found)
        return GT_STR("");
    struct gt_str name = {found + mark.len, range.len - (size_t)(found - range.ptr) - mark.len};
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == ',' || name.ptr[i] == '#')
            name.len = i;
    return name;
}

/* The innermost operator around an op. */
static struct gt_str operator_around(const struct gt_store *store, const struct gt_labels *labels, uint32_t op) {
    int64_t reach_ns = gt_labels_op_reach(labels, store, op);
    struct gt_str found = GT_STR("");
    for (uint32_t range = labels->op_range[op]; range != GT_NO_ROW && found.len == 0;
         range = gt_labels_next_range(labels, store, range, reach_ns))
        found = operator_of(gt_store_string(store, store->ranges.name[range]));
    return found;
}

static bool set_category(const struct gt_store *store, struct gt_labels *labels, struct gt_builtin *builtin,
                         uint32_t op) {
    struct gt_str around = operator_around(store, labels, op);
    char text[MAX_OPERATOR];
    struct gt_str name = {text, around.len < sizeof text ? around.len : sizeof text};
    for (size_t i = 0; i < name.len; i++)
        text[i] = around.ptr[i] == '-' ? '_' : around.ptr[i]; /* all-reduce is all_reduce in names of kernels */
    struct gt_builtin_answer answer = gt_builtin_kernel(builtin, name, name);
    /* The kind of time goes by the kernel's own name alone. */
    if (gt_categories[answer.category].time_class != GT_CLASS_COMPUTE || answer.category == GT_CATEGORY_other)
        return true;
    labels->op_category[op] = answer.category;
    const struct gt_name_reason **reason = &labels->name_reason[store->ops.name[op]];
    if (*reason && (*reason)->source)
        return true;
    struct gt_name_reason *made = gt_arena_alloc(&labels->arena, sizeof *made);
    if (made)
        *made = (struct gt_name_reason){.source = "XLA operator", .pattern = around};
    *reason = made;
    return made != NULL;
}

static enum gt_status classify_by_operator(const struct gt_store *store, struct gt_labels *labels,
                                           struct gt_error *err) {
    if (labels->rules || store->ranges.count == 0)
        return GT_OK;
    struct gt_builtin *builtin = NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < store->ops.count; i++) {
        if (labels->op_category[i] != GT_CATEGORY_other || labels->op_range[i] == GT_NO_ROW)
            continue;
        if (!builtin)
            builtin = gt_builtin_new();
        ok = builtin && set_category(store, labels, builtin, (uint32_t)i) && gt_builtin_ok(builtin);
    }
    gt_builtin_free(builtin);
    return ok ? GT_OK : gt_fail_memory(err);
}

const struct gt_label_pass gt_label_pass_hlo = {"hlo", "categories by XLA operators", classify_by_operator};
