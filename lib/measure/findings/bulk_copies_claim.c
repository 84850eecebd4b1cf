/* Claims what bulk copies could save, of themselves and of the gaps that they cause, and says so. Linear. */
#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/findings/bulk_copies.h"
#include "measure/findings/findings.h"
#include "measure/findings/origins.h"
#include "measure/results/copies.h"

/* ---- gaps ---- */

/* The copies of one GPU and the gaps next to them, each from one index to before another, and what they have. */
struct device_copies {
    size_t first, end;
    size_t first_gap, end_gap;
    uint32_t device;
    struct gt_bulk_copies_sum sum;
    int64_t wanted_ns; /* to be claimed */
};

struct claiming {
    const struct gt_bulk_copies *copies;
    struct gt_evidence *evidence;
    const struct gt_account *accounts; /* by device; NULL after a failure */
    gt_bulk_copies_taking *takes;
    struct device_copies *devices; /* those that have copies */
    size_t device_count;
    int64_t *caused_ns; /* by gap of the copies */
};

static int64_t inside_call(const struct claiming *it, size_t gap, const struct gt_bulk_copy *copy) {
    const struct gt_idle *idle = it->evidence->ledger.idle;
    const struct gt_calls *calls = &it->evidence->view->store->calls;
    if (!copy || !copy->blocks || copy->call == GT_NO_ROW)
        return 0;
    int64_t start_ns = calls->start_ns[copy->call], end_ns = calls->end_ns[copy->call];
    int64_t gap_start_ns = gt_idle_gap_start_ns(idle, gap), gap_end_ns = gt_idle_gap_end_ns(idle, gap);
    start_ns = start_ns > gap_start_ns ? start_ns : gap_start_ns;
    end_ns = end_ns < gap_end_ns ? end_ns : gap_end_ns;
    return end_ns > start_ns ? gt_ns_between(start_ns, end_ns) : 0;
}

/* Copies of one series that one range launched. */
static bool are_together(const struct gt_view *view, const struct gt_bulk_copy *before,
                         const struct gt_bulk_copy *after) {
    if (!before || !after || before->series != after->series)
        return false;
    uint32_t range = gt_origins_outermost_range(view, before->position);
    return range != GT_NO_ROW && range == gt_origins_outermost_range(view, after->position);
}

/* A call that blocks takes the CPU its lead: the short gap until it has launched again is the copy's. */
static bool cost_the_lead(const struct gt_idle *idle, size_t gap, const struct gt_bulk_copy *before) {
    return before && before->blocks && before->call != GT_NO_ROW && gt_idle_gap_is_of_cpu(idle, gap) &&
           (double)gt_idle_gap_ns(idle, gap) < gt_thresholds.stall_ns;
}

/* How much of a gap the copies next to it cause, of those that the rule takes. */
static int64_t caused_ns(const struct claiming *it, const struct gt_bulk_copies_gap *at) {
    const struct gt_idle *idle = it->evidence->ledger.idle;
    const struct gt_bulk_copy *before = at->before && it->takes(at->before) ? at->before : NULL;
    const struct gt_bulk_copy *after = at->after && it->takes(at->after) ? at->after : NULL;
    if (!before && !after)
        return 0;
    if (are_together(it->evidence->view, before, after) || cost_the_lead(idle, at->gap, before))
        return gt_idle_gap_ns(idle, at->gap);
    return gt_ns_add(inside_call(it, at->gap, before), inside_call(it, at->gap, after));
}

static int64_t smaller(int64_t a_ns, int64_t b_ns) {
    return a_ns < b_ns ? a_ns : b_ns;
}

/* ---- claiming ---- */

static int64_t pinned_ns(const struct claiming *it, const struct gt_bulk_copy *copy) {
    double ns = (double)copy->bytes / it->copies->pinned_rate[copy->way];
    int64_t op_ns = gt_view_op_ns(it->evidence->view, copy->position);
    return ns < (double)op_ns ? (int64_t)ns : op_ns;
}

