/* Which windows the critical path is asked for. */
#ifndef GT_MEASURE_RESULTS_PATH_WINDOWS_H
#define GT_MEASURE_RESULTS_PATH_WINDOWS_H

#include "measure/results/paths.h"

/* Makes the graph, the windows without what their walks give, and room for the walks. */
enum gt_status gt_path_windows_make(struct gt_paths *paths, const struct gt_view *view, struct gt_error *err);

#endif
