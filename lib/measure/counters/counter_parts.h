/* The span of a GPU by how near its samples were to the limits: rows of the waterfall. */
#ifndef GT_MEASURE_COUNTERS_COUNTER_PARTS_H
#define GT_MEASURE_COUNTERS_COUNTER_PARTS_H

#include "measure/counters/counter_set.h"
#include "report/table.h"

/* Rows of one device: ideal time at a limit, time below it, everything else. Their ns sum to the span. None where the
   trace lacks a metric that they need, or the clock of the matrix units is not known. */
void gt_counter_parts_add(struct gt_table *table, int64_t device_id, const struct gt_counter_device *device);

#endif
