/* Calls that allocate and free memory, by name, and how much of them the GPUs were idle. */
#ifndef GT_MEASURE_MEMORY_USE_ALLOCATOR_CALLS_H
#define GT_MEASURE_MEMORY_USE_ALLOCATOR_CALLS_H

#include "measure/results/idle.h"

struct gt_allocator_call {
    struct gt_str name;
    size_t count;
    int64_t total_ns, max_ns;
    int64_t idle_ns; /* while no GPU of the view ran anything */
};

struct gt_allocator_calls {
    struct gt_allocator_call *items; /* by time */
    size_t count;
};

/* Those that overlap the time of the view's ops. Linear, but for the number of calls of this kind, which are sorted. */
enum gt_status gt_allocator_calls_init(struct gt_allocator_calls *calls, const struct gt_view *view,
                                       struct gt_error *err);
void gt_allocator_calls_release(struct gt_allocator_calls *calls);

/* By its plain name. */
bool gt_allocator_calls_has(struct gt_str name);

#endif
