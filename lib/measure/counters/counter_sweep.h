/* Samples of a GPU with what ran in each: in come samples and the charged time of the device, out goes, for each sample
   in order, the list of ops and idle gaps that share its period. One pass over both. */
#ifndef GT_MEASURE_COUNTERS_COUNTER_SWEEP_H
#define GT_MEASURE_COUNTERS_COUNTER_SWEEP_H

#include "measure/counters/sampling.h"
#include "measure/results/charges.h"
#include "measure/results/idle.h"

/* The pieces of a device's span: charged to an op, or a gap. They follow each other without holes. */
struct gt_counter_piece {
    int64_t start_ns, end_ns;
    uint32_t op;   /* position; GT_NO_ROW: the device was idle */
    uint8_t cause; /* enum gt_idle_cause, of idle time */
};

struct gt_counter_pieces {
    struct gt_charges charges;
    struct gt_charge charge;
    bool has_charge;
    const struct gt_idle_gap *gap, *gaps_end;
};

struct gt_counter_pieces gt_counter_sweep_pieces(const struct gt_view *view, const struct gt_idle *idle, size_t device);
bool gt_counter_sweep_next_piece(struct gt_counter_pieces *pieces, struct gt_counter_piece *piece);

/* What of a sample's period belongs to a piece. */
struct gt_counter_part {
    uint32_t op;
    uint8_t cause;
    int64_t ns;
};

typedef void gt_counter_sweep_fn(void *context, size_t sample, const struct gt_counter_part *parts, size_t count);

/* false: memory was short. */
bool gt_counter_sweep(const struct gt_view *view, const struct gt_idle *idle, size_t device,
                      const struct gt_sampling *sampling, gt_counter_sweep_fn *take, void *context);

#endif
