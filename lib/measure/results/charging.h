/* Charged time of a device handed to a function, op by op. */
#ifndef GT_MEASURE_RESULTS_CHARGING_H
#define GT_MEASURE_RESULTS_CHARGING_H

#include "measure/results/charges.h"

/* Time that is charged to an op of the view; an op may get several such parts. */
typedef void gt_charging_fn(void *context, size_t position, int64_t ns);

static inline void gt_charging_device(const struct gt_view *view, const struct gt_view_device *device,
                                      gt_charging_fn *charge, void *context) {
    struct gt_charges charges = gt_charges_of(view, device);
    struct gt_charge piece;
    while (gt_charges_next(&charges, &piece))
        charge(context, piece.op, gt_ns_between(piece.start_ns, piece.end_ns));
}

#endif
