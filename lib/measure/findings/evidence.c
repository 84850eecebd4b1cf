/* Evidence: asks for the shared results that rules look at; the first failure stays. */
#include "measure/findings/evidence.h"

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/findings/sync_marks.h"
#include "measure/findings/thresholds.h"
#include "measure/findings/waits.h"

static void keep_failure(struct gt_evidence *evidence, enum gt_status status) {
    if (evidence->status == GT_OK)
        evidence->status = status;
}

void gt_evidence_fail(struct gt_evidence *evidence) {
    keep_failure(evidence, gt_fail_memory(evidence->err));
}

const struct gt_named_set *gt_evidence_kernels(struct gt_evidence *evidence) {
    static const struct gt_named_set none;
    const struct gt_named_set *kernels = gt_results_kernels(evidence->view, evidence->err);
    if (!kernels)
        keep_failure(evidence, evidence->err->code);
    return kernels ? kernels : &none;
}

/* Something of the file was lost, and what was read holds no kernel: gaps between copies mean nothing then. */
static bool lost_kernels(const struct gt_view *view) {
    const struct gt_store *store = view->store;
    bool has_losses = gt_store_loss(store, view->request->facts) != GT_ISSUE_COUNT;
    for (size_t i = 0; i < store->ops.count && has_losses; i++)
        if (store->ops.kind[i] == GT_OP_KERNEL)
            return false;
    return has_losses;
}

const struct gt_idle *gt_evidence_idle(struct gt_evidence *evidence) {
    static const struct gt_idle none;
    if (lost_kernels(evidence->view))
        return &none;
    const struct gt_idle *idle = gt_results_idle(evidence->view, evidence->err);
    if (!idle)
        keep_failure(evidence, evidence->err->code);
    return idle ? idle : &none;
}

const struct gt_account *gt_evidence_accounts(struct gt_evidence *evidence) {
    const struct gt_accounts *accounts = gt_results_accounts(evidence->view, evidence->err);
    if (!accounts)
        keep_failure(evidence, evidence->err->code);
    return accounts ? accounts->by_device : NULL;
}

const struct gt_op_groups *gt_evidence_op_groups(struct gt_evidence *evidence) {
    static const struct gt_op_groups none;
    const struct gt_op_groups *groups = gt_results_op_groups(evidence->view, evidence->err);
    if (!groups)
        keep_failure(evidence, evidence->err->code);
    return groups ? groups : &none;
}

const struct gt_op_lengths *gt_evidence_op_lengths(struct gt_evidence *evidence) {
    static const struct gt_op_groups no_groups;
    static const struct gt_op_lengths none = {.groups = &no_groups};
    const struct gt_op_lengths *lengths = gt_results_op_lengths(evidence->view, evidence->err);
    if (!lengths)
        keep_failure(evidence, evidence->err->code);
    return lengths ? lengths : &none;
}

const uint8_t *gt_evidence_blocking_calls(struct gt_evidence *evidence) {
    const struct gt_blocking_marks *blocks = gt_results_blocking_marks(evidence->view, evidence->err);
    if (!blocks)
        keep_failure(evidence, evidence->err->code);
    return blocks ? blocks->of_call : NULL;
}

const struct gt_step_set *gt_evidence_steps(struct gt_evidence *evidence) {
    static const struct gt_step_set none;
    const struct gt_step_set *steps = gt_results_steps(evidence->view, evidence->err);
    if (!steps)
        keep_failure(evidence, evidence->err->code);
    return steps ? steps : &none;
}

const struct gt_phase_set *gt_evidence_phases(struct gt_evidence *evidence) {
    static const struct gt_phase_set none;
    const struct gt_phase_set *phases = gt_results_phases(evidence->view, evidence->err);
    if (!phases)
        keep_failure(evidence, evidence->err->code);
    return phases ? phases : &none;
}

struct gt_launch_rate gt_evidence_launch_rate(struct gt_evidence *evidence) {
    struct gt_launch_rate rate = {0};
    keep_failure(evidence, gt_launch_rates_of_all(&rate, evidence->view, evidence->err));
    return rate;
}

bool gt_evidence_is_worth_reporting(const struct gt_evidence *evidence) {
    return gt_ledger_share(&evidence->ledger, (double)evidence->ledger.claimed_ns) >= gt_thresholds.low_share;
}

