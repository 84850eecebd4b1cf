/* Host-bound: many short gaps in which the next op had not been launched yet, by the code that launches. */
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "measure/findings/gap_claims.h"
#include "measure/findings/readers.h"
#include "measure/findings/saving.h"
#include "measure/findings/small_products.h"
#include "measure/findings/training.h"
#include "measure/findings/waits.h"
#include "measure/results/operator_set.h"

struct late_gaps {
    struct gt_evidence *evidence;
    struct gt_name_sums names; /* ranges and operators that launched the ops after them */
    size_t count;
    __int128 total_ns;
    const uint8_t *class_of; /* enum gt_host_gap, by gap */
    uint32_t classes;        /* bits of those that may be late */
    /* While they are named. */
    uint8_t *is_step;          /* by range, as chains.h has it */
    struct gt_name_sums *sums; /* by slice of the claims */
    uint32_t *nameless;        /* claims of gaps whose op was launched outside ranges; its operator may have a name */
    size_t nameless_count;
};

/* ---- claiming ---- */

/* Gaps of waits are late launches, too, as far as a simulation says that they would last without the wait. */
static bool is_late(struct gt_evidence *evidence, uint8_t class, size_t gap) {
    return class == GT_HOST_GAP_LATE || (class == GT_HOST_GAP_STALL && !gt_waits_is_stall(evidence, gap)) ||
           evidence->lowered_gaps & 1u << class;
}

static void want_gaps(const void *context, size_t device, size_t begin, size_t end, int64_t *want_ns) {
    const struct late_gaps *late = context;
    const struct gt_idle *idle = late->evidence->ledger.idle;
    for (size_t i = begin; i < end; i++) {
        bool is_wanted = late->classes >> late->class_of[i] & 1 && is_late(late->evidence, late->class_of[i], i);
        want_ns[i - begin] = is_wanted ? gt_idle_gap_twice_recoverable_ns(idle, i, &idle->devices[device]) / 2 : 0;
    }
}

/* Chains are made for the first stall that is asked about, which must not be on several threads. */
static void prepare_stalls(struct gt_evidence *evidence, const struct gt_host_gaps *gaps) {
    const uint8_t *end = gaps->of + evidence->ledger.idle->count, *at = gaps->of;
    for (size_t left = gaps->counts[GT_HOST_GAP_STALL]; left > 0 && !evidence->has_chains; left--, at++) {
        at = memchr(at, GT_HOST_GAP_STALL, (size_t)(end - at));
        gt_waits_is_stall(evidence, (size_t)(at - gaps->of));
    }
}

static void claim_gaps(struct late_gaps *late) {
    struct gt_evidence *evidence = late->evidence;
    const struct gt_host_gaps *gaps = gt_evidence_host_gaps(evidence);
    if (!gaps->of)
        return;
    prepare_stalls(evidence, gaps);
    late->class_of = gaps->of;
    late->classes = 1u << GT_HOST_GAP_LATE | 1u << GT_HOST_GAP_STALL | evidence->lowered_gaps;
    gt_gap_claims_take(&evidence->ledger, want_gaps, late);
    late->count = evidence->ledger.count;
    late->total_ns = evidence->ledger.claimed_ns;
}

/* ---- naming ---- */

/* The range that launched the op after a gap; GT_STRID_EMPTY: there is none, or its name was lost. */
static gt_strid range_after(const struct late_gaps *late, size_t gap) {
    struct gt_evidence *evidence = late->evidence;
    uint32_t next = evidence->ledger.idle->next[gap];
    gt_strid range = next == GT_NO_ROW ? GT_STRID_EMPTY
                                       : gt_waits_range_of_op(evidence->view, late->is_step, evidence->view->row[next]);
    return range != GT_STRID_EMPTY && gt_say_name_is_lost(evidence, range) ? GT_STRID_EMPTY : range;
}

/* Marks claims that get no name by their own number. */
static void name_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct late_gaps *late = context;
    const struct gt_ledger *ledger = &late->evidence->ledger;
    for (size_t i = begin; i < end; i++) {
        gt_strid range = range_after(late, ledger->claims[i].item);
        late->nameless[i] = range == GT_STRID_EMPTY ? (uint32_t)i : GT_NO_ROW;
        if (range != GT_STRID_EMPTY)
            gt_name_sums_add(&late->sums[slice], late->evidence->view->store, range, ledger->claims[i].ns);
    }
}

