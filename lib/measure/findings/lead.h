/* Lead: the time by which launching threads are ahead of the GPU. What keeps such a thread from launching costs lead
   even while the GPU is still busy, and the GPU is idle for it later: gaps because of late launches are its fault, as
   long as they sum to no more than the lead that was lost. A lead is no longer than the queue of launches (threshold
   queue_ops), so a loss counts for so many ops after it. */
#ifndef GT_MEASURE_FINDINGS_LEAD_H
#define GT_MEASURE_FINDINGS_LEAD_H

#include "measure/findings/ledger.h"

/* A time in which a thread could not launch. */
struct gt_lead_loss {
    int64_t start_ns, end_ns;
    uint32_t thread;
};

/* Claims what is left of later gaps that the CPU made by launching late, as far as that is no stall: those whose launch
   is of the thread of the loss, or of the thread that took over from it, as autograd's does for the backward pass.
   class_of: enum gt_host_gap by gap; direct_ns: by gap what the losses themselves have of it. Losses are sorted by
   thread, then end. Linear. */
void gt_lead_claim(struct gt_ledger *ledger, const uint8_t *class_of, const struct gt_lead_loss *losses, size_t count,
                   const int64_t *direct_ns);

#endif