int64_t gt_evidence_amount(struct gt_evidence *evidence, enum gt_amount amount) {
    const struct gt_account *accounts = gt_evidence_accounts(evidence);
    int64_t sum_ns = 0;
    for (size_t d = 0; d < evidence->view->device_count && accounts; d++)
        sum_ns = gt_ns_add(sum_ns, accounts[d].ns[amount]);
    return sum_ns;
}

int64_t gt_evidence_steady_ns(struct gt_evidence *evidence) {
    const struct gt_step_set *steps = gt_evidence_steps(evidence);
    bool is_left_out = steps->state_counts[GT_STEP_WARM_UP] > 0 && steps->steady.start_ns != INT64_MAX;
    return is_left_out ? steps->steady.start_ns : INT64_MIN;
}

int64_t gt_evidence_steady_span_ns(struct gt_evidence *evidence) {
    int64_t steady_ns = gt_evidence_steady_ns(evidence), sum_ns = 0;
    for (size_t d = 0; d < evidence->view->device_count; d++) {
        const struct gt_view_device *device = &evidence->view->devices[d];
        int64_t start_ns = device->span_start_ns > steady_ns ? device->span_start_ns : steady_ns;
        if (device->span_end_ns > start_ns)
            sum_ns = gt_ns_add(sum_ns, gt_ns_between(start_ns, device->span_end_ns));
    }
    return sum_ns;
}

/* What devices have summed of gaps without a look at each of them is nobody's fault. */
bool gt_evidence_may_blame_host(struct gt_evidence *evidence) {
    const struct gt_idle *idle = gt_evidence_idle(evidence);
    __int128 blamed_ns = 0;
    for (size_t d = 0; d < idle->device_count; d++) {
        blamed_ns += idle->devices[d].total_ns;
        for (size_t cause = 0; cause < GT_IDLE_CAUSE_COUNT; cause++)
            blamed_ns -= idle->devices[d].unblamed[cause].sum;
    }
    double span_ns = (double)gt_evidence_steady_span_ns(evidence);
    return evidence->is_explained || (span_ns > 0 && (double)blamed_ns / span_ns >= gt_thresholds.low_share);
}

/* In a short capture what happens once in every step is no accident either. */
static size_t fewest_readbacks(struct gt_evidence *evidence) {
    size_t steps = gt_evidence_step_count(evidence), fewest = (size_t)gt_thresholds.readback_count;
    return steps >= (size_t)gt_thresholds.readback_steps && steps < fewest ? steps : fewest;
}

/* What is there already is only read: slices of a claim ask for it at the same time. */
const struct gt_host_gaps *gt_evidence_host_gaps(struct gt_evidence *evidence) {
    if (!evidence->has_host_gaps) {
        evidence->has_host_gaps = true;
        struct gt_readback_limits limits = {fewest_readbacks(evidence), gt_thresholds.bulk_copy_bytes};
        keep_failure(evidence, gt_host_gaps_init(&evidence->host_gaps, evidence->view, gt_evidence_idle(evidence),
                                                 evidence->ledger.steady_ns, limits, evidence->err));
    }
    return &evidence->host_gaps;
}

const struct gt_activity_times *gt_evidence_activity(struct gt_evidence *evidence, enum gt_activity activity) {
    if (!evidence->has_activities) {
        evidence->has_activities = true;
        keep_failure(evidence, gt_activities_init(&evidence->activities, evidence->view, gt_evidence_idle(evidence),
                                                  evidence->ledger.steady_ns, evidence->err));
    }
    return &evidence->activities.of[activity];
}

const struct gt_chain *gt_evidence_chains(struct gt_evidence *evidence) {
    if (!evidence->has_chains) {
        evidence->has_chains = true;
        keep_failure(evidence,
                     gt_chains_init(&evidence->chains, evidence->view, gt_evidence_idle(evidence), evidence->err));
    }
    return evidence->chains.items;
}

const struct gt_traits *gt_evidence_traits(struct gt_evidence *evidence) {
    if (!evidence->has_traits) {
        evidence->has_traits = true;
        keep_failure(evidence, gt_traits_init(&evidence->traits, evidence->view, evidence->err));
    }
    return evidence->traits.of_name ? &evidence->traits : NULL;
}

