/* Which ranges get a critical path of their own. */
#ifndef GT_MEASURE_RESULTS_PATH_RANGES_H
#define GT_MEASURE_RESULTS_PATH_RANGES_H

#include "base/arena.h"
#include "events/view.h"

/* Rows of ranges, in the arena; NULL: memory was short. is_cut_short is set if there are too many. */
uint32_t *gt_path_ranges_find(struct gt_arena *arena, const struct gt_view *view, size_t *count, bool *is_cut_short);

/* Whether --step names the step; without --step all are asked for. */
bool gt_path_ranges_is_step_asked(const struct gputime_selection *asked, int64_t number);

#endif
