/* The sentence before the findings: what the critical path consists of; where nothing stands out, what keeps the GPU
   busy. */
#ifndef GT_MEASURE_FINDINGS_VERDICT_SENTENCE_H
#define GT_MEASURE_FINDINGS_VERDICT_SENTENCE_H

#include "measure/findings/findings.h"

/* After the last rule. Adds the fact GT_FINDINGS_VERDICT, unless the first finding is above low and not simulated. */
void gt_verdict_sentence_add(struct gt_evidence *evidence, struct gt_section *section);

#endif
