/* FLOPs and projected time of ranges by name, on one device at a time. */
#ifndef GT_MEASURE_EFFICIENCY_RANGE_FLOPS_H
#define GT_MEASURE_EFFICIENCY_RANGE_FLOPS_H

#include "measure/efficiency/mfu_sums.h"
#include "measure/results/range_set.h"

struct gt_range_flops_name {
    struct gt_str text;
    struct gt_mfu_sums sums;
    int64_t projected_ns; /* last end - first start of each range, summed */
};

struct gt_range_flops {
    const struct gt_view *view;
    const struct gt_work_set *set;
    const struct gt_range_set *ranges;
    /* Ranges in trees have places, each in front of all that is inside it; by range: */
    uint32_t *place;
    /* By place: */
    uint32_t *end;      /* one after the last place inside it */
    bool *is_outermost; /* no range around it has its name */
    int64_t *start_ns, *end_ns;
    gt_big *before; /* FLOPs of all places before it */
    /* By name, and those with a range on the device, by time: */
    struct gt_range_flops_name *names;
    struct gt_range_flops_name *found;
    size_t found_count;
};

/* false: memory was short. */
bool gt_range_flops_init(struct gt_range_flops *flops, const struct gt_view *view, const struct gt_work_set *set,
                         const struct gt_range_set *ranges);
void gt_range_flops_release(struct gt_range_flops *flops);

/* Fills `found`: names with matrix work on the device. An op counts in the innermost range around its launch and in all
   around that one. Linear in ranges and ops, whatever their depth. */
void gt_range_flops_find(struct gt_range_flops *flops, const struct gt_view_device *device);

#endif
