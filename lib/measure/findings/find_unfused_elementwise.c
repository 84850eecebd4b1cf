/* Rule unfused_elementwise: element-wise kernels over large tensors, each of which writes what the next one reads.
   Fused, only the first read, the last write and the other inputs remain. */
#include "base/mem.h"
#include "measure/findings/claim_ranges.h"
#include "measure/findings/findings.h"
#include "measure/results/operator_set.h"

/* A run of a lane. */
struct chain {
    size_t first, count;
    double saved_ns, total_ns;
    gt_strid names[2]; /* of operations, not of moves: the first two that differ */
    size_t name_count;
    int64_t shortest_ns, longest_ns;
};

struct search {
    struct gt_evidence *evidence;
    const struct gt_traits *traits;
    size_t chains, kernels;
    double total_ns;
    struct chain longest;
};

static double per_tensor_ns(const struct search *search, uint32_t position) {
    const struct gt_view *view = search->evidence->view;
    return (double)gt_view_op_ns(view, position) / search->traits->tensors[view->name[position]];
}

/* Kernels over tensors of different sizes do not read what the other one wrote. */
static bool continues(const struct search *search, uint32_t before, uint32_t after) {
    double a_ns = per_tensor_ns(search, before), b_ns = per_tensor_ns(search, after);
    return a_ns <= gt_thresholds.chain_spread * b_ns && b_ns <= gt_thresholds.chain_spread * a_ns;
}

/* Of the tensors that a kernel moves, the one it hands on and the one it is handed stay on the chip. */
static double saved_ns(const struct search *search, uint32_t position) {
    const struct gt_view *view = search->evidence->view;
    unsigned tensors = search->traits->tensors[view->name[position]], kept = tensors < 2 ? tensors : 2;
    return (double)gt_ledger_op_left_ns(&search->evidence->ledger, position) * kept / tensors;
}

static void add_link(struct chain *chain, size_t at, int64_t ns) {
    chain->first = chain->count ? chain->first : at;
    chain->shortest_ns = chain->count == 0 || ns < chain->shortest_ns ? ns : chain->shortest_ns;
    chain->longest_ns = ns > chain->longest_ns ? ns : chain->longest_ns;
    chain->count++;
}

static void add_name(struct chain *chain, gt_strid name) {
    if (chain->name_count < 2 && (chain->name_count == 0 || chain->names[0] != name))
        chain->names[chain->name_count++] = name;
}

/* A loop that does one thing to many tensors is no chain; but one that does it to the same again and again is. */
static bool is_chain(const struct chain *chain) {
    bool is_loop = (double)chain->longest_ns <= gt_thresholds.loop_spread * (double)chain->shortest_ns;
    double least = chain->name_count > 1 ? gt_thresholds.chain_length : gt_thresholds.loop_length;
    return (double)chain->count >= least && (chain->name_count > 1 || (chain->name_count == 1 && is_loop));
}

