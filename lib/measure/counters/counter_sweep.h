/* The time of a GPU in pieces, and its samples with what ran in each: in come charged time, idle gaps and samples, out
   goes, for each sample in order, the list of ops and gaps that share its period. One pass over all. */
#ifndef GT_MEASURE_COUNTERS_COUNTER_SWEEP_H
#define GT_MEASURE_COUNTERS_COUNTER_SWEEP_H

#include "measure/counters/sampling.h"
#include "measure/results/idle.h"

/* A piece of a device's span: charged to an op, or a gap. Pieces follow each other without holes. */
struct gt_counter_piece {
    int64_t start_ns, end_ns;
    uint32_t op;   /* position; GT_NO_ROW: the device was idle */
    uint8_t cause; /* enum gt_idle_cause, of idle time */
};

typedef void gt_counter_sweep_piece_fn(void *context, const struct gt_counter_piece *piece);

/* All pieces of a device of the view, by its number. */
void gt_counter_sweep_pieces(const struct gt_view *view, const struct gt_idle *idle, size_t device,
                             gt_counter_sweep_piece_fn *take, void *context);

/* What of a sample's period belongs to a piece. */
struct gt_counter_part {
    uint32_t op;
    uint8_t cause;
    int64_t ns;
};

typedef void gt_counter_sweep_fn(void *context, size_t sample, const struct gt_counter_part *parts, size_t count);

/* Every sample that some piece shares. false: memory was short. */
bool gt_counter_sweep(const struct gt_view *view, const struct gt_idle *idle, size_t device,
                      const struct gt_sampling *sampling, gt_counter_sweep_fn *take, void *context);

#endif
