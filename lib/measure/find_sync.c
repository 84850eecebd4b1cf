/* Rules on synchronisation: calls that wait for the GPU, and copies and fills that make the CPU wait. */
#include "base/map.h"
#include "base/mem.h"
#include "measure/calls.h"
#include "measure/copies.h"
#include "measure/findings.h"

/* ---- calls that wait ---- */

/* By name: how often and how long. */
struct call_sum {
    size_t count;
    int64_t total_ns;
};

static void sum_blocking(struct gt_evidence *evidence, struct call_sum *sums, const bool *processes) {
    const struct gt_store *store = evidence->view->store;
    for (size_t i = 0; i < store->calls.count; i++) {
        if (!gt_moment_is_selected(evidence->view, processes, store->calls.start_ns[i], store->calls.thread[i]))
            continue;
        struct call_sum *sum = &sums[store->calls.name[i]];
        sum->count++;
        sum->total_ns = gt_ns_add(sum->total_ns, gt_ns_between(store->calls.start_ns[i], store->calls.end_ns[i]));
    }
}

double gt_find_sync_calls(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_store *store = evidence->view->store;
    struct call_sum *sums = gt_alloc_array(store->strings.count, sizeof *sums), all = {0};
    bool *processes = gt_view_processes(evidence->view);
    gt_strid top = GT_STRID_EMPTY;
    if (sums && processes)
        sum_blocking(evidence, sums, processes);
    else
        gt_evidence_fail(evidence);
    for (gt_strid name = 0; name < store->strings.count && sums && processes; name++) {
        if (sums[name].count == 0 || !gt_call_is_blocking(gt_store_string(store, name)))
            continue;
        all.count += sums[name].count;
        all.total_ns = gt_ns_add(all.total_ns, sums[name].total_ns);
        top = top == GT_STRID_EMPTY || sums[name].total_ns > sums[top].total_ns ? name : top;
    }
    if (all.count) {
        gt_finding_title(evidence, finding, "The CPU waits for the GPU inside calls: %s in all",
                         gt_told_ns(evidence, (double)all.total_ns));
        gt_finding_tell(evidence, finding, "%s: %s, %s; calls that wait for the GPU in all: %s, %s.",
                        gt_told_call(evidence, top), gt_told_counted(evidence, sums[top].count, "call"),
                        gt_told_ns(evidence, (double)sums[top].total_ns), gt_told_counted(evidence, all.count, "call"),
                        gt_told_ns(evidence, (double)all.total_ns));
    }
    gt_free(sums);
    gt_free(processes);
    return all.count ? (double)all.total_ns : GT_NOTHING_FOUND;
}

/* ---- copies that make the CPU wait ---- */

/* Calls after which the same thread at once waits for the GPU: by call, the row of the waiting call + 1; 0: none.
   The calls of a thread stand in order of time in every known trace. To be freed; NULL: memory was short. */
static uint32_t *new_waits(const struct gt_store *store) {
    uint32_t *waits = gt_alloc_array(store->calls.count, sizeof *waits);
    uint32_t *last = gt_alloc_array(store->threads.count, sizeof *last); /* by thread: its call before, + 1 */
    uint8_t *blocks = gt_alloc_array(store->strings.count, 1);           /* by name: 1 it does not, 2 it does */
    for (uint32_t i = 0; i < store->calls.count && waits && last && blocks; i++) {
        gt_strid name = store->calls.name[i];
        uint32_t thread = store->calls.thread[i], before = thread == GT_NO_TRACK ? 0 : last[thread];
        if (thread == GT_NO_TRACK)
            continue;
        if (!blocks[name])
            blocks[name] = gt_call_is_blocking(gt_store_string(store, name)) ? 2 : 1;
        if (before && blocks[name] == 2 && store->calls.start_ns[i] >= store->calls.end_ns[before - 1])
            waits[before - 1] = i + 1;
        last[thread] = i + 1;
    }
    if (!last || !blocks) {
        gt_free(waits);
        waits = NULL;
    }
    gt_free(last);
    gt_free(blocks);
    return waits;
}

/* Copies from the GPU of one name by one call, which the CPU waits for. */
struct readback {
    gt_strid copy, call, wait; /* wait: the call behind it; GT_STRID_EMPTY: it waits by itself */
    size_t count;
    uint32_t range; /* an innermost range of theirs */
    struct gt_gap_sum gaps;
};

struct readbacks {
    struct readback *items;
    size_t count;
    struct gt_map ids;
    uint32_t *group_of; /* by position in the view; GT_NO_ROW: no such copy */
};

