/* Calls in which a thread that launches waits for the GPU. Copies block, too, but it is their data that the CPU waits
   for. */
#ifndef GT_MEASURE_FINDINGS_SYNC_MARKS_H
#define GT_MEASURE_FINDINGS_SYNC_MARKS_H

#include "measure/findings/evidence.h"

/* By call: 1 if it is one of those, after the warm-up; else 0. To be freed with gt_mem_free; NULL: no call blocks, or
   memory was short, and the evidence has failed. */
uint8_t *gt_sync_marks_new(struct gt_evidence *evidence);

#endif
