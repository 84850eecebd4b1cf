/* The rule periodic_work: what only some steps do, such as evaluation, checkpoints and logging, and what it adds to
   them. */
#include "base/ns.h"
#include "measure/findings/findings.h"
#include "measure/findings/step_extras.h"
#include "measure/findings/step_list.h"

/* What the steps with the extra work have beyond the others. */
struct sum {
    struct gt_step_list steps;
    size_t items;
    __int128 with_ns, excess_ns;
};

static int64_t excess_of(const struct gt_step_extra *extra, const struct gt_step_time *time) {
    int64_t excess_ns = gt_ns_between(extra->usual_ns[time->device], gt_step_time_ns(time));
    return excess_ns > 0 ? excess_ns : 0;
}

/* ---- claiming ---- */

/* Claims work and idle time of the extra code in one step, up to what makes it longer than the others. */
static void claim_step(struct gt_evidence *evidence, const struct gt_step_extra *extra, const struct gt_step_time *time,
                       size_t *op, size_t *gap) {
    struct gt_ledger *ledger = &evidence->ledger;
    const struct gt_view *view = evidence->view;
    const struct gt_view_device *device = &view->devices[time->device];
    const struct gt_idle_device *idle = &ledger->idle->devices[time->device];
    int64_t left_ns = excess_of(extra, time);
    for (; *op < device->first + device->count && view->start_ns[*op] < time->end_ns; ++*op)
        if (view->start_ns[*op] >= time->start_ns && left_ns > 0 && gt_step_extras_has_op(extra, view, (uint32_t)*op))
            left_ns -= gt_ledger_claim_op(ledger, (uint32_t)*op, left_ns);
    for (; *gap < idle->first + idle->count && ledger->idle->gaps[*gap].start_ns < time->end_ns; ++*gap) {
        uint32_t next = ledger->idle->gaps[*gap].next;
        if (ledger->idle->gaps[*gap].start_ns >= time->start_ns && left_ns > 0 && next != GT_NO_ROW &&
            gt_step_extras_has_op(extra, view, next))
            left_ns -= gt_ledger_claim_gap(ledger, *gap, left_ns);
    }
}

static struct sum claim_all(struct gt_evidence *evidence, const struct gt_step_times *times,
                            const struct gt_step_extra *extra) {
    struct sum sum = {.steps = {.evidence = evidence}};
    size_t op = 0, gap = 0;
    for (size_t i = 0; i < times->count; i++) {
        const struct gt_step_time *time = &times->items[i];
        bool is_new_device = i == 0 || times->items[i - 1].device != time->device;
        if (is_new_device) {
            op = evidence->view->devices[time->device].first;
            gap = evidence->ledger.idle->devices[time->device].first;
        }
        if (!extra->has_it[i])
            continue;
        gt_step_list_add(&sum.steps, time->step);
        sum.items++;
        sum.with_ns += gt_step_time_ns(time);
        sum.excess_ns += excess_of(extra, time);
        claim_step(evidence, extra, time, &op, &gap);
    }
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

static void describe(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_step_extra *extra,
                     const struct sum *sum) {
    const char *name = gt_say_quoted(evidence, gt_store_string(evidence->view->store, extra->name));
    double excess_ns = (double)sum->excess_ns / (double)sum->items, claimed_ns = (double)evidence->ledger.claimed_ns;
    const char *more = gt_say_ns(evidence, excess_ns);
    gt_finding_set_title(evidence, finding, "%s runs %s: +%s each, %s of the time", name, say_when(evidence, sum), more,
                         gt_say_share(evidence, gt_ledger_share(&evidence->ledger, claimed_ns), 1));
    gt_finding_add_evidence(evidence, finding, "Steps with %s take %s on the GPU, the others %s on average.", name,
                            gt_say_ns(evidence, (double)sum->with_ns / (double)sum->items),
                            gt_say_ns(evidence, extra->others_ns));
    gt_finding_add_evidence(evidence, finding,
                            "%s of the time of these steps is work that %s launched, or idle time in it.",
                            gt_say_share(evidence, claimed_ns, (double)sum->with_ns), name);
    if (sum->steps.count > 1 && sum->steps.distance > 1) {
        double all_ns = excess_ns + (double)sum->steps.distance * extra->others_ns;
        gt_finding_add_evidence(evidence, finding, "Run every %lld steps, it takes %s of a long run.",
                                (long long)sum->steps.distance, gt_say_share(evidence, excess_ns, all_ns));
    } else {
        gt_finding_add_evidence(evidence, finding, "The trace has %s: how often %s runs in a long run is not in it.",
                                gt_say_counted(evidence, gt_evidence_step_count(evidence), "step"), name);
    }
}

bool gt_find_periodic_work(struct gt_evidence *evidence, struct gt_finding *finding) {
    struct gt_step_times times;
    struct gt_step_extra extra;
    gt_step_times_init(&times, evidence);
    gt_step_extras_find(&extra, evidence, &times);
    if (extra.name != GT_STRID_EMPTY && evidence->ledger.idle->device_count) {
        struct sum sum = claim_all(evidence, &times, &extra);
        if (evidence->ledger.claimed_ns > 0 && sum.items)
            describe(evidence, finding, &extra, &sum);
    }
    gt_step_extras_release(&extra);
    gt_step_times_release(&times);
    return finding->evidence_count > 0;
}
