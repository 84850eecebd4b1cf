/* Divides the busy time of each device among its ops, and keeps what is left of ops and gaps. Linear. */
#include "measure/findings/ledger.h"

#include <stdatomic.h>

#include "base/intervals.h"
#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"

/* ---- dividing ---- */

static int64_t later(int64_t a_ns, int64_t b_ns) {
    return a_ns > b_ns ? a_ns : b_ns;
}

/* Disjoint times in order, and how far a walk along them has come. */
struct walk {
    struct gt_intervals list;
    size_t next;
};

/* A walk along the ops of a device that compute. What they have without each other is disjoint and in order, too. */
struct compute_walk {
    size_t next, end; /* positions */
};

/* Rows of a device on their way into the ledger. */
struct division {
    struct gt_ledger *ledger;
    int64_t reached_ns[3]; /* by class: the latest end so far, or the end of the warm-up */
    struct compute_walk compute, compute_in_comm;
    struct walk comm; /* what communication ops have without each other */
    uint32_t *rest;   /* positions of communication and memory ops */
    size_t rest_count;
    bool computes[UINT8_MAX + 1]; /* by category */
};

static int64_t computing_ns(const struct gt_ledger *ledger, size_t position) {
    return gt_view_op_class(ledger->view, position) == GT_CLASS_COMPUTE ? ledger->op_left_ns[position] : 0;
}

/* How much of a span some op computed. Spans come in order and are disjoint. Ops that have nothing of their own are
   passed by, and nothing comes after one that reaches the end: so no op is looked at for many spans. */
static int64_t computed_ns(const struct gt_ledger *ledger, struct compute_walk *walk, int64_t start_ns,
                           int64_t end_ns) {
    const struct gt_view *view = ledger->view;
    int64_t sum_ns = 0, reached_ns = start_ns;
    while (walk->next < walk->end && (view->end_ns[walk->next] <= start_ns || computing_ns(ledger, walk->next) == 0))
        walk->next++;
    for (size_t i = walk->next; i < walk->end && view->start_ns[i] < end_ns && reached_ns < end_ns; i++) {
        int64_t own_ns = computing_ns(ledger, i);
        if (own_ns == 0)
            continue;
        int64_t from_ns = later(view->end_ns[i] - own_ns, start_ns);
        reached_ns = view->end_ns[i] < end_ns ? view->end_ns[i] : end_ns;
        sum_ns = gt_ns_add(sum_ns, gt_ns_between(from_ns, reached_ns));
        walk->next = i;
    }
    return sum_ns;
}

/* How much of a span communication ran and nothing computed. */
static int64_t exposed_comm_ns(struct division *it, int64_t start_ns, int64_t end_ns) {
    struct walk *comm = &it->comm;
    int64_t sum_ns = 0;
    while (comm->next < comm->list.count && comm->list.items[comm->next].end_ns <= start_ns)
        comm->next++;
    for (size_t i = comm->next; i < comm->list.count && comm->list.items[i].start_ns < end_ns; i++) {
        const struct gt_interval *item = &comm->list.items[i];
        int64_t from_ns = later(item->start_ns, start_ns), to_ns = item->end_ns < end_ns ? item->end_ns : end_ns;
        int64_t both_ns = computed_ns(it->ledger, &it->compute_in_comm, from_ns, to_ns);
        sum_ns = gt_ns_add(sum_ns, gt_ns_between(both_ns, gt_ns_between(from_ns, to_ns)));
        comm->next = i;
    }
    return sum_ns;
}

/* What of an op comes after the ops of its class before it, and in the steady part. */
static struct gt_interval take_own_part(struct division *it, size_t position, enum gt_class class) {
    const struct gt_view *view = it->ledger->view;
    int64_t start_ns = later(view->start_ns[position], it->reached_ns[class]);
    int64_t end_ns = later(view->end_ns[position], start_ns);
    it->reached_ns[class] = end_ns > start_ns ? end_ns : it->reached_ns[class];
    return (struct gt_interval){start_ns, end_ns};
}

