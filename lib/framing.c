/* From an open trace to its frames. */
#include "frame/frame.h"
#include "internal.h"

enum gt_status gt_internal_frames(struct gputime_trace *trace, uint32_t facts, struct gt_frames **out,
                                  struct gt_error *err) {
    const struct gt_reading *reading;
    *out = NULL;
    enum gt_status status = gt_internal_read(trace, facts, &reading, err);
    if (status != GT_OK)
        return status;
    struct gt_frame_trace from = {.store = reading->store,
                                  .labels = reading->labels,
                                  .rank = reading->rank,
                                  .path = gt_str_of(gt_internal_path(trace))};
    *out = gt_frame_new(&from);
    return *out ? GT_OK : gt_fail_memory(err);
}
