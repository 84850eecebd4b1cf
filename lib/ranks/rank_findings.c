/* Finds what is worth doing about a job: asks every rule of rank_rules.def, and adds what it found to the section. */
#include "ranks/rank_findings.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ranks/rank_rules.h"

static const struct rule {
    const char *id, *table, *what;
    gt_rank_rules_look *look;
} rules[] = {
#define GT_RANK_RULE(id, table, what) {#id, table, what, gt_rank_rules_find_##id},
#include "ranks/rank_rules.def"
#undef GT_RANK_RULE
};

/* As everywhere. */
static const double high_share = 0.15, medium_share = 0.05;

/* What is outside the steps, warm-up above all, makes a saving in all steps no smaller. */
static void rate(struct gt_finding *finding, const struct gt_rank_job *job, int64_t saving_ns) {
    finding->severity = GT_SEVERITY_LOW;
    if (saving_ns <= 0 || job->replay_ns == GT_RANK_NO_NS || job->replay_ns <= 0)
        return;
    double share_of_steps = (double)saving_ns / (double)gt_rank_job_stepping_ns(job);
    finding->recoverable_ns = saving_ns;
    finding->is_simulated = true;
    finding->share = (double)saving_ns / (double)job->replay_ns;
    finding->step_ns = job->step_count ? saving_ns / (int64_t)job->step_count : -1;
    finding->severity = share_of_steps >= high_share     ? GT_SEVERITY_HIGH
                        : share_of_steps >= medium_share ? GT_SEVERITY_MEDIUM
                                                         : GT_SEVERITY_LOW;
}

/* ---- one of them ---- */

static enum gt_status check_id(const char *why, struct gt_error *err) {
    char list[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < GT_ARRAY_COUNT(rules); i++) {
        if (strcmp(rules[i].id, why) == 0)
            return GT_OK;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", rules[i].id);
    }
    return gt_fail_usage(err, "no finding about a job has the id '%.80s'; available: %s", why, list);
}

/* The rule, and what came of it. */
static void explain(struct gt_rank_rules_job *it, struct gt_section *section, const struct rule *rule,
                    const struct gt_finding *finding, bool is_found) {
    const char *outcome = "Not reported: the rule found nothing.";
    if (is_found && finding->recoverable_ns <= 0)
        outcome = "Severity low: no saving of its own is known.";
    else if (is_found)
        outcome = gt_arena_printf(it->arena,
                                  "Severity %s: the replay of the job is %.1f%% shorter without it; medium from %g%%, "
                                  "high from %g%% on.",
                                  gt_finding_list_severity_name(finding->severity), 100 * finding->share,
                                  100 * medium_share, 100 * high_share)
                      .ptr;
    gt_section_note(section, GT_FOR_ALL, gt_arena_printf(it->arena, "%s: %s %s", rule->id, rule->what, outcome));
}

enum gt_status gt_rank_findings_add(const struct gt_rank_job *job, struct gt_section *section, const char *why,
                                    struct gt_error *err) {
    struct gt_rank_rules_job it = {job, &section->report->arena};
    if (why && check_id(why, err) != GT_OK)
        return err->code;
    for (size_t i = 0; i < GT_ARRAY_COUNT(rules); i++) { /* explained before the list */
        struct gt_finding finding = {.id = rules[i].id};
        if (!why || strcmp(rules[i].id, why) != 0)
            continue;
        struct gt_rank_rules_answer answer = rules[i].look(&it, &finding);
        rate(&finding, job, answer.saving_ns);
        explain(&it, section, &rules[i], &finding, answer.is_found);
    }
    struct gt_table *table = gt_finding_list_new(section);
    table->empty = why ? "This finding is not reported for this job." : "No findings.";
    for (size_t i = 0; i < GT_ARRAY_COUNT(rules); i++) {
        struct gt_finding finding = {.id = rules[i].id,
                                     .table = rules[i].table,
                                     .rule = rules[i].what,
                                     .recoverable_ns = -1,
                                     .step_ns = -1,
                                     .share = -1};
        struct gt_rank_rules_answer answer = rules[i].look(&it, &finding);
        if (!answer.is_found)
            continue;
        finding.overlaps_id = answer.overlaps;
        rate(&finding, job, answer.saving_ns);
        gt_finding_list_add(section, &finding);
    }
    gt_finding_list_link(section);
    if (why)
        gt_finding_list_keep(section, why);
    return GT_OK;
}
