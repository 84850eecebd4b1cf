/* Gaps that the host made: finds the copies that the CPU waits for, then gives every gap to what is said of it. */
#include "measure/host_gaps.h"

#include "base/map.h"
#include "base/mem.h"
#include "measure/calls.h"
#include "measure/copies.h"
#include "measure/measure.h"

void gt_gap_sum_add(struct gt_gap_sum *sum, const struct gt_idle_gap *gap) {
    sum->count++;
    sum->total_ns += gap->gap_ns;
    sum->twice_recoverable_ns += gap->twice_recoverable_ns;
}

int64_t gt_gap_sum_recoverable(const struct gt_gap_sum *sum) {
    return gt_ns_of_sum(sum->twice_recoverable_ns / 2);
}

static bool is_of_host(const struct gt_idle_gap *gap) {
    return gap->cause == GT_IDLE_SYNC || gap->cause == GT_IDLE_HOST || gap->cause == GT_IDLE_LAUNCH;
}

/* ---- copies that make the CPU wait ---- */

/* Calls after which the same thread at once waits for the GPU: by call, the row of the waiting call + 1; 0: none.
   The calls of a thread stand in order of time in every known trace. To be freed; NULL: memory was short. */
static uint32_t *new_waits(const struct gt_store *store) {
    uint32_t *waits = gt_alloc_array(store->calls.count, sizeof *waits);
    uint32_t *last = gt_alloc_array(store->threads.count, sizeof *last); /* by thread: its call before, + 1 */
    uint8_t *blocks = gt_alloc_array(store->strings.count, 1);           /* by name: 1 it does not, 2 it does */
    for (uint32_t i = 0; i < store->calls.count && waits && last && blocks; i++) {
        gt_strid name = store->calls.name[i];
        uint32_t thread = store->calls.thread[i], before = thread == GT_NO_TRACK ? 0 : last[thread];
        if (thread == GT_NO_TRACK)
            continue;
        if (!blocks[name])
            blocks[name] = gt_call_is_blocking(gt_store_string(store, name)) ? 2 : 1;
        if (before && blocks[name] == 2 && store->calls.start_ns[i] >= store->calls.end_ns[before - 1])
            waits[before - 1] = i + 1;
        last[thread] = i + 1;
    }
    if (!last || !blocks) {
        gt_free(waits);
        waits = NULL;
    }
    gt_free(last);
    gt_free(blocks);
    return waits;
}

/* Such copies by the pair of their name and call. */
struct kinds {
    struct gt_readback *items;
    __int128 *gaps_ns; /* by kind: of the gaps behind them */
    size_t count;
    struct gt_map ids;
    uint32_t *of_op; /* by position in the view; GT_NO_ROW: no such copy */
};

static bool kinds_init(struct kinds *kinds, const struct gt_view *view) {
    size_t most = view->store->strings.count;
    *kinds = (struct kinds){.items = gt_alloc_array(most, sizeof *kinds->items),
                            .gaps_ns = gt_alloc_array(most, sizeof *kinds->gaps_ns),
                            .of_op = gt_alloc_array(view->op_count, sizeof *kinds->of_op)};
    return kinds->items && kinds->gaps_ns && kinds->of_op;
}

static void kinds_release(struct kinds *kinds) {
    gt_free(kinds->items);
    gt_free(kinds->gaps_ns);
    gt_free(kinds->of_op);
    gt_map_release(&kinds->ids);
}

/* The kind of a copy; GT_NO_ROW: the CPU does not wait for it. */
static uint32_t kind_of(struct kinds *kinds, const struct gt_view *view, uint32_t position, const uint32_t *waits) {
    const struct gt_store *store = view->store;
    uint32_t op = view->row[position], call = view->labels->op_call[op];
    if (gt_op_kind(view, position) != GT_OP_MEMCPY || call == GT_NO_ROW || !gt_copy_is_to_host(store, op))
        return GT_NO_ROW;
    gt_strid name = store->calls.name[call];
    bool waits_itself = gt_call_is_blocking(gt_store_string(store, name));
    if (!waits[call] && !waits_itself)
        return GT_NO_ROW;
    uint32_t next = (uint32_t)kinds->count, kind = gt_map_put_if_new(&kinds->ids, store->ops.name[op], name, next);
    if (kinds->ids.failed || (kind == next && kinds->count == store->strings.count))
        return GT_NO_ROW; /* more pairs of names than names: no program is like that */
    if (kind == next)
        kinds->items[kinds->count++] =
            (struct gt_readback){.copy = store->ops.name[op],
                                 .call = name,
                                 .wait = waits_itself ? GT_STRID_EMPTY : store->calls.name[waits[call] - 1],
                                 .range = view->labels->op_range[op]};
    kinds->items[kind].count++;
    return kind;
}

