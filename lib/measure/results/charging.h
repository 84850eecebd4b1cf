/* Wall time: charges every instant of a device to exactly one op: compute before communication before memory, and
   inside a class the earlier op, so that an op has the part after the latest end before it. In come the ops of a device
   in view order, out go pieces of time with their ops, one after the other. Linear, without memory. Inline, for what is
   done with each piece is little. */
#ifndef GT_MEASURE_RESULTS_CHARGING_H
#define GT_MEASURE_RESULTS_CHARGING_H

#include "events/view.h"

/* [start, end) is charged to an op of the view; an op may get several such pieces. */
typedef void gt_charging_fn(void *context, size_t position, int64_t start_ns, int64_t end_ns);

/* Who time of a class is charged to. */
struct gt_charging_owner {
    size_t position;
    int64_t end_ns;
    size_t next; /* position to look for the next one from */
};

/* Up to where a device is charged. */
struct gt_charging {
    const struct gt_view *view;
    int64_t at_ns;         /* the start of the latest op */
    int64_t reached_ns[3]; /* by class: the latest end so far */
    int64_t latest_ns;     /* of all classes */
    struct gt_charging_owner owners[3];
};

/* The owner at a moment that an op of the class covers. Moments come in order, so all are one linear pass. */
static inline const struct gt_charging_owner *gt_charging_owner_at(struct gt_charging *it, enum gt_class class,
                                                                   int64_t at_ns) {
    const struct gt_view *view = it->view;
    struct gt_charging_owner *owner = &it->owners[class];
    for (; owner->end_ns <= at_ns; owner->next++)
        if (gt_view_op_class(view, owner->next) == class && view->end_ns[owner->next] > owner->end_ns) {
            owner->end_ns = view->end_ns[owner->next];
            owner->position = owner->next;
        }
    return owner;
}

/* Charges the time up to a moment before which no more op starts. Each class covers a first part of it. */
static inline void gt_charging_until(struct gt_charging *it, int64_t until_ns, gt_charging_fn *charge, void *context) {
    int64_t from_ns = it->at_ns;
    for (int class = 0; class <= GT_CLASS_MEMORY; class ++) {
        int64_t end_ns = it->reached_ns[class] < until_ns ? it->reached_ns[class] : until_ns;
        while (from_ns < end_ns) {
            const struct gt_charging_owner *owner = gt_charging_owner_at(it, (enum gt_class) class, from_ns);
            int64_t stop_ns = owner->end_ns < end_ns ? owner->end_ns : end_ns;
            charge(context, owner->position, from_ns, stop_ns);
            from_ns = stop_ns;
        }
    }
    it->at_ns = until_ns;
}

/* Whether an op runs while no other does, as on one stream most do. All up to its start is charged. */
static inline bool gt_charging_is_alone(const struct gt_charging *it, size_t position, size_t end) {
    const struct gt_view *view = it->view;
    return it->latest_ns <= view->start_ns[position] && position + 1 < end &&
           view->start_ns[position] < view->end_ns[position] && view->end_ns[position] <= view->start_ns[position + 1];
}

/* All of its time is its own. */
static inline void gt_charging_alone(struct gt_charging *it, size_t position, gt_charging_fn *charge, void *context) {
    int64_t start_ns = it->view->start_ns[position], end_ns = it->view->end_ns[position];
    enum gt_class class = gt_view_op_class(it->view, position);
    it->at_ns = it->latest_ns = it->reached_ns[class] = end_ns;
    it->owners[class] = (struct gt_charging_owner){position, end_ns, position + 1};
    charge(context, position, start_ns, end_ns);
}

static inline struct gt_charging gt_charging_begin(const struct gt_view *view, const struct gt_view_device *device) {
    struct gt_charging it = {.view = view, .at_ns = INT64_MIN, .latest_ns = INT64_MIN};
    for (size_t class = 0; class < 3; class ++) {
        it.reached_ns[class] = INT64_MIN;
        it.owners[class] = (struct gt_charging_owner){.end_ns = INT64_MIN, .next = device->first};
    }
    return it;
}

/* The next op of the device, whose last one is in front of `end`. */
static inline void gt_charging_take(struct gt_charging *it, size_t position, size_t end, gt_charging_fn *charge,
                                    void *context) {
    const struct gt_view *view = it->view;
    if (it->latest_ns > it->at_ns)
        gt_charging_until(it, view->start_ns[position], charge, context);
    if (gt_charging_is_alone(it, position, end)) {
        gt_charging_alone(it, position, charge, context);
        return;
    }
    int64_t *reached_ns = &it->reached_ns[gt_view_op_class(view, position)];
    *reached_ns = view->end_ns[position] > *reached_ns ? view->end_ns[position] : *reached_ns;
    it->latest_ns = view->end_ns[position] > it->latest_ns ? view->end_ns[position] : it->latest_ns;
    it->at_ns = view->start_ns[position];
}

static inline void gt_charging_device(const struct gt_view *view, const struct gt_view_device *device,
                                      gt_charging_fn *charge, void *context) {
    struct gt_charging it = gt_charging_begin(view, device);
    for (size_t i = device->first, end = i + device->count; i < end; i++)
        gt_charging_take(&it, i, end, charge, context);
    gt_charging_until(&it, INT64_MAX, charge, context);
}

#endif
