/* Launch waits: what a thread did from the start of a gap to the launch call that came after it. */
#ifndef GT_MEASURE_RESULTS_LAUNCH_WAIT_H
#define GT_MEASURE_RESULTS_LAUNCH_WAIT_H

#include "events/view.h"
#include "measure/results/host_spans.h"
#include "measure/results/idle.h"

/* The launch waits of gaps, in their order. false: memory was short. Release in any case. */
bool gt_launch_wait_list(struct gt_host_spans *spans, const struct gt_view *view, const struct gt_idle *idle);

/* In calls of the runtime and the driver, all or those that wait for the GPU: `in_calls` is called once for each span,
   or again where calls turn out to be in no order. false: memory was short. */
bool gt_launch_wait_calls(const struct gt_view *view, const struct gt_host_spans *spans, bool only_waits,
                          void (*in_calls)(void *, uint32_t, const struct gt_host_span_part *), void *context);

/* The same in code: the ranges and operators that no other encloses; steps and marks are no code. */
bool gt_launch_wait_code(const struct gt_view *view, const struct gt_host_spans *spans,
                         void (*in_code)(void *, uint32_t, const struct gt_host_span_part *), void *context);

/* The name of code as people read it. */
struct gt_str gt_launch_wait_code_text(const struct gt_view *view, gt_strid name);

#endif
