/* The rule exposed_comm: communication while nothing computed, as far as the compute of the same GPU could hide it;
   which collectives it is, and between what compute it runs. */
#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/findings/findings.h"
#include "measure/findings/origins.h"
#include "measure/findings/saving.h"
#include "measure/findings/waits.h"
#include "measure/results/group_of_op.h"

/* Exposed communication of one collective, over all devices. */
struct kind {
    const char *collective; /* NULL: the names do not say */
    size_t count;
    __int128 exposed_ns;
};

enum { KINDS = 32 };

struct looking {
    struct gt_evidence *evidence;
    __int128 *groups_ns; /* by group of ranks, and of none: exposed communication; NULL: the trace names no groups */
    size_t group_count;
    struct kind kinds[KINDS];
    size_t kind_count;
    __int128 exposed_ns, hideable_ns;
    size_t worst; /* device */
    double worst_share;
    int64_t worst_ns;
    struct gt_origin_parts own, before, after; /* the ops themselves, and the compute next to them */
};

/* ---- measuring ---- */

/* NCCL has no kernels for all-to-all, only for the messages that it is made of; the range around it says what it is. */
static bool is_in_all_to_all(const struct gt_view *view, uint32_t position) {
    uint32_t range = view->labels->op_range ? view->labels->op_range[view->row[position]] : GT_NO_ROW;
    struct gt_str name =
        range == GT_NO_ROW ? GT_STR("") : gt_store_string(view->store, view->store->ranges.name[range]);
    return gt_str_find_nocase(name, GT_STR("all_to_all")) || gt_str_find_nocase(name, GT_STR("alltoall"));
}

static const char *collective_of(const struct gt_view *view, uint32_t position) {
    const struct gt_name_reason *reason = view->labels->name_reason[view->name[position]];
    const char *collective = reason ? reason->collective : NULL;
    bool is_message = collective && strcmp(collective, "send_recv") == 0;
    return is_message && is_in_all_to_all(view, position) ? "all_to_all" : collective;
}

static void add_kind(struct looking *it, uint32_t position, int64_t ns) {
    const char *collective = collective_of(it->evidence->view, position);
    size_t i = 0;
    while (i < it->kind_count && it->kinds[i].collective != collective &&
           !(it->kinds[i].collective && collective && strcmp(it->kinds[i].collective, collective) == 0))
        i++;
    if (i == KINDS)
        return;
    it->kind_count += i == it->kind_count;
    it->kinds[i].collective = collective;
    it->kinds[i].count++;
    it->kinds[i].exposed_ns += ns;
}

static void add_group(struct looking *it, size_t position, int64_t ns) {
    if (!it->groups_ns)
        return;
    uint32_t group = gt_group_of_op(it->evidence->view, position);
    it->groups_ns[group == GT_NO_ROW ? it->group_count : group] += ns;
}

/* The time of ops that wait for the next compute op goes to it. */
static void add_after(struct looking *it, uint32_t position, int64_t *pending_ns) {
    if (*pending_ns > 0)
        gt_origin_parts_add(&it->after, position, *pending_ns);
    *pending_ns = 0;
}

