/* Findings: asks every rule of findings.def what it sees in a view, and adds what is worth reporting to the section. */
#include "measure/findings/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/num.h"
#include "measure/results/calls.h"

static const struct gt_finding_rule rules[] = {
#define GT_RULE(id, needs, low, medium, high, table, ...)                                                              \
    {#id, needs, low, medium, high, table, {__VA_ARGS__}, gt_find_##id},
#include "measure/findings/findings.def"
#undef GT_RULE
};

/* ---- evidence ---- */

static void keep_failure(struct gt_evidence *evidence, enum gt_status status) {
    if (evidence->status == GT_OK)
        evidence->status = status;
}

void gt_evidence_fail(struct gt_evidence *evidence) {
    keep_failure(evidence, gt_fail_memory(evidence->err));
}

const struct gt_named_set *gt_evidence_kernels(struct gt_evidence *evidence) {
    static const struct gt_named_set none;
    const struct gt_named_set *kernels = gt_results_kernels(evidence->view, evidence->err);
    if (!kernels)
        keep_failure(evidence, evidence->err->code);
    return kernels ? kernels : &none;
}

/* Something of the file was lost, and what was read holds no kernel: gaps between copies mean nothing then. */
static bool lost_kernels(const struct gt_store *store) {
    bool has_losses = gt_store_loss(store) != GT_ISSUE_COUNT;
    for (size_t i = 0; i < store->ops.count && has_losses; i++)
        if (store->ops.kind[i] == GT_OP_KERNEL)
            return false;
    return has_losses;
}

const struct gt_idle *gt_evidence_idle(struct gt_evidence *evidence) {
    static const struct gt_idle none;
    if (lost_kernels(evidence->view->store))
        return &none;
    const struct gt_idle *idle = gt_results_idle(evidence->view, evidence->err);
    if (!idle)
        keep_failure(evidence, evidence->err->code);
    return idle ? idle : &none;
}

const struct gt_account *gt_evidence_accounts(struct gt_evidence *evidence) {
    const struct gt_accounts *accounts = gt_results_accounts(evidence->view, evidence->err);
    if (!accounts)
        keep_failure(evidence, evidence->err->code);
    return accounts ? accounts->by_device : NULL;
}

const struct gt_op_groups *gt_evidence_op_groups(struct gt_evidence *evidence) {
    static const struct gt_op_groups none;
    const struct gt_op_groups *groups = gt_results_op_groups(evidence->view, evidence->err);
    if (!groups)
        keep_failure(evidence, evidence->err->code);
    return groups ? groups : &none;
}

const uint8_t *gt_evidence_blocking_calls(struct gt_evidence *evidence) {
    const struct gt_blocking_marks *blocks = gt_results_blocking_marks(evidence->view, evidence->err);
    if (!blocks)
        keep_failure(evidence, evidence->err->code);
    return blocks ? blocks->of_call : NULL;
}

const struct gt_step_set *gt_evidence_steps(struct gt_evidence *evidence) {
    static const struct gt_step_set none;
    const struct gt_step_set *steps = gt_results_steps(evidence->view, evidence->err);
    if (!steps)
        keep_failure(evidence, evidence->err->code);
    return steps ? steps : &none;
}

const struct gt_phase_set *gt_evidence_phases(struct gt_evidence *evidence) {
    static const struct gt_phase_set none;
    const struct gt_phase_set *phases = gt_results_phases(evidence->view, evidence->err);
    if (!phases)
        keep_failure(evidence, evidence->err->code);
    return phases ? phases : &none;
}

const struct gt_launch_rate *gt_evidence_launch_rate(struct gt_evidence *evidence) {
    static const struct gt_launch_rate none;
    const struct gt_launch_rates *rates = gt_results_rates(evidence->view, evidence->err);
    if (!rates)
        keep_failure(evidence, evidence->err->code);
    return rates ? &rates->items[rates->count - 1] : &none;
}

int64_t gt_evidence_amount(struct gt_evidence *evidence, enum gt_amount amount) {
    const struct gt_account *accounts = gt_evidence_accounts(evidence);
    int64_t sum_ns = 0;
    for (size_t d = 0; d < evidence->view->device_count && accounts; d++)
        sum_ns = gt_ns_add(sum_ns, accounts[d].ns[amount]);
    return sum_ns;
}

int64_t gt_evidence_steady_ns(struct gt_evidence *evidence) {
    const struct gt_step_set *steps = gt_evidence_steps(evidence);
    int64_t first_ns = INT64_MAX;
    if (steps->state_counts[GT_STEP_WARM_UP] == 0)
        return INT64_MIN;
    for (size_t i = 0; i < steps->count; i++) {
        const struct gt_step_part *part = &steps->parts[i];
        bool counts = part->device != GT_NO_TRACK && steps->states[part->step] != GT_STEP_WARM_UP;
        if (counts && part->start_ns < first_ns)
            first_ns = part->start_ns;
    }
    return first_ns == INT64_MAX ? INT64_MIN : first_ns;
}

int64_t gt_evidence_steady_span_ns(struct gt_evidence *evidence) {
    int64_t steady_ns = gt_evidence_steady_ns(evidence), sum_ns = 0;
    for (size_t d = 0; d < evidence->view->device_count; d++) {
        const struct gt_view_device *device = &evidence->view->devices[d];
        int64_t start_ns = device->span_start_ns > steady_ns ? device->span_start_ns : steady_ns;
        if (device->span_end_ns > start_ns)
            sum_ns = gt_ns_add(sum_ns, gt_ns_between(start_ns, device->span_end_ns));
    }
    return sum_ns;
}

const struct gt_host_gaps *gt_evidence_host_gaps(struct gt_evidence *evidence) {
    if (!evidence->has_host_gaps)
        keep_failure(evidence, gt_host_gaps_init(&evidence->host_gaps, evidence->view, gt_evidence_idle(evidence),
                                                 gt_evidence_steady_ns(evidence), evidence->err));
    evidence->has_host_gaps = true;
    return &evidence->host_gaps;
}

/* ---- sentences ---- */

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

const char *gt_say_ns(struct gt_evidence *evidence, double ns) {
    char text[GT_NUM_MAX];
    gt_num_format_duration(text, ns);
    return gt_arena_copy(evidence->arena, gt_str_of(text)).ptr;
}

const char *gt_say_share(struct gt_evidence *evidence, double part, double whole) {
    return gt_arena_printf(evidence->arena, "%.1f%%", whole > 0 ? 100 * part / whole : 0.0).ptr;
}

const char *gt_say_count(struct gt_evidence *evidence, size_t count) {
    char text[GT_NUM_MAX];
    gt_num_format_grouped(text, count > INT64_MAX ? INT64_MAX : (int64_t)count);
    return gt_arena_copy(evidence->arena, gt_str_of(text)).ptr;
}

const char *gt_say_counted(struct gt_evidence *evidence, size_t count, const char *noun) {
    size_t length = strlen(noun);
    /* gap, launch, copy */
    const char *plural = length && noun[length - 1] == 'h' ? "es" : length && noun[length - 1] == 'y' ? "ies" : "s";
    int stem = (int)(count != 1 && plural[0] == 'i' ? length - 1 : length);
    return gt_arena_printf(evidence->arena, "%s %.*s%s", gt_say_count(evidence, count), stem, noun,
                           count == 1 ? "" : plural)
        .ptr;
}

const char *gt_say_bytes(struct gt_evidence *evidence, uint64_t bytes) {
    char text[GT_NUM_MAX];
    gt_num_format_bytes(text, (double)bytes);
    return gt_arena_copy(evidence->arena, gt_str_of(text)).ptr;
}

const char *gt_say_quoted(struct gt_evidence *evidence, struct gt_str text) {
    enum { LONGEST = 60 };
    struct gt_str kept = gt_str_cut(text, LONGEST);
    return gt_arena_printf(evidence->arena, "'%.*s%s'", (int)kept.len, kept.ptr, kept.len < text.len ? "..." : "").ptr;
}

bool gt_say_name_is_lost(struct gt_evidence *evidence, gt_strid name) {
    struct gt_str text = gt_store_string(evidence->view->store, name);
    return text.len == 0 || gt_str_eq(text, GT_LOST_NAME);
}

const char *gt_say_kernel(struct gt_evidence *evidence, gt_strid full_name) {
    if (gt_say_name_is_lost(evidence, full_name))
        return "an unnamed op";
    return gt_say_quoted(evidence, gt_labels_short_name(evidence->view->labels, full_name));
}

const char *gt_say_call(struct gt_evidence *evidence, gt_strid name) {
    if (gt_say_name_is_lost(evidence, name))
        return "an unnamed call";
    return gt_arena_copy(evidence->arena, gt_call_plain_name(gt_store_string(evidence->view->store, name))).ptr;
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
    enum gt_issue_id loss = gt_store_loss(evidence->view->store);
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
