/* The clock at which the matrix units of a GPU reach the peak of its data sheet. */
#ifndef GT_MEASURE_COUNTERS_MATRIX_CLOCK_H
#define GT_MEASURE_COUNTERS_MATRIX_CLOCK_H

#include "events/view.h"

/* In Hz; 0: not known. */
uint64_t gt_matrix_clock_hz(const struct gt_view *view, uint32_t device); /* device: track */

#endif
