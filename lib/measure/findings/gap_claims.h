/* Claims of many gaps: as one by one, but on several threads. */
#ifndef GT_MEASURE_FINDINGS_GAP_CLAIMS_H
#define GT_MEASURE_FINDINGS_GAP_CLAIMS_H

#include "measure/findings/ledger.h"

/* Says of the gaps of a device from begin to before end how much of each is wanted; 0: nothing. It is asked about each
   gap once or twice, about several at the same time. */
typedef void gt_gap_claims_want(const void *context, size_t device, size_t begin, size_t end, int64_t *want_ns);

/* Claims of every gap, in their order, what is wanted of it or what is left of that. */
void gt_gap_claims_take(struct gt_ledger *ledger, gt_gap_claims_want *want, const void *context);

#endif