/* What lies between two of the ops that do not compute computes, so that only those are looked at. */
static void look_at_device(struct looking *it, size_t index) {
    const struct gt_view *view = it->evidence->view;
    const struct gt_view_device *device = &view->devices[index];
    const struct gt_ledger *ledger = &it->evidence->ledger;
    const uint32_t *others = ledger->others + ledger->first_others[index];
    size_t count = ledger->first_others[index + 1] - ledger->first_others[index];
    size_t next = device->first; /* after the last of them */
    uint32_t compute = GT_NO_ROW;
    int64_t exposed_ns = 0, pending_ns = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t position = others[i];
        if (position > next) {
            add_after(it, (uint32_t)next, &pending_ns);
            compute = position - 1;
        }
        next = (size_t)position + 1;
        int64_t left_ns =
            gt_view_op_class(view, position) == GT_CLASS_COMM ? gt_ledger_op_left_ns(ledger, position) : 0;
        if (left_ns <= 0)
            continue;
        add_kind(it, position, left_ns);
        add_group(it, position, left_ns);
        gt_origin_parts_add(&it->own, position, left_ns);
        if (compute != GT_NO_ROW)
            gt_origin_parts_add(&it->before, compute, left_ns);
        pending_ns = gt_ns_add(pending_ns, left_ns);
        exposed_ns = gt_ns_add(exposed_ns, left_ns);
    }
    if (next < device->first + device->count)
        add_after(it, (uint32_t)next, &pending_ns);
    int64_t span_ns = gt_ns_between(device->span_start_ns, device->span_end_ns);
    double share = span_ns > 0 ? (double)exposed_ns / (double)span_ns : 0;
    it->exposed_ns += exposed_ns;
    if (share > it->worst_share) {
        it->worst_share = share;
        it->worst_ns = exposed_ns;
        it->worst = index;
    }
}

/* Claims the exposed communication of each device that its own compute could have hidden. */
static void claim_hideable(struct looking *it) {
    const struct gt_view *view = it->evidence->view;
    const struct gt_account *accounts = gt_evidence_accounts(it->evidence);
    size_t next = 0;
    for (size_t d = 0; d < view->device_count && accounts; d++) {
        const int64_t *ns = accounts[d].ns;
        int64_t free_ns = gt_ns_between(ns[GT_AMOUNT_OVERLAP], ns[GT_AMOUNT_COMPUTE]);
        size_t end = view->devices[d].first + view->devices[d].count;
        for (; next < it->own.count && it->own.items[next].position < end; next++)
            if (free_ns > 0)
                free_ns -= gt_ledger_claim_op(&it->evidence->ledger, it->own.items[next].position, free_ns);
    }
}

/* ---- groups ---- */

/* Room to sum by group, where the trace has several and was read for them: what others had it read for counts not. */
static void prepare_groups(struct looking *it) {
    const struct gt_comm_labels *comms = &it->evidence->view->labels->comms;
    bool is_asked = it->evidence->view->request->facts & GT_FACT_COMMS;
    if (!is_asked || !comms->launch_count || comms->group_count < 2)
        return;
    it->group_count = comms->group_count;
    it->groups_ns = gt_arena_array(it->evidence->arena, it->group_count + 1, sizeof *it->groups_ns);
}

/* The group with the most that is smaller than that of another, or as much and later; GT_NO_ROW: there is none. */
static uint32_t next_group(const struct looking *it, uint32_t after) {
    uint32_t best = GT_NO_ROW;
    for (uint32_t g = 0; it->groups_ns && g < it->group_count; g++) {
        __int128 ns = it->groups_ns[g];
        bool is_left = after == GT_NO_ROW || ns < it->groups_ns[after] || (g > after && ns == it->groups_ns[after]);
        if (ns > 0 && is_left && (best == GT_NO_ROW || ns > it->groups_ns[best]))
            best = g;
    }
    return best;
}

/* ", mostly tp (group 3)": the group that most of it is of, where there are others. */
static const char *say_group(const struct looking *it) {
    uint32_t most = next_group(it, GT_NO_ROW);
    if (most == GT_NO_ROW || 2 * it->groups_ns[most] < it->exposed_ns || it->groups_ns[most] == it->exposed_ns)
        return "";
    struct gt_str words = gt_group_of_op_words(it->evidence->view, most, it->evidence->arena);
    return gt_arena_printf(it->evidence->arena, ", mostly %s", words.ptr).ptr;
}

static void describe_groups(struct looking *it, struct gt_finding *finding) {
    enum { MOST_GROUPS = 4 };
    struct gt_evidence *evidence = it->evidence;
    struct gt_str list = {"", 0};
    uint32_t group = next_group(it, GT_NO_ROW);
    for (size_t i = 0; i < MOST_GROUPS && group != GT_NO_ROW; i++, group = next_group(it, group))
        list = gt_arena_printf(evidence->arena, "%s%s%s %s", list.ptr, i ? ", " : "",
                               gt_group_of_op_words(evidence->view, group, evidence->arena).ptr,
                               gt_say_ns(evidence, (double)it->groups_ns[group]));
    if (list.len)
        gt_finding_add_evidence(evidence, finding, "By group of ranks: %s%s.", list.ptr,
                                group == GT_NO_ROW ? "" : ", and others");
}

