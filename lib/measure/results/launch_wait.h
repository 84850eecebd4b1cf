/* Launch waits: what a thread did from the start of a gap to the launch call that came after it. */
#ifndef GT_MEASURE_RESULTS_LAUNCH_WAIT_H
#define GT_MEASURE_RESULTS_LAUNCH_WAIT_H

#include "events/view.h"
#include "measure/results/cover.h"
#include "measure/results/idle.h"

/* Room for so many. false: memory was short. Release in any case. */
bool gt_launch_wait_init(struct gt_cover_spans *waits, size_t count, size_t thread_count);
void gt_launch_wait_release(struct gt_cover_spans *waits);

/* The launch waits of gaps, in their order; each has the number of its gap. false: memory was short. Release in any
 * case. */
bool gt_launch_wait_list(struct gt_cover_spans *waits, const struct gt_view *view, const struct gt_idle *idle);

/* Called once for each wait, of several at the same time. */
typedef void gt_launch_wait_report(void *context, uint32_t wait, const struct gt_cover_part *part);

/* In calls of the runtime and the driver, all or those that wait for the GPU; without names. false: memory was short.
 */
bool gt_launch_wait_calls(const struct gt_view *view, const struct gt_cover_spans *waits, bool only_waits,
                          gt_launch_wait_report *in_calls, void *context);

/* The same in code: the ranges and operators that no other encloses; steps and marks are no code. */
bool gt_launch_wait_code(const struct gt_view *view, const struct gt_cover_spans *waits, gt_launch_wait_report *in_code,
                         void *context);

/* The name of code as people read it. */
struct gt_str gt_launch_wait_code_text(const struct gt_view *view, gt_strid name);

#endif
