/* Keeps what is left of ops and gaps. */
#include "measure/findings/ledger.h"

#include "base/intervals.h"
#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/findings/division.h"

/* ---- filling in ---- */

static int64_t later(int64_t a_ns, int64_t b_ns) {
    return a_ns > b_ns ? a_ns : b_ns;
}

/* ---- the whole ---- */

/* Nothing is claimed by the next rule yet. */
static void begin(struct gt_ledger *ledger) {
    ledger->count = 0;
    ledger->claimed_ns = 0;
    ledger->window_count = 0;
    for (size_t d = 0; d < ledger->view->device_count; d++)
        ledger->savings[d] = (struct gt_finding_saving){.device = ledger->view->devices[d].id};
}

bool gt_ledger_init(struct gt_ledger *ledger, const struct gt_view *view, const struct gt_idle *idle, int64_t steady_ns,
                    size_t threads) {
    *ledger = (struct gt_ledger){.view = view, .idle = idle, .steady_ns = steady_ns};
    bool has_columns = gt_sparse_init(&ledger->gap_less, idle->count);
    has_columns = gt_sparse_init(&ledger->op_less, view->op_count) && has_columns;
    ledger->savings = gt_mem_array(view->device_count, sizeof *ledger->savings);
    bool ok = has_columns && ledger->savings;
    for (size_t d = 0; d < view->device_count && ok; d++) {
        const struct gt_view_device *device = &view->devices[d];
        int64_t start_ns = later(device->span_start_ns, steady_ns);
        ledger->span_ns += device->span_end_ns > start_ns ? gt_ns_between(start_ns, device->span_end_ns) : 0;
    }
    ok = ok && gt_division_make(ledger, threads);
    if (ok)
        begin(ledger);
    ledger->has_failed = !ok;
    return ok;
}

void gt_ledger_release(struct gt_ledger *ledger) {
    gt_sparse_release(&ledger->gap_less);
    gt_sparse_release(&ledger->op_less);
    gt_mem_free(ledger->claims);
    gt_mem_free(ledger->claimed_ops);
    gt_mem_free(ledger->savings);
    gt_mem_free(ledger->others);
    gt_mem_free(ledger->first_others);
    *ledger = (struct gt_ledger){0};
}

double gt_ledger_share(const struct gt_ledger *ledger, double ns) {
    return ledger->span_ns > 0 ? ns / (double)ledger->span_ns : 0;
}

/* ---- claims ---- */

/* When the gap or op of a claim is. */
static struct gt_interval span_of(const struct gt_ledger *ledger, const struct gt_ledger_claim *claim) {
    const struct gt_view *view = ledger->view;
    if (!claim->is_gap)
        return (struct gt_interval){view->start_ns[claim->item], view->end_ns[claim->item]};
    return (struct gt_interval){gt_idle_gap_start_ns(ledger->idle, claim->item),
                                gt_idle_gap_end_ns(ledger->idle, claim->item)};
}

static void keep_window(struct gt_ledger *ledger, const struct gt_ledger_claim *claim, size_t device) {
    size_t place = ledger->window_count < GT_FINDING_WINDOWS ? ledger->window_count++ : GT_FINDING_WINDOWS - 1;
    for (; place > 0 && claim->ns > ledger->window_claims[place - 1].ns; place--) {
        ledger->windows[place] = ledger->windows[place - 1];
        ledger->window_claims[place] = ledger->window_claims[place - 1];
    }
    struct gt_interval span = span_of(ledger, claim);
    int64_t origin_ns = ledger->view->store->origin_ns;
    ledger->windows[place] =
        (struct gt_finding_window){gt_ns_between(origin_ns, span.start_ns), gt_ns_between(origin_ns, span.end_ns),
                                   ledger->view->devices[device].id};
    ledger->window_claims[place] = *claim;
}

/* Most claims are not among the largest. */
static inline void note_window(struct gt_ledger *ledger, const struct gt_ledger_claim *claim, size_t device) {
    if (claim->ns > 0 &&
        (ledger->window_count < GT_FINDING_WINDOWS || claim->ns > ledger->window_claims[GT_FINDING_WINDOWS - 1].ns))
        keep_window(ledger, claim, device);
}

/* The device whose ops hold a position. Claims come device by device. */
static size_t device_of_op(struct gt_ledger *ledger, size_t position) {
    const struct gt_view *view = ledger->view;
    const struct gt_view_device *last = &view->devices[ledger->op_device];
    if (position >= last->first && position < last->first + last->count)
        return ledger->op_device;
    size_t low = 0, high = view->device_count;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (view->devices[middle].first <= position)
            low = middle;
        else
            high = middle;
    }
    ledger->op_device = low;
    return low;
}

static size_t device_of_gap(struct gt_ledger *ledger, size_t gap) {
    const struct gt_idle_device *last = &ledger->idle->devices[ledger->gap_device];
    if (gap < last->first || gap >= last->first + last->count)
        ledger->gap_device = gt_idle_device_of(ledger->idle, gap);
    return ledger->gap_device;
}

static bool grow_claims(struct gt_ledger *ledger) {
    struct gt_ledger_claim *claims =
        gt_mem_room(ledger->claims, ledger->count, &ledger->capacity, sizeof *ledger->claims);
    ledger->claims = claims ? claims : ledger->claims;
    return claims;
}

/* NULL: memory was short. */
static int64_t *less_of(struct gt_ledger *ledger, const struct gt_ledger_claim *claim) {
    return gt_sparse_at(claim->is_gap ? &ledger->gap_less : &ledger->op_less, claim->item);
}

