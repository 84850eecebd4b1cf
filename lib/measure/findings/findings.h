/* Findings: what the rules of findings.def look at, and how they report what they found. */
#ifndef GT_MEASURE_FINDINGS_FINDINGS_H
#define GT_MEASURE_FINDINGS_FINDINGS_H

#include <math.h>

#include "measure/findings/evidence.h"
#include "measure/findings/say.h"
#include "measure/results/measure.h"

/* A need in addition to the facts: the rule uses what is not there (work of the GPU, ranges around a launch). Where
   something of the file was lost that may be the reason, so its finding says so and is one severity lower. */
#define GT_NEEDS_WHOLE 0x80000000u

/* One rule. It measures something; findings.def has the thresholds of low, medium and high. */
struct gt_finding_rule {
    const char *id;
    uint32_t needs; /* enum gt_fact: without them the rule is not asked; or GT_NEEDS_WHOLE */
    double low_at, medium_at, high_at;
    const char *table;
    const char *advice[GT_FINDING_SENTENCES];
    /* Gives the measure and sets title, evidence and potential saving, in any order. Below low_at, and without
       evidence, nothing of it is shown. */
    double (*look)(struct gt_evidence *evidence, struct gt_finding *finding);
};

#define GT_NOTHING_FOUND (-1.0)

#define GT_RULE(id, needs, low, medium, high, table, ...)                                                              \
    double gt_find_##id(struct gt_evidence *evidence, struct gt_finding *finding);
#include "measure/findings/findings.def"
#undef GT_RULE

/* ---- sentences ---- */

void gt_finding_set_title(struct gt_evidence *evidence, struct gt_finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void gt_finding_add_evidence(struct gt_evidence *evidence, struct gt_finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
