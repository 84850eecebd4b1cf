/* Rules on copies: pageable memory, many small ones, and ones in line with compute. */
#include "base/mem.h"
#include "base/ns.h"
#include "measure/findings/findings.h"
#include "measure/results/copies.h"

/* A copy or fill of the view. */
struct copy {
    uint32_t position;
    uint8_t kind; /* enum gt_op_kind */
    uint8_t src, dst;
    uint64_t bytes;
    struct gt_str call;           /* its launch call; empty: not in the trace */
    int64_t call_ns, duration_ns; /* call_ns: 0 without */
};

/* Copies that a rule counts. */
struct copy_sum {
    size_t count;
    uint64_t bytes;
    int64_t total_ns, call_ns;
    uint32_t example; /* position of the longest */
};

typedef bool takes_copy(const struct copy *copy);

/* Claims the time in which they ran alone, too, if asked. */
static struct copy_sum sum_copies(struct gt_evidence *evidence, takes_copy *takes, bool claims) {
    const struct gt_view *view = evidence->view;
    const struct gt_store *store = view->store;
    struct copy_sum sum = {.example = GT_NO_ROW};
    for (uint32_t i = 0; i < view->op_count; i++) {
        uint8_t kind = gt_view_op_kind(view, i);
        uint32_t row = gt_store_kind_is_kernel(kind) ? GT_NO_ROW : gt_copy_of_op(store, view->row[i]);
        uint32_t call = view->labels->op_call[view->row[i]];
        if (row == GT_NO_ROW)
            continue;
        struct copy copy = {i,   kind, store->copies.src[row], store->copies.dst[row], store->copies.bytes[row],
                            {0}, 0,    gt_view_op_ns(view, i)};
        if (call != GT_NO_ROW) {
            copy.call = gt_store_string(store, store->calls.name[call]);
            copy.call_ns = gt_ns_between(store->calls.start_ns[call], store->calls.end_ns[call]);
        }
        if (!takes(&copy))
            continue;
        if (claims)
            gt_ledger_claim_op(&evidence->ledger, i, INT64_MAX);
        sum.count++;
        sum.bytes = sum.bytes + copy.bytes < sum.bytes ? UINT64_MAX : sum.bytes + copy.bytes;
        sum.total_ns = gt_ns_add(sum.total_ns, copy.duration_ns);
        sum.call_ns = gt_ns_add(sum.call_ns, copy.call_ns);
        if (sum.example == GT_NO_ROW || copy.duration_ns > gt_view_op_ns(view, sum.example))
            sum.example = i;
    }
    return sum;
}

/* "'Memcpy HtoD' by cudaMemcpyAsync" */
static const char *describe(struct gt_evidence *evidence, uint32_t position) {
    const struct gt_view *view = evidence->view;
    uint32_t op = view->row[position], call = view->labels->op_call[op];
    const char *name = gt_say_quoted(evidence, gt_store_string(view->store, view->store->ops.name[op]));
    if (call == GT_NO_ROW)
        return name;
    return gt_arena_printf(evidence->arena, "%s by %s", name, gt_say_call(evidence, view->store->calls.name[call])).ptr;
}

static void add_longest(struct gt_evidence *evidence, struct gt_finding *finding, const struct copy_sum *sum) {
    gt_finding_add_evidence(evidence, finding, "Longest: %s, %s.",
                            gt_say_ns(evidence, (double)gt_view_op_ns(evidence->view, sum->example)),
                            describe(evidence, sum->example));
}

/* ---- pageable memory ---- */

static bool is_pageable(const struct copy *copy) {
    return copy->kind == GT_OP_MEMCPY && copy->src == GT_MEMORY_PAGEABLE &&
           gt_str_find_nocase(copy->call, GT_STR("Async"));
}

