/* Rule layout_copies: kernels that a library launches only to convert the layout of tensors for convolutions. */
#include "measure/findings/claim_ranges.h"
#include "measure/findings/findings.h"
#include "measure/findings/name_sums.h"
#include "measure/findings/saving.h"

enum { LISTED = 3 };

static void claim_all(struct gt_evidence *evidence, const struct gt_traits *traits, struct gt_name_sums *names) {
    const struct gt_view *view = evidence->view;
    for (size_t i = 0; i < view->op_count; i++) {
        if (!(gt_traits_of_op(traits, view, i) & GT_TRAIT_LAYOUT))
            continue;
        int64_t left_ns = gt_ledger_op_left_ns(&evidence->ledger, i);
        if (left_ns > 0) {
            gt_ledger_claim_op(&evidence->ledger, (uint32_t)i, left_ns);
            gt_name_sums_add(names, view->store, view->name[i], left_ns);
        }
    }
    gt_name_sums_sort(names);
    if (names->has_failed)
        gt_evidence_fail(evidence);
}

/* NULL: so many names that a command would not show them, or one that it could not. */
static const char *without_them(struct gt_evidence *evidence, const struct gt_name_sums *names) {
    enum { NAMES_MOST = 8 };
    struct gt_str lines = {"", 0};
    for (size_t i = 0; i < names->count; i++) {
        struct gt_str glob = gt_saving_glob(evidence, gt_store_string(evidence->view->store, names->items[i].name));
        if (!glob.len || names->count > NAMES_MOST)
            return NULL;
        lines = gt_arena_printf(evidence->arena, "%s%sscale:%s=0", lines.ptr, i ? "\n" : "", glob.ptr);
    }
    return lines.ptr;
}

static void describe(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_name_sums *names) {
    size_t steps = gt_evidence_step_count(evidence);
    double divisor = steps ? (double)steps : 1;
    gt_finding_set_title(evidence, finding, "Layouts of tensors are converted for convolutions%s: %s of the time",
                         gt_claim_ranges_say(evidence),
                         gt_say_share(evidence, (double)evidence->ledger.claimed_ns, (double)evidence->ledger.span_ns));
    for (size_t i = 0; i < names->count && i < LISTED; i++)
        gt_finding_add_evidence(evidence, finding, "%s: %s%s, %s.", gt_say_kernel(evidence, names->items[i].name),
                                gt_say_counted(evidence, (size_t)((double)names->items[i].count / divisor), "kernel"),
                                steps ? " per step" : "", gt_say_ns(evidence, (double)names->items[i].ns / divisor));
}

bool gt_find_layout_copies(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_traits *traits = gt_evidence_traits(evidence);
    struct gt_name_sums names = {0};
    if (!traits || !(traits->of_any & GT_TRAIT_LAYOUT))
        return false;
    claim_all(evidence, traits, &names);
    if (names.count && evidence->status == GT_OK) {
        gt_saving_settle(evidence, finding, without_them(evidence, &names));
        describe(evidence, finding, &names);
    }
    gt_name_sums_release(&names);
    return finding->evidence_count > 0;
}
