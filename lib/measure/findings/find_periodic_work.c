/* The rule periodic_work: what only some steps do, such as evaluation, checkpoints and logging, and what it adds to
   them. */
#include "base/ns.h"
#include "measure/findings/findings.h"
#include "measure/findings/step_extras.h"
#include "measure/findings/step_list.h"
#include "measure/findings/step_surplus.h"

/* What only some steps do: a range, or ops that no range names. */
struct extra_work {
    struct gt_step_extra range;
    struct gt_step_surplus unnamed;
    const uint8_t *has_it;   /* by item: of the one or the other */
    const int64_t *usual_ns; /* by device */
    double others_ns;
};

/* What the steps with the extra work have beyond the others. */
struct sum {
    struct gt_step_list steps;
    size_t items;
    __int128 with_ns, excess_ns;
};

static int64_t excess_of(const struct extra_work *work, const struct gt_step_time *time) {
    int64_t excess_ns = gt_ns_between(work->usual_ns[time->device], gt_step_time_ns(time));
    return excess_ns > 0 ? excess_ns : 0;
}

static bool has_op(const struct extra_work *work, const struct gt_view *view, uint32_t position) {
    return work->unnamed.runs ? work->unnamed.is_op[position] : gt_step_extras_has_op(&work->range, view, position);
}

/* ---- claiming ---- */

/* Claims work and idle time of the extra code in one step, up to what makes it longer than the others. */
static void claim_step(struct gt_evidence *evidence, const struct extra_work *work, const struct gt_step_time *time,
                       size_t *op, size_t *gap) {
    struct gt_ledger *ledger = &evidence->ledger;
    const struct gt_view *view = evidence->view;
    const struct gt_view_device *device = &view->devices[time->device];
    const struct gt_idle_device *idle = &ledger->idle->devices[time->device];
    int64_t left_ns = excess_of(work, time);
    for (; *op < device->first + device->count && view->start_ns[*op] < time->end_ns; ++*op)
        if (view->start_ns[*op] >= time->start_ns && left_ns > 0 && has_op(work, view, (uint32_t)*op))
            left_ns -= gt_ledger_claim_op(ledger, (uint32_t)*op, left_ns);
    for (; *gap < idle->first + idle->count && gt_idle_gap_start_ns(ledger->idle, *gap) < time->end_ns; ++*gap) {
        uint32_t next = ledger->idle->next[*gap];
        if (gt_idle_gap_start_ns(ledger->idle, *gap) >= time->start_ns && left_ns > 0 && next != GT_NO_ROW &&
            has_op(work, view, next))
            left_ns -= gt_ledger_claim_gap(ledger, *gap, left_ns);
    }
}

static struct sum claim_all(struct gt_evidence *evidence, const struct gt_step_times *times,
                            const struct extra_work *work) {
    struct sum sum = {.steps = {.evidence = evidence}};
    size_t op = 0, gap = 0;
    for (size_t i = 0; i < times->count; i++) {
        const struct gt_step_time *time = &times->items[i];
        bool is_new_device = i == 0 || times->items[i - 1].device != time->device;
        if (is_new_device) {
            op = evidence->view->devices[time->device].first;
            gap = evidence->ledger.idle->devices[time->device].first;
        }
        if (!work->has_it[i])
            continue;
        gt_step_list_add(&sum.steps, time->step);
        sum.items++;
        sum.with_ns += gt_step_time_ns(time);
        sum.excess_ns += excess_of(work, time);
        claim_step(evidence, work, time, &op, &gap);
    }
    gt_step_list_end(&sum.steps);
    return sum;
}

/* ---- sentences ---- */

/* "steps 3, 6", or "every 3 steps (3, 6)" */
static const char *say_when(struct gt_evidence *evidence, const struct sum *sum) {
    if (sum->steps.count > 1 && sum->steps.distance > 1)
        return gt_arena_printf(evidence->arena, "every %lld steps (%s)", (long long)sum->steps.distance,
                               sum->steps.text)
            .ptr;
    return gt_arena_printf(evidence->arena, "in step%s %s", sum->steps.count > 1 ? "s" : "", sum->steps.text).ptr;
}

/* How much it is of a long run. */
static void add_part(struct gt_evidence *evidence, struct gt_finding *finding, const struct sum *sum, double others_ns,
                     const char *name) {
    double excess_ns = (double)sum->excess_ns / (double)sum->items;
    if (sum->steps.count > 1 && sum->steps.distance > 1) {
        double all_ns = excess_ns + (double)sum->steps.distance * others_ns;
        gt_finding_add_evidence(evidence, finding, "Run every %lld steps, it takes %s of a long run.",
                                (long long)sum->steps.distance, gt_say_share(evidence, excess_ns, all_ns));
    } else {
        gt_finding_add_evidence(evidence, finding, "The trace has %s: how often %s runs in a long run is not in it.",
                                gt_say_counted(evidence, gt_evidence_step_count(evidence), "step"), name);
    }
}

