/* Simulated savings: what the windows of the critical path would save without a cause. Claims of the ledger say where
   time is lost; the simulation says how much of it would be gone, and how much would only be lost to something else. */
#ifndef GT_MEASURE_FINDINGS_SAVING_H
#define GT_MEASURE_FINDINGS_SAVING_H

#include "measure/findings/findings.h"
#include "measure/findings/name_sums.h"

#define GT_SAVING_NO_CPU "no:think\nno:launch"

/* The simulation of a change (path_change.h); each is made once. NULL: the trace lacks what a graph needs, or some of
   it was lost. Without an answer, the trust says why. */
const struct gt_saving *gt_saving_of(struct gt_evidence *evidence, const char *change);

/* After a rule has claimed all, and before it says how much that is: simulates the change (NULL: there is none). Of the
   claims on each GPU no more stays than what the simulation saves and findings with the same change have not promised
   yet. Claims that are not worth reporting are not simulated. */
void gt_saving_settle(struct gt_evidence *evidence, struct gt_finding *finding, const char *change);
/* The same of gaps of one class: what the simulation gives back is then late launching. */
void gt_saving_settle_gaps(struct gt_evidence *evidence, struct gt_finding *finding, const char *change,
                           enum gt_host_gap class);
/* The finding is reported: what it saves is promised. */
void gt_saving_promise(struct gt_evidence *evidence, const struct gt_finding *finding);

/* Adds a sentence that says how long a step takes without the cause, where there is an answer. */
void gt_saving_describe(struct gt_evidence *evidence, struct gt_finding *finding);

/* "without:NAME" for each of some names; NULL: so many that a command would not show them. */
const char *gt_saving_without(struct gt_evidence *evidence, const struct gt_name_sums *names);

#endif
