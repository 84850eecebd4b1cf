/* Kernels that never fill a sample: their rates follow from all samples together. */
#ifndef GT_MEASURE_COUNTERS_COUNTER_EQUATIONS_H
#define GT_MEASURE_COUNTERS_COUNTER_EQUATIONS_H

#include "measure/counters/counter_items.h"

/* Solves for the kernels of the device that can be: with few samples of their own, but enough time in parts of others.
   false: memory was short. */
bool gt_counter_equations_solve(struct gt_counter_items *items, const struct gt_idle *idle, size_t index,
                                const struct gt_sampling *sampling);

#endif
