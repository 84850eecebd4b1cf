/* what the names of runtime and driver calls mean, and which calls launched the work of a view. */
#ifndef GT_MEASURE_RESULTS_CALLS_H
#define GT_MEASURE_RESULTS_CALLS_H

#include "base/fail.h"
#include "base/ns.h"
#include "events/view.h"

/* The name without the table versions Nsight appends (_v3020) and the per-thread stream suffixes (_ptsz, _ptds).
   A version of the driver's own (cuMemcpyHtoD_v2) stays. */
struct gt_str gt_call_plain_name(struct gt_str name);

/* The call keeps its thread until the GPU is done: cudaStreamSynchronize, cudaMemcpy, ... */
bool gt_call_is_blocking(struct gt_str name);

/* The same for all names that calls have. */
struct gt_blocking_names {
    uint8_t *of_name;     /* not 0: calls of this name block */
    uint8_t *is_of_calls; /* by string id, not 0: calls have this name */
    bool has_any;         /* a name blocks */
};
enum gt_status gt_calls_blocking_names_init(struct gt_blocking_names *names, const struct gt_view *view,
                                            struct gt_error *err);
void gt_calls_blocking_names_release(struct gt_blocking_names *names);

/* The call launches kernels or graphs. */
bool gt_call_is_launch(struct gt_str name);

/* From the end of its launch call to the start of an op, as traced; negative when the op started first or has no
   launch call. */
static inline int64_t gt_calls_queue_ns(const struct gt_store *store, const struct gt_labels *labels, uint32_t op) {
    uint32_t call = labels->op_call[op];
    return call == GT_NO_ROW ? -1 : gt_ns_between(store->calls.end_ns[call], store->ops.start_ns[op]);
}

struct gt_launch_marks {
    uint8_t *of_call; /* 1: it launched an op of the view or, when the view is whole, is a launch by its name; else 0 */
    size_t shared_count; /* ops of the view whose call launched another one, too, but for one of each call */
};
enum gt_status gt_calls_launch_marks_init(struct gt_launch_marks *marks, const struct gt_view *view,
                                          struct gt_error *err);
void gt_calls_launch_marks_release(struct gt_launch_marks *marks);

/* Calls that block, each once: some exports write a call as rows one inside the other with one correlation, as
   cudaMemcpy around cudaMemcpy_v3020. */
struct gt_blocking_marks {
    uint8_t *of_call; /* 1: it blocks, and lies in no other of its thread that blocks and has its correlation; else 0.
                         NULL: none does. */
};
enum gt_status gt_calls_blocking_marks_init(struct gt_blocking_marks *marks, const struct gt_view *view,
                                            struct gt_error *err);
void gt_calls_blocking_marks_release(struct gt_blocking_marks *marks);

#endif
