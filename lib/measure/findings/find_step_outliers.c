/* The rule step_outliers: steps that take much longer on the GPU than usual, and what of it no other rule has claimed.
 */
#include "base/mem.h"
#include "base/ns.h"
#include "measure/findings/findings.h"
#include "measure/findings/step_list.h"
#include "measure/findings/step_times.h"

/* What a step's time on the GPU is made of: idle time, then the classes of ops. */
enum { IDLE, COMPUTE, COMM, MEMORY, KINDS };
static const char *const kind_names[KINDS] = {"idle time", "compute", "communication", "memory ops"};

struct looking {
    struct gt_evidence *evidence;
    const struct gt_step_times *times;
    int64_t (*left_ns)[KINDS]; /* by item: what nobody has claimed */
    int64_t *samples;
    struct gt_step_list slow;
    size_t slow_count;        /* items */
    int64_t longest_ns;       /* of the slow ones */
    int64_t longest_usual_ns; /* of its device */
    __int128 claimed_ns[KINDS];
    size_t longest_gap;           /* that was claimed; SIZE_MAX: none */
    uint8_t kinds[UINT8_MAX + 1]; /* by category of ops */
};

static bool is_slow(const struct looking *it, const struct gt_step_time *time) {
    const struct gt_step_loop *loop = &it->times->loops[time->loop];
    return (double)loop->count >= gt_thresholds.fewest_steps &&
           (double)gt_step_time_ns(time) > gt_thresholds.slow_step_ratio * (double)loop->usual_ns;
}

/* ---- what steps are made of ---- */

static uint8_t kind_of_class(enum gt_class class) {
    switch (class) {
    case GT_CLASS_COMPUTE:
        return COMPUTE;
    case GT_CLASS_COMM:
        return COMM;
    case GT_CLASS_MEMORY:
        break;
    }
    return MEMORY;
}

static void find_kinds(struct looking *it) {
    const struct gt_labels *labels = it->evidence->view->labels;
    for (size_t i = 0; i < labels->category_count && i < GT_ARRAY_COUNT(it->kinds); i++)
        it->kinds[i] = kind_of_class(labels->categories[i].time_class);
}

static bool has_slow(const struct looking *it, const struct gt_step_loop *loop) {
    for (size_t i = loop->first; i < loop->first + loop->count; i++)
        if (is_slow(it, &it->times->items[i]))
            return true;
    return false;
}

/* Positions in ops and gaps of a device, which only grow. */
struct cursor {
    size_t op, gap;
};

static void sum_step(struct looking *it, size_t item, struct cursor *cursor) {
    const struct gt_step_time *time = &it->times->items[item];
    const struct gt_view *view = it->evidence->view;
    const struct gt_ledger *ledger = &it->evidence->ledger;
    const int64_t *op_start_ns = view->start_ns;
    const struct gt_idle_device *idle = &ledger->idle->devices[time->device];
    int64_t *sums_ns = it->left_ns[item];
    size_t op = cursor->op, op_end = view->devices[time->device].first + view->devices[time->device].count;
    size_t gap = cursor->gap, gap_end = idle->first + idle->count;
    while (op < op_end && op_start_ns[op] < time->start_ns)
        op++;
    for (; op < op_end && op_start_ns[op] < time->end_ns; op++) {
        int64_t *sum_ns = &sums_ns[it->kinds[view->category[op]]];
        *sum_ns = gt_ns_add(*sum_ns, gt_ledger_op_left_ns(ledger, op));
    }
    while (gap < gap_end && gt_idle_gap_start_ns(ledger->idle, gap) < time->start_ns)
        gap++;
    for (; gap < gap_end && gt_idle_gap_start_ns(ledger->idle, gap) < time->end_ns; gap++)
        sums_ns[IDLE] = gt_ns_add(sums_ns[IDLE], gt_ledger_gap_left_ns(ledger, gap));
    *cursor = (struct cursor){op, gap};
}

/* Lower median of the steps that are not slow. */
static int64_t usual_left_ns(struct looking *it, const struct gt_step_loop *loop, int kind) {
    size_t count = 0;
    for (size_t i = loop->first; i < loop->first + loop->count; i++)
        if (!is_slow(it, &it->times->items[i]))
            it->samples[count++] = it->left_ns[i][kind];
    return gt_step_times_lower_median(it->samples, count);
}

/* ---- claiming ---- */

/* More ops are other work, which a step may have for good reason. */
static bool has_usual_ops(const struct looking *it, const struct gt_step_time *time) {
    double usual = (double)it->times->loops[time->loop].usual_ops;
    return fabs((double)time->ops - usual) <= gt_thresholds.same_ops_share * usual;
}

