/* Idle GPU: what no other rule claimed, as far as the CPU did not cause it. */
#include "base/threads.h"
#include "measure/findings/waits.h"

struct rest {
    size_t count;
    __int128 ns;
};

/* Slices of the gaps, each with sums of its own. */
struct sums {
    const struct gt_ledger *ledger;
    struct rest rests[GT_THREADS_MOST][GT_IDLE_CAUSE_COUNT];
};

/* Adds what is left of some gaps of a device to what it has summed of all: nearly all are left, and those need no look
   at their times. */
static void sum_some(const struct gt_ledger *ledger, const struct gt_idle_device *device, size_t begin, size_t end,
                     size_t steady, struct rest rests[GT_IDLE_CAUSE_COUNT]) {
    const struct gt_idle *idle = ledger->idle;
    const bool all_are_summed = device->late_starts == 0;
    for (size_t i = begin; i < end; i++) {
        if (all_are_summed && i >= steady && gt_sparse_is_empty(&ledger->gap_less, i)) {
            i |= GT_SPARSE_BLOCK - 1; /* the last of its block */
            continue;
        }
        enum gt_idle_cause cause = gt_idle_gap_cause(idle, i);
        bool is_summed = gt_idle_gap_is_unblamed(idle, i);
        if ((cause != GT_IDLE_DEPENDENCY && cause != GT_IDLE_UNKNOWN) || /* nobody asks for the others */
            (is_summed && i >= steady && gt_sparse_get(&ledger->gap_less, i) == 0))
            continue;
        int64_t left_ns = gt_ledger_gap_left_ns(ledger, i);
        rests[cause].count += (size_t)(left_ns > 0) - is_summed;
        rests[cause].ns += left_ns - (is_summed ? (__int128)gt_idle_gap_ns(idle, i) : 0);
    }
}

static void sum_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct sums *sums = context;
    const struct gt_idle *idle = sums->ledger->idle;
    for (size_t d = 0; d < idle->device_count; d++) {
        size_t from = begin, to = end;
        if (gt_idle_clip(idle, d, &from, &to))
            sum_some(sums->ledger, &idle->devices[d], from, to, gt_idle_first_from(idle, d, sums->ledger->steady_ns),
                     sums->rests[slice]);
    }
}

static void sum_rests(const struct gt_ledger *ledger, struct rest rests[GT_IDLE_CAUSE_COUNT]) {
    struct sums sums = {.ledger = ledger};
    size_t slices = gt_threads_slices(gt_threads_count(ledger->view->request->threads), ledger->idle->count, 0);
    for (size_t d = 0; d < ledger->idle->device_count; d++)
        for (size_t cause = 0; cause < GT_IDLE_CAUSE_COUNT; cause++) {
            rests[cause].count += ledger->idle->devices[d].unblamed[cause].count;
            rests[cause].ns += ledger->idle->devices[d].unblamed[cause].sum;
        }
    gt_threads_rows(slices, ledger->idle->count, sum_slice, &sums);
    for (size_t i = 0; i < slices; i++)
        for (size_t cause = 0; cause < GT_IDLE_CAUSE_COUNT; cause++) {
            rests[cause].count += sums.rests[i][cause].count;
            rests[cause].ns += sums.rests[i][cause].ns;
        }
}

static void add_rest(struct gt_evidence *evidence, struct gt_finding *finding, const struct rest *rest,
                     const char *what) {
    if (rest->count)
        gt_finding_add_evidence(evidence, finding, "%s in %s, %s each on average: %s.",
                                gt_say_ns(evidence, (double)rest->ns), gt_say_counted(evidence, rest->count, "gap"),
                                gt_say_ns(evidence, (double)rest->ns / (double)rest->count), what);
}

/* What is left of gaps that the CPU made is too little to save, or below the threshold of its rule. */
bool gt_find_idle_gpu(struct gt_evidence *evidence, struct gt_finding *finding) {
    struct rest rests[GT_IDLE_CAUSE_COUNT] = {0};
    sum_rests(&evidence->ledger, rests);
    const struct rest *queued = &rests[GT_IDLE_DEPENDENCY], *unknown = &rests[GT_IDLE_UNKNOWN];
    double share = gt_ledger_share(&evidence->ledger, (double)(queued->ns + unknown->ns));
    if (share < gt_thresholds.idle_share)
        return false;
    const char *part = gt_say_share(evidence, share, 1);
    if (queued->ns > unknown->ns)
        gt_finding_set_title(evidence, finding, "The GPU is idle %s of the time although work is queued", part);
    else
        gt_finding_set_title(evidence, finding,
                             "The GPU was idle %s of the time for reasons that the trace does not show", part);
    add_rest(evidence, finding, queued,
             "the next op had been launched and waited for another stream or for its turn on the GPU");
    add_rest(evidence, finding, unknown, "the trace has no launch call for the next op");
    return true;
}
