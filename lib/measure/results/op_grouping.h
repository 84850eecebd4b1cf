/* The groups of each slice of the ops of a view, and which of them an op is in: what groups of all ops are put together
   from, and what places their lengths. */
#ifndef GT_MEASURE_RESULTS_OP_GROUPING_H
#define GT_MEASURE_RESULTS_OP_GROUPING_H

#include "base/map.h"
#include "events/view.h"

/* A cache line: there may be as many as ops, mostly there are few, and each op looks at one. */
struct gt_op_part {
    __int128 sum_ns; /* of the lengths of its ops */
    int64_t min_ns, max_ns;
    uint32_t device, process; /* tracks */
    gt_strid full_name;
    uint32_t first; /* position of its first op */
    uint32_t count; /* of ops */
    uint32_t owner; /* of the streams whose ops of this name and kind are all in it; GT_NO_TRACK: none is known */
    uint32_t whole; /* the group of all ops that it is part of */
    uint8_t kind, category;
    bool is_indexed;
};

/* Groups in order of appearance. */
struct gt_op_grouping {
    struct gt_op_part *parts;
    size_t count, capacity;
    uint32_t *recent;    /* by full name: 1 + the group that an op of it was in last; 0: none was yet */
    struct gt_map index; /* of the groups of names that have several, by key: most have one, which needs no index */
    bool has_failed;     /* memory was short */
};

/* By stream: a stream of the same device and process, the same for all of these. Where the trace does not say the
   process of a stream, its ops may be of several: a number that is no owner of a group. NULL: memory was short. */
uint32_t *gt_op_grouping_owners_new(const struct gt_view *view);

/* Groups the ops from one position to before another. false: memory was short. */
bool gt_op_grouping_take(struct gt_op_grouping *it, const struct gt_view *view, const uint32_t *owners, size_t begin,
                         size_t end);
/* Adds the groups of a slice, whose ops come after those that are there, and says in each what it is part of. false:
   memory was short. */
bool gt_op_grouping_add(struct gt_op_grouping *whole, struct gt_op_grouping *slice);

/* By full name: 1 + a group of it; to be freed. What looks at all ops keeps here the one that an op was in last. NULL:
   memory was short. */
uint32_t *gt_op_grouping_recent_new(const struct gt_op_grouping *it, const struct gt_view *view);
/* The group of an op, by one of its name. */
uint32_t gt_op_grouping_find(const struct gt_op_grouping *it, const struct gt_view *view, size_t position,
                             uint32_t recent);

/* Whether the group is that of an op with its name: the category follows from name and kind. */
static inline bool gt_op_grouping_is_of(const struct gt_op_part *part, const struct gt_view *view,
                                        const uint32_t *owners, size_t position) {
    return part->owner == owners[view->lane[position]] && part->kind == view->kind[position];
}

void gt_op_grouping_end(struct gt_op_grouping *it); /* only what finding takes stays */
void gt_op_grouping_release(struct gt_op_grouping *it);

#endif
