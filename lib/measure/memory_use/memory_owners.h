/* Who owned the memory of a GPU at its peak. */
#ifndef GT_MEASURE_MEMORY_USE_MEMORY_OWNERS_H
#define GT_MEASURE_MEMORY_USE_MEMORY_OWNERS_H

#include "measure/memory_use/memory_events.h"

/* Owners of what the first `count` events left, of which the last one is the peak. Nothing where no event has an
   address. false: memory was short. */
bool gt_memory_owners_find(struct gt_memory_device *device, const struct gt_view *view,
                           const struct gt_memory_event *events, size_t count);

#endif
