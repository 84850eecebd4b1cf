/* Divides the busy time of each device among its ops, and keeps what is left of ops and gaps. Linear. */
#include "measure/findings/ledger.h"

#include "base/intervals.h"
#include "base/mem.h"
#include "base/ns.h"

/* ---- dividing ---- */

static int64_t later(int64_t a_ns, int64_t b_ns) {
    return a_ns > b_ns ? a_ns : b_ns;
}

/* Disjoint times in order, and how far a walk along them has come. */
struct walk {
    struct gt_intervals list;
    size_t next;
};

/* How much of a span lies in them. Spans come in order and are disjoint, too. */
static int64_t covered_ns(struct walk *walk, int64_t start_ns, int64_t end_ns) {
    int64_t sum_ns = 0;
    while (walk->next < walk->list.count && walk->list.items[walk->next].end_ns <= start_ns)
        walk->next++;
    for (size_t i = walk->next; i < walk->list.count && walk->list.items[i].start_ns < end_ns; i++) {
        const struct gt_interval *item = &walk->list.items[i];
        int64_t from_ns = later(item->start_ns, start_ns), to_ns = item->end_ns < end_ns ? item->end_ns : end_ns;
        sum_ns = gt_ns_add(sum_ns, gt_ns_between(from_ns, to_ns));
        walk->next = i;
    }
    return sum_ns;
}

/* Rows of a device on their way into the ledger. */
struct division {
    struct gt_ledger *ledger;
    int64_t reached_ns[3];   /* by class: the latest end so far, or the end of the warm-up */
    struct walk above;       /* union of the classes of higher rank */
    struct gt_intervals own; /* of one class: what its ops have without each other */
    uint32_t *rest;          /* positions of communication and memory ops */
    size_t rest_count;
};

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
    for (size_t i = device->first; i < device->first + device->count; i++) {
        enum gt_class class = gt_view_op_class(view, i);
        if (class != GT_CLASS_COMPUTE) {
            it->rest[it->rest_count++] = (uint32_t)i;
            continue;
        }
        struct gt_interval own = take_own_part(it, i, class);
        it->ledger->op_left_ns[i] = gt_ns_between(own.start_ns, own.end_ns);
        gt_intervals_add(&it->above.list, own.start_ns, own.end_ns);
    }
}

/* Gives the ops of one class what no class of higher rank covers. */
static void divide_class(struct division *it, enum gt_class class) {
    const struct gt_view *view = it->ledger->view;
    it->above.next = 0;
    gt_intervals_clear(&it->own);
    for (size_t i = 0; i < it->rest_count; i++) {
        uint32_t position = it->rest[i];
        if (gt_view_op_class(view, position) != class)
            continue;
        struct gt_interval own = take_own_part(it, position, class);
        int64_t own_ns = gt_ns_between(own.start_ns, own.end_ns);
        it->ledger->op_left_ns[position] = own_ns ? own_ns - covered_ns(&it->above, own.start_ns, own.end_ns) : 0;
        gt_intervals_add(&it->own, own.start_ns, own.end_ns);
    }
}

/* The union of two. */
static void join(struct gt_intervals *all, const struct gt_intervals *a, const struct gt_intervals *b) {
    size_t i = 0, j = 0;
    gt_intervals_clear(all);
    while (i < a->count || j < b->count) {
        bool is_a = j == b->count || (i < a->count && a->items[i].start_ns <= b->items[j].start_ns);
        const struct gt_interval *next = is_a ? &a->items[i++] : &b->items[j++];
        gt_intervals_add(all, next->start_ns, next->end_ns);
    }
}

static void divide_device(struct division *it, const struct gt_view_device *device) {
    for (size_t class = 0; class < GT_ARRAY_COUNT(it->reached_ns); class ++)
        it->reached_ns[class] = it->ledger->steady_ns;
    it->rest_count = 0;
    gt_intervals_clear(&it->above.list);
    divide_compute(it, device);
    divide_class(it, GT_CLASS_COMM);
    if (it->own.count) {
        struct gt_intervals both = {0};
        join(&both, &it->above.list, &it->own);
        gt_intervals_release(&it->above.list);
        it->above.list = both;
    }
    divide_class(it, GT_CLASS_MEMORY);
}

/* false: memory was short. */
static bool divide(struct gt_ledger *ledger) {
    struct division it = {.ledger = ledger};
    it.rest = gt_mem_uninitialised(ledger->view->op_count, sizeof *it.rest);
    for (size_t d = 0; d < ledger->view->device_count && it.rest && !it.above.list.failed && !it.own.failed; d++)
        divide_device(&it, &ledger->view->devices[d]);
    bool ok = it.rest && !it.above.list.failed && !it.own.failed;
    gt_intervals_release(&it.above.list);
    gt_intervals_release(&it.own);
    gt_mem_free(it.rest);
    return ok;
}

/* ---- the whole ---- */

static void take_gaps(struct gt_ledger *ledger) {
    for (size_t i = 0; i < ledger->idle->count; i++) {
        const struct gt_idle_gap *gap = &ledger->idle->gaps[i];
        ledger->gap_left_ns[i] = gap->start_ns < ledger->steady_ns ? 0 : gt_idle_gap_ns(gap);
    }
}