/* The ranges of all claims; those without one are listed. */
static void name_by_ranges(struct late_gaps *late) {
    struct gt_evidence *evidence = late->evidence;
    size_t slices = gt_threads_slices(gt_threads_count(evidence->view->request->threads), late->count, 0);
    late->is_step = gt_chains_step_ranges_new(evidence->view);
    late->nameless = gt_mem_uninitialised(late->count, sizeof *late->nameless);
    late->sums = gt_mem_array(slices, sizeof *late->sums);
    if (late->is_step && late->nameless && late->sums) {
        gt_threads_rows(slices, late->count, name_slice, late);
        for (size_t i = 0; i < slices; i++) {
            gt_name_sums_merge(&late->names, evidence->view->store, &late->sums[i]);
            gt_name_sums_release(&late->sums[i]);
        }
        for (size_t i = 0; i < late->count; i++) {
            late->nameless[late->nameless_count] = late->nameless[i];
            late->nameless_count += late->nameless[i] != GT_NO_ROW;
        }
    } else {
        gt_evidence_fail(evidence);
    }
    gt_mem_free(late->is_step);
    gt_mem_free(late->sums);
}

/* One of every few, not always the same: gaps of a loop repeat themselves. */
static size_t sample_of(size_t block, size_t stride, size_t count) {
    size_t at = block * stride + (((uint32_t)block * 2654435761u) >> 8) % stride;
    return at < count ? at : count - 1;
}

static uint32_t call_of(const struct late_gaps *late, size_t index) {
    const struct gt_ledger *ledger = &late->evidence->ledger;
    return gt_idle_gap_call(ledger->idle, ledger->claims[late->nameless[index]].item);
}

/* What so many from one on have claimed. */
static int64_t claimed_ns(const struct late_gaps *late, size_t first, size_t count) {
    const struct gt_ledger_claim *claims = late->evidence->ledger.claims;
    int64_t ns = 0;
    for (size_t i = first; i < first + count && i < late->nameless_count; i++)
        ns = gt_ns_add(ns, claims[late->nameless[i]].ns);
    return ns;
}

/* The operators of gaps that no range has. To find them all would cost more than all other rules together, so where
   there are many, one of every few counts for its neighbours. */
static void name_by_operators(struct late_gaps *late) {
    struct gt_evidence *evidence = late->evidence;
    const struct gt_cpu_ops *operators = &evidence->view->store->cpu_ops;
    size_t stride = late->nameless_count / (size_t)gt_thresholds.looked_up_gaps + 1,
           count = (late->nameless_count + stride - 1) / stride;
    uint32_t *calls = gt_mem_uninitialised(count, sizeof *calls);
    for (size_t i = 0; i < count && calls; i++)
        calls[i] = call_of(late, sample_of(i, stride, late->nameless_count));
    uint32_t *rows = calls ? gt_operator_set_callers_of_calls(evidence->view, calls, count) : NULL;
    if (!rows)
        gt_evidence_fail(evidence);
    for (size_t i = 0; i < count && rows; i++)
        if (rows[i] != GT_NO_ROW)
            gt_name_sums_add(&late->names, evidence->view->store, operators->name[rows[i]],
                             claimed_ns(late, i * stride, stride));
    gt_mem_free(calls);
    gt_mem_free(rows);
}

/* Who launched late, before a simulation gives a part back. */
static void find_names(struct late_gaps *late) {
    name_by_ranges(late);
    if (2 * late->names.total_ns < late->total_ns && late->nameless) /* else ranges say enough */
        name_by_operators(late);
    gt_name_sums_sort(&late->names);
    if (late->names.has_failed)
        gt_evidence_fail(late->evidence);
    gt_mem_free(late->nameless);
}

/* ---- sentences ---- */

static const char *say_name(struct gt_evidence *evidence, gt_strid name) {
    return gt_say_quoted(evidence, gt_name_sums_plain(gt_store_string(evidence->view->store, name)));
}

static void set_title(struct gt_evidence *evidence, struct gt_finding *finding, const struct late_gaps *late) {
    bool has_most = late->names.count && 2 * late->names.items[0].ns > late->total_ns;
    if (has_most)
        gt_finding_set_title(evidence, finding, "Host-bound in %s: the GPU waits for launches %s of the time",
                             say_name(evidence, late->names.items[0].name), gt_waits_say_claimed(evidence));
    else
        gt_finding_set_title(evidence, finding, "Host-bound: the GPU waits for launches %s of the time",
                             gt_waits_say_claimed(evidence));
}