/* Compute of a GPU in the steady span that hides no copy yet, up to so much. */
static int64_t free_compute_ns(const struct claiming *it, uint32_t index, int64_t wanted_ns) {
    const struct gt_evidence *evidence = it->evidence;
    const struct gt_view_device *device = &evidence->view->devices[index];
    const struct gt_account *accounts = it->accounts;
    if (!accounts)
        return 0;
    int64_t hiding_ns =
        gt_ns_between(accounts[index].ns[GT_AMOUNT_EXPOSED_MEMORY], accounts[index].ns[GT_AMOUNT_MEMORY]);
    int64_t sum_ns = 0, enough_ns = gt_ns_add(hiding_ns, wanted_ns);
    for (size_t i = device->first; i < device->first + device->count && sum_ns < enough_ns; i++)
        if (gt_view_op_class(evidence->view, i) == GT_CLASS_COMPUTE)
            sum_ns = gt_ns_add(sum_ns, gt_ledger_op_left_ns(&evidence->ledger, i));
    return sum_ns > hiding_ns ? gt_ns_between(hiding_ns, sum_ns) : 0;
}

/* What remains of the copies when they run as fast as pinned memory allows and compute hides as much as it can. */
static int64_t kept_ns(const struct claiming *it, const struct device_copies *of) {
    int64_t hideable_ns = 0, rest_ns = 0;
    for (size_t i = of->first; i < of->end; i++) {
        const struct gt_bulk_copy *copy = &it->copies->items[i];
        int64_t left_ns = gt_ledger_op_left_ns(&it->evidence->ledger, copy->position);
        if (!it->takes(copy) || left_ns <= 0)
            continue;
        int64_t *sum_ns = copy->has_compute_around ? &hideable_ns : &rest_ns;
        *sum_ns = gt_ns_add(*sum_ns, smaller(pinned_ns(it, copy), left_ns));
    }
    int64_t over_ns = gt_ns_between(free_compute_ns(it, of->device, hideable_ns), hideable_ns);
    return gt_ns_add(rest_ns, over_ns > 0 ? over_ns : 0);
}

static void count_copy(const struct claiming *it, const struct gt_bulk_copy *copy, struct gt_bulk_copies_sum *sum) {
    const struct gt_view *view = it->evidence->view;
    const struct gt_calls *calls = &view->store->calls;
    if (view->end_ns[copy->position] <= it->evidence->ledger.steady_ns)
        return;
    sum->bytes = sum->bytes + copy->bytes < sum->bytes ? UINT64_MAX : sum->bytes + copy->bytes;
    sum->memory_bytes[copy->memory] += sum->bytes == UINT64_MAX ? 0 : copy->bytes;
    sum->total_ns = gt_ns_add(sum->total_ns, gt_view_op_ns(view, copy->position));
    sum->alone_ns = gt_ns_add(sum->alone_ns, gt_ledger_op_left_ns(&it->evidence->ledger, copy->position));
    if (copy->call != GT_NO_ROW)
        sum->call_ns = gt_ns_add(sum->call_ns, gt_ns_between(calls->start_ns[copy->call], calls->end_ns[copy->call]));
    if (sum->count++ == 0 || gt_view_op_ns(view, copy->position) > gt_view_op_ns(view, sum->longest))
        sum->longest = copy->position;
    if (sum->longest == copy->position)
        sum->way = (enum gt_copy_way)copy->way;
}

/* Counts the copies of a GPU. How long they ran alone. */
static int64_t count_device(const struct claiming *it, struct device_copies *of) {
    int64_t alone_ns = 0;
    for (size_t i = of->first; i < of->end; i++) {
        const struct gt_bulk_copy *copy = &it->copies->items[i];
        if (!it->takes(copy))
            continue;
        count_copy(it, copy, &of->sum);
        alone_ns = gt_ns_add(alone_ns, gt_ledger_op_left_ns(&it->evidence->ledger, copy->position));
    }
    return alone_ns;
}

/* What a GPU has to claim, which depends on no other one. */
static void measure_device(void *context, size_t index) {
    const struct claiming *it = context;
    struct device_copies *of = &it->devices[index];
    const struct gt_ledger *ledger = &it->evidence->ledger;
    int64_t gap_ns = 0, alone_ns = count_device(it, of);
    if (alone_ns == 0)
        return;
    for (size_t i = of->first_gap; i < of->end_gap; i++) {
        const struct gt_bulk_copies_gap *gap = &it->copies->gaps[i];
        it->caused_ns[i] = caused_ns(it, gap);
        gap_ns = gt_ns_add(gap_ns, smaller(gt_ledger_gap_left_ns(ledger, gap->gap), it->caused_ns[i]));
    }
    of->sum.gap_ns = gap_ns;
    of->sum.kept_ns = kept_ns(it, of);
    of->wanted_ns = gt_ns_between(of->sum.kept_ns, gt_ns_add(alone_ns, gap_ns));
}

