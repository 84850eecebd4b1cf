/* Findings: what the rules of findings.def look at, and how they report what they found. */
#ifndef GT_MEASURE_FINDINGS_FINDINGS_H
#define GT_MEASURE_FINDINGS_FINDINGS_H

#include <math.h>

#include "measure/results/host_gaps.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"

/* What a rule looks at. */
struct gt_evidence {
    const struct gt_view *view;
    struct gt_arena *arena; /* for sentences: the report's */
    struct gt_error *err;
    enum gt_status status; /* the first failure; rules need not look */
    bool has_host_gaps;
    struct gt_host_gaps host_gaps;
};

/* The shared results. After a failure they are empty, the accounts NULL. */
const struct gt_named_set *gt_evidence_kernels(struct gt_evidence *evidence);
const struct gt_idle *gt_evidence_idle(struct gt_evidence *evidence); /* empty, too, where all kernels were lost */
const struct gt_account *gt_evidence_accounts(struct gt_evidence *evidence); /* by device */
const struct gt_step_set *gt_evidence_steps(struct gt_evidence *evidence);
const struct gt_phase_set *gt_evidence_phases(struct gt_evidence *evidence);
const struct gt_launch_rate *gt_evidence_launch_rate(struct gt_evidence *evidence); /* over all */
const struct gt_op_groups *gt_evidence_op_groups(struct gt_evidence *evidence);
const uint8_t *gt_evidence_blocking_calls(struct gt_evidence *evidence); /* by call; NULL after a failure */
const struct gt_host_gaps *gt_evidence_host_gaps(struct gt_evidence *evidence);
void gt_evidence_fail(struct gt_evidence *evidence); /* memory was short */

/* One amount of all devices, summed. */
int64_t gt_evidence_amount(struct gt_evidence *evidence, enum gt_amount amount);

/* When the first op started that a step after the warm-up launched; INT64_MIN where no step is warm-up. */
int64_t gt_evidence_steady_ns(struct gt_evidence *evidence);
/* Spans of all devices from then on, summed. */
int64_t gt_evidence_steady_span_ns(struct gt_evidence *evidence);

/* A need in addition to the facts: the rule uses what is not there (work of the GPU, ranges around a launch). Where
   something of the file was lost that may be the reason, so its finding says so and is one severity lower. */
#define GT_NEEDS_WHOLE 0x80000000u

/* One rule. It measures something; how much of it is low, medium or high stands in findings.def. */
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

/* The name is not known: many that look like one. */
bool gt_say_name_is_lost(struct gt_evidence *evidence, gt_strid name);

/* Parts of sentences; they live as long as the report. */
const char *gt_say_ns(struct gt_evidence *evidence, double ns);                           /* "12.3 ms" */
const char *gt_say_share(struct gt_evidence *evidence, double part, double whole);        /* "12.3%" */
const char *gt_say_count(struct gt_evidence *evidence, size_t count);                     /* "12,345" */
const char *gt_say_counted(struct gt_evidence *evidence, size_t count, const char *noun); /* "1 gap", "12 gaps" */
const char *gt_say_bytes(struct gt_evidence *evidence, uint64_t bytes);                   /* "1.5 MB" */
const char *gt_say_quoted(struct gt_evidence *evidence, struct gt_str text); /* quoted, cut where it is long */
const char *gt_say_call(struct gt_evidence *evidence, gt_strid name);        /* its plain name */
const char *gt_say_kernel(struct gt_evidence *evidence, gt_strid full_name); /* its simplified name, likewise */

#endif
