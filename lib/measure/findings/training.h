/* Training: whether a program trains, as far as names say it. */
#ifndef GT_MEASURE_FINDINGS_TRAINING_H
#define GT_MEASURE_FINDINGS_TRAINING_H

#include "measure/findings/evidence.h"

/* The trace has ranges or kernels of backward passes or optimizers. */
bool gt_training_is_seen(struct gt_evidence *evidence);

/* An op that updates parameters, by its kernel's name or a range of an optimizer around its launch. */
bool gt_training_is_update(const struct gt_view *view, uint32_t position);

#endif
