/* The ops of a view by what tables distinguish: name, GPU, process, kind and category, each with the sum of the
   lengths of its ops. Tables by fewer of these put groups together instead of looking at every op again. */
#ifndef GT_MEASURE_RESULTS_OP_GROUPS_H
#define GT_MEASURE_RESULTS_OP_GROUPS_H

#include "events/view.h"
#include "measure/results/keyed.h"
#include "measure/results/op_grouping.h"
#include "measure/results/samples.h"

/* A cache line: a trace may have as many as ops. */
struct gt_op_group {
    __int128 sum_ns; /* of the lengths of its ops, clipped to the window */
    int64_t min_ns, max_ns;
    uint32_t count;
    uint32_t first_length; /* where its lengths are among those of all (op_lengths.h) */
    uint32_t first;        /* position of its first op in view order */
    gt_strid name;         /* full or simplified, as the options want */
    uint32_t device;       /* track */
    uint32_t process;      /* track; GT_NO_TRACK: the trace does not say */
    uint8_t kind, category;
};

struct gt_op_groups {
    struct gt_op_group *items; /* those of kernels and graphs, then the others; by name, device and process in each */
    size_t count, kernel_count;
    struct gt_op_grouping *slices; /* of the ops: what their groups are put together from; NULL: not kept, for these are
                                      many */
    size_t slice_count;
};

/* Linear. */
enum gt_status gt_op_groups_init(struct gt_op_groups *groups, const struct gt_view *view, struct gt_error *err);
/* The same groups, in any case with the slices. */
enum gt_status gt_op_groups_init_with_slices(struct gt_op_groups *groups, const struct gt_view *view,
                                             struct gt_error *err);
void gt_op_groups_release(struct gt_op_groups *groups);

/* Of groups that follow each other, first to end - 1. */
struct gt_tally gt_op_groups_tally(const struct gt_op_groups *groups, size_t first, size_t end);
/* What a tally knows; quantiles and deviation are negative. */
struct gt_sample_stats gt_op_groups_tally_stats(const struct gt_tally *lengths);

#endif
