/* Launch waits: what a thread did from the start of a gap to the launch call that came after it. */
#ifndef GT_MEASURE_RESULTS_LAUNCH_WAIT_H
#define GT_MEASURE_RESULTS_LAUNCH_WAIT_H

#include "events/view.h"
#include "measure/results/host_spans.h"

/* In calls: `in_calls` is called for runtime and driver calls, `in_waits` of those that wait for the GPU. Both are
   called once for each span, or again where calls turn out to be in no order. in_calls may be NULL, and then only calls
   that wait are looked at. false: memory was short. */
bool gt_launch_wait_calls(const struct gt_view *view, const struct gt_host_spans *spans,
                          void (*in_calls)(void *, uint32_t, const struct gt_host_span_part *),
                          void (*in_waits)(void *, uint32_t, const struct gt_host_span_part *), void *context);

/* The same in code: the ranges and operators that no other encloses; steps and marks are no code. */
bool gt_launch_wait_code(const struct gt_view *view, const struct gt_host_spans *spans,
                         void (*in_code)(void *, uint32_t, const struct gt_host_span_part *), void *context);

/* The name of code as people read it. */
struct gt_str gt_launch_wait_code_text(const struct gt_view *view, gt_strid name);

#endif