/* Nothing has a higher rank than compute. The others are listed. */
static void divide_compute(struct division *it, const struct gt_view_device *device) {
    const struct gt_view *view = it->ledger->view;
    const int64_t *start_ns = view->start_ns, *end_ns = view->end_ns;
    int64_t *left_ns = it->ledger->op_left_ns, reached_ns = it->reached_ns[GT_CLASS_COMPUTE];
    for (size_t i = device->first, end = i + device->count; i < end; i++) {
        if (!it->computes[view->category[i]]) {
            it->rest[it->rest_count++] = (uint32_t)i;
            continue;
        }
        int64_t from_ns = later(start_ns[i], reached_ns);
        left_ns[i] = end_ns[i] > from_ns ? gt_ns_between(from_ns, end_ns[i]) : 0;
        reached_ns = end_ns[i] > from_ns ? end_ns[i] : reached_ns;
    }
    it->reached_ns[GT_CLASS_COMPUTE] = reached_ns;
}

/* Gives communication or memory ops what no class of higher rank covers. */
static void divide_class(struct division *it, const struct gt_view_device *device, enum gt_class class) {
    it->compute = it->compute_in_comm = (struct compute_walk){device->first, device->first + device->count};
    for (size_t i = 0; i < it->rest_count; i++) {
        uint32_t position = it->rest[i];
        if (gt_view_op_class(it->ledger->view, position) != class)
            continue;
        struct gt_interval own = take_own_part(it, position, class);
        int64_t left_ns = gt_ns_between(own.start_ns, own.end_ns);
        if (left_ns > 0)
            left_ns -= computed_ns(it->ledger, &it->compute, own.start_ns, own.end_ns);
        if (left_ns > 0 && class == GT_CLASS_MEMORY)
            left_ns -= exposed_comm_ns(it, own.start_ns, own.end_ns);
        it->ledger->op_left_ns[position] = left_ns;
        if (class == GT_CLASS_COMM)
            gt_intervals_add(&it->comm.list, own.start_ns, own.end_ns);
    }
}

static void divide_device(struct division *it, const struct gt_view_device *device) {
    for (size_t class = 0; class < GT_ARRAY_COUNT(it->reached_ns); class ++)
        it->reached_ns[class] = it->ledger->steady_ns;
    divide_compute(it, device);
    divide_class(it, device, GT_CLASS_COMM);
    divide_class(it, device, GT_CLASS_MEMORY);
}

static void take_gaps(struct gt_ledger *ledger, size_t begin, size_t end) {
    const struct gt_idle_gap *gap = &ledger->idle->gaps[begin];
    int64_t *left_ns = ledger->gap_left_ns, steady_ns = ledger->steady_ns;
    for (size_t i = begin; i < end; i++, gap++)
        left_ns[i] = gap->start_ns < steady_ns ? 0 : gt_idle_gap_ns(gap);
}

/* What is filled in at the same time: the ops of each device, then slices of the gaps. */
struct filling {
    struct gt_ledger *ledger;
    uint32_t *rest; /* room for that of all devices */
    size_t gap_slices;
    atomic_bool has_failed;
};

static void fill(void *context, size_t index) {
    struct filling *filling = context;
    struct gt_ledger *ledger = filling->ledger;
    const struct gt_view *view = ledger->view;
    size_t gaps = ledger->idle->count, slices = filling->gap_slices;
    if (index >= view->device_count) {
        size_t slice = index - view->device_count;
        if (gaps)
            take_gaps(ledger, gt_threads_slice_begin(gaps, slices, slice),
                      gt_threads_slice_begin(gaps, slices, slice + 1));
        return;
    }
    struct division it = {.ledger = ledger, .rest = filling->rest + view->devices[index].first};
    for (size_t i = 0; i < view->labels->category_count && i <= UINT8_MAX; i++)
        it.computes[i] = view->labels->categories[i].time_class == GT_CLASS_COMPUTE;
    divide_device(&it, &view->devices[index]);
    if (it.comm.list.failed)
        filling->has_failed = true;
    gt_intervals_release(&it.comm.list);
}