static void set_title(struct gt_evidence *evidence, struct gt_finding *finding, const struct sum *sum,
                      const char *name) {
    double claimed_ns = (double)evidence->ledger.claimed_ns;
    gt_finding_set_title(evidence, finding, "%s runs %s: +%s each, %s of the time", name, say_when(evidence, sum),
                         gt_say_ns(evidence, (double)sum->excess_ns / (double)sum->items),
                         gt_say_share(evidence, gt_ledger_share(&evidence->ledger, claimed_ns), 1));
}

static void describe_range(struct gt_evidence *evidence, struct gt_finding *finding, const struct extra_work *work,
                           const struct sum *sum) {
    const char *name = gt_say_quoted(evidence, work->range.text);
    set_title(evidence, finding, sum, name);
    gt_finding_add_evidence(evidence, finding, "Steps with %s take %s on the GPU, the others %s on average.", name,
                            gt_say_ns(evidence, (double)sum->with_ns / (double)sum->items),
                            gt_say_ns(evidence, work->others_ns));
    gt_finding_add_evidence(evidence, finding,
                            "%s of the time of these steps is work that %s launched, or idle time in it.",
                            gt_say_share(evidence, (double)evidence->ledger.claimed_ns, (double)sum->with_ns), name);
    add_part(evidence, finding, sum, work->others_ns, name);
}

static void add_kernels(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_step_surplus *more) {
    const char *parts = "";
    for (size_t i = 0; i < GT_STEP_SURPLUS_NAMES && more->names[i].count; i++)
        parts = gt_arena_printf(evidence->arena, "%s%s%s (%s, %s)", parts, i ? ", " : "",
                                gt_say_kernel(evidence, more->names[i].name),
                                gt_say_count(evidence, (more->names[i].count + more->runs / 2) / more->runs),
                                gt_say_ns(evidence, (double)more->names[i].ns / (double)more->runs))
                    .ptr;
    gt_finding_add_evidence(evidence, finding, "Most of what each of them adds: %s.", parts);
}

static void describe_unnamed(struct gt_evidence *evidence, struct gt_finding *finding, const struct extra_work *work,
                             const struct sum *sum) {
    const struct gt_step_surplus *more = &work->unnamed;
    bool is_torch = evidence->context & GT_CONTEXT_TORCH;
    set_title(evidence, finding, sum, "Extra work without a name");
    gt_finding_add_evidence(evidence, finding,
                            "These steps take %s on the GPU and run %s more ops than the others, which take %s for "
                            "%s ops on average.",
                            gt_say_ns(evidence, (double)sum->with_ns / (double)sum->items),
                            gt_say_count(evidence, more->more_ops), gt_say_ns(evidence, work->others_ns),
                            gt_say_count(evidence, more->usual_ops));
    add_kernels(evidence, finding, more);
    gt_finding_add_evidence(
        evidence, finding,
        "They run the work of the others, too: evaluation inside the loop looks like this. A range around "
        "it (%s) would name it.",
        is_torch ? "torch.profiler.record_function or NVTX" : "NVTX");
    add_part(evidence, finding, sum, work->others_ns, "it");
}

/* A range says more than ops do. */
static bool find_work(struct extra_work *work, struct gt_evidence *evidence, const struct gt_step_times *times) {
    gt_step_extras_find(&work->range, evidence, times);
    if (work->range.name != GT_STRID_EMPTY) {
        work->has_it = work->range.has_it;
        work->usual_ns = work->range.usual_ns;
        work->others_ns = work->range.others_ns;
        return true;
    }
    gt_step_surplus_find(&work->unnamed, evidence, times);
    work->has_it = work->unnamed.has_it;
    work->usual_ns = work->unnamed.usual_ns;
    work->others_ns = work->unnamed.others_ns;
    return work->unnamed.runs > 0;
}

bool gt_find_periodic_work(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_step_times *times = gt_evidence_step_times(evidence);
    struct extra_work work = {0};
    if (find_work(&work, evidence, times) && evidence->ledger.idle->device_count) {
        struct sum sum = claim_all(evidence, times, &work);
        if (evidence->ledger.claimed_ns > 0 && sum.items && work.unnamed.runs)
            describe_unnamed(evidence, finding, &work, &sum);
        else if (evidence->ledger.claimed_ns > 0 && sum.items)
            describe_range(evidence, finding, &work, &sum);
    }
    gt_step_surplus_release(&work.unnamed);
    gt_step_extras_release(&work.range);
    return finding->evidence_count > 0;
}
