/* Intervals of one track as a viewer can show them: properly nested, each beginning and ending in the order of time.
   What overlaps without nesting goes to lanes beside, where nothing overlaps. */
#ifndef GT_EXPORT_NEST_H
#define GT_EXPORT_NEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_nest_item {
    int64_t start_ns, end_ns; /* not before the start */
    uint32_t row;
    uint8_t kind;
    bool is_moment; /* begins and never ends */
};

/* A run of events. */
struct gt_nest_lane {
    size_t first, count;
};

struct gt_nest {
    uint32_t *events; /* item << 1, with 1 added where it ends; by lane, in each by time */
    struct gt_nest_lane *lanes;
    size_t lane_count; /* the first is that of the track itself */
};

#define GT_NEST_ITEMS_MAX (UINT32_MAX >> 1)

/* Sorts the items by start, the longer first, equal ones in the order given, and lays them out. n log n. At most
   GT_NEST_ITEMS_MAX items. false: memory was short. */
bool gt_nest_init(struct gt_nest *nest, struct gt_nest_item *items, size_t count);
void gt_nest_release(struct gt_nest *nest);

static inline size_t gt_nest_item_of(uint32_t event) {
    return event >> 1;
}

static inline int64_t gt_nest_event_ns(const struct gt_nest_item *items, uint32_t event) {
    const struct gt_nest_item *item = &items[event >> 1];
    return event & 1 ? item->end_ns : item->start_ns;
}

#endif
