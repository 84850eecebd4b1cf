/* Which events of CPU threads belong to a selection of ops: a view comes in, answers go out. */
#include "measure/host_selection.h"

#include "base/mem.h"
#include "measure/measure.h"

bool gt_host_selection_init(struct gt_host_selection *selection, const struct gt_view *view) {
    *selection = (struct gt_host_selection){.view = view};
    selection->processes = gt_alloc_array(view->store->processes.count + 1, sizeof *selection->processes);
    for (size_t i = 0; selection->processes && !view->is_whole && i < view->op_count; i++) {
        uint32_t process = gt_op_process(view, i);
        if (process != GT_NO_TRACK)
            selection->processes[process] = true;
    }
    return selection->processes != NULL;
}

void gt_host_selection_release(struct gt_host_selection *selection) {
    gt_free(selection->processes);
    *selection = (struct gt_host_selection){0};
}

bool gt_host_selection_has(const struct gt_host_selection *selection, int64_t start_ns, uint32_t thread) {
    const struct gt_view *view = selection->view;
    if (view->is_whole)
        return true;
    if (view->has_window && (start_ns < view->window_start_ns || start_ns >= view->window_end_ns))
        return false;
    return thread != GT_NO_TRACK && selection->processes[view->store->threads.process[thread]];
}