bool gt_ledger_init(struct gt_ledger *ledger, const struct gt_view *view, const struct gt_idle *idle,
                    int64_t steady_ns) {
    *ledger = (struct gt_ledger){.view = view, .idle = idle, .steady_ns = steady_ns};
    ledger->gap_left_ns = gt_mem_uninitialised(idle->count, sizeof *ledger->gap_left_ns);
    ledger->op_left_ns = gt_mem_array(view->op_count, sizeof *ledger->op_left_ns);
    ledger->savings = gt_mem_array(view->device_count, sizeof *ledger->savings);
    bool ok = ledger->gap_left_ns && ledger->op_left_ns && ledger->savings;
    for (size_t d = 0; d < view->device_count && ok; d++) {
        const struct gt_view_device *device = &view->devices[d];
        int64_t start_ns = later(device->span_start_ns, steady_ns);
        ledger->span_ns += device->span_end_ns > start_ns ? gt_ns_between(start_ns, device->span_end_ns) : 0;
    }
    ok = ok && divide(ledger);
    if (ok) {
        take_gaps(ledger);
        gt_ledger_keep(ledger); /* nothing is claimed yet */
    }
    ledger->has_failed = !ok;
    return ok;
}

void gt_ledger_release(struct gt_ledger *ledger) {
    gt_mem_free(ledger->gap_left_ns);
    gt_mem_free(ledger->op_left_ns);
    gt_mem_free(ledger->claims);
    gt_mem_free(ledger->savings);
    *ledger = (struct gt_ledger){0};
}

double gt_ledger_share(const struct gt_ledger *ledger, double ns) {
    return ledger->span_ns > 0 ? ns / (double)ledger->span_ns : 0;
}

/* ---- claims ---- */

static void keep_window(struct gt_ledger *ledger, struct gt_finding_window window, int64_t ns) {
    if (ledger->window_count == GT_FINDING_WINDOWS && ns <= ledger->window_ns[GT_FINDING_WINDOWS - 1])
        return;
    size_t place = ledger->window_count < GT_FINDING_WINDOWS ? ledger->window_count++ : GT_FINDING_WINDOWS - 1;
    for (; place > 0 && ns > ledger->window_ns[place - 1]; place--) {
        ledger->windows[place] = ledger->windows[place - 1];
        ledger->window_ns[place] = ledger->window_ns[place - 1];
    }
    window.start_ns = gt_ns_between(ledger->view->store->origin_ns, window.start_ns);
    window.end_ns = gt_ns_between(ledger->view->store->origin_ns, window.end_ns);
    ledger->windows[place] = window;
    ledger->window_ns[place] = ns;
}

/* The device whose ops hold a position. */
static size_t device_of_op(const struct gt_view *view, size_t position) {
    size_t low = 0, high = view->device_count;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (view->devices[middle].first <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int64_t claim(struct gt_ledger *ledger, int64_t *left_ns, struct gt_ledger_claim wanted,
                     struct gt_finding_window window, int64_t *saving_ns) {
    wanted.ns = wanted.ns < *left_ns ? wanted.ns : *left_ns;
    if (wanted.ns <= 0)
        return 0;
    struct gt_ledger_claim *claims =
        gt_mem_room(ledger->claims, ledger->count, &ledger->capacity, sizeof *ledger->claims);
    if (!claims) {
        ledger->has_failed = true;
        return 0;
    }
    ledger->claims = claims;
    claims[ledger->count++] = wanted;
    *left_ns -= wanted.ns;
    ledger->claimed_ns += wanted.ns;
    *saving_ns = gt_ns_add(*saving_ns, wanted.ns);
    keep_window(ledger, window, wanted.ns);
    return wanted.ns;
}

int64_t gt_ledger_claim_gap(struct gt_ledger *ledger, size_t gap, int64_t want_ns) {
    const struct gt_idle_gap *of = &ledger->idle->gaps[gap];
    size_t device = gt_idle_device_of(ledger->idle, gap);
    return claim(ledger, &ledger->gap_left_ns[gap], (struct gt_ledger_claim){gap, want_ns, true},
                 (struct gt_finding_window){of->start_ns, of->end_ns, ledger->view->devices[device].id},
                 &ledger->savings[device].waiting_ns);
}

int64_t gt_ledger_claim_op(struct gt_ledger *ledger, uint32_t position, int64_t want_ns) {
    const struct gt_view *view = ledger->view;
    size_t device = device_of_op(view, position);
    struct gt_finding_saving *saving = &ledger->savings[device];
    bool is_compute = gt_view_op_class(view, position) == GT_CLASS_COMPUTE;
    return claim(ledger, &ledger->op_left_ns[position], (struct gt_ledger_claim){position, want_ns, false},
                 (struct gt_finding_window){view->start_ns[position], view->end_ns[position], view->devices[device].id},
                 is_compute ? &saving->compute_ns : &saving->waiting_ns);
}

void gt_ledger_keep(struct gt_ledger *ledger) {
    ledger->count = 0;
    ledger->claimed_ns = 0;
    ledger->window_count = 0;
    for (size_t d = 0; d < ledger->view->device_count; d++)
        ledger->savings[d] = (struct gt_finding_saving){.device = ledger->view->devices[d].id};
}

void gt_ledger_give_back(struct gt_ledger *ledger) {
    for (size_t i = 0; i < ledger->count; i++) {
        const struct gt_ledger_claim *of = &ledger->claims[i];
        *(of->is_gap ? &ledger->gap_left_ns[of->item] : &ledger->op_left_ns[of->item]) += of->ns;
    }
    gt_ledger_keep(ledger);
}
