/* What the CPU did during gaps of a device, until it launched the op that ended them. */
#ifndef GT_MEASURE_RESULTS_GAP_CALLS_H
#define GT_MEASURE_RESULTS_GAP_CALLS_H

#include "measure/results/idle_code.h"

/* By place in a list of gaps: row of the call that kept the launching thread for more than half of the time from the
   start of the gap to the launch; GT_NO_ROW if none did, or the launch was in time. To be freed with gt_mem_free; NULL:
   memory was short. One pass over the calls, with a binary search for each device where many gaps are wanted. */
uint32_t *gt_gap_calls(const struct gt_view *view, const struct gt_idle *idle, const uint32_t *gaps, size_t count);

/* By place in a list of gaps: the code that the CPU was in for most of a gap that it is to blame for, as
   was found; else GT_STRID_EMPTY. To be freed with gt_mem_free; NULL: memory was short. */
gt_strid *gt_gap_calls_code(const struct gt_idle *idle, const struct gt_idle_code *found, const uint32_t *gaps,
                            size_t count);

#endif