/* How much of each kind a slow step may lose, up to its excess in all. */
static void divide_excess(const struct looking *it, size_t item, const int64_t *usual_ns, int64_t *want_ns) {
    const struct gt_step_time *time = &it->times->items[item];
    int64_t left_ns = gt_ns_between(it->times->loops[time->loop].usual_ns, gt_step_time_ns(time));
    for (int kind = 0; kind < KINDS; kind++) {
        int64_t excess_ns = gt_ns_between(usual_ns[kind], it->left_ns[item][kind]);
        excess_ns = excess_ns < left_ns ? excess_ns : left_ns;
        want_ns[kind] = excess_ns > 0 && (kind != COMPUTE || has_usual_ops(it, time)) ? excess_ns : 0;
        left_ns -= want_ns[kind];
    }
}

static void claim_step(struct looking *it, const struct gt_step_time *time, int64_t *want_ns, struct cursor *cursor) {
    struct gt_ledger *ledger = &it->evidence->ledger;
    const struct gt_view *view = it->evidence->view;
    size_t op_end = view->devices[time->device].first + view->devices[time->device].count;
    const struct gt_idle_device *idle = &ledger->idle->devices[time->device];
    for (; cursor->op < op_end && view->start_ns[cursor->op] < time->end_ns; cursor->op++) {
        int kind = it->kinds[view->category[cursor->op]];
        if (view->start_ns[cursor->op] < time->start_ns || want_ns[kind] <= 0)
            continue;
        int64_t ns = gt_ledger_claim_op(ledger, (uint32_t)cursor->op, want_ns[kind]);
        want_ns[kind] -= ns;
        it->claimed_ns[kind] += ns;
    }
    for (; cursor->gap < idle->first + idle->count; cursor->gap++) {
        int64_t start_ns = gt_idle_gap_start_ns(ledger->idle, cursor->gap);
        if (start_ns >= time->end_ns)
            break;
        if (start_ns < time->start_ns || want_ns[IDLE] <= 0)
            continue;
        int64_t ns = gt_ledger_claim_gap(ledger, cursor->gap, want_ns[IDLE]);
        want_ns[IDLE] -= ns;
        it->claimed_ns[IDLE] += ns;
        if (ns > 0 && (it->longest_gap == SIZE_MAX ||
                       gt_idle_gap_ns(ledger->idle, cursor->gap) > gt_idle_gap_ns(ledger->idle, it->longest_gap)))
            it->longest_gap = cursor->gap;
    }
}

static void claim_loop(struct looking *it, const struct gt_step_loop *loop, struct cursor *cursor) {
    int64_t usual_ns[KINDS], want_ns[KINDS];
    for (int kind = 0; kind < KINDS; kind++)
        usual_ns[kind] = usual_left_ns(it, loop, kind);
    for (size_t i = loop->first; i < loop->first + loop->count; i++) {
        const struct gt_step_time *time = &it->times->items[i];
        if (!is_slow(it, time))
            continue;
        divide_excess(it, i, usual_ns, want_ns);
        claim_step(it, time, want_ns, cursor);
        gt_step_list_add(&it->slow, time->step);
        it->slow_count++;
        if (gt_step_time_ns(time) > it->longest_ns) {
            it->longest_ns = gt_step_time_ns(time);
            it->longest_usual_ns = loop->usual_ns;
        }
    }
}

static void claim_device(struct looking *it, size_t index) {
    const struct gt_step_times_device *device = &it->times->devices[index];
    struct cursor cursor = {it->evidence->view->devices[index].first, it->evidence->ledger.idle->devices[index].first};
    struct cursor summed = cursor;
    for (size_t i = device->first_loop; i < device->first_loop + device->loop_count; i++) {
        const struct gt_step_loop *loop = &it->times->loops[i];
        if (!has_slow(it, loop))
            continue;
        for (size_t item = loop->first; item < loop->first + loop->count; item++)
            sum_step(it, item, &summed);
        claim_loop(it, loop, &cursor);
    }
}

/* ---- sentences ---- */

/* The name of kernels that take the most time more in slow steps than in others, by how much per step. */
static bool find_kernel(struct looking *it, gt_strid *name, double *more_ns) {
    const struct gt_view *view = it->evidence->view;
    double *sums_ns = gt_mem_array(view->store->strings.count, sizeof *sums_ns);
    double slow = (double)it->slow_count, others = (double)(it->times->count - it->slow_count);
    *more_ns = 0;
    for (size_t d = 0; d < view->device_count && sums_ns; d++) {
        const struct gt_view_device *device = &view->devices[d];
        size_t next = 0;
        for (size_t i = device->first; i < device->first + device->count; i++) {
            size_t item = gt_step_times_at(it->times, &it->times->devices[d], view->start_ns[i], &next);
            if (item == SIZE_MAX)
                continue;
            bool in_slow = is_slow(it, &it->times->items[item]);
            sums_ns[view->name[i]] += (double)gt_view_op_ns(view, i) / (in_slow ? slow : -others);
        }
    }
    for (gt_strid i = 0; i < view->store->strings.count && sums_ns; i++)
        if (sums_ns[i] > *more_ns) {
            *more_ns = sums_ns[i];
            *name = i;
        }
    bool ok = sums_ns;
    gt_mem_free(sums_ns);
    return ok;
}

