/* The things of a GPU that counters are shown for, and which of them a piece of time belongs to. */
#ifndef GT_MEASURE_COUNTERS_COUNTER_ITEMS_H
#define GT_MEASURE_COUNTERS_COUNTER_ITEMS_H

#include "measure/counters/counter_set.h"
#include "measure/counters/counter_sweep.h"

/* Items that belong to a piece of time, without ranges: the span, and a gap or busy time, a class and a kernel. */
struct gt_counter_list {
    uint32_t items[4];
    size_t count;
};

struct gt_counter_items {
    const struct gt_view *view;
    struct gt_counter_device *device;
    uint32_t of_class[3], of_cause[GT_IDLE_CAUSE_COUNT];
    uint32_t *of_name; /* by id of names of the view */
    bool has_failed;   /* memory was short */
};

enum { GT_COUNTER_SPAN_ITEM, GT_COUNTER_BUSY_ITEM }; /* the first items of every device */

/* Makes the items of a device but ranges, with their ops and times; one pass over its ops and gaps. */
bool gt_counter_items_init(struct gt_counter_items *items, const struct gt_view *view, const struct gt_idle *idle,
                           size_t index, struct gt_counter_device *device);
void gt_counter_items_release(struct gt_counter_items *items);

/* One more, of a name of ranges. */
uint32_t gt_counter_items_add_range(struct gt_counter_items *items, struct gt_str name, uint32_t name_id);

/* Whether so much of a sample's period is enough for it to count. */
bool gt_counter_items_fills(const struct gt_sampling *sampling, size_t sample, int64_t ns);
void gt_counter_items_add_sample(struct gt_counter_item *item, const struct gt_sampling *sampling, size_t sample,
                                 int64_t ns);

/* All items of an op (op: position) or of idle time (GT_NO_ROW and its cause); the span is always the first. */
struct gt_counter_list gt_counter_items_of(struct gt_counter_items *items, uint32_t op, uint8_t cause);

/* The item of an op's name. */
uint32_t gt_counter_items_of_kernel(const struct gt_counter_items *items, uint32_t op);

#endif
