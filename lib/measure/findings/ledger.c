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

/* What of an op comes after the ops of its class before it, and in the steady part. */
static struct gt_interval own_part(const struct gt_view *view, size_t position, int64_t reached_ns) {
    int64_t start_ns = later(view->start_ns[position], reached_ns);
    return (struct gt_interval){start_ns, later(view->end_ns[position], start_ns)};
}

/* Gives the ops of one class what no class of higher rank covers. */
static void divide_class(struct gt_ledger *ledger, const struct gt_view_device *device, enum gt_class class,
                         struct walk *above) {
    const struct gt_view *view = ledger->view;
    int64_t reached_ns = ledger->steady_ns;
    above->next = 0;
    for (size_t i = device->first; i < device->first + device->count; i++) {
        if (gt_view_op_class(view, i) != class)
            continue;
        struct gt_interval own = own_part(view, i, reached_ns);
        int64_t own_ns = gt_ns_between(own.start_ns, own.end_ns);
        ledger->op_left_ns[i] = own_ns ? own_ns - covered_ns(above, own.start_ns, own.end_ns) : 0;
        reached_ns = later(reached_ns, own.end_ns);
    }
}

static bool has_class(const struct gt_view *view, const struct gt_view_device *device, enum gt_class class) {
    for (size_t i = device->first; i < device->first + device->count; i++)
        if (gt_view_op_class(view, i) == class)
            return true;
    return false;
}

static void add_class(struct walk *above, const struct gt_view *view, const struct gt_view_device *device,
                      enum gt_class lowest) {
    gt_intervals_clear(&above->list);
    for (size_t i = device->first; i < device->first + device->count; i++)
        if (gt_view_op_class(view, i) <= lowest)
            gt_intervals_add(&above->list, view->start_ns[i], view->end_ns[i]);
}

/* Classes are numbered by rank. */
static bool divide_device(struct gt_ledger *ledger, const struct gt_view_device *device) {
    struct walk above = {0};
    divide_class(ledger, device, GT_CLASS_COMPUTE, &above);
    for (enum gt_class class = GT_CLASS_COMM; class <= GT_CLASS_MEMORY; class ++) {
        if (!has_class(ledger->view, device, class))
            continue;
        add_class(&above, ledger->view, device, class - 1);
        divide_class(ledger, device, class, &above);
    }
    bool ok = !above.list.failed;
    gt_intervals_release(&above.list);
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
        ok = divide_device(ledger, device);
    }
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