bool gt_find_pageable_copies(struct gt_evidence *evidence, struct gt_finding *finding) {
    struct copy_sum sum = sum_copies(evidence, is_pageable, true);
    if (sum.count == 0)
        return false;
    gt_finding_set_title(evidence, finding, "Async copies of pageable memory block the CPU: %s",
                         gt_say_counted(evidence, sum.count, "copy"));
    gt_finding_add_evidence(evidence, finding, "They moved %s in %s on the GPU and blocked the CPU for %s.",
                            gt_say_bytes(evidence, sum.bytes), gt_say_ns(evidence, (double)sum.total_ns),
                            gt_say_ns(evidence, (double)sum.call_ns));
    add_longest(evidence, finding, &sum);
    return true;
}

/* ---- small copies ---- */

enum { SMALL_BYTES = 64000 };

/* Inside a device they are as cheap as small kernels. */
static bool is_inside(const struct copy *copy) {
    return copy->src != GT_MEMORY_UNKNOWN && !gt_copy_memory_is_host(copy->src) && !gt_copy_memory_is_host(copy->dst);
}

static bool is_small(const struct copy *copy) {
    return copy->kind == GT_OP_MEMCPY && copy->bytes <= SMALL_BYTES && !is_inside(copy);
}

bool gt_find_small_copies(struct gt_evidence *evidence, struct gt_finding *finding) {
    struct copy_sum sum = sum_copies(evidence, is_small, false);
    if (sum.count == 0)
        return false;
    gt_finding_set_title(evidence, finding, "%s of 64 kB or less between host and GPU",
                         gt_say_counted(evidence, sum.count, "copy"));
    gt_finding_add_evidence(evidence, finding, "They moved %s in %s, %s each on average: launch overhead dominates.",
                            gt_say_bytes(evidence, sum.bytes), gt_say_ns(evidence, (double)sum.total_ns),
                            gt_say_bytes(evidence, sum.bytes / sum.count));
    add_longest(evidence, finding, &sum);
    return (double)sum.count >= gt_thresholds.small_copy_count;
}

/* ---- copies in line with compute ---- */

/* Streams that compute as well as copy between host and device. To be freed; NULL: memory was short. */
static uint8_t *new_computing_lanes(const struct gt_view *view) {
    uint8_t *computes = gt_mem_array(view->store->lanes.count, 1);
    for (size_t i = 0; i < view->op_count && computes; i++)
        if (gt_view_op_class(view, i) == GT_CLASS_COMPUTE)
            computes[view->lane[i]] = 1;
    return computes;
}

static bool is_in_line(const struct gt_view *view, size_t position, const uint8_t *computes) {
    const struct gt_store *store = view->store;
    uint32_t row =
        gt_view_op_kind(view, position) == GT_OP_MEMCPY ? gt_copy_of_op(store, view->row[position]) : GT_NO_ROW;
    return row != GT_NO_ROW && computes[view->lane[position]] &&
           (gt_copy_memory_is_host(store->copies.src[row]) || gt_copy_memory_is_host(store->copies.dst[row]));
}

bool gt_find_copies_in_line(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_view *view = evidence->view;
    size_t count = 0;
    uint8_t *computes = new_computing_lanes(view);
    if (!computes)
        gt_evidence_fail(evidence);
    for (uint32_t i = 0; i < view->op_count && computes; i++)
        if (is_in_line(view, i, computes))
            count += gt_ledger_claim_op(&evidence->ledger, i, INT64_MAX) > 0;
    gt_mem_free(computes);
    if (count == 0)
        return false;
    double exposed_ns = (double)evidence->ledger.claimed_ns;
    gt_finding_set_title(evidence, finding, "Copies serialize with compute on the same stream: %s of the span",
                         gt_say_share(evidence, gt_ledger_share(&evidence->ledger, exposed_ns), 1));
    gt_finding_add_evidence(evidence, finding,
                            "%s between host and GPU on compute streams; nothing else ran for %s of that.",
                            gt_say_counted(evidence, count, "copy"), gt_say_ns(evidence, exposed_ns));
    return true;
}
