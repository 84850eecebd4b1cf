/* Memory of a GPU step by step: what stays allocated from one step to the next. */
#ifndef GT_MEASURE_MEMORY_USE_MEMORY_STEPWISE_H
#define GT_MEASURE_MEMORY_USE_MEMORY_STEPWISE_H

#include "measure/memory_use/memory_events.h"

/* The steps of processes that have events on the device, and how much grows from step to step. A step that begins
   before the one before it has ended, in the same process, is left out. false: memory was short. */
bool gt_memory_stepwise_find(struct gt_memory_device *device, const struct gt_view *view,
                             const struct gt_memory_event *events, size_t count);

#endif