/* First the gaps, then the copies, up to so much in all: what would remain is time of copies, and no other rule takes
   it for idle time. */
static void claim_device(const struct claiming *it, const struct device_copies *of) {
    struct gt_ledger *ledger = &it->evidence->ledger;
    int64_t left_ns = of->wanted_ns;
    for (size_t i = of->first_gap; i < of->end_gap && left_ns > 0; i++)
        left_ns -= gt_ledger_claim_gap(ledger, it->copies->gaps[i].gap, smaller(left_ns, it->caused_ns[i]));
    for (size_t i = of->first; i < of->end && left_ns > 0; i++)
        if (it->takes(&it->copies->items[i]))
            left_ns -= gt_ledger_claim_op(ledger, it->copies->items[i].position, left_ns);
}

/* Whether all of it is enough to be reported. With --why less is shown, too. */
static bool may_be_worth_it(const struct claiming *it) {
    __int128 wanted_ns = 0;
    for (size_t i = 0; i < it->device_count; i++)
        wanted_ns += it->devices[i].wanted_ns;
    return it->evidence->is_explained ||
           gt_ledger_share(&it->evidence->ledger, (double)wanted_ns) >= gt_thresholds.low_share;
}

static uint32_t device_of_gap(const struct gt_bulk_copies_gap *gap) {
    return gap->before ? gap->before->device : gap->after->device;
}

/* Where the copies of a GPU end, from one of them on: they come by device. */
static size_t end_of_copies(const struct gt_bulk_copies *copies, size_t first, uint32_t device) {
    size_t low = first, high = copies->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool is_after = copies->items[middle].device > device;
        low = is_after ? low : middle + 1;
        high = is_after ? middle : high;
    }
    return low;
}

/* The same for gaps next to them, of which there may be none. */
static size_t end_of_gaps(const struct gt_bulk_copies *copies, size_t first, uint32_t device) {
    size_t low = first, high = copies->gap_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool is_after = device_of_gap(&copies->gaps[middle]) > device;
        low = is_after ? low : middle + 1;
        high = is_after ? middle : high;
    }
    return low;
}

static void list_devices(struct claiming *it) {
    const struct gt_bulk_copies *copies = it->copies;
    struct device_copies of = {0};
    while (of.first < copies->count) {
        of.device = copies->items[of.first].device;
        of.end = end_of_copies(copies, of.first, of.device);
        of.end_gap = end_of_gaps(copies, of.first_gap, of.device);
        it->devices[it->device_count++] = of;
        of.first = of.end;
        of.first_gap = of.end_gap;
    }
}

static void add_sum(const struct gt_view *view, struct gt_bulk_copies_sum *all, const struct gt_bulk_copies_sum *sum) {
    bool is_longer =
        sum->count && (all->count == 0 || gt_view_op_ns(view, sum->longest) > gt_view_op_ns(view, all->longest));
    all->bytes = all->bytes + sum->bytes < all->bytes ? UINT64_MAX : all->bytes + sum->bytes;
    for (size_t i = 0; i < GT_ARRAY_COUNT(all->memory_bytes); i++)
        all->memory_bytes[i] += all->bytes == UINT64_MAX ? 0 : sum->memory_bytes[i];
    all->total_ns = gt_ns_add(all->total_ns, sum->total_ns);
    all->alone_ns = gt_ns_add(all->alone_ns, sum->alone_ns);
    all->call_ns = gt_ns_add(all->call_ns, sum->call_ns);
    all->gap_ns = gt_ns_add(all->gap_ns, sum->gap_ns);
    all->kept_ns = gt_ns_add(all->kept_ns, sum->kept_ns);
    all->longest = is_longer ? sum->longest : all->longest;
    all->way = is_longer ? sum->way : all->way;
    all->count += sum->count;
}