/* false: memory was short. */
static bool fill_all(struct gt_ledger *ledger, size_t threads) {
    struct filling filling = {.ledger = ledger, .gap_slices = gt_threads_slices(threads, ledger->idle->count, 0)};
    filling.rest = gt_mem_uninitialised(ledger->view->op_count, sizeof *filling.rest);
    if (!filling.rest)
        return false;
    gt_threads_deal(threads, ledger->view->device_count + filling.gap_slices, fill, &filling);
    gt_mem_free(filling.rest);
    return !filling.has_failed;
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
    ledger->gap_left_ns = gt_mem_uninitialised(idle->count, sizeof *ledger->gap_left_ns);
    ledger->op_left_ns = gt_mem_uninitialised(view->op_count, sizeof *ledger->op_left_ns);
    ledger->is_claimed = gt_mem_array(view->op_count, 1);
    ledger->savings = gt_mem_array(view->device_count, sizeof *ledger->savings);
    bool ok = ledger->gap_left_ns && ledger->op_left_ns && ledger->is_claimed && ledger->savings;
    for (size_t d = 0; d < view->device_count && ok; d++) {
        const struct gt_view_device *device = &view->devices[d];
        int64_t start_ns = later(device->span_start_ns, steady_ns);
        ledger->span_ns += device->span_end_ns > start_ns ? gt_ns_between(start_ns, device->span_end_ns) : 0;
    }
    ok = ok && fill_all(ledger, threads);
    if (ok)
        begin(ledger);
    ledger->has_failed = !ok;
    return ok;
}

void gt_ledger_release(struct gt_ledger *ledger) {
    gt_mem_free(ledger->gap_left_ns);
    gt_mem_free(ledger->op_left_ns);
    gt_mem_free(ledger->claims);
    gt_mem_free(ledger->is_claimed);
    gt_mem_free(ledger->savings);
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
    const struct gt_idle_gap *gap = &ledger->idle->gaps[claim->item];
    return (struct gt_interval){gap->start_ns, gap->end_ns};
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

/* Takes so much of what is left. Returns what was taken. */
static inline int64_t claim(struct gt_ledger *ledger, int64_t *left_ns, struct gt_ledger_claim wanted,
                            int64_t *saving_ns) {
    wanted.ns = wanted.ns < *left_ns ? wanted.ns : *left_ns;
    if (ledger->count == ledger->capacity && !grow_claims(ledger)) {
        ledger->has_failed = true;
        return 0;
    }
    ledger->claims[ledger->count++] = wanted;
    *left_ns -= wanted.ns;
    ledger->claimed_ns += wanted.ns;
    *saving_ns = gt_ns_add(*saving_ns, wanted.ns);
    return wanted.ns;
}

int64_t gt_ledger_claim_gap(struct gt_ledger *ledger, size_t gap, int64_t want_ns) {
    if (want_ns <= 0 || ledger->gap_left_ns[gap] <= 0)
        return 0;
    size_t device = device_of_gap(ledger, gap);
    int64_t ns = claim(ledger, &ledger->gap_left_ns[gap], (struct gt_ledger_claim){gap, want_ns, true},
                       &ledger->savings[device].waiting_ns);
    if (ns > 0)
        note_window(ledger, &ledger->claims[ledger->count - 1], device);
    return ns;
}

int64_t gt_ledger_claim_op(struct gt_ledger *ledger, uint32_t position, int64_t want_ns) {
    if (want_ns <= 0 || ledger->op_left_ns[position] <= 0)
        return 0;
    size_t device = device_of_op(ledger, position);
    struct gt_finding_saving *saving = &ledger->savings[device];
    bool is_compute = gt_view_op_class(ledger->view, position) == GT_CLASS_COMPUTE;
    int64_t ns = claim(ledger, &ledger->op_left_ns[position], (struct gt_ledger_claim){position, want_ns, false},
                       is_compute ? &saving->compute_ns : &saving->waiting_ns);
    if (ns > 0)
        note_window(ledger, &ledger->claims[ledger->count - 1], device);
    return ns;
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
    *(claim->is_gap ? &ledger->gap_left_ns[claim->item] : &ledger->op_left_ns[claim->item]) += ns;
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

void gt_ledger_keep(struct gt_ledger *ledger) {
    for (size_t i = 0; i < ledger->count; i++)
        if (!ledger->claims[i].is_gap)
            ledger->is_claimed[ledger->claims[i].item] = 1;
    begin(ledger);
}

void gt_ledger_give_back(struct gt_ledger *ledger) {
    for (size_t i = 0; i < ledger->count; i++) {
        const struct gt_ledger_claim *of = &ledger->claims[i];
        *(of->is_gap ? &ledger->gap_left_ns[of->item] : &ledger->op_left_ns[of->item]) += of->ns;
    }
    begin(ledger);
}
