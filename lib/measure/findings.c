/* Findings: asks every rule of findings.def what it sees in a view, and adds what is worth reporting to the section. */
#include "measure/findings/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct gt_finding_rule rules[] = {
#define GT_RULE(id, needs, low, medium, high, table, ...)                                                              \
    {#id, needs, low, medium, high, table, {__VA_ARGS__}, gt_find_##id},
#include "measure/findings/findings.def"
#undef GT_RULE
};

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

/* ---- asking ---- */

static enum gt_severity lower(enum gt_severity severity) {
    return severity == GT_SEVERITY_HIGH ? GT_SEVERITY_MEDIUM : GT_SEVERITY_LOW;
}

/* Keeps the reference to a finding on the same time if that one was reported: rules come after those they refer to.
   Where that one is as severe, this one is lowered, so that the first few findings are not all about one thing. */
static void keep_reference(const struct gt_section *section, struct gt_finding *finding) {
    for (size_t i = 0; i < section->finding_count && finding->overlaps_id; i++)
        if (strcmp(section->findings[i].id, finding->overlaps_id) == 0) {
            if (section->findings[i].severity <= finding->severity)
                finding->severity = lower(finding->severity);
            return;
        }
    finding->overlaps_id = NULL;
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

static void ask(const struct gt_finding_rule *rule, struct gt_evidence *evidence, struct gt_section *section) {
    struct gt_finding finding = {.id = rule->id, .table = rule->table, .recoverable_ns = -1};
    if (rule->needs & ~evidence->view->store->facts & ~GT_NEEDS_WHOLE)
        return;
    double measure = rule->look(evidence, &finding);
    bool is_worth_reporting = measure >= rule->low_at || measure >= rule->medium_at || measure >= rule->high_at;
    if (!is_worth_reporting || finding.evidence_count == 0 || evidence->status != GT_OK)
        return;
    finding.severity = measure >= rule->high_at     ? GT_SEVERITY_HIGH
                       : measure >= rule->medium_at ? GT_SEVERITY_MEDIUM
                                                    : GT_SEVERITY_LOW;
    if (rule->needs & GT_NEEDS_WHOLE)
        doubt_loss(evidence, &finding);
    keep_reference(section, &finding);
    for (size_t i = 0; i < GT_FINDING_SENTENCES && rule->advice[i]; i++)
        finding.advice[finding.advice_count++] = gt_str_of(rule->advice[i]);
    gt_finding_list_add(section, &finding);
}

enum gt_status gt_findings_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct gt_evidence evidence = {.view = view, .arena = &section->report->arena, .err = err};
    struct gt_table *table = gt_finding_list_new(section);
    table->empty = view->op_count || view->group_count ? "No findings." : NULL;
    for (size_t i = 0; i < GT_ARRAY_COUNT(rules) && evidence.status == GT_OK; i++)
        ask(&rules[i], &evidence, section);
    gt_finding_list_link(section);
    gt_host_gaps_release(&evidence.host_gaps);
    return evidence.status;
}
