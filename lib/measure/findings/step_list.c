/* Writes the first steps of a list, and notes how far they are apart. */
#include "measure/findings/step_list.h"

#include "base/ns.h"
#include "measure/results/measure.h"

/* "3", or "3 of process 4711" where others have steps as well */
static const char *step_text(struct gt_evidence *evidence, const struct gt_step *step) {
    struct gt_cell pid = gt_measure_pid_cell(evidence->view, step->process);
    if (pid.type == GPUTIME_CELL_NULL || !gt_step_set_is_of_several(evidence->view))
        return gt_arena_printf(evidence->arena, "%lld", (long long)step->number).ptr;
    return gt_arena_printf(evidence->arena, "%lld of process %lld", (long long)step->number, (long long)pid.integer)
        .ptr;
}

void gt_step_list_add(struct gt_step_list *list, uint32_t step) {
    struct gt_evidence *evidence = list->evidence;
    if (!list->has)
        list->has = gt_arena_array(evidence->arena, evidence->view->labels->step_count, sizeof *list->has);
    if (list->has)
        list->has[step] = true;
    else
        gt_evidence_fail(evidence);
}

static void write_step(struct gt_step_list *list, const struct gt_step *of) {
    enum { LISTED = 5 };
    if (list->count < LISTED)
        list->text = gt_arena_printf(list->evidence->arena, "%s%s%s", list->count ? list->text : "",
                                     list->count ? ", " : "", step_text(list->evidence, of))
                         .ptr;
    else if (list->count == LISTED)
        list->text = gt_arena_printf(list->evidence->arena, "%s ...", list->text).ptr;
    int64_t distance = list->count ? gt_ns_between(list->last_number, of->number) : 0;
    list->distance = list->count <= 1 ? distance : distance == list->distance ? distance : 0;
    list->first_number = list->count ? list->first_number : of->number;
    list->last_number = of->number;
    list->count++;
}

void gt_step_list_end(struct gt_step_list *list) {
    const struct gt_labels *labels = list->evidence->view->labels;
    for (size_t i = 0; list->has && i < labels->step_count; i++)
        if (list->has[i])
            write_step(list, &labels->steps[i]);
}
