/* The sentence before the findings of a trace in which nothing stands out: what keeps the GPU busy. */
#ifndef GT_MEASURE_FINDINGS_VERDICT_SENTENCE_H
#define GT_MEASURE_FINDINGS_VERDICT_SENTENCE_H

#include "measure/findings/findings.h"

/* After the last rule. Adds the fact GT_FINDINGS_VERDICT unless a finding of the section is above low. */
void gt_verdict_sentence_add(struct gt_evidence *evidence, struct gt_section *section);

#endif