struct gt_bulk_copies_sum gt_bulk_copies_claim(const struct gt_bulk_copies *copies, struct gt_evidence *evidence,
                                               gt_bulk_copies_taking *takes) {
    const struct gt_view *view = evidence->view;
    struct gt_bulk_copies_sum sum = {0};
    if (copies->count == 0)
        return sum;
    struct claiming it = {.copies = copies,
                          .evidence = evidence,
                          .accounts = gt_evidence_accounts(evidence), /* before there are several threads */
                          .takes = takes,
                          .devices = gt_mem_array(view->device_count, sizeof *it.devices),
                          .caused_ns = gt_mem_uninitialised(copies->gap_count, sizeof *it.caused_ns)};
    if (it.devices && it.caused_ns) {
        list_devices(&it);
        size_t threads = gt_threads_count(view->request->threads);
        bool are_many = gt_threads_slices(threads, copies->count, 0) > 1;
        gt_threads_parts(are_many ? threads : 1, it.device_count, measure_device, &it);
    } else {
        gt_evidence_fail(evidence);
    }
    for (size_t i = 0; i < it.device_count; i++)
        add_sum(view, &sum, &it.devices[i].sum);
    bool is_worth_it = may_be_worth_it(&it);
    for (size_t i = 0; i < it.device_count && is_worth_it; i++)
        claim_device(&it, &it.devices[i]);
    gt_mem_free(it.devices);
    gt_mem_free(it.caused_ns);
    return sum;
}

/* ---- sentences ---- */

/* "8.4 GB/s" */
static const char *say_rate(struct gt_evidence *evidence, double bytes_per_ns) {
    return gt_arena_printf(evidence->arena, "%.1f GB/s", bytes_per_ns).ptr;
}

/* "pageable memory", "pinned memory": the kind that has most of the bytes */
static const char *say_memory(const struct gt_bulk_copies_sum *sum) {
    uint64_t pageable = sum->memory_bytes[GT_MEMORY_PAGEABLE], pinned = sum->memory_bytes[GT_MEMORY_PINNED];
    if (pageable == 0 && pinned == 0)
        return "host memory";
    return pageable >= pinned ? "pageable memory" : "pinned memory";
}

void gt_bulk_copies_describe(const struct gt_bulk_copies *copies, struct gt_evidence *evidence,
                             struct gt_finding *finding, const struct gt_bulk_copies_sum *sum) {
    double devices = evidence->view->device_count ? (double)evidence->view->device_count : 1;
    double steps = (double)gt_evidence_step_count(evidence), times = steps > 0 ? steps * devices : devices;
    const char *per = steps > 0 ? " per step" : "";
    gt_finding_add_evidence(evidence, finding, "%s moved %s between %s and the GPU (%s) in %s, at %s.",
                            gt_say_counted(evidence, sum->count, "copy"), gt_say_bytes(evidence, sum->bytes),
                            say_memory(sum), sum->way == GT_COPY_TO_HOST ? "device to host" : "host to device",
                            gt_say_ns(evidence, (double)sum->total_ns),
                            say_rate(evidence, sum->total_ns > 0 ? (double)sum->bytes / (double)sum->total_ns : 0));
    const char *alone = gt_say_ns(evidence, (double)sum->alone_ns / times);
    if (sum->gap_ns > 0)
        gt_finding_add_evidence(evidence, finding,
                                "Nothing else ran for %s%s, and the GPU was idle for %s more because of their calls.",
                                alone, per, gt_say_ns(evidence, (double)sum->gap_ns / times));
    else
        gt_finding_add_evidence(evidence, finding, "Nothing else ran for %s%s.", alone, per);
    const char *source = copies->is_rate_observed[sum->way] ? "reaches" : "would reach about";
    const char *rate = say_rate(evidence, copies->pinned_rate[sum->way]);
    if (sum->kept_ns > 0)
        gt_finding_add_evidence(evidence, finding, "Pinned memory %s %s; %s%s would remain that no compute can hide.",
                                source, rate, gt_say_ns(evidence, (double)sum->kept_ns / times), per);
    else
        gt_finding_add_evidence(evidence, finding, "Pinned memory %s %s, and compute can hide the copies.", source,
                                rate);
}

void gt_bulk_copies_add_longest(struct gt_evidence *evidence, struct gt_finding *finding,
                                const struct gt_bulk_copies_sum *sum) {
    const struct gt_view *view = evidence->view;
    uint32_t op = view->row[sum->longest], call = view->labels->op_call[op];
    const char *name = gt_say_quoted(evidence, gt_store_string(view->store, view->store->ops.name[op]));
    const char *length = gt_say_ns(evidence, (double)gt_view_op_ns(view, sum->longest));
    if (call == GT_NO_ROW)
        gt_finding_add_evidence(evidence, finding, "Longest: %s, %s.", length, name);
    else
        gt_finding_add_evidence(evidence, finding, "Longest: %s, %s by %s.", length, name,
                                gt_say_call(evidence, view->store->calls.name[call]));
}