const struct gt_updates *gt_evidence_updates(struct gt_evidence *evidence) {
    const struct gt_traits *traits = gt_evidence_traits(evidence);
    if (!evidence->has_updates) {
        evidence->has_updates = true;
        if (traits)
            keep_failure(evidence, gt_updates_init(&evidence->updates, evidence->view, traits, evidence->err));
    }
    return &evidence->updates;
}

const struct gt_chain_links *gt_evidence_chain_links(struct gt_evidence *evidence) {
    const struct gt_traits *traits = gt_evidence_traits(evidence);
    const struct gt_updates *updates = gt_evidence_updates(evidence);
    if (!evidence->has_chain_links) {
        evidence->has_chain_links = true;
        if (traits)
            keep_failure(evidence,
                         gt_chain_links_init(&evidence->chain_links, evidence->view, traits, updates, evidence->err));
    }
    return &evidence->chain_links;
}

const struct gt_bulk_copies *gt_evidence_bulk_copies(struct gt_evidence *evidence) {
    if (!evidence->has_bulk_copies) {
        evidence->has_bulk_copies = true;
        keep_failure(evidence, gt_bulk_copies_init(&evidence->bulk_copies, evidence->view, gt_evidence_idle(evidence),
                                                   evidence->err));
    }
    return &evidence->bulk_copies;
}

const struct gt_step_times *gt_evidence_step_times(struct gt_evidence *evidence) {
    if (!evidence->has_step_times) {
        evidence->has_step_times = true;
        if (!gt_step_times_init(&evidence->step_times, evidence->view, gt_evidence_steps(evidence)))
            gt_evidence_fail(evidence);
    }
    return &evidence->step_times;
}

void gt_evidence_count_step_ops(struct gt_evidence *evidence) {
    const struct gt_step_times *times = gt_evidence_step_times(evidence);
    if (!evidence->has_step_ops && times->count && !gt_step_times_count_ops(&evidence->step_times, evidence->view))
        gt_evidence_fail(evidence);
    evidence->has_step_ops = true;
}

uint8_t *gt_evidence_sync_marks(struct gt_evidence *evidence) {
    if (!evidence->has_sync_marks) {
        evidence->has_sync_marks = true;
        evidence->sync_marks = gt_sync_marks_new(evidence);
    }
    return evidence->sync_marks;
}

/* Steps of the selection that put ops on a device, on average over the devices that have any: processes count their
   steps each for themselves. */
size_t gt_evidence_step_count(struct gt_evidence *evidence) {
    const struct gt_step_set *steps = gt_evidence_steps(evidence);
    size_t devices = steps->steady.devices;
    return devices ? (steps->steady.count + devices / 2) / devices : 0;
}

/* ---- all at once ---- */

/* What nearly every trace needs, each made in a copy of the evidence with an error of its own. */
enum { LEDGER, HOST_GAPS, ACTIVITIES, UPDATES, BULK_COPIES, LAUNCHES, STEP_TIMES, SYNC_MARKS, PART_COUNT };

struct part {
    struct gt_evidence evidence;
    struct gt_error err;
};

static void make_ledger(struct gt_evidence *evidence, size_t threads) {
    if (!gt_ledger_init(&evidence->ledger, evidence->view, gt_evidence_idle(evidence), evidence->ledger.steady_ns,
                        threads))
        gt_evidence_fail(evidence);
}

static void make_bulk_copies(struct gt_evidence *evidence) {
    if (evidence->view->store->facts & GT_FACT_BYTES)
        gt_evidence_bulk_copies(evidence);
}

/* What only rules that blame the host look at. */
static void make_host_part(struct gt_evidence *evidence, size_t index) {
    if (!gt_evidence_may_blame_host(evidence))
        return;
    if (index == HOST_GAPS)
        gt_evidence_host_gaps(evidence);
    else if (index == ACTIVITIES)
        gt_evidence_activity(evidence, GT_ACTIVITY_COMPILATION);
    else
        gt_evidence_sync_marks(evidence);
}

