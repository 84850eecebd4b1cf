/* FLOPs and projected time of ranges by name, on one device at a time. */
#ifndef GT_MEASURE_EFFICIENCY_RANGE_FLOPS_H
#define GT_MEASURE_EFFICIENCY_RANGE_FLOPS_H

#include "measure/efficiency/mfu_sums.h"
#include "measure/results/range_trees.h"

/* A name with matrix work on the device. */
struct gt_range_flops_name {
    uint32_t name; /* of ranges */
    struct gt_str text;
    struct gt_mfu_sums sums;
    int64_t projected_ns; /* last end - first start of each range, summed */
};

/* First start and last end of ops; the start is above the end where there are none. */
struct gt_range_flops_extent {
    int64_t start_ns, end_ns;
};

/* An instance of matrix work. */
struct gt_range_flops_product {
    const struct gt_work_kind *kind;
    size_t position; /* of its first op */
    uint32_t place;  /* of the innermost range around the launch of that; GT_NO_ROW */
};

struct gt_range_flops {
    const struct gt_view *view;
    const struct gt_work_set *set;
    struct gt_range_trees trees;
    /* By place: */
    struct gt_range_flops_extent *inside; /* of ops in it and in all inside it */
    struct gt_range_flops_extent
        *overlapping; /* of others, which are not in the ranges around it; NULL: there are none */
    gt_big *before;   /* FLOPs of all places before it */
    struct gt_range_flops_product *products; /* of the device */
    size_t product_count;
    /* By name: */
    uint32_t *found_at; /* number in `found` + 1; 0: it has no matrix work */
    int64_t *projected_ns;
    /* By time: */
    struct gt_range_flops_name *found;
    size_t found_count, found_capacity;
    bool has_failed; /* memory was short */
};

/* false: memory was short. */
bool gt_range_flops_init(struct gt_range_flops *flops, const struct gt_view *view, const struct gt_work_set *set,
                         const struct gt_range_set *ranges);
void gt_range_flops_release(struct gt_range_flops *flops);

/* Fills `found`: names with matrix work on the device. An op counts once for each name of the ranges around its launch.
   Linear in ranges and ops, whatever their depth, where ranges nest. false: memory was short. */
bool gt_range_flops_find(struct gt_range_flops *flops, const struct gt_view_device *device);

#endif