/* ---- sentences ---- */

static const struct kind *largest_kind(const struct looking *it) {
    const struct kind *largest = &it->kinds[0];
    for (size_t i = 1; i < it->kind_count; i++)
        if (it->kinds[i].exposed_ns > largest->exposed_ns)
            largest = &it->kinds[i];
    return largest;
}

/* "all_reduce": as tables of collectives write it */
static const char *say_kind(const struct kind *kind) {
    return kind->collective ? kind->collective : "communication";
}

static void describe_kinds(struct looking *it, struct gt_finding *finding, const struct kind *largest) {
    struct gt_evidence *evidence = it->evidence;
    size_t steps = gt_evidence_step_count(evidence);
    double devices = (double)evidence->view->device_count;
    const char *per_step = "";
    if (steps)
        per_step = gt_arena_printf(evidence->arena, "; %s per step and GPU",
                                   gt_say_ns(evidence, (double)it->exposed_ns / (double)steps / devices))
                       .ptr;
    gt_finding_add_evidence(evidence, finding, "%s: %s exposed in %s, %s of all exposed communication%s.",
                            say_kind(largest), gt_say_ns(evidence, (double)largest->exposed_ns),
                            gt_say_counted(evidence, largest->count, "kernel"),
                            gt_say_share(evidence, (double)largest->exposed_ns, (double)it->exposed_ns), per_step);
    if (evidence->view->device_count > 1)
        gt_finding_add_evidence(evidence, finding, "Most on GPU %lld: %s, %s of its span.",
                                (long long)evidence->view->devices[it->worst].id,
                                gt_say_ns(evidence, (double)it->worst_ns), gt_say_share(evidence, it->worst_share, 1));
}

static void describe_neighbours(struct looking *it, struct gt_finding *finding) {
    struct gt_evidence *evidence = it->evidence;
    struct gt_origin before = gt_origins_of_parts(evidence, &it->before);
    if (before.name == GT_STRID_EMPTY)
        return;
    struct gt_origin after = gt_origins_of_parts(evidence, &it->after);
    if (after.name == GT_STRID_EMPTY)
        return;
    gt_finding_add_evidence(evidence, finding, "Most of it runs between compute of %s and of %s.",
                            gt_origins_say(evidence, &before, "unnamed code"),
                            gt_origins_say(evidence, &after, "unnamed code"));
}

/* What hides a collective depends on what it is for. */
static void advise(struct gt_evidence *evidence, struct gt_finding *finding, const char *collective) {
    static const struct {
        const char *collective, *advice;
    } advices[] = {
        {"all_reduce",
         "Gradients: start their all-reduce during backward, in buckets of another size "
         "(DistributedDataParallel: bucket_cap_mb). Tensor parallelism: the next operation needs the sum, "
         "so only sequence parallelism or splitting the product (async tensor parallelism) hides it."},
        {"reduce_scatter", "Let it run during backward of the layers before: larger buckets, a separate stream, "
                           "limit_all_gathers off."},
        {"all_gather", "Prefetch the parameters of the next layer (FSDP: forward_prefetch, backward_prefetch), or keep "
                       "them gathered between forward and backward."},
        {"all_to_all", "Experts: overlap dispatch and combine with the shared expert or another micro-batch, and send "
                       "fewer bytes (low-precision dispatch, experts of one node)."},
        {"send", "Pipeline: more micro-batches, or an interleaved schedule."},
        {"recv", "Pipeline: more micro-batches, or an interleaved schedule."},
        {"send_recv",
         "Pipeline: more micro-batches, or an interleaved schedule. All-to-all runs as these kernels, too (experts, "
         "sequence parallelism, sharded embeddings): overlap it with independent compute, and send fewer bytes."},
    };
    for (size_t i = 0; i < GT_ARRAY_COUNT(advices) && collective; i++)
        if (strcmp(advices[i].collective, collective) == 0)
            gt_finding_add_advice(evidence, finding, "%s", advices[i].advice);
}