static void add_names(struct gt_evidence *evidence, struct gt_finding *finding, const struct late_gaps *late) {
    enum { LISTED = 3 };
    const char *parts[LISTED] = {"", "", ""};
    for (size_t i = 0; i < late->names.count && i < LISTED; i++)
        parts[i] =
            gt_arena_printf(evidence->arena, "%s%s %s", i ? ", " : "", say_name(evidence, late->names.items[i].name),
                            gt_say_share(evidence, (double)late->names.items[i].ns, (double)late->total_ns))
                .ptr;
    if (late->names.count)
        gt_finding_add_evidence(evidence, finding, "By the code that launched: %s%s%s.", parts[0], parts[1], parts[2]);
}

static void add_launches(struct gt_evidence *evidence, struct gt_finding *finding, size_t launches) {
    size_t steps = gt_evidence_step_count(evidence);
    double step_ns = gt_evidence_steps(evidence)->median_ns;
    bool is_kineto = evidence->context & GT_CONTEXT_KINETO;
    const char *profiler = is_kineto ? "The profiler slows every operator and launch, often to half the speed"
                                     : "Tracing slows every call";
    if (steps && launches >= steps && step_ns > 0) {
        double each = (double)launches / (double)steps;
        gt_finding_add_evidence(evidence, finding, "%s kernel launches per step of %s (median), one every %s.",
                                gt_say_count(evidence, (size_t)each), gt_say_ns(evidence, step_ns),
                                gt_say_ns(evidence, step_ns / each));
        gt_finding_add_evidence(evidence, finding,
                                "%s; compare with a step of a run without it: the loss is smaller there.", profiler);
    } else {
        gt_finding_add_evidence(evidence, finding, "%s: %s kernel launches here; the loss is smaller without it.",
                                profiler, gt_say_count(evidence, launches));
    }
}

/* A pass through a model, then a copy that is large enough for a few tokens, again and again. */
static bool looks_like_decoding(struct gt_evidence *evidence, const struct gt_readback *copies, size_t launches) {
    return (double)copies->most_bytes <= gt_thresholds.token_bytes &&
           (double)launches >= gt_thresholds.token_launches * (double)copies->count &&
           gt_small_products_of(evidence).are_usual && !gt_training_is_seen(evidence);
}

/* A CPU that reads results back cannot run ahead of the GPU. */
static void add_readbacks(struct gt_evidence *evidence, struct gt_finding *finding, size_t launches) {
    const struct gt_readback *copies = &gt_evidence_host_gaps(evidence)->readback;
    if ((double)copies->count < gt_thresholds.readback_count)
        return;
    const char *tokens = "";
    if (looks_like_decoding(evidence, copies, launches))
        tokens =
            gt_arena_printf(evidence->arena,
                            "; %s or less each after many short kernels: probably a decode loop, one token at a time",
                            gt_say_bytes(evidence, copies->most_bytes))
                .ptr;
    gt_finding_add_evidence(evidence, finding,
                            "%s makes the CPU wait for a copy %s, every %s on average, so it cannot run ahead%s%s.",
                            gt_readers_say(evidence, copies), gt_waits_say_often(evidence, copies->count, "time"),
                            gt_say_counted(evidence, launches / copies->count, "launch"),
                            evidence->has_found_readback ? " (see readback)" : "", tokens);
}

static void describe(struct gt_evidence *evidence, struct gt_finding *finding, const struct late_gaps *late) {
    double total_ns = (double)late->total_ns;
    size_t launches = gt_waits_launch_count(evidence);
    set_title(evidence, finding, late);
    gt_finding_add_evidence(
        evidence, finding,
        "In %s the next op had not been launched or had not reached the GPU: %s of %s, %s each on average.",
        gt_waits_say_often(evidence, late->count, "gap"), gt_say_ns(evidence, total_ns),
        gt_say_ns(evidence, (double)evidence->ledger.span_ns), gt_say_ns(evidence, total_ns / (double)late->count));
    add_names(evidence, finding, late);
    add_launches(evidence, finding, launches);
    add_readbacks(evidence, finding, launches);
    gt_waits_add_warm_up(evidence, finding);
}

bool gt_find_host_bound(struct gt_evidence *evidence, struct gt_finding *finding) {
    if (!gt_evidence_may_blame_host(evidence))
        return false;
    struct late_gaps late = {.evidence = evidence};
    claim_gaps(&late);
    bool found = gt_evidence_is_worth_reporting(evidence);
    if (found) {
        find_names(&late);
        gt_saving_settle(evidence, finding, GT_SAVING_NO_CPU);
        describe(evidence, finding, &late);
    }
    gt_name_sums_release(&late.names);
    return found;
}
