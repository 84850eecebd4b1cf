/* Walks along the gaps of each device with an account for each thread: losses pay in, gaps are paid from it. */
#include "measure/findings/lead.h"

#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/findings/thresholds.h"
#include "measure/results/host_gaps.h"

struct thread_lead {
    size_t next, end; /* losses that are not paid in yet */
    int64_t lost_ns;  /* and not claimed yet */
};

static void find_losses(struct thread_lead *threads, const struct gt_lead_loss *losses, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct thread_lead *of = &threads[losses[i].thread];
        if (of->end == 0)
            of->next = i;
        of->end = i + 1;
    }
}

static void pay_in(struct thread_lead *of, const struct gt_lead_loss *losses, int64_t until_ns) {
    for (; of->next < of->end && losses[of->next].end_ns <= until_ns; of->next++)
        of->lost_ns = gt_ns_add(of->lost_ns, gt_ns_between(losses[of->next].start_ns, losses[of->next].end_ns));
}

static bool may_be_claimed(const struct gt_ledger *ledger, size_t gap, uint8_t class) {
    bool is_of_cpu = class == GT_HOST_GAP_LATE || class == GT_HOST_GAP_STALL;
    return is_of_cpu && (double)ledger->gap_left_ns[gap] < gt_thresholds.stall_ns;
}

static int64_t claim_gap(struct gt_ledger *ledger, const struct gt_idle_device *device, size_t gap, int64_t lost_ns) {
    int64_t most_ns = gt_idle_gap_twice_recoverable_ns(&ledger->idle->gaps[gap], device) / 2;
    return gt_ledger_claim_gap(ledger, gap, lost_ns < most_ns ? lost_ns : most_ns);
}

size_t gt_lead_claim(struct gt_ledger *ledger, const uint8_t *class_of, const struct gt_lead_loss *losses, size_t count,
                     const int64_t *direct_ns) {
    const struct gt_calls *calls = &ledger->view->store->calls;
    const struct gt_idle *idle = ledger->idle;
    size_t thread_count = ledger->view->store->threads.count, claimed = 0;
    struct thread_lead *first = gt_mem_array(thread_count, sizeof *first);
    struct thread_lead *threads = gt_mem_array(thread_count, sizeof *threads);
    bool ok = first && threads;
    ledger->has_failed |= !ok;
    if (ok)
        find_losses(first, losses, count);
    for (size_t d = 0; d < idle->device_count && ok && count; d++) {
        const struct gt_idle_device *device = &idle->devices[d];
        memcpy(threads, first, thread_count * sizeof *threads);
        for (size_t i = device->first; i < device->first + device->count; i++) {
            const struct gt_idle_gap *gap = &idle->gaps[i];
            if (gap->call == GT_NO_ROW || gap->part == GT_GAP_QUEUED || calls->thread[gap->call] == GT_NO_TRACK)
                continue;
            struct thread_lead *of = &threads[calls->thread[gap->call]];
            pay_in(of, losses, calls->start_ns[gap->call]);
            int64_t direct = direct_ns ? direct_ns[i] : 0;
            of->lost_ns = gap->cause == GT_IDLE_DEPENDENCY || of->lost_ns < direct ? 0 : of->lost_ns - direct;
            if (of->lost_ns == 0 || !may_be_claimed(ledger, i, class_of[i]))
                continue;
            int64_t ns = claim_gap(ledger, device, i, of->lost_ns);
            of->lost_ns -= ns;
            claimed += ns > 0;
        }
    }
    gt_mem_free(first);
    gt_mem_free(threads);
    return claimed;
}
