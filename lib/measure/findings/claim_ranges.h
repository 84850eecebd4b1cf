/* Which code launched what a rule claimed, as far as ranges name it. */
#ifndef GT_MEASURE_FINDINGS_CLAIM_RANGES_H
#define GT_MEASURE_FINDINGS_CLAIM_RANGES_H

#include "measure/findings/findings.h"

/* " in 'name'" for the name of the innermost ranges, steps left out, that launched half or more of the claimed time of
   ops; "" where no name did. */
const char *gt_claim_ranges_say(struct gt_evidence *evidence);

#endif