static void make_part(void *context, size_t index) {
    struct part *part = &((struct part *)context)[index];
    part->evidence.err = &part->err;
    if (index == LEDGER)
        make_ledger(&part->evidence, gt_threads_count(part->evidence.view->request->threads));
    else if (index == HOST_GAPS || index == ACTIVITIES || index == SYNC_MARKS)
        make_host_part(&part->evidence, index);
    else if (index == UPDATES)
        gt_evidence_chain_links(&part->evidence); /* and the traits and updates before it */
    else if (index == BULK_COPIES)
        make_bulk_copies(&part->evidence);
    else if (index == LAUNCHES)
        gt_waits_launch_count(&part->evidence);
    else
        gt_evidence_step_times(&part->evidence);
}

static void take_parts(struct gt_evidence *evidence, const struct part *parts) {
    evidence->ledger = parts[LEDGER].evidence.ledger;
    evidence->host_gaps = parts[HOST_GAPS].evidence.host_gaps;
    evidence->activities = parts[ACTIVITIES].evidence.activities;
    evidence->traits = parts[UPDATES].evidence.traits;
    evidence->updates = parts[UPDATES].evidence.updates;
    evidence->chain_links = parts[UPDATES].evidence.chain_links;
    evidence->bulk_copies = parts[BULK_COPIES].evidence.bulk_copies;
    evidence->step_times = parts[STEP_TIMES].evidence.step_times;
    evidence->sync_marks = parts[SYNC_MARKS].evidence.sync_marks;
    evidence->has_step_times = true;
    evidence->has_sync_marks = parts[SYNC_MARKS].evidence.has_sync_marks;
    evidence->launch_count = parts[LAUNCHES].evidence.launch_count;
    evidence->has_launch_count = evidence->has_parts = true;
    evidence->has_host_gaps = parts[HOST_GAPS].evidence.has_host_gaps;
    evidence->has_activities = parts[ACTIVITIES].evidence.has_activities;
    evidence->has_traits = evidence->has_updates = evidence->has_chain_links = true;
    evidence->has_bulk_copies = parts[BULK_COPIES].evidence.has_bulk_copies;
    for (size_t i = 0; i < PART_COUNT; i++)
        if (parts[i].evidence.status != GT_OK && evidence->status == GT_OK) {
            *evidence->err = parts[i].err;
            evidence->status = parts[i].evidence.status;
        }
}

/* Rules come one after the other, but not what they look at. Few ops, or a trace that rules on waiting do not look at,
   are not worth it. */
static bool is_worth_threads(const struct gt_view *view) {
    enum { FEWEST_OPS = 20000 };
    const uint32_t needed = GT_FACT_OPS | GT_FACT_CALLS | GT_FACT_CORRELATION;
    return view->op_count >= FEWEST_OPS && (needed & ~view->store->facts) == 0 &&
           gt_threads_count(view->request->threads) > 1;
}

static void make_parts(struct gt_evidence *evidence) {
    struct part parts[PART_COUNT];
    for (size_t i = 0; i < PART_COUNT; i++)
        parts[i] = (struct part){.evidence = *evidence};
    gt_threads_deal(gt_threads_count(evidence->view->request->threads), PART_COUNT, make_part, parts);
    take_parts(evidence, parts);
}

void gt_evidence_init(struct gt_evidence *evidence, const struct gt_view *view, struct gt_arena *arena,
                      struct gt_error *err) {
    *evidence = (struct gt_evidence){.view = view, .arena = arena, .err = err};
    evidence->context = gt_context_of(view, gt_evidence_kernels(evidence));
    evidence->ledger.steady_ns = gt_evidence_steady_ns(evidence);
    if (is_worth_threads(view))
        make_parts(evidence);
    else
        make_ledger(evidence, 1);
}

bool gt_evidence_has_parts(const struct gt_evidence *evidence) {
    return evidence->has_parts;
}

void gt_evidence_release(struct gt_evidence *evidence) {
    gt_ledger_release(&evidence->ledger);
    gt_host_gaps_release(&evidence->host_gaps);
    gt_activities_release(&evidence->activities);
    gt_chains_release(&evidence->chains);
    gt_traits_release(&evidence->traits);
    gt_updates_release(&evidence->updates);
    gt_chain_links_release(&evidence->chain_links);
    gt_bulk_copies_release(&evidence->bulk_copies);
    gt_step_times_release(&evidence->step_times);
    gt_mem_free(evidence->sync_marks);
}
