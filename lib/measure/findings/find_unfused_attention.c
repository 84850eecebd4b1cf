/* Rule unfused_attention: a softmax between two matrix products, with scaling, masks, dropout and casts as kernels of
   their own. A fused kernel keeps all of that on the chip; the products remain. */
#include "measure/findings/claim_ranges.h"
#include "measure/findings/findings.h"

struct attention {
    size_t count; /* forward and backward count separately */
    double softmax_ns, other_ns;
    uint32_t longest; /* position of the longest kernel that is claimed; GT_NO_ROW */
};

struct search {
    struct gt_evidence *evidence;
    const struct gt_traits *traits;
    struct attention found;
};

enum place { PASSED, CLAIMED, PRODUCT, ELSEWHERE };

/* What an op near a softmax is to it. Copies and fills of the driver are memory operations, which nobody claims here.
 */
static enum place place_of(const struct search *search, uint32_t position) {
    const struct gt_view *view = search->evidence->view;
    unsigned traits = gt_traits_of_op(search->traits, view, position);
    if (gt_view_op_kind(view, position) != GT_OP_KERNEL)
        return gt_view_op_class(view, position) == GT_CLASS_MEMORY ? PASSED : ELSEWHERE;
    if (traits & GT_TRAIT_PRODUCT)
        return PRODUCT;
    return traits & (GT_TRAIT_ELEMENTWISE | GT_TRAIT_BETWEEN | GT_TRAIT_SOFTMAX) ? CLAIMED : ELSEWHERE;
}

/* How many ops lie between the one at `from` of a lane and the next product before (-1) or after it (1); 0: none comes
   soon. */
static size_t distance_to_product(const struct search *search, const struct gt_view_lane *lane, size_t from, int step) {
    size_t limit = (size_t)gt_thresholds.attention_between;
    for (size_t distance = 1; distance <= limit + 1; distance++) {
        size_t room = step < 0 ? from - lane->first : lane->first + lane->count - 1 - from;
        if (distance > room)
            return 0;
        size_t at = step < 0 ? from - distance : from + distance;
        enum place place = place_of(search, search->evidence->view->lane_order[at]);
        if (place == PRODUCT)
            return distance;
        if (place == ELSEWHERE)
            return 0;
    }
    return 0;
}

static void claim_between(struct search *search, size_t first, size_t end) {
    const struct gt_view *view = search->evidence->view;
    struct attention *found = &search->found;
    for (size_t i = first; i < end; i++) {
        uint32_t position = view->lane_order[i];
        if (place_of(search, position) != CLAIMED)
            continue;
        int64_t ns = gt_ledger_claim_op(&search->evidence->ledger, position, INT64_MAX);
        bool is_softmax = gt_traits_of_op(search->traits, view, position) & GT_TRAIT_SOFTMAX;
        *(is_softmax ? &found->softmax_ns : &found->other_ns) += (double)ns;
        if (found->longest == GT_NO_ROW || gt_view_op_ns(view, position) > gt_view_op_ns(view, found->longest))
            found->longest = position;
    }
}

static void search_lane(struct search *search, const struct gt_view_lane *lane) {
    const struct gt_view *view = search->evidence->view;
    for (size_t i = lane->first; i < lane->first + lane->count; i++) {
        if (!(gt_traits_of_op(search->traits, view, view->lane_order[i]) & GT_TRAIT_SOFTMAX))
            continue;
        size_t before = distance_to_product(search, lane, i, -1), after = distance_to_product(search, lane, i, 1);
        if (!before || !after)
            continue;
        search->found.count += view->start_ns[view->lane_order[i]] >= search->evidence->ledger.steady_ns;
        claim_between(search, i - before + 1, i + after);
    }
}

static void describe(struct gt_evidence *evidence, struct gt_finding *finding, const struct attention *found) {
    size_t steps = gt_evidence_step_count(evidence);
    double divisor = steps ? (double)steps : 1;
    const char *per_step = steps ? " per step" : "";
    gt_finding_set_title(evidence, finding,
                         "Unfused attention%s: softmax, masks and scaling as separate kernels cost %s of the time",
                         gt_claim_ranges_say(evidence),
                         gt_say_share(evidence, (double)evidence->ledger.claimed_ns, (double)evidence->ledger.span_ns));
    gt_finding_add_evidence(
        evidence, finding, "%s between two matrix products of attention (forward or backward).",
        found->count == 1
            ? "1 softmax runs"
            : gt_arena_printf(evidence->arena, "%s softmax kernels run", gt_say_count(evidence, found->count)).ptr);
    gt_finding_add_evidence(evidence, finding, "Softmax takes %s%s, the element-wise kernels around it %s.",
                            gt_say_ns(evidence, found->softmax_ns / divisor), per_step,
                            gt_say_ns(evidence, found->other_ns / divisor));
    gt_finding_add_evidence(evidence, finding, "The longest is %s with %s.",
                            gt_say_kernel(evidence, evidence->view->name[found->longest]),
                            gt_say_ns(evidence, (double)gt_view_op_ns(evidence->view, found->longest)));
    gt_finding_add_evidence(evidence, finding,
                            "The time of the products is not counted: a fused kernel needs it, too.");
}

bool gt_find_unfused_attention(struct gt_evidence *evidence, struct gt_finding *finding) {
    struct search search = {evidence, gt_evidence_traits(evidence), {.longest = GT_NO_ROW}};
    if (!search.traits || !(search.traits->of_any & GT_TRAIT_SOFTMAX) || !(search.traits->of_any & GT_TRAIT_PRODUCT))
        return false;
    for (size_t i = 0; i < evidence->view->lane_count; i++)
        search_lane(&search, &evidence->view->lanes[i]);
    if (search.found.count == 0)
        return false;
    describe(evidence, finding, &search.found);
    return true;
}
