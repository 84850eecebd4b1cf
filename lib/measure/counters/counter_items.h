/* The things of a GPU that counters are shown for, and which of them a piece of time belongs to. */
#ifndef GT_MEASURE_COUNTERS_COUNTER_ITEMS_H
#define GT_MEASURE_COUNTERS_COUNTER_ITEMS_H

#include "measure/counters/counter_set.h"
#include "measure/counters/counter_sweep.h"
#include "measure/results/range_set.h"

/* Items that belong to a piece of time; borrowed. */
struct gt_counter_list {
    const uint32_t *items;
    size_t count;
};

struct gt_counter_items {
    const struct gt_view *view;
    const struct gt_range_set *ranges;
    struct gt_counter_device *device;
    bool ranges_overlap; /* then ops with one innermost range may have different ones around them */

    uint32_t of_class[3], of_cause[GT_IDLE_CAUSE_COUNT];
    uint32_t *of_name;  /* by id of names of the view */
    uint32_t *of_range; /* by name of ranges */
    uint32_t *seen;     /* by name of ranges: the last walk that came to it */
    uint32_t walks;
    uint32_t *list; /* what was asked for last */
    size_t list_capacity;
    uint32_t list_op, list_cause; /* for which */
    size_t list_count;
    bool has_failed; /* memory was short */
};

enum { GT_COUNTER_SPAN_ITEM, GT_COUNTER_BUSY_ITEM }; /* the first items of every device */

/* Makes the items of a device with their ops and times; one pass over its ops and gaps. */
bool gt_counter_items_init(struct gt_counter_items *items, const struct gt_view *view, const struct gt_idle *idle,
                           const struct gt_range_set *ranges, size_t index, struct gt_counter_device *device);
void gt_counter_items_release(struct gt_counter_items *items);

/* All items of an op (op: position) or of idle time (GT_NO_ROW and its cause); the span is always the first. */
struct gt_counter_list gt_counter_items_of(struct gt_counter_items *items, uint32_t op, uint8_t cause);

/* The item of an op's name. */
uint32_t gt_counter_items_of_kernel(const struct gt_counter_items *items, uint32_t op);

#endif
