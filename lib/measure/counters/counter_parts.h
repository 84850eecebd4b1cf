/* The span of a GPU by how near its samples were to the limits, as rows of a table with the columns of the waterfall.
 */
#ifndef GT_MEASURE_COUNTERS_COUNTER_PARTS_H
#define GT_MEASURE_COUNTERS_COUNTER_PARTS_H

#include "measure/counters/counter_set.h"
#include "report/report.h"

/* Rows of one device: device, basis, part, key, ns, share of the span. Their ns sum to the span. None where the trace
   lacks a metric that they need, or the clock of the matrix units is not known. */
void gt_counter_parts_put(struct gt_table *table, int64_t device_id, const struct gt_counter_device *device);

#endif
