/* Adds up the claims of the rule that looks, by the names of the ranges that launched the ops. */
#include "measure/findings/claim_ranges.h"

#include "base/mem.h"
#include "base/ns.h"

/* GT_NO_ROW: none but a step. */
static uint32_t range_of(const struct gt_view *view, size_t position) {
    uint32_t row = view->row[position], range = view->labels->op_range[row], step = view->labels->op_step[row];
    bool is_step = step != GT_NO_ROW && view->labels->steps[step].range == range;
    return is_step ? GT_NO_ROW : range;
}

const char *gt_claim_ranges_say(struct gt_evidence *evidence) {
    const struct gt_view *view = evidence->view;
    const struct gt_ledger *ledger = &evidence->ledger;
    int64_t *sums_ns = gt_mem_array(view->store->strings.count, sizeof *sums_ns);
    gt_strid most = GT_STRID_EMPTY;
    if (!sums_ns) {
        gt_evidence_fail(evidence);
        return "";
    }
    for (size_t i = 0; i < ledger->count; i++) {
        uint32_t range = ledger->claims[i].is_gap ? GT_NO_ROW : range_of(view, ledger->claims[i].item);
        if (range == GT_NO_ROW)
            continue;
        gt_strid name = view->store->ranges.name[range];
        sums_ns[name] = gt_ns_add(sums_ns[name], ledger->claims[i].ns);
        most = sums_ns[name] > sums_ns[most] ? name : most;
    }
    bool is_half = most != GT_STRID_EMPTY && 2 * (__int128)sums_ns[most] >= ledger->claimed_ns;
    gt_mem_free(sums_ns);
    if (!is_half)
        return "";
    return gt_arena_printf(evidence->arena, " in %s", gt_say_quoted(evidence, gt_store_string(view->store, most))).ptr;
}
