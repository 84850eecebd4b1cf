/* Why: how one finding comes about, for who asks with the option `why`: the rule, its thresholds, and the time that it
   claimed. Or why there is no such finding. */
#ifndef GT_MEASURE_FINDINGS_WHY_H
#define GT_MEASURE_FINDINGS_WHY_H

#include "measure/findings/findings.h"

/* What came of asking a rule. */
enum gt_why_outcome {
    GT_WHY_LACKS,      /* the trace lacks the data that it needs */
    GT_WHY_NOTHING,    /* it found nothing */
    GT_WHY_TOO_LITTLE, /* less could be saved than is worth reporting */
    GT_WHY_REPORTED,
};

/* The id that was asked for; NULL: none. One that no rule has is a usage error that lists those there are. */
enum gt_status gt_why_id(const struct gt_view *view, const char **id, struct gt_error *err);

/* A note and the tables finding_thresholds, finding_windows and finding_rows. Comes before the ledger forgets what
   the rule claimed. */
void gt_why_add(struct gt_evidence *evidence, struct gt_section *section, const struct gt_finding_rule *rule,
                const struct gt_finding *finding, enum gt_why_outcome outcome);

#endif
