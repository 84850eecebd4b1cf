/* Walks the pieces of a device's time and its samples side by side. */
#include "measure/counters/counter_sweep.h"

#include "base/mem.h"
#include "measure/results/charging.h"

/* ---- pieces ---- */

struct pieces {
    const struct gt_idle *idle;
    size_t gap, gaps_end;
    gt_counter_sweep_piece_fn *take;
    void *context;
};

static void take_gaps(struct pieces *pieces, int64_t until_ns) {
    const struct gt_idle *idle = pieces->idle;
    for (size_t gap; (gap = pieces->gap) < pieces->gaps_end && gt_idle_gap_start_ns(idle, gap) < until_ns;
         pieces->gap++) {
        const struct gt_counter_piece piece = {gt_idle_gap_start_ns(idle, gap), gt_idle_gap_end_ns(idle, gap),
                                               GT_NO_ROW, (uint8_t)gt_idle_gap_cause(idle, gap)};
        pieces->take(pieces->context, &piece);
    }
}

static void take_charge(void *context, size_t position, int64_t start_ns, int64_t end_ns) {
    struct pieces *pieces = context;
    const struct gt_counter_piece piece = {start_ns, end_ns, (uint32_t)position, 0};
    take_gaps(pieces, start_ns);
    pieces->take(pieces->context, &piece);
}

void gt_counter_sweep_pieces(const struct gt_view *view, const struct gt_idle *idle, size_t device,
                             gt_counter_sweep_piece_fn *take, void *context) {
    const struct gt_idle_device *of = &idle->devices[device];
    struct pieces pieces = {idle, of->first, of->first + of->count, take, context};
    gt_charging_device(view, &view->devices[device], take_charge, &pieces);
    take_gaps(&pieces, INT64_MAX);
}

/* ---- samples ---- */

struct sweep {
    const struct gt_sampling *sampling;
    size_t sample; /* the one at hand */
    struct gt_counter_part *parts;
    size_t count, capacity;
    gt_counter_sweep_fn *take;
    void *context;
    bool has_failed;
};

static void close_sample(struct sweep *sweep) {
    if (sweep->count && !sweep->has_failed)
        sweep->take(sweep->context, sweep->sample, sweep->parts, sweep->count);
    sweep->count = 0;
    sweep->sample++;
}

static void add_part(struct sweep *sweep, const struct gt_counter_piece *piece) {
    int64_t start_ns = sweep->sampling->start_ns[sweep->sample], end_ns = sweep->sampling->end_ns[sweep->sample];
    int64_t ns = gt_ns_between(piece->start_ns > start_ns ? piece->start_ns : start_ns,
                               piece->end_ns < end_ns ? piece->end_ns : end_ns);
    if (ns <= 0)
        return;
    struct gt_counter_part *parts = gt_mem_room(sweep->parts, sweep->count, &sweep->capacity, sizeof *parts);
    sweep->has_failed |= !parts;
    if (!parts)
        return;
    sweep->parts = parts;
    parts[sweep->count++] = (struct gt_counter_part){piece->op, piece->cause, ns};
}

static void take_piece(void *context, const struct gt_counter_piece *piece) {
    struct sweep *sweep = context;
    const struct gt_sampling *sampling = sweep->sampling;
    while (sweep->sample < sampling->count && sampling->end_ns[sweep->sample] <= piece->start_ns)
        close_sample(sweep);
    while (sweep->sample < sampling->count && sampling->start_ns[sweep->sample] < piece->end_ns) {
        add_part(sweep, piece);
        if (sampling->end_ns[sweep->sample] > piece->end_ns)
            return; /* the next piece has the rest of it */
        close_sample(sweep);
    }
}

bool gt_counter_sweep(const struct gt_view *view, const struct gt_idle *idle, size_t device,
                      const struct gt_sampling *sampling, gt_counter_sweep_fn *take, void *context) {
    struct sweep sweep = {.sampling = sampling, .take = take, .context = context};
    gt_counter_sweep_pieces(view, idle, device, take_piece, &sweep);
    if (sweep.sample < sampling->count)
        close_sample(&sweep);
    gt_mem_free(sweep.parts);
    return !sweep.has_failed;
}
