/* Findings: asks every rule of findings.def what it sees in a view, and adds what is worth reporting to the section. */
#include "measure/findings/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "measure/findings/saving.h"
#include "measure/findings/verdict_sentence.h"
#include "measure/findings/why.h"

#define ADVISE(when, text)                                                                                             \
    { when, text }
#define ALWAYS    0
#define NVIDIA    GT_CONTEXT_NVIDIA
#define AMD       GT_CONTEXT_AMD
#define INTEL     GT_CONTEXT_INTEL
#define HABANA    GT_CONTEXT_HABANA
#define ASCEND    GT_CONTEXT_ASCEND
#define VENDOR    GT_CONTEXT_VENDOR
#define CUDA      GT_CONTEXT_CUDA
#define NO_CUDA   GT_CONTEXT_NO_CUDA
#define TORCH     GT_CONTEXT_TORCH
#define JAX       GT_CONTEXT_JAX
#define PLAIN     GT_CONTEXT_PLAIN
#define EAGER     GT_CONTEXT_EAGER
#define COMPILED  GT_CONTEXT_COMPILED
#define GRAPHS    GT_CONTEXT_GRAPHS
#define NO_GRAPHS GT_CONTEXT_NO_GRAPHS
#define NSYS      GT_CONTEXT_NSYS
#define KINETO    GT_CONTEXT_KINETO
#define XLA       GT_CONTEXT_XLA
#define ROCPROF   GT_CONTEXT_ROCPROF
#define ENGINE    GT_CONTEXT_ENGINE
#define NO_ENGINE GT_CONTEXT_NO_ENGINE

