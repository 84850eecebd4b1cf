/* Walks samples and pieces of time of a device side by side. */
#include "measure/counters/counter_sweep.h"

#include "base/mem.h"

struct gt_counter_pieces gt_counter_sweep_pieces(const struct gt_view *view, const struct gt_idle *idle,
                                                 size_t device) {
    const struct gt_idle_device *of = &idle->devices[device];
    struct gt_counter_pieces pieces = {
        .charges = gt_charges_of(view, &view->devices[device]),
        .gap = idle->gaps + of->first,
        .gaps_end = idle->gaps + of->first + of->count,
    };
    pieces.has_charge = gt_charges_next(&pieces.charges, &pieces.charge);
    return pieces;
}

bool gt_counter_sweep_next_piece(struct gt_counter_pieces *pieces, struct gt_counter_piece *piece) {
    const struct gt_charge *charge = &pieces->charge;
    bool has_gap = pieces->gap < pieces->gaps_end;
    if (has_gap && (!pieces->has_charge || pieces->gap->start_ns < charge->start_ns)) {
        *piece = (struct gt_counter_piece){pieces->gap->start_ns, pieces->gap->end_ns, GT_NO_ROW, pieces->gap->cause};
        pieces->gap++;
        return true;
    }
    if (!pieces->has_charge)
        return false;
    *piece = (struct gt_counter_piece){charge->start_ns, charge->end_ns, (uint32_t)charge->op, 0};
    pieces->has_charge = gt_charges_next(&pieces->charges, &pieces->charge);
    return true;
}

struct parts {
    struct gt_counter_part *items;
    size_t count, capacity;
};

static bool add_part(struct parts *parts, const struct gt_counter_piece *piece, int64_t ns) {
    struct gt_counter_part *grown = gt_mem_room(parts->items, parts->count, &parts->capacity, sizeof *grown);
    if (!grown)
        return false;
    parts->items = grown;
    parts->items[parts->count++] = (struct gt_counter_part){piece->op, piece->cause, ns};
    return true;
}

static int64_t overlap_ns(const struct gt_counter_piece *piece, int64_t start_ns, int64_t end_ns) {
    int64_t from_ns = piece->start_ns > start_ns ? piece->start_ns : start_ns;
    int64_t to_ns = piece->end_ns < end_ns ? piece->end_ns : end_ns;
    return gt_ns_between(from_ns, to_ns);
}

bool gt_counter_sweep(const struct gt_view *view, const struct gt_idle *idle, size_t device,
                      const struct gt_sampling *sampling, gt_counter_sweep_fn *take, void *context) {
    struct gt_counter_pieces pieces = gt_counter_sweep_pieces(view, idle, device);
    struct gt_counter_piece piece;
    struct parts parts = {0};
    bool has_piece = gt_counter_sweep_next_piece(&pieces, &piece), is_done = true;
    for (size_t s = 0; s < sampling->count && is_done; s++) {
        int64_t start_ns = sampling->start_ns[s], end_ns = sampling->end_ns[s];
        parts.count = 0;
        while (has_piece && piece.end_ns <= start_ns)
            has_piece = gt_counter_sweep_next_piece(&pieces, &piece);
        while (has_piece && piece.start_ns < end_ns && is_done) {
            int64_t ns = overlap_ns(&piece, start_ns, end_ns);
            is_done = ns <= 0 || add_part(&parts, &piece, ns);
            if (piece.end_ns > end_ns)
                break;
            has_piece = gt_counter_sweep_next_piece(&pieces, &piece);
        }
        if (is_done && parts.count)
            take(context, s, parts.items, parts.count);
    }
    gt_mem_free(parts.items);
    return is_done;
}
