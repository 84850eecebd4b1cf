/* Findings: asks every rule of findings.def what it sees in a view, and adds what is worth reporting to the section. */
#include "measure/findings/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define ADVISE(when, text)                                                                                             \
    { when, text }
#define ALWAYS    0
#define NVIDIA    GT_CONTEXT_NVIDIA
#define AMD       GT_CONTEXT_AMD
#define TORCH     GT_CONTEXT_TORCH
#define JAX       GT_CONTEXT_JAX
#define PLAIN     GT_CONTEXT_PLAIN
#define EAGER     GT_CONTEXT_EAGER
#define COMPILED  GT_CONTEXT_COMPILED
#define GRAPHS    GT_CONTEXT_GRAPHS
#define NO_GRAPHS GT_CONTEXT_NO_GRAPHS
#define NSYS      GT_CONTEXT_NSYS
#define KINETO    GT_CONTEXT_KINETO

const struct gt_finding_rule gt_finding_rules[] = {
#define GT_RULE(id, needs, level, table, what, ...)                                                                    \
    {#id, needs, GT_LEVEL_##level, table, what, {__VA_ARGS__}, gt_find_##id},
#include "measure/findings/findings.def"
#undef GT_RULE
};
const size_t gt_finding_rule_count = GT_ARRAY_COUNT(gt_finding_rules);

static struct gt_str format_sentence(struct gt_arena *arena, const char *format, va_list args) {
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    return gt_arena_copy(arena, gt_str_of(text));
}

void gt_finding_set_title(struct gt_evidence *evidence, struct gt_finding *finding, const char *format, ...) {
    va_list args;
    va_start(args, format);
    finding->title = format_sentence(evidence->arena, format, args);
    va_end(args);
}

void gt_finding_add_evidence(struct gt_evidence *evidence, struct gt_finding *finding, const char *format, ...) {
    va_list args;
    if (finding->evidence_count == GT_FINDING_SENTENCES)
        return;
    va_start(args, format);
    finding->evidence[finding->evidence_count++] = format_sentence(evidence->arena, format, args);
    va_end(args);
}

void gt_finding_add_advice(struct gt_evidence *evidence, struct gt_finding *finding, const char *format, ...) {
    va_list args;
    if (finding->advice_count == GT_FINDING_SENTENCES)
        return;
    va_start(args, format);
    finding->advice[finding->advice_count++] = format_sentence(evidence->arena, format, args);
    va_end(args);
}

/* ---- asking ---- */

static enum gt_severity lower(enum gt_severity severity) {
    return severity == GT_SEVERITY_HIGH ? GT_SEVERITY_MEDIUM : GT_SEVERITY_LOW;
}

/* What was lost may be all that is missing. */
static void doubt_loss(struct gt_evidence *evidence, struct gt_finding *finding) {
    enum gt_issue_id loss = gt_store_loss(evidence->view->store, evidence->view->request->facts);
    if (loss == GT_ISSUE_COUNT)
        return;
    gt_finding_add_evidence(evidence, finding,
                            "Less certain: the file was only partly read (%s), so missing events may have been lost.",
                            gt_issue_infos[loss].id);
    finding->severity = lower(finding->severity);
}

static void add_advice_of_rule(const struct gt_finding_rule *rule, struct gt_evidence *evidence,
                               struct gt_finding *finding) {
    for (size_t i = 0; i < GT_ARRAY_COUNT(rule->advice) && rule->advice[i].text; i++)
        if ((rule->advice[i].when & ~evidence->context) == 0 && finding->advice_count < GT_FINDING_SENTENCES)
            finding->advice[finding->advice_count++] = gt_str_of(rule->advice[i].text);
}

static enum gt_severity severity_of(const struct gt_finding_rule *rule, double share) {
    if (rule->level == GT_LEVEL_LOW)
        return GT_SEVERITY_LOW;
    return share >= gt_thresholds.high_share     ? GT_SEVERITY_HIGH
           : share >= gt_thresholds.medium_share ? GT_SEVERITY_MEDIUM
                                                 : GT_SEVERITY_LOW;
}

/* What the rule claimed is the saving. Over all GPUs it would be longer than the run. */
static void take_claims(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_ledger *ledger = &evidence->ledger;
    __int128 devices = evidence->view->device_count ? (__int128)evidence->view->device_count : 1;
    finding->recoverable_ns = gt_ns_of_sum(ledger->claimed_ns / devices);
    finding->share = gt_ledger_share(ledger, (double)ledger->claimed_ns);
    memcpy(finding->windows, ledger->windows, sizeof finding->windows);
    finding->window_count = ledger->window_count;
    finding->savings = gt_arena_array(evidence->arena, evidence->view->device_count, sizeof *finding->savings);
    finding->saving_count = finding->savings ? evidence->view->device_count : 0;
    for (size_t d = 0; d < finding->saving_count; d++)
        finding->savings[d] = ledger->savings[d];
}

static bool is_worth_reporting(const struct gt_finding_rule *rule, const struct gt_finding *finding) {
    return finding->evidence_count && (rule->level != GT_LEVEL_BY_SAVING || finding->share >= gt_thresholds.low_share);
}

static void ask(const struct gt_finding_rule *rule, struct gt_evidence *evidence, struct gt_section *section) {
    struct gt_finding finding = {
        .id = rule->id, .table = rule->table, .rule = rule->what, .recoverable_ns = -1, .share = -1};
    if (rule->needs & ~evidence->view->store->facts & ~GT_NEEDS_WHOLE)
        return;
    bool found = rule->look(evidence, &finding);
    if (rule->level == GT_LEVEL_BY_SAVING)
        take_claims(evidence, &finding);
    if (evidence->ledger.has_failed)
        gt_evidence_fail(evidence);
    if (!found || !is_worth_reporting(rule, &finding) || evidence->status != GT_OK) {
        gt_ledger_give_back(&evidence->ledger);
        return;
    }
    gt_ledger_keep(&evidence->ledger);
    finding.severity = severity_of(rule, finding.share);
    if (rule->needs & GT_NEEDS_WHOLE)
        doubt_loss(evidence, &finding);
    add_advice_of_rule(rule, evidence, &finding);
    gt_finding_list_add(section, &finding);
}

enum gt_status gt_findings_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct gt_evidence evidence;
    struct gt_table *table = gt_finding_list_new(section);
    table->empty = view->op_count || view->group_count ? "No findings." : NULL;
    gt_evidence_init(&evidence, view, &section->report->arena, err);
    for (size_t i = 0; i < gt_finding_rule_count && evidence.status == GT_OK; i++)
        ask(&gt_finding_rules[i], &evidence, section);
    gt_finding_list_link(section);
    enum gt_status status = evidence.status;
    gt_evidence_release(&evidence);
    return status;
}
