/* Looks for the words that backward passes and optimizers have in their names. */
#include "measure/findings/training.h"

#include "base/mem.h"

bool gt_training_is_seen(struct gt_evidence *evidence) {
    static const char *const words[] = {"backward", "bwd", "wgrad", "dgrad", "multi_tensor_apply"};
    const struct gt_phase_set *phases = gt_evidence_phases(evidence);
    const struct gt_named_set *names = gt_evidence_kernels(evidence);
    for (size_t i = 0; i < phases->count; i++)
        if (gt_str_eq(phases->phases[i].name, GT_STR("backward")) ||
            gt_str_eq(phases->phases[i].name, GT_STR("optimizer")))
            return true;
    for (size_t i = 0; i < names->count; i++)
        if (gt_str_has_any_nocase(gt_store_string(evidence->view->store, names->items[i].full_name), words,
                                  GT_ARRAY_COUNT(words)))
            return true;
    return false;
}

bool gt_training_is_update(const struct gt_view *view, uint32_t position) {
    enum { DEEPEST = 100 };
    static const char *const words[] = {"multi_tensor_apply", "adam", "sgd"};
    const struct gt_labels *labels = view->labels;
    uint32_t range = labels->op_range ? labels->op_range[view->row[position]] : GT_NO_ROW;
    if (gt_str_has_any_nocase(gt_store_string(view->store, view->name[position]), words, GT_ARRAY_COUNT(words)))
        return true;
    for (int depth = 0; range != GT_NO_ROW && depth < DEEPEST; depth++, range = labels->range_parent[range])
        if (gt_updates_is_step_name(gt_store_string(view->store, view->store->ranges.name[range])))
            return true;
    return false;
}