static const char *say_gap(struct looking *it) {
    const struct gt_chain *chains = gt_evidence_chains(it->evidence);
    if (!chains || it->longest_gap == SIZE_MAX)
        return NULL;
    const struct gt_chain *chain = &chains[it->longest_gap];
    gt_strid name = chain->code != GT_STRID_EMPTY     ? chain->code
                    : chain->python != GT_STRID_EMPTY ? chain->python
                                                      : chain->call;
    return name == GT_STRID_EMPTY ? NULL
                                  : gt_say_quoted(it->evidence, gt_store_string(it->evidence->view->store, name));
}

static void describe_difference(struct looking *it, struct gt_finding *finding, int largest) {
    struct gt_evidence *evidence = it->evidence;
    const char *code = largest == IDLE ? say_gap(it) : NULL;
    gt_strid kernel = GT_STRID_EMPTY;
    double more_ns, slow = (double)it->slow_count;
    const char *parts = "";
    for (int kind = 0; kind < KINDS; kind++)
        if (it->claimed_ns[kind] > 0)
            parts = gt_arena_printf(evidence->arena, "%s%s%s more %s", parts, parts[0] ? ", " : "",
                                    gt_say_ns(evidence, (double)it->claimed_ns[kind] / slow), kind_names[kind])
                        .ptr;
    gt_finding_add_evidence(evidence, finding, "%s in each than in steady ones, in no other finding.", parts);
    if (code)
        gt_finding_add_evidence(evidence, finding, "The CPU was in %s for most of the longest gap.", code);
    else if (largest == IDLE)
        gt_finding_add_evidence(evidence, finding, "The trace does not show what the CPU did meanwhile.");
    if (largest == COMM)
        gt_finding_add_evidence(evidence, finding,
                                "Collectives wait for the slowest rank: the traces of the others may show why.");
    if (largest == IDLE)
        return;
    if (!find_kernel(it, &kernel, &more_ns))
        gt_evidence_fail(evidence);
    else if (kernel != GT_STRID_EMPTY)
        gt_finding_add_evidence(evidence, finding, "Most of it: %s, %s more per step.", gt_say_kernel(evidence, kernel),
                                gt_say_ns(evidence, more_ns));
}

static void describe(struct looking *it, struct gt_finding *finding) {
    struct gt_evidence *evidence = it->evidence;
    int largest = 0;
    for (int kind = 1; kind < KINDS; kind++)
        largest = it->claimed_ns[kind] > it->claimed_ns[largest] ? kind : largest;
    double claimed_ns = (double)evidence->ledger.claimed_ns;
    gt_finding_set_title(evidence, finding, "%s %s take%s longer than steady ones: %s of the time, mostly %s",
                         it->slow.count == 1 ? "Step" : "Steps", it->slow.text, it->slow.count == 1 ? "s" : "",
                         gt_say_share(evidence, gt_ledger_share(&evidence->ledger, claimed_ns), 1),
                         kind_names[largest]);
    gt_finding_add_evidence(evidence, finding,
                            "Up to %s on the GPU, from the end of the step before to their own; "
                            "steady ones take %s.",
                            gt_say_ns(evidence, (double)it->longest_ns),
                            gt_say_ns(evidence, (double)it->longest_usual_ns));
    describe_difference(it, finding, largest);
}

/* No more is claimed than slow steps take longer: whether that is worth a look. With --why the rest is shown, too. */
static bool is_worth_it(const struct looking *it) {
    __int128 excess_ns = 0;
    bool has_any = false;
    for (size_t i = 0; i < it->times->count; i++)
        if (is_slow(it, &it->times->items[i])) {
            const struct gt_step_time *time = &it->times->items[i];
            has_any = true;
            excess_ns += gt_ns_between(it->times->loops[time->loop].usual_ns, gt_step_time_ns(time));
        }
    return has_any && (it->evidence->is_explained ||
                       gt_ledger_share(&it->evidence->ledger, (double)excess_ns) >= gt_thresholds.low_share);
}

bool gt_find_step_outliers(struct gt_evidence *evidence, struct gt_finding *finding) {
    struct looking it = {.evidence = evidence,
                         .times = gt_evidence_step_times(evidence),
                         .slow = {.evidence = evidence},
                         .longest_gap = SIZE_MAX};
    if (is_worth_it(&it)) {
        gt_evidence_count_step_ops(evidence);
        find_kinds(&it);
        it.left_ns = gt_mem_array(it.times->count, sizeof *it.left_ns);
        it.samples = gt_mem_uninitialised(it.times->count, sizeof *it.samples);
        if (!it.left_ns || !it.samples)
            gt_evidence_fail(evidence);
        for (size_t d = 0; d < evidence->ledger.idle->device_count && it.left_ns && it.samples; d++)
            claim_device(&it, d);
        gt_step_list_end(&it.slow);
        if (gt_ledger_share(&evidence->ledger, (double)evidence->ledger.claimed_ns) >= gt_thresholds.low_share)
            describe(&it, finding);
        gt_mem_free(it.left_ns);
        gt_mem_free(it.samples);
    }
    return finding->evidence_count > 0;
}
