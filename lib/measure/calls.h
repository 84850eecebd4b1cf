/* What the names of runtime and driver calls tell, and which calls launched the work of a view. */
#ifndef GT_MEASURE_CALLS_H
#define GT_MEASURE_CALLS_H

#include "base/error.h"
#include "events/view.h"

/* The name without the table versions Nsight appends (_v3020) and the per-thread stream suffixes (_ptsz, _ptds).
   A version of the driver's own (cuMemcpyHtoD_v2) stays. */
struct gt_str gt_call_plain_name(struct gt_str name);

/* The call keeps its thread until the GPU is done: cudaStreamSynchronize, cudaMemcpy, ... */
bool gt_call_is_blocking(struct gt_str name);

/* The call launches kernels or graphs. */
bool gt_call_is_launch(struct gt_str name);

/* One byte for each call of the store: not 0 if it launched an op of the view or, when the view is whole, if it is a
   launch by its name. Free with gt_free. */
enum gt_status gt_launch_marks_new(const struct gt_view *view, uint8_t **marks, struct gt_error *err);

#endif