static bool find_kinds(struct kinds *kinds, const struct gt_view *view) {
    uint32_t *waits = new_waits(view->store);
    if (!waits)
        return false;
    for (uint32_t i = 0; i < view->op_count; i++)
        kinds->of_op[i] = kind_of(kinds, view, i, waits);
    gt_free(waits);
    return !kinds->ids.failed;
}

static uint32_t kind_before(const struct kinds *kinds, const struct gt_idle_gap *gap, int64_t steady_ns) {
    bool counts = gap->start_ns >= steady_ns && is_of_host(gap) && gap->previous != GT_NO_ROW;
    return counts ? kinds->of_op[gap->previous] : GT_NO_ROW;
}

/* The kind with the longest gaps behind it, of those that are no accident; GT_NO_ROW: none is. */
static uint32_t choose_kind(const struct kinds *kinds, const struct gt_idle *idle, int64_t steady_ns) {
    enum { FEWEST = 10 };
    uint32_t chosen = GT_NO_ROW;
    for (size_t i = 0; i < idle->count; i++) {
        uint32_t kind = kind_before(kinds, &idle->gaps[i], steady_ns);
        if (kind != GT_NO_ROW)
            kinds->gaps_ns[kind] += idle->gaps[i].gap_ns;
    }
    for (uint32_t i = 0; i < kinds->count; i++)
        if (kinds->items[i].count >= FEWEST && (chosen == GT_NO_ROW || kinds->gaps_ns[i] > kinds->gaps_ns[chosen]))
            chosen = i;
    return chosen;
}

/* How many copies of a kind are in ranges of the same name as the first one's. */
static size_t count_in_range(const struct kinds *kinds, uint32_t kind, const struct gt_view *view) {
    const struct gt_ranges *ranges = &view->store->ranges;
    size_t count = 0;
    for (uint32_t i = 0; i < view->op_count && kinds->items[kind].range != GT_NO_ROW; i++) {
        uint32_t range = view->labels->op_range[view->row[i]];
        count += kinds->of_op[i] == kind && range != GT_NO_ROW &&
                 ranges->name[range] == ranges->name[kinds->items[kind].range];
    }
    return count;
}

/* ---- every gap ---- */

static enum gt_host_gap classify(const struct gt_idle_gap *gap, int64_t steady_ns, bool is_behind_readback) {
    if (gap->start_ns < steady_ns)
        return GT_HOST_GAP_WARM_UP;
    if (!is_of_host(gap))
        return GT_HOST_GAP_NONE;
    if (is_behind_readback)
        return GT_HOST_GAP_READBACK;
    if (gap->cause == GT_IDLE_SYNC)
        return GT_HOST_GAP_SYNC;
    if (gap->gap_ns < GT_PAUSE_NS)
        return GT_HOST_GAP_LATE;
    return gap->cause == GT_IDLE_HOST ? GT_HOST_GAP_STALL : GT_HOST_GAP_NONE;
}

static void add_gap(struct gt_host_gaps *gaps, const struct gt_idle_gap *gap, enum gt_host_gap class) {
    gt_gap_sum_add(&gaps->sums[class], gap);
    if (class == GT_HOST_GAP_STALL && (!gaps->longest_stall || gap->gap_ns > gaps->longest_stall->gap_ns))
        gaps->longest_stall = gap;
}

enum gt_status gt_host_gaps_init(struct gt_host_gaps *gaps, const struct gt_view *view, const struct gt_idle *idle,
                                 int64_t steady_ns, struct gt_error *err) {
    struct kinds kinds;
    *gaps = (struct gt_host_gaps){.of = gt_alloc_array(idle->count, 1)};
    bool ok = kinds_init(&kinds, view) && gaps->of && find_kinds(&kinds, view);
    uint32_t chosen = ok ? choose_kind(&kinds, idle, steady_ns) : GT_NO_ROW;
    if (chosen != GT_NO_ROW) {
        gaps->readback = kinds.items[chosen];
        gaps->readback.in_range = count_in_range(&kinds, chosen, view);
    }
    for (size_t i = 0; i < idle->count && ok; i++) {
        const struct gt_idle_gap *gap = &idle->gaps[i];
        bool is_behind = chosen != GT_NO_ROW && kind_before(&kinds, gap, steady_ns) == chosen;
        gaps->of[i] = (uint8_t)classify(gap, steady_ns, is_behind);
        add_gap(gaps, gap, gaps->of[i]);
        gaps->pauses_ns += gap->start_ns >= steady_ns && gap->gap_ns >= GT_PAUSE_NS ? gap->gap_ns : 0;
    }
    kinds_release(&kinds);
    return ok ? GT_OK : gt_fail_memory(err);
}

void gt_host_gaps_release(struct gt_host_gaps *gaps) {
    gt_free(gaps->of);
    *gaps = (struct gt_host_gaps){0};
}
