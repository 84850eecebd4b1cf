/* The ledger: every nanosecond of the devices' spans, as idle gaps and as ops, with what no finding has claimed yet.
   A finding's saving is what it claimed here, so that no two promise the same time. */
#ifndef GT_MEASURE_FINDINGS_LEDGER_H
#define GT_MEASURE_FINDINGS_LEDGER_H

#include "base/sparse.h"
#include "measure/results/idle.h"
#include "report/report.h"

struct gt_ledger_claim {
    int64_t ns;
    uint32_t item; /* number of the gap, or position of the op */
    bool is_gap;
};

struct gt_ledger {
    const struct gt_view *view;
    const struct gt_idle *idle;
    int64_t steady_ns;                  /* what lies before it is warm-up, and nobody's */
    struct gt_sparse gap_less, op_less; /* by gap, by position: what of the steady part is not left */
    uint8_t *claimed_ops; /* by position: some of it is claimed by a finding that was reported; NULL: none has any */
    uint32_t *others;     /* positions of the ops that do not compute, in order */
    size_t *first_others; /* by device of the view, and one more: the first of its own */
    __int128 span_ns;     /* of all devices, steady */

    /* Of the rule that looks. */
    struct gt_ledger_claim *claims;
    size_t count, capacity;
    __int128 claimed_ns;
    struct gt_finding_saving *savings;                        /* by device of the view */
    struct gt_finding_window windows[GT_FINDING_WINDOWS];     /* the largest claims, the largest first */
    struct gt_ledger_claim window_claims[GT_FINDING_WINDOWS]; /* of which each is */
    size_t window_count;
    size_t op_device, gap_device; /* those of the last claims */
    bool has_failed;              /* memory was short */
};

/* Borrows the idle time, which is that of the view. false: memory was short. Release in any case. */
bool gt_ledger_init(struct gt_ledger *ledger, const struct gt_view *view, const struct gt_idle *idle, int64_t steady_ns,
                    size_t threads);
void gt_ledger_release(struct gt_ledger *ledger);

/* The part of a span that is not warm-up. */
static inline int64_t gt_ledger_steady_ns(const struct gt_ledger *ledger, int64_t start_ns, int64_t end_ns) {
    int64_t from_ns = start_ns > ledger->steady_ns ? start_ns : ledger->steady_ns;
    return end_ns > from_ns ? gt_ns_between(from_ns, end_ns) : 0;
}

/* What is left of a gap. One that begins in the warm-up is nobody's. */
static inline int64_t gt_ledger_gap_left_ns(const struct gt_ledger *ledger, size_t gap) {
    if (gt_idle_gap_start_ns(ledger->idle, gap) < ledger->steady_ns)
        return 0;
    return gt_idle_gap_ns(ledger->idle, gap) - gt_sparse_get(&ledger->gap_less, gap);
}

/* What is left of an op: of the time in which nothing of higher rank ran. Compute has the highest, then communication,
   then memory; of one class the op that started first. Those of a device sum to its busy time. */
static inline int64_t gt_ledger_op_left_ns(const struct gt_ledger *ledger, size_t position) {
    return gt_ledger_steady_ns(ledger, ledger->view->start_ns[position], ledger->view->end_ns[position]) -
           gt_sparse_get(&ledger->op_less, position);
}

/* Whether a finding that was reported has claimed some of it. */
static inline bool gt_ledger_op_is_claimed(const struct gt_ledger *ledger, size_t position) {
    return ledger->claimed_ops && ledger->claimed_ops[position];
}

/* Claims so much, or what is left of it. Returns what was claimed. */
int64_t gt_ledger_claim_gap(struct gt_ledger *ledger, size_t gap, int64_t want_ns);
int64_t gt_ledger_claim_op(struct gt_ledger *ledger, uint32_t position, int64_t want_ns);

/* Keeps when a claim is, if it is one of the largest. */
void gt_ledger_note_window(struct gt_ledger *ledger, const struct gt_ledger_claim *claim, size_t device);

/* Of what the rule that looks has claimed on a device, inside a span of time, no more than most_ns (by device) stays;
   each claim gives back the same part. false: memory was short. */
bool gt_ledger_lower(struct gt_ledger *ledger, int64_t from_ns, int64_t to_ns, const int64_t *most_ns);

/* After a rule: what it claimed is gone, or free again. Both begin with the next rule. */
void gt_ledger_keep(struct gt_ledger *ledger);
void gt_ledger_give_back(struct gt_ledger *ledger);

/* Part of all steady spans. */
double gt_ledger_share(const struct gt_ledger *ledger, double ns);

#endif
