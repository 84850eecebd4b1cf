/* Wall time: every instant of a device is charged to exactly one op, compute before communication before memory, then
   the earlier one of the view. In come the ops of a device in view order, out go pieces of time with their owners, one
   after the other. Linear, without memory. */
#ifndef GT_MEASURE_RESULTS_CHARGES_H
#define GT_MEASURE_RESULTS_CHARGES_H

#include "events/view.h"

/* [start, end) belongs to the op. Pieces of one op may follow each other. */
struct gt_charge {
    int64_t start_ns, end_ns;
    size_t op; /* position in the view */
};

enum { GT_CHARGES_CLASSES = GT_CLASS_MEMORY + 1 };

/* Who time of a class is charged to. Inside a class the earlier op goes first, so that an op has the part after the
   latest end before it. */
struct gt_charges_owner {
    int64_t end_ns;
    size_t op;
    size_t next; /* position to look for the next one from */
};

struct gt_charges {
    const struct gt_view *view;
    size_t next, end;                       /* positions: of the op that starts next, and after the last one */
    int64_t at_ns, until_ns;                /* what is being charged: nothing starts between */
    int class;                              /* the one that it is charged to now */
    int64_t reached_ns[GT_CHARGES_CLASSES]; /* the latest end so far */
    struct gt_charges_owner owners[GT_CHARGES_CLASSES];
};

static inline struct gt_charges gt_charges_of(const struct gt_view *view, const struct gt_view_device *device) {
    struct gt_charges it = {
        .view = view,
        .next = device->first,
        .end = device->first + device->count,
        .at_ns = INT64_MIN,
        .until_ns = INT64_MIN,
        .class = GT_CHARGES_CLASSES,
    };
    for (int class = 0; class < GT_CHARGES_CLASSES; class ++) {
        it.reached_ns[class] = INT64_MIN;
        it.owners[class] = (struct gt_charges_owner){.end_ns = INT64_MIN, .next = device->first};
    }
    return it;
}

/* The owner at a moment that an op of the class covers. Moments come in order, so all are one linear pass. */
static inline const struct gt_charges_owner *gt_charges_find_owner(struct gt_charges *it) {
    const struct gt_view *view = it->view;
    struct gt_charges_owner *owner = &it->owners[it->class];
    for (; owner->end_ns <= it->at_ns; owner->next++)
        if (view->end_ns[owner->next] > owner->end_ns &&
            gt_view_op_class(view, owner->next) == (enum gt_class)it->class) {
            owner->end_ns = view->end_ns[owner->next];
            owner->op = owner->next;
        }
    return owner;
}

/* The time up to the start of the next op, or all that is left, goes to the classes in their order. Each of them covers
   a first part of it. */
static inline void gt_charges_take_op(struct gt_charges *it) {
    const struct gt_view *view = it->view;
    size_t op = it->next++;
    int64_t *reached_ns = &it->reached_ns[gt_view_op_class(view, op)];
    *reached_ns = view->end_ns[op] > *reached_ns ? view->end_ns[op] : *reached_ns;
    it->at_ns = view->start_ns[op];
    it->until_ns = it->next < it->end ? view->start_ns[it->next] : INT64_MAX;
    it->class = 0;
}

/* false: all is charged. */
static inline bool gt_charges_next(struct gt_charges *it, struct gt_charge *charge) {
    for (;;) {
        for (; it->class < GT_CHARGES_CLASSES; it->class ++) {
            int64_t reached_ns = it->reached_ns[it->class];
            int64_t end_ns = reached_ns < it->until_ns ? reached_ns : it->until_ns;
            if (it->at_ns >= end_ns)
                continue;
            const struct gt_charges_owner *owner = gt_charges_find_owner(it);
            int64_t stop_ns = owner->end_ns < end_ns ? owner->end_ns : end_ns;
            *charge = (struct gt_charge){it->at_ns, stop_ns, owner->op};
            it->at_ns = stop_ns;
            return true;
        }
        if (it->next == it->end)
            return false;
        gt_charges_take_op(it);
    }
}

#endif
