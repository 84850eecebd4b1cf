/* The table of labelling passes and the life of a label set: in comes a sealed store, out goes all that is known beside
   it. */
#include "base/mem.h"
#include "label/label.h"

/* In the order they run: steps and attribute need the launch calls that correlate finds. */
#define PASSES(PASS) PASS(names) PASS(classify) PASS(correlate) PASS(steps) PASS(attribute)

#define DECLARE(pass) extern const struct gt_label_pass gt_label_pass_##pass;
PASSES(DECLARE)

#define LIST(pass) &gt_label_pass_##pass,
const struct gt_label_pass *const gt_label_passes[] = {PASSES(LIST)};
const size_t gt_label_pass_count = sizeof gt_label_passes / sizeof *gt_label_passes;

enum gt_status gt_labels_new_by_rules(const struct gt_store *store, const struct gt_rules *rules,
                                      struct gt_labels **out, struct gt_error *err) {
    *out = NULL;
    struct gt_labels *labels = gt_alloc_array(1, sizeof *labels);
    if (!labels)
        return gt_fail_memory(err);
    labels->rules = rules;
    for (size_t i = 0; i < gt_label_pass_count; i++) {
        enum gt_status status = gt_label_passes[i]->run(store, labels, err);
        if (status != GT_OK) {
            gt_labels_free(labels);
            return status;
        }
    }
    *out = labels;
    return GT_OK;
}

enum gt_status gt_labels_new(const struct gt_store *store, struct gt_labels **out, struct gt_error *err) {
    return gt_labels_new_by_rules(store, NULL, out, err);
}

void gt_labels_free(struct gt_labels *labels) {
    if (!labels)
        return;
    gt_strtab_release(&labels->short_names);
    gt_arena_release(&labels->arena);
    gt_free(labels);
}