const struct gt_finding_rule gt_finding_rules[] = {
#define GT_RULE(id, needs, level, table, what, ...)                                                                    \
    {#id, needs, GT_LEVEL_##level, table, what, {__VA_ARGS__}, gt_find_##id},
#include "measure/findings/findings.def"
#undef GT_RULE
};
const size_t gt_finding_rule_count = GT_ARRAY_COUNT(gt_finding_rules);

static struct gt_str format_sentence(struct gt_arena *arena, const char *format, va_list args) {
    char text[1024];
    static const char dots[] = "...";
    int length = vsnprintf(text, sizeof text, format, args);
    if (length >= (int)sizeof text) /* before a character, and with room for the dots */
        memcpy(text + gt_str_cut(gt_str_of(text), sizeof text - sizeof dots).len, dots, sizeof dots);
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
    if (finding->evidence_count >= GT_FINDING_SENTENCES - 2)
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
    finding->evidence[finding->evidence_count++] = gt_arena_printf(
        evidence->arena, "Less certain: the file was only partly read (%s), so missing events may have been lost.",
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
    enum gt_severity severity = share >= gt_thresholds.high_share     ? GT_SEVERITY_HIGH
                                : share >= gt_thresholds.medium_share ? GT_SEVERITY_MEDIUM
                                                                      : GT_SEVERITY_LOW;
    return rule->level == GT_LEVEL_BY_ROOF ? lower(severity) : severity;
}

/* What the rule claimed is the saving. Over all GPUs it would be longer than the run. */
static void take_claims(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_ledger *ledger = &evidence->ledger;
    __int128 devices = evidence->view->device_count ? (__int128)evidence->view->device_count : 1;
    size_t steps = gt_evidence_step_count(evidence);
    finding->recoverable_ns = gt_ns_of_sum(ledger->claimed_ns / devices);
    finding->step_ns = steps ? finding->recoverable_ns / (int64_t)steps : -1;
    finding->share = gt_ledger_share(ledger, (double)ledger->claimed_ns);
    memcpy(finding->windows, ledger->windows, sizeof finding->windows);
    finding->window_count = ledger->window_count;
}

/* Of each GPU. */
static void take_savings(struct gt_evidence *evidence, struct gt_finding *finding) {
    finding->savings = gt_arena_array(evidence->arena, evidence->view->device_count, sizeof *finding->savings);
    finding->saving_count = finding->savings ? evidence->view->device_count : 0;
    for (size_t d = 0; d < finding->saving_count; d++)
        finding->savings[d] = evidence->ledger.savings[d];
}

/* What a rule saw while others claimed, in a copy of the evidence with memory and an error of its own. */
struct early_look {
    const struct gt_finding_rule *rule; /* NULL: it has not looked */
    struct gt_evidence evidence;
    struct gt_arena arena;
    struct gt_error err;
    struct gt_finding finding;
    bool found;
};

static bool lacks_facts(const struct gt_finding_rule *rule, const struct gt_view *view) {
    return rule->needs & ~view->store->facts & ~GT_NEEDS_OTHERS;
}

static struct gt_finding begin_finding(const struct gt_finding_rule *rule) {
    return (struct gt_finding){
        .id = rule->id, .table = rule->table, .rule = rule->what, .recoverable_ns = -1, .step_ns = -1, .share = -1};
}

/* early: NULL where the rule has not looked. */
static enum gt_why_outcome look(const struct gt_finding_rule *rule, struct gt_evidence *evidence,
                                struct gt_finding *finding, const struct early_look *early) {
    if (lacks_facts(rule, evidence->view))
        return GT_WHY_LACKS;
    bool found = early ? early->found : rule->look(evidence, finding);
    if (early)
        *finding = early->finding;
    if (rule->level != GT_LEVEL_LOW)
        take_claims(evidence, finding);
    if (evidence->ledger.has_failed)
        gt_evidence_fail(evidence);
    bool is_little = rule->level != GT_LEVEL_LOW && finding->share < gt_thresholds.low_share;
    if (is_little && evidence->ledger.count)
        return GT_WHY_TOO_LITTLE;
    if (is_little || !found || !finding->evidence_count || evidence->status != GT_OK)
        return GT_WHY_NOTHING;
    finding->severity = severity_of(rule, finding->share);
    if (rule->level != GT_LEVEL_LOW)
        take_savings(evidence, finding);
    gt_saving_describe(evidence, finding);
    if (rule->needs & GT_NEEDS_WHOLE)
        doubt_loss(evidence, finding);
    add_advice_of_rule(rule, evidence, finding);
    return GT_WHY_REPORTED;
}

/* why: the id of the finding that is to be explained; NULL: none is. */
static void ask(const struct gt_finding_rule *rule, struct gt_evidence *evidence, struct gt_section *section,
                const char *why, const struct early_look *early) {
    struct gt_finding finding = begin_finding(rule);
    evidence->is_explained = why && strcmp(why, rule->id) == 0;
    enum gt_why_outcome outcome = look(rule, evidence, &finding, early);
    if (outcome == GT_WHY_NOTHING) { /* nor is what it looked at any evidence */
        gt_ledger_give_back(&evidence->ledger);
        finding.window_count = 0;
    }
    if (evidence->is_explained)
        gt_why_add(evidence, section, rule, &finding, outcome);
    if (outcome != GT_WHY_REPORTED) {
        gt_ledger_give_back(&evidence->ledger);
        return;
    }
    gt_ledger_keep(&evidence->ledger);
    if (evidence->ledger.has_failed)
        gt_evidence_fail(evidence);
    gt_saving_promise(evidence, &finding);
    evidence->has_found_readback |= strcmp(rule->id, "readback") == 0;
    gt_finding_list_add(section, &finding);
}

/* ---- asking all ---- */

struct asking {
    struct gt_evidence *evidence;
    struct gt_section *section;
    const char *why;
    struct early_look *early; /* by rule; NULL: none looks early */
};

static bool can_be_early(const struct gt_finding_rule *rule, const struct gt_view *view) {
    return rule->level == GT_LEVEL_LOW && !(rule->needs & GT_NEEDS_CLAIMS) && !lacks_facts(rule, view);
}

/* Those that claim come first. */
static void ask_claimants(const struct asking *asking) {
    for (size_t i = 0; i < gt_finding_rule_count && asking->evidence->status == GT_OK; i++)
        if (gt_finding_rules[i].level != GT_LEVEL_LOW)
            ask(&gt_finding_rules[i], asking->evidence, asking->section, asking->why, NULL);
}

/* Index 0 is for the rules that claim, one after the other. */
static void ask_some(void *context, size_t index) {
    struct asking *asking = context;
    if (index == 0) {
        ask_claimants(asking);
        return;
    }
    struct early_look *early = &asking->early[index - 1];
    if (!early->rule)
        return;
    early->finding = begin_finding(early->rule);
    early->found = early->rule->look(&early->evidence, &early->finding);
}

static void init_early(struct asking *asking) {
    for (size_t i = 0; i < gt_finding_rule_count; i++) {
        struct early_look *early = &asking->early[i];
        if (!can_be_early(&gt_finding_rules[i], asking->evidence->view))
            continue;
        *early = (struct early_look){.rule = &gt_finding_rules[i], .evidence = *asking->evidence};
        early->evidence.arena = &early->arena;
        early->evidence.err = &early->err;
    }
}

/* Its sentences go to the report. */
static void take_early(struct gt_evidence *evidence, struct early_look *early) {
    if (early->evidence.status != GT_OK && evidence->status == GT_OK) {
        *evidence->err = early->err;
        evidence->status = early->evidence.status;
    }
    gt_arena_take(evidence->arena, &early->arena);
}

static void ask_all(struct asking *asking) {
    struct gt_evidence *evidence = asking->evidence;
    size_t threads = gt_evidence_has_parts(evidence) ? gt_threads_count(evidence->view->request->threads) : 1;
    asking->early = threads > 1 ? gt_mem_array(gt_finding_rule_count, sizeof *asking->early) : NULL;
    if (asking->early) {
        init_early(asking);
        gt_threads_deal(threads, 1 + gt_finding_rule_count, ask_some, asking);
    } else {
        ask_claimants(asking);
    }
    for (size_t i = 0; i < gt_finding_rule_count && asking->early; i++)
        take_early(evidence, &asking->early[i]);
    for (size_t i = 0; i < gt_finding_rule_count && evidence->status == GT_OK; i++) {
        const struct early_look *early = asking->early && asking->early[i].rule ? &asking->early[i] : NULL;
        if (gt_finding_rules[i].level == GT_LEVEL_LOW)
            ask(&gt_finding_rules[i], evidence, asking->section, asking->why, early);
    }
    gt_mem_free(asking->early);
}

/* What an empty list of findings says. */
static const char *say_none(const struct gt_view *view, struct gt_section *section, const char *why) {
    if (view->op_count == 0 && view->group_count == 0)
        return NULL;
    if (!why)
        return "No findings.";
    const char *others = "none";
    for (size_t i = 0; i < section->finding_count; i++)
        others =
            gt_arena_printf(&section->report->arena, "%s%s%s", i ? others : "", i ? ", " : "", section->findings[i].id)
                .ptr;
    return gt_arena_printf(&section->report->arena, "%s is not reported for this trace. What is reported: %s.", why,
                           others)
        .ptr;
}

static bool has_saving(const struct gt_section *section) {
    for (size_t i = 0; i < section->finding_count; i++)
        if (section->findings[i].recoverable_ns > 0)
            return true;
    return false;
}

/* Reports that do not read arguments of operators say who does. A trace cut down to its GPUs announces shapes, too, but
 * has no operators. */
static void say_more(const struct gt_view *view, struct gt_section *section) {
    bool has_shapes = (view->store->meta.announced & GT_FACT_ARGUMENTS) && view->store->cpu_ops.count;
    if (has_shapes && view->op_count && !gt_measure_asks(view, GT_FACT_ARGUMENTS))
        gt_section_note(section, GT_FOR_SCREEN,
                        GT_STR("Operators were recorded with shapes: 'gputime efficiency' has MFU and kernels against "
                               "their roofline, and 'gputime findings' has findings on them, too."));
}

enum gt_status gt_findings_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct gt_evidence evidence;
    struct gt_table *table = gt_finding_list_new(section);
    const char *why = NULL;
    enum gt_status status = gt_why_id(view, &why, err);
    if (status != GT_OK)
        return status;
    gt_evidence_init(&evidence, view, &section->report->arena, err);
    ask_all(&(struct asking){.evidence = &evidence, .section = section, .why = why});
    gt_finding_list_link(section);
    if (!why)
        gt_verdict_sentence_add(&evidence, section);
    else
        gt_finding_list_keep(section, why);
    if (has_saving(section) && gt_saving_is_too_large(view))
        gt_section_note(section, GT_FOR_ALL,
                        GT_STR("Savings are upper bounds: traces of this size are simulated only by 'gputime findings "
                               "--simulate'."));
    say_more(view, section);
    struct gt_str verdict = gt_finding_list_verdict(section);
    table->empty = verdict.len ? verdict.ptr : say_none(view, section, why);
    status = evidence.status;
    gt_evidence_release(&evidence);
    return status;
}