/* Claims what fusing saves: what all save but the one that saves most, for the ends of the chain remain. */
static void close_chain(struct search *search, struct chain *chain) {
    const struct gt_view *view = search->evidence->view;
    struct gt_ledger *ledger = &search->evidence->ledger;
    double most_ns = 0;
    uint32_t most = GT_NO_ROW;
    if (!is_chain(chain))
        return;
    for (size_t i = chain->first; i < chain->first + chain->count; i++) {
        double ns = saved_ns(search, view->lane_order[i]);
        most = most == GT_NO_ROW || ns > most_ns ? view->lane_order[i] : most;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    for (size_t i = chain->first; i < chain->first + chain->count; i++) {
        uint32_t position = view->lane_order[i];
        chain->total_ns += (double)gt_ledger_op_left_ns(ledger, position);
        if (position != most)
            chain->saved_ns += (double)gt_ledger_claim_op(ledger, position, (int64_t)saved_ns(search, position));
    }
    if (chain->saved_ns <= 0)
        return; /* in the warm-up, or claimed by another rule */
    search->chains++;
    search->kernels += chain->count;
    search->total_ns += chain->total_ns;
    if (chain->saved_ns > search->longest.saved_ns)
        search->longest = *chain;
}

/* The links of a lane, from one on. Gives the first of the next lane. */
static size_t search_lane(struct search *search, const struct gt_view_lane *lane, const struct gt_chain_links *links,
                          size_t next) {
    const struct gt_view *view = search->evidence->view;
    struct chain chain = {0};
    for (; next < links->count && links->items[next] < lane->first + lane->count; next++) {
        size_t i = links->items[next];
        uint32_t position = view->lane_order[i];
        bool is_after = chain.count && i == chain.first + chain.count;
        if (chain.count && (!is_after || !continues(search, view->lane_order[i - 1], position))) {
            close_chain(search, &chain);
            chain = (struct chain){0};
        }
        add_link(&chain, i, gt_view_op_ns(view, position));
        if (!(gt_traits_of_op(search->traits, view, position) & GT_TRAIT_MOVE))
            add_name(&chain, view->name[position]);
    }
    close_chain(search, &chain);
    return next;
}

/* ---- sentences ---- */

enum { LISTED = 4 };

/* The operators that launched the first kernels of a chain, each once: "'aten::mul', 'aten::add'". Empty: the trace has
   none. */
static const char *operators_of(struct search *search, const struct chain *chain) {
    const struct gt_view *view = search->evidence->view;
    uint32_t calls[16];
    size_t count = chain->count < GT_ARRAY_COUNT(calls) ? chain->count : GT_ARRAY_COUNT(calls);
    for (size_t i = 0; i < count; i++)
        calls[i] = view->labels->op_call[view->row[view->lane_order[chain->first + i]]];
    uint32_t *operators = gt_operator_set_of_calls(view, calls, count);
    if (!operators)
        gt_evidence_fail(search->evidence);
    gt_strid seen[LISTED];
    size_t seen_count = 0;
    const char *list = "";
    for (size_t i = 0; i < count && operators && seen_count < LISTED; i++) {
        gt_strid name = operators[i] == GT_NO_ROW ? GT_STRID_EMPTY : view->store->cpu_ops.name[operators[i]];
        bool is_new = name != GT_STRID_EMPTY;
        for (size_t k = 0; k < seen_count; k++)
            is_new &= seen[k] != name;
        if (!is_new)
            continue;
        seen[seen_count++] = name;
        list = gt_arena_printf(search->evidence->arena, "%s%s%s", list, *list ? ", " : "",
                               gt_say_quoted(search->evidence, gt_store_string(view->store, name)))
                   .ptr;
    }
    gt_mem_free(operators);
    return list;
}

static void describe(struct search *search, struct gt_finding *finding) {
    struct gt_evidence *evidence = search->evidence;
    const struct chain *longest = &search->longest;
    size_t steps = gt_evidence_step_count(evidence);
    const char *operators = operators_of(search, longest);
    gt_finding_set_title(evidence, finding, "Unfused element-wise kernels%s cost %s of the time",
                         gt_claim_ranges_say(evidence),
                         gt_say_share(evidence, (double)evidence->ledger.claimed_ns, (double)evidence->ledger.span_ns));
    gt_finding_add_evidence(
        evidence, finding, "%s over large tensors, one directly after the other, in %s: %s%s.",
        gt_say_counted(evidence, search->kernels, "kernel"), gt_say_counted(evidence, search->chains, "chain"),
        gt_say_ns(evidence, search->total_ns / (steps ? (double)steps : 1)), steps ? " per step" : "");
    gt_finding_add_evidence(evidence, finding, "The longest chain has %s and takes %s: %s%s.",
                            gt_say_counted(evidence, longest->count, "kernel"), gt_say_ns(evidence, longest->total_ns),
                            *operators ? operators : gt_say_kernel(evidence, longest->names[0]),
                            *operators ? "" : " and others");
    gt_finding_add_evidence(
        evidence, finding,
        "Each writes its result to memory and the next one reads it; fused, %s of "
        "that time would remain.",
        gt_say_share(evidence, search->total_ns - (double)evidence->ledger.claimed_ns, search->total_ns));
}

bool gt_find_unfused_elementwise(struct gt_evidence *evidence, struct gt_finding *finding) {
    struct search search = {.evidence = evidence, .traits = gt_evidence_traits(evidence)};
    const struct gt_chain_links *links = gt_evidence_chain_links(evidence);
    size_t next = 0;
    if (!search.traits || !(search.traits->of_any & GT_TRAIT_ELEMENTWISE))
        return false;
    for (size_t i = 0; i < evidence->view->lane_count; i++)
        next = search_lane(&search, &evidence->view->lanes[i], links, next);
    if (gt_ledger_share(&evidence->ledger, (double)evidence->ledger.claimed_ns) < gt_thresholds.low_share)
        return false; /* looking up operators takes time */
    describe(&search, finding);
    return true;
}
