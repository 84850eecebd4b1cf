/* The memory of a GPU in a sentence. */
#ifndef GT_MEASURE_MEMORY_USE_MEMORY_WORDS_H
#define GT_MEASURE_MEMORY_USE_MEMORY_WORDS_H

#include "base/arena.h"
#include "measure/memory_use/memory_set.h"

/* Memory that the GPU has; 0: the trace does not say. */
uint64_t gt_memory_words_capacity(const struct gt_view *view, const struct gt_memory_device *device);

/* The peak as a share of the GPU's memory; where that is not known, as a number that only ranks GPUs, below 0. */
double gt_memory_words_fullness(const struct gt_view *view, const struct gt_memory_device *device);

/* "Peak 71.2 GB of 80 GB allocated at 1.32 s (step 4): 41% by aten::mm in forward; reserved 75.1 GB, 5% fragmentation;
   grows 12 MB a step." */
struct gt_str gt_memory_words_peak(struct gt_arena *arena, const struct gt_view *view,
                                   const struct gt_memory_device *device, bool names_device);

#endif
