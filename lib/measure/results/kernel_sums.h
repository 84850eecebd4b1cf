/* Kernels of a view by row, summed by name: all that a table by name alone needs, without groups, order or a copy of
   the ops. Lengths are listed only of the names whose statistics are asked for. */
#ifndef GT_MEASURE_RESULTS_KERNEL_SUMS_H
#define GT_MEASURE_RESULTS_KERNEL_SUMS_H

#include "base/moments.h"
#include "base/quantile.h"
#include "events/view.h"
#include "measure/results/lane_overlaps.h"

/* Zeroed: the name has no kernels. */
struct gt_kernel_sum {
    struct gt_moments lengths;
    uint8_t category;   /* index into labels->categories */
    bool is_of_several; /* categories: a kernel and a graph may have the same name */
};

/* The kernels of some ops. */
struct gt_kernel_table {
    struct gt_kernel_sum *sums;      /* by string id */
    struct gt_kernel_latest *latest; /* the same, of what is not in the sums yet; only while ops are looked at */
    gt_strid *names;                 /* those with kernels, in order of appearance */
    size_t count;
};

struct gt_kernel_sums {
    const struct gt_view *view;
    struct gt_kernel_table all;
    struct gt_kernel_table *slices; /* of the ops, where there are several */
    size_t slice_count;
    struct gt_lane_overlaps overlaps; /* found in the same pass */
};

/* One pass over the ops, in slices on several threads; another one if the overlaps need it. false: memory was short. */
bool gt_kernel_sums_init(struct gt_kernel_sums *it, const struct gt_view *view);
void gt_kernel_sums_release(struct gt_kernel_sums *it);

/* Lengths of the kernels of some names, in the order of these. */
struct gt_kernel_lengths {
    int64_t *lengths_ns;
    uint32_t *narrow_ns; /* instead, where all fit */
    size_t *first;       /* by name in that order: where its lengths begin; and after them where they end */
};

/* A second pass over the ops. Names must be different ones. false: memory was short. */
bool gt_kernel_sums_lengths(const struct gt_kernel_sums *it, const gt_strid *names, size_t count,
                            struct gt_kernel_lengths *out);
void gt_kernel_sums_lengths_release(struct gt_kernel_lengths *lengths);

static inline struct gt_slice gt_kernel_sums_slice(const struct gt_kernel_lengths *lengths, size_t index) {
    size_t first = lengths->first[index], count = lengths->first[index + 1] - first;
    if (lengths->narrow_ns)
        return (struct gt_slice){.narrow = lengths->narrow_ns + first, .count = count};
    return (struct gt_slice){.samples = lengths->lengths_ns + first, .count = count};
}

#endif