/* Takes so much of what is left. Returns what was taken. */
static inline int64_t claim(struct gt_ledger *ledger, int64_t left_ns, struct gt_ledger_claim wanted,
                            int64_t *saving_ns) {
    int64_t *less_ns = less_of(ledger, &wanted);
    wanted.ns = wanted.ns < left_ns ? wanted.ns : left_ns;
    if (!less_ns || (ledger->count == ledger->capacity && !grow_claims(ledger))) {
        ledger->has_failed = true;
        return 0;
    }
    ledger->claims[ledger->count++] = wanted;
    *less_ns += wanted.ns;
    ledger->claimed_ns += wanted.ns;
    *saving_ns = gt_ns_add(*saving_ns, wanted.ns);
    return wanted.ns;
}

int64_t gt_ledger_claim_gap(struct gt_ledger *ledger, size_t gap, int64_t want_ns) {
    int64_t left_ns = want_ns > 0 ? gt_ledger_gap_left_ns(ledger, gap) : 0;
    if (left_ns <= 0)
        return 0;
    size_t device = device_of_gap(ledger, gap);
    int64_t ns = claim(ledger, left_ns, (struct gt_ledger_claim){want_ns, (uint32_t)gap, true},
                       &ledger->savings[device].waiting_ns);
    if (ns > 0)
        note_window(ledger, &ledger->claims[ledger->count - 1], device);
    return ns;
}

int64_t gt_ledger_claim_op(struct gt_ledger *ledger, uint32_t position, int64_t want_ns) {
    int64_t left_ns = want_ns > 0 ? gt_ledger_op_left_ns(ledger, position) : 0;
    if (left_ns <= 0)
        return 0;
    size_t device = device_of_op(ledger, position);
    struct gt_finding_saving *saving = &ledger->savings[device];
    bool is_compute = gt_view_op_class(ledger->view, position) == GT_CLASS_COMPUTE;
    int64_t ns = claim(ledger, left_ns, (struct gt_ledger_claim){want_ns, position, false},
                       is_compute ? &saving->compute_ns : &saving->waiting_ns);
    if (ns > 0)
        note_window(ledger, &ledger->claims[ledger->count - 1], device);
    return ns;
}

void gt_ledger_note_window(struct gt_ledger *ledger, const struct gt_ledger_claim *claim, size_t device) {
    note_window(ledger, claim, device);
}

static size_t device_of(struct gt_ledger *ledger, const struct gt_ledger_claim *claim) {
    return claim->is_gap ? device_of_gap(ledger, claim->item) : device_of_op(ledger, claim->item);
}

static bool begins_in(const struct gt_ledger *ledger, const struct gt_ledger_claim *claim, int64_t from_ns,
                      int64_t to_ns) {
    int64_t start_ns = span_of(ledger, claim).start_ns;
    return start_ns >= from_ns && start_ns < to_ns;
}

static void give_back_part(struct gt_ledger *ledger, struct gt_ledger_claim *claim, size_t device, int64_t ns) {
    struct gt_finding_saving *saving = &ledger->savings[device];
    bool is_compute = !claim->is_gap && gt_view_op_class(ledger->view, claim->item) == GT_CLASS_COMPUTE;
    claim->ns -= ns;
    ledger->claimed_ns -= ns;
    *less_of(ledger, claim) -= ns;
    *(is_compute ? &saving->compute_ns : &saving->waiting_ns) -= ns;
}

bool gt_ledger_lower(struct gt_ledger *ledger, int64_t from_ns, int64_t to_ns, const int64_t *most_ns) {
    __int128 *claimed_ns = gt_mem_array(ledger->view->device_count, sizeof *claimed_ns);
    if (!claimed_ns)
        return false;
    for (size_t i = 0; i < ledger->count; i++)
        if (begins_in(ledger, &ledger->claims[i], from_ns, to_ns))
            claimed_ns[device_of(ledger, &ledger->claims[i])] += ledger->claims[i].ns;
    ledger->window_count = 0;
    for (size_t i = 0; i < ledger->count; i++) {
        struct gt_ledger_claim *claim = &ledger->claims[i];
        size_t device = device_of(ledger, claim);
        if (begins_in(ledger, claim, from_ns, to_ns) && claimed_ns[device] > most_ns[device])
            give_back_part(ledger, claim, device,
                           claim->ns - (int64_t)(claim->ns * (__int128)most_ns[device] / claimed_ns[device]));
        note_window(ledger, claim, device);
    }
    gt_mem_free(claimed_ns);
    return true;
}

/* Most claims are of gaps: the marks are made for the first op. */
static void mark_op(struct gt_ledger *ledger, size_t position) {
    if (!ledger->claimed_ops)
        ledger->claimed_ops = gt_mem_array(ledger->view->op_count, 1);
    ledger->has_failed |= !ledger->claimed_ops;
    if (ledger->claimed_ops)
        ledger->claimed_ops[position] = 1;
}

void gt_ledger_keep(struct gt_ledger *ledger) {
    for (size_t i = 0; i < ledger->count; i++)
        if (!ledger->claims[i].is_gap)
            mark_op(ledger, ledger->claims[i].item);
    begin(ledger);
}

void gt_ledger_give_back(struct gt_ledger *ledger) {
    for (size_t i = 0; i < ledger->count; i++) {
        int64_t *less_ns = less_of(ledger, &ledger->claims[i]);
        if (less_ns) /* else memory was short while many were claimed at once, and the ledger has failed */
            *less_ns -= ledger->claims[i].ns;
    }
    begin(ledger);
}