static bool readbacks_init(struct readbacks *it, const struct gt_view *view, const uint32_t *waits) {
    const struct gt_store *store = view->store;
    *it = (struct readbacks){0};
    it->group_of = gt_alloc_array(view->op_count, sizeof *it->group_of);
    it->items = gt_alloc_array(view->store->strings.count, sizeof *it->items);
    for (uint32_t i = 0; i < view->op_count && it->group_of && it->items; i++) {
        uint32_t op = view->row[i], call = view->labels->op_call[op];
        it->group_of[i] = GT_NO_ROW;
        if (gt_op_kind(view, i) != GT_OP_MEMCPY || call == GT_NO_ROW || !gt_copy_is_to_host(store, op))
            continue;
        gt_strid name = store->calls.name[call];
        bool waits_itself = gt_call_is_blocking(gt_store_string(store, name));
        if (!waits[call] && !waits_itself)
            continue;
        uint32_t next = (uint32_t)it->count;
        uint32_t group = gt_map_put_if_new(&it->ids, store->ops.name[op], name, next);
        if (it->ids.failed)
            return false;
        if (group == next && it->count == store->strings.count)
            continue; /* more pairs of names than names: no program is like that */
        if (group == next)
            it->items[it->count++] =
                (struct readback){.copy = store->ops.name[op],
                                  .call = name,
                                  .wait = waits_itself ? GT_STRID_EMPTY : store->calls.name[waits[call] - 1],
                                  .range = view->labels->op_range[op]};
        it->items[group].count++;
        it->group_of[i] = group;
    }
    return it->group_of && it->items;
}

static void readbacks_release(struct readbacks *it) {
    gt_free(it->items);
    gt_free(it->group_of);
    gt_map_release(&it->ids);
}

/* How many of a group's copies are in ranges of the same name as the first one's. */
static size_t count_in_range(const struct gt_view *view, const struct readbacks *it, uint32_t group) {
    const struct gt_ranges *ranges = &view->store->ranges;
    size_t count = 0;
    for (uint32_t i = 0; i < view->op_count; i++) {
        uint32_t range = view->labels->op_range[view->row[i]];
        count += it->group_of[i] == group && range != GT_NO_ROW &&
                 ranges->name[range] == ranges->name[it->items[group].range];
    }
    return count;
}

static void tell_readback(struct gt_evidence *evidence, struct gt_finding *finding, const struct readbacks *it,
                          uint32_t group) {
    const struct gt_store *store = evidence->view->store;
    const struct readback *top = &it->items[group];
    const char *copy = gt_told_text(evidence, gt_store_string(store, top->copy));
    const char *call = gt_told_call(evidence, top->call);
    gt_finding_title(evidence, finding, "The CPU stops for a copy from the GPU %s times: %s by %s",
                     gt_told_count(evidence, top->count), copy, call);
    if (top->wait == GT_STRID_EMPTY)
        gt_finding_tell(evidence, finding, "%s copies %s %s times and returns only when the data are there.", call,
                        copy, gt_told_count(evidence, top->count));
    else
        gt_finding_tell(evidence, finding, "%s copies %s %s times, each time followed at once by %s.", call, copy,
                        gt_told_count(evidence, top->count), gt_told_call(evidence, top->wait));
    if (top->range != GT_NO_ROW)
        gt_finding_tell(evidence, finding, "%s of them are in the range %s.",
                        gt_told_count(evidence, count_in_range(evidence->view, it, group)),
                        gt_told_text(evidence, gt_store_string(store, store->ranges.name[top->range])));
    gt_finding_tell(evidence, finding, "Behind these copies the GPU was idle for %s until the next op.",
                    gt_told_ns(evidence, (double)top->gaps.total_ns));
    finding->recoverable_ns = gt_gap_sum_recoverable(&top->gaps);
}

/* The token that ends a step, the loss that is printed: the GPU stands still until the CPU has seen it and launched
 * more.
 */
double gt_find_readback(struct gt_evidence *evidence, struct gt_finding *finding) {
    enum { FEWEST = 10 };
    const struct gt_view *view = evidence->view;
    const struct gt_idle *idle = gt_evidence_idle(evidence);
    int64_t steady_ns = gt_evidence_steady_ns(evidence);
    double span_ns = (double)gt_evidence_steady_span_ns(evidence), measure = GT_NOTHING_FOUND;
    struct readbacks copies = {0};
    uint32_t *waits = new_waits(view->store), top = GT_NO_ROW;
    if (!waits || !readbacks_init(&copies, view, waits)) {
        gt_evidence_fail(evidence);
        goto out;
    }
    for (size_t i = 0; i < idle->count; i++) {
        const struct gt_idle_gap *gap = &idle->gaps[i];
        if (gap->previous != GT_NO_ROW && copies.group_of[gap->previous] != GT_NO_ROW && gap->start_ns >= steady_ns)
            gt_gap_sum_add(&copies.items[copies.group_of[gap->previous]].gaps, gap);
    }
    for (uint32_t i = 0; i < copies.count; i++)
        if (copies.items[i].count >= FEWEST &&
            (top == GT_NO_ROW || copies.items[i].gaps.total_ns > copies.items[top].gaps.total_ns))
            top = i;
    if (top != GT_NO_ROW && span_ns > 0) {
        tell_readback(evidence, finding, &copies, top);
        measure = (double)copies.items[top].gaps.total_ns / span_ns;
    }
out:
    readbacks_release(&copies);
    gt_free(waits);
    return measure;
}
