/* What a selection of ops means for calls and ranges on CPU threads that launched nothing themselves. */
#ifndef GT_MEASURE_HOST_SELECTION_H
#define GT_MEASURE_HOST_SELECTION_H

#include "events/view.h"

struct gt_host_selection {
    const struct gt_view *view;
    bool *processes; /* by track: whether the view has ops of it */
};

bool gt_host_selection_init(struct gt_host_selection *selection, const struct gt_view *view); /* false: no memory */
void gt_host_selection_release(struct gt_host_selection *selection);

/* Everything, if nothing was left out; else what began in the window, of the processes whose ops are selected. */
bool gt_host_selection_has(const struct gt_host_selection *selection, int64_t start_ns, uint32_t thread);

#endif
