/* Which of the outermost code of its launching thread a gap of a device was spent in. */
#ifndef GT_MEASURE_OUTER_CODE_H
#define GT_MEASURE_OUTER_CODE_H

#include "measure/idle.h"

/* Of a gap that the CPU is to blame for: name of the outermost range or operator that has the largest part of the time
   from the start of the gap to the launch, where all together have more than half of it; else, and for other gaps,
   GT_STRID_EMPTY. *place helps the next gap of the same thread to be found at once; 0 at first. */
gt_strid gt_outer_code_name(const struct gt_view *view, const struct gt_idle *idle, const struct gt_idle_gap *gap,
                            size_t *place);

/* Such a name as people read it. */
struct gt_str gt_outer_code_text(const struct gt_view *view, gt_strid name);

#endif
