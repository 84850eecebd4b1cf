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

void gt_step_list_write(struct gt_step_list *list, uint32_t step) {
    enum { LISTED = 5 };
    const struct gt_step *of = &list->evidence->view->labels->steps[step];
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
    size_t step_count = list->evidence->view->labels->step_count;
    for (uint32_t i = 0; list->has && i < step_count; i++)
        if (list->has[i])
            gt_step_list_write(list, i);
}