/* Ranges that communication libraries put around their own calls say no more than the kernel. */
static bool is_of_library(struct gt_str name) {
    return gt_str_starts(name, GT_STR("nccl")) || gt_str_starts(name, GT_STR("rccl")) ||
           gt_str_starts(name, GT_STR("c10d")) || gt_str_starts(name, GT_STR("record_param_comms"));
}

static void describe(struct looking *it, struct gt_finding *finding) {
    struct gt_evidence *evidence = it->evidence;
    const struct kind *largest = largest_kind(it);
    struct gt_origin origin = gt_origins_range_of_parts(evidence, &it->own);
    bool is_named = origin.is_range && !is_of_library(gt_store_string(evidence->view->store, origin.name));
    double exposed_ns = (double)it->exposed_ns;
    double claimed_ns = (double)evidence->ledger.claimed_ns;
    const char *share = gt_say_share(evidence, gt_ledger_share(&evidence->ledger, exposed_ns), 1);
    if (10 * claimed_ns < 9 * exposed_ns)
        share = gt_arena_printf(evidence->arena, "%s of the time; hiding it saves %s", share,
                                gt_waits_say_claimed(evidence))
                    .ptr;
    else
        share = gt_arena_printf(evidence->arena, "%s of the time", gt_waits_say_claimed(evidence)).ptr;
    if (is_named)
        gt_finding_set_title(evidence, finding, "Exposed %s%s in %s: %s", say_kind(largest), say_group(it),
                             gt_origins_say(evidence, &origin, "unnamed code"), share);
    else
        gt_finding_set_title(evidence, finding, "Exposed %s%s: %s", say_kind(largest), say_group(it), share);
    describe_kinds(it, finding, largest);
    describe_groups(it, finding);
    describe_neighbours(it, finding);
    if (it->hideable_ns < it->exposed_ns)
        gt_finding_add_evidence(
            evidence, finding,
            "Compute of the same GPU could hide %s of %s; the rest takes fewer bytes or faster links.",
            gt_say_ns(evidence, (double)it->hideable_ns), gt_say_ns(evidence, exposed_ns));
    gt_finding_add_evidence(evidence, finding,
                            "A collective also waits for the slowest rank; only traces of all ranks show how much of "
                            "this is waiting.");
    advise(evidence, finding, largest->collective);
}

/* What communicates at the end of a step is hidden by the next one. Of a single step that would be nothing, although
   earlier compute could hide it. */
static const char *change_of(struct gt_evidence *evidence) {
    return gt_evidence_step_count(evidence) > 1 ? "overlap:comm" : "class:comm=0";
}

bool gt_find_exposed_comm(struct gt_evidence *evidence, struct gt_finding *finding) {
    struct looking it = {.evidence = evidence};
    if (gt_evidence_amount(evidence, GT_AMOUNT_EXPOSED_COMM) <= 0)
        return false;
    prepare_groups(&it);
    for (size_t d = 0; d < evidence->view->device_count; d++)
        look_at_device(&it, d);
    claim_hideable(&it);
    it.hideable_ns = evidence->ledger.claimed_ns;
    gt_saving_settle(evidence, finding, change_of(evidence));
    if (evidence->ledger.claimed_ns > 0 &&
        gt_ledger_share(&evidence->ledger, (double)evidence->ledger.claimed_ns) >= gt_thresholds.low_share)
        describe(&it, finding);
    if (it.own.has_failed || it.before.has_failed || it.after.has_failed)
        gt_evidence_fail(evidence);
    gt_origin_parts_release(&it.own);
    gt_origin_parts_release(&it.before);
    gt_origin_parts_release(&it.after);
    return finding->evidence_count > 0;
}
