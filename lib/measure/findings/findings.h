/* Findings: what the rules of findings.def look at, and how they report what they found. */
#ifndef GT_MEASURE_FINDINGS_FINDINGS_H
#define GT_MEASURE_FINDINGS_FINDINGS_H

#include <math.h>

#include "measure/findings/evidence.h"
#include "measure/findings/say.h"
#include "measure/findings/thresholds.h"
#include "measure/results/measure.h"

/* A need in addition to the facts: the rule uses what is not there (work of the GPU, ranges around a launch). Where
   something of the file was lost that may be the reason, so its finding says so and is one severity lower. */
#define GT_NEEDS_WHOLE 0x80000000u
/* The rule looks at what others left in the ledger. Those of GT_LEVEL_LOW that do not may look at any time. */
#define GT_NEEDS_CLAIMS 0x40000000u
#define GT_NEEDS_OTHERS (GT_NEEDS_WHOLE | GT_NEEDS_CLAIMS)

/* How severe a finding is. */
enum gt_finding_level {
    GT_LEVEL_BY_SAVING, /* by the part of the steady span that the rule claimed in the ledger; without, nothing is said
                         */
    GT_LEVEL_BY_ROOF,   /* likewise, one lower: what the GPU could do is not what a kernel is known to do */
    GT_LEVEL_LOW,       /* it saves nothing by itself */
};

/* Advice, and for whom. */
struct gt_advice {
    uint32_t when; /* bits of enum gt_context that must all be set */
    const char *text;
};

/* One rule, a line of findings.def. */
struct gt_finding_rule {
    const char *id;
    uint32_t needs; /* enum gt_fact: without them the rule is not asked; or GT_NEEDS_... */
    enum gt_finding_level level;
    const char *table;
    const char *what; /* what it looks for, in a sentence */
    struct gt_advice advice[24];
    /* Claims in the ledger what could be saved, and sets title and evidence. false: there is nothing to report, and
       what was claimed is free again. */
    bool (*look)(struct gt_evidence *evidence, struct gt_finding *finding);
};

extern const struct gt_finding_rule gt_finding_rules[];
extern const size_t gt_finding_rule_count;

#define GT_RULE(id, needs, level, table, what, ...)                                                                    \
    bool gt_find_##id(struct gt_evidence *evidence, struct gt_finding *finding);
#include "measure/findings/findings.def"
#undef GT_RULE

/* ---- sentences ---- */

void gt_finding_set_title(struct gt_evidence *evidence, struct gt_finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void gt_finding_add_evidence(struct gt_evidence *evidence, struct gt_finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Advice that depends on what was found; before that of the rule. */
void gt_finding_add_advice(struct gt_evidence *evidence, struct gt_finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
